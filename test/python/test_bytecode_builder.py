"""Bytecode built without MLIR: the same programs as from the reader's side, and refusals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bytecode_support import CASE_NAMES, case, disassemble

import tileir
from tileir.bytecode import FileBuilder, Region, Source, Value
from tileir.bytecode.decode import decode
from tileir.bytecode.fields import STRING, SYMBOL, Enum
from tileir.bytecode.records import Block, File, Function, Op, Record
from tileir.bytecode.schema import Arity
from tileir.bytecode.tags import HINTS
from tileir.errors import BytecodeError


class Replay:
    """Gives the contents of a decoded file to a builder, by the names of its tables."""

    def __init__(self, file: File):
        self.file = file
        self.out = FileBuilder(file.version)

    def type(self, index: int) -> Any:
        record = self.file.types[index]
        fields: dict[str, Any] = dict(record.fields)
        for name in ("element", "pointee", "tensor_view"):
            if name in fields:
                fields[name] = self.type(fields[name])
        for name in ("inputs", "results"):
            if name in fields:
                fields[name] = [self.type(each) for each in fields[name]]
        return self.out.type(record.spec.name, **fields)

    def types(self, indices: Any) -> list[Any]:
        return [self.type(index) for index in indices]

    def data(self, index: int, element: Any) -> int:
        """Constants are copied: of elements that NumPy lacks, too."""
        del element
        data = self.file.constants[index]
        constants = self.out._constants
        if data not in constants:
            constants[data] = len(self.out._file.constants)
            self.out._file.constants.append(data)
        return constants[data]

    def tagged(self, record: Record) -> Record:
        fields = dict(record.fields)
        if record.spec.name in ("integer", "float"):
            type, bits = fields["value"]
            fields["value"] = (self.type(type).index, bits)
        return Record(record.spec, fields)

    def hints(self, entries: dict[int, Record]) -> dict[str, dict[str, Any]]:
        def plain(record: Record) -> Any:
            value = record.fields["value"]
            return value if record.spec.name == "bool" else value[1]

        text = self.file.text
        return {
            text(target): {text(k): plain(v) for k, v in each.fields["entries"].items()}
            for target, each in entries.items()
        }

    def entry(self, function: Function) -> None:
        inputs, hints = self.file.types[function.signature].fields["inputs"], function.hints
        entry = self.out.entry(
            self.file.text(function.name),
            self.types(inputs),
            hints=hints and self.hints(hints.fields["entries"]),
        )
        self.entry_builder, self.scope = entry, list(entry.parameters)
        self.operations(function.body)

    def operations(self, operations: list[Op]) -> None:
        for op in operations:
            parts = {a.name: self.attribute(op, a) for a in op.spec.attributes}
            results = self.entry_builder.emit(
                op.spec.name,
                *self.operands(op),
                results=self.types(op.results),
                regions=[block and self.region(block) for block in op.regions],
                **parts,
            )
            self.scope += results

    def operands(self, op: Op) -> list[Any]:
        values = [self.scope[number] for number in op.operands]
        if op.segments is None:
            counts = [int(operand.arity is Arity.ONE) for operand in op.spec.operands]
            if counts and counts[-1] == 0:
                counts[-1] = len(values) - sum(counts)
        else:
            counts = op.segments
        ends = np.cumsum(counts)
        parts = [values[end - n : end] for end, n in zip(ends, counts, strict=True)]
        return [part or None for part in parts]

    def attribute(self, op: Op, attribute: Any) -> Any:
        value, encoding = op.attributes.get(attribute.name), attribute.encoding
        if value is None or attribute.since > self.file.version:
            return None
        if isinstance(encoding, Enum):
            return encoding.enumeration.cases[value]
        if encoding is STRING or encoding is SYMBOL:
            return self.file.text(value)
        if encoding is HINTS:
            return self.hints(value)
        if attribute.name == "value":
            return self.data(value, op.results[0])
        if isinstance(value, Record):
            return self.tagged(value)
        if isinstance(value, tuple) and value and isinstance(value[0], Record):
            return [self.tagged(item) for item in value]
        return value

    def region(self, block: Block) -> Region:
        def build(*arguments: Value) -> None:
            first = len(self.scope)
            self.scope += arguments
            self.operations(block.operations)
            del self.scope[first:]

        return Region(self.types(block.arguments), build)

    def globals(self) -> None:
        for item in self.file.globals:
            self.out.string(self.file.text(item.name))
            item.name = self.out.string(self.file.text(item.name))
            item.constant, item.type = self.data(item.constant, None), self.type(item.type).index
            self.out._file.globals.append(item)


def without_locations(data: bytes) -> str:
    return str(tileir.read_bytecode(data).operation.get_asm(enable_debug_info=False))


@pytest.mark.parametrize("name", CASE_NAMES)
def test_every_case_can_be_built(name: str) -> None:
    file = decode(case(name))
    replay = Replay(file)
    for function in file.functions:
        replay.entry(function)
    replay.globals()
    built = without_locations(replay.out.encode())
    original = without_locations(case(name))
    assert built == original.replace(_producer(original), "")


def _producer(text: str) -> str:
    """The attribute that names the producer, which the builders of `Replay` do not have."""
    start = text.find(" attributes {producer")
    return text[start : text.index("}", start) + 1] if start >= 0 else ""


def sum_of_squares(version: str = "13.3") -> bytes:
    """total[0] = sum of i*i for i below n, in a loop, times four elements of a constant."""
    file = FileBuilder(version, producer="test 1.0")
    i32, tile = file.tile((), "i32"), file.tile((4,), "i32")
    pointer = file.tile((), file.pointer("i32"))
    kernel = file.entry("k", [pointer, i32], Source("dir/k.my", 7, 3), {"sm_90": {"occupancy": 2}})
    total, n = kernel.parameters
    zero, one = kernel.constant(i32, 0), kernel.constant(i32, 1)

    def body(i: Value, so_far: Value) -> None:
        kernel.location = Source("dir/k.my", 9, 5)
        square = kernel.value("muli", i32, i, i)
        kernel.emit("continue", [kernel.value("addi", i32, so_far, square)])

    (result,) = kernel.emit(
        "for", zero, n, one, [zero], results=[i32], regions=[Region([i32, i32], body)]
    )
    kernel.location = Source("dir/k.my", 11, 1)
    ones = kernel.constant(tile, [1, 2, 3, -4])
    spread = kernel.value(
        "broadcast", tile, kernel.value("reshape", file.tile((1,), "i32"), result)
    )
    scaled = kernel.value("muli", tile, spread, ones)
    places = kernel.value(
        "offset",
        file.tile((4,), file.pointer("i32")),
        kernel.value(
            "broadcast",
            file.tile((4,), file.pointer("i32")),
            kernel.value("reshape", file.tile((1,), file.pointer("i32")), total),
        ),
        kernel.value("iota", tile),
    )
    kernel.emit(
        "store_ptr_tko", places, scaled, results=[file.token()], memory_ordering_semantics="weak"
    )
    kernel.emit("return")
    return file.encode()


@pytest.mark.parametrize("version", ["13.1", "13.2", "13.3", "13.4", "13.5"])
def test_a_kernel_with_a_loop_runs(version: str) -> None:
    out = np.zeros(4, np.int32)
    tileir.run(sum_of_squares(version), args=[out, 10])
    assert out.tolist() == [285, 570, 855, -1140]


def test_nvidia_reads_it(tmp_path: Path) -> None:
    text = disassemble(sum_of_squares(), tmp_path)
    assert "occupancy = 2" in text
    assert "muli" in text


def test_locations_are_those_of_the_builder() -> None:
    module = tileir.read_bytecode(sum_of_squares())
    text = str(module.operation.get_asm(enable_debug_info=True))
    assert '"dir/k.my":9:5' in text
    assert '"dir/k.my":11:1' in text


def test_mlir_is_not_imported() -> None:
    code = (
        "import sys; from tileir.bytecode import FileBuilder; FileBuilder().encode(); "
        "print('mlir' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr


def refusals() -> dict[str, Any]:
    def wrong_operation(k: Any, f: Any) -> None:
        k.emit("add", *k.parameters)

    def missing_operand(k: Any, f: Any) -> None:
        k.emit("addf", k.parameters[0])

    def too_many(k: Any, f: Any) -> None:
        k.emit("absf", *k.parameters)

    def unknown_part(k: Any, f: Any) -> None:
        k.emit("absf", k.parameters[0], mode="x")

    def no_value(k: Any, f: Any) -> None:
        k.emit("absf", 3.0)

    def missing_attribute(k: Any, f: Any) -> None:
        k.emit("maxi", *k.parameters)

    def wrong_case(k: Any, f: Any) -> None:
        k.emit("addf", *k.parameters, rounding_mode="up")

    def newer(k: Any, f: Any) -> None:
        k.emit("atan2", *k.parameters)

    def newer_attribute(k: Any, f: Any) -> None:
        k.emit("exp", k.parameters[0], rounding_mode="approx")

    def escaped(k: Any, f: Any) -> None:
        f32, inner = f.tile((), "f32"), []
        condition = k.constant(f.tile((), "i1"), True)

        def then() -> None:
            inner.append(k.value("absf", f32, k.parameters[0]))
            k.emit("yield")

        k.emit("if", condition, regions=[Region([], then), None])
        k.emit("absf", inner[0], results=[f32])

    return {
        "there is no operation 'add'": wrong_operation,
        "addf needs one value for 'rhs', got 0": missing_operand,
        "absf has 1 operands, 2 are given": too_many,
        "absf has no 'mode'\n  absf has source": unknown_part,
        "absf: 'source' must be a value, not float": no_value,
        "maxi needs 'signedness': unsigned, signed": missing_attribute,
        "addf: 'rounding_mode' cannot be 'up'\n  choose one of nearest_even": wrong_case,
        "atan2 needs bytecode 13.2 or newer, this is 13.1": newer,
        "exp with rounding_mode needs bytecode 13.3 or newer, this is 13.1": newer_attribute,
        "absf: 'source' is a value of another kernel or of a region that has ended": escaped,
    }


@pytest.mark.parametrize(("message", "build"), refusals().items())
def test_what_the_builder_refuses(message: str, build: Any) -> None:
    file = FileBuilder("13.1")
    kernel = file.entry("k", [file.tile((), "f32")] * 2, Source("k.my", 2, 4))
    with pytest.raises(BytecodeError) as caught:
        build(kernel, file)
    assert str(caught.value).startswith(f"k.my:2:4: {message}")


def test_types_and_constants_that_do_not_exist() -> None:
    file = FileBuilder("13.1")
    for build, message in [
        (lambda: file.type("f33"), "there is no type 'f33'"),
        (lambda: file.type("i4"), "type i4 needs bytecode 13.3, this is 13.1"),
        (lambda: file.constant("tf32", 1.0), "constants of tf32 cannot be built"),
        (
            lambda: file.partition_view((4,), file.tensor_view("f32", [4], [1]), padding="one"),
            "padding_value has no case 'one'",
        ),
    ]:
        with pytest.raises(BytecodeError, match=message):
            build()
