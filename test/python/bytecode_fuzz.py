"""Mutates the case files and reads the results: `python bytecode_fuzz.py SEED COUNT [REPORT]`.

Every input must give a module or one of our exceptions, within `MAX_SECONDS`, and the process must
stay below `MAX_MEGABYTES` in all. Bytes are mutated (flipped, replaced, inserted, deleted, copied,
cut off), and records, which reaches further: types, operands, attributes, operations and regions
are exchanged and the file is encoded again. What is read is written and read once more.

Before it is read, an input is saved to REPORT, which so holds the culprit if the process dies.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Any

from bytecode_support import CASE_NAMES, case

from tileir.bytecode import SUPPORTED, read_bytecode, write_bytecode
from tileir.bytecode.decode import decode
from tileir.bytecode.encode import encode
from tileir.bytecode.records import Block, File, Op, Record
from tileir.bytecode.schema import OPERATIONS
from tileir.dialects import make_context
from tileir.errors import TileError

MAX_SECONDS = 2.0
MAX_MEGABYTES = 500
_INTERESTING = (0, 1, 2, 3, 7, 8, 16, 127, 128, 255, 2**16, 2**31 - 1, 2**31, 2**32, 2**62)
_SIZES = (-(2**63), -1, 0, 1, 2, 3, 4, 8, 16, 64, 2**20, 2**24, 2**31, 2**62)


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(changed))
        match rng.randrange(7):
            case 0 | 1:
                changed[at] ^= 1 << rng.randrange(8)
            case 2:
                changed[at] = rng.randrange(256)
            case 3:
                changed.insert(at, rng.randrange(256))
            case 4:
                del changed[at : at + rng.choice((1, 1, 2, 8))]
            case 5:
                source, size = rng.randrange(len(changed)), rng.randrange(1, 24)
                changed[at : at + size] = changed[source : source + size]
            case 6:
                changed[at : at + 1] = rng.choice((b"\xff" * 9 + b"\x01", b"\x80\x00", b"\xff\x7f"))
        if not changed:
            break
    if rng.random() < 0.05:
        del changed[rng.randrange(len(changed) + 1) :]
    return bytes(changed)


def _all_operations(operations: list[Op]) -> list[Op]:
    found = []
    for op in operations:
        found.append(op)
        for block in op.regions:
            found += _all_operations(block.operations) if block else []
    return found


def mutate_records(rng: random.Random, data: bytes) -> bytes:
    file = decode(data)
    operations = _all_operations(file.functions[0].body)
    for _ in range(rng.choice((1, 1, 2, 4))):
        kind = rng.randrange(9)
        if kind == 0:
            _mutate_fields(rng, file, rng.choice(file.types))
        elif kind == 1 and file.debug:
            _mutate_fields(rng, file, rng.choice(file.debug))
        elif kind == 2 and file.constants:
            index = rng.randrange(len(file.constants))
            file.constants[index] = rng.randbytes(rng.choice((0, 1, 2, 3, 4, 8, 16, 64)))
        elif kind == 3:
            body = file.functions[0].body
            at = rng.randrange(len(body))
            body[at : at + rng.randrange(2)] = rng.sample(operations, rng.randrange(2))
        else:
            _mutate_operation(rng, file, rng.choice(operations), operations)
    if rng.random() < 0.1:
        file.version = rng.choice(SUPPORTED)
    return encode(file)


def _mutate_operation(rng: random.Random, file: File, op: Op, others: list[Op]) -> None:
    match rng.randrange(6):
        case 0 if op.operands:
            op.operands[rng.randrange(len(op.operands))] = rng.randrange(200)
        case 1 if op.results:
            op.results[rng.randrange(len(op.results))] = rng.randrange(len(file.types))
        case 2 if op.attributes:
            name = rng.choice(list(op.attributes))
            op.attributes[name] = _mutated(rng, file, op.attributes[name])
        case 3:
            same = [spec for spec in OPERATIONS if _shape(spec) == _shape(op.spec)]
            op.spec = rng.choice(same)
        case 4 if op.regions:
            op.regions[rng.randrange(len(op.regions))] = rng.choice(
                (None, Block([], []), Block([rng.randrange(len(file.types))], []))
            )
        case 5:
            donor = rng.choice(others)
            op.operands, op.results = list(donor.operands), list(donor.results)


def _shape(spec: Any) -> tuple[Any, ...]:
    return spec.operands, spec.attributes, spec.results, spec.regions, spec.segmented


def _mutate_fields(rng: random.Random, file: File, record: Record) -> None:
    if record.fields:
        name = rng.choice(list(record.fields))
        record.fields[name] = _mutated(rng, file, record.fields[name])


def _mutated(rng: random.Random, file: File, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((rng.choice(_INTERESTING), rng.randrange(20), value + 1))
    if isinstance(value, Record):
        _mutate_fields(rng, file, value)
        return value
    if isinstance(value, tuple) and value and isinstance(value[0], int):
        limited = [size for size in _SIZES if -128 <= size < 128] + [5, 9]
        values = list(value)
        match rng.randrange(3):
            case 0:
                values[rng.randrange(len(values))] = rng.choice(limited)
            case 1:
                values.append(rng.choice(limited))
            case 2:
                values.pop()
        return tuple(values)
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        return {**value, key: _mutated(rng, file, value[key])}
    return value


def one(rng: random.Random, context: Any, report: Path | None) -> str:
    """The outcome for one input: "read", or the class of the exception."""
    original = case(rng.choice(CASE_NAMES))
    try:
        mutate = rng.choice((mutate_bytes, mutate_records, mutate_records))
        data = mutate(rng, original)
    except Exception as error:  # a value that `encode` has no bytes for
        return f"not encoded: {type(error).__name__}"
    if report is not None:
        report.write_bytes(data)
    start = time.perf_counter()
    try:
        module = read_bytecode(data, context)
        version = f"{data[8]}.{data[9]}"
        again = read_bytecode(write_bytecode(module, version), context)
        assert str(again) == str(module)
        outcome = "read"
    except TileError as error:
        outcome = type(error).__name__
    seconds = time.perf_counter() - start
    assert seconds < MAX_SECONDS, f"{seconds:.1f} s"
    return outcome


def _peak_megabytes() -> int:
    """Of this process alone: `resource` counts what its parent had when it was started."""
    status = Path("/proc/self/status").read_text()
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak) // 1024


def main(seed: int, count: int, report: Path | None) -> None:
    rng = random.Random(seed)
    outcomes: dict[str, int] = {}
    context = make_context()
    for number in range(count):
        if number % 500 == 0:  # types and attributes live as long as their context
            context = make_context()
        outcome = one(rng, context, report)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    megabytes = _peak_megabytes()
    assert megabytes < MAX_MEGABYTES, f"{megabytes} MB"
    print(dict(sorted(outcomes.items())), f"{megabytes} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
