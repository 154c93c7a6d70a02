"""Every case file through MLIR and back, against NVIDIA's disassembler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bytecode_support import CASE_NAMES, CASES, case, disassemble, version_of

import tileir
from tileir.bytecode import read_bytecode, write_bytecode
from tileir.errors import BytecodeError

# Files of cuTile's compiler, whose tables are in the order of first use, as ours are.
COMPILED = [name for name in CASE_NAMES if name.startswith(("vadd", "mm-", "misc"))]
# Here cuTile puts the type of a global where the kernel first uses it.
COMPILED.remove("misc-13.1")


def generic(module) -> str:
    return module.operation.get_asm(print_generic_op_form=True)


def locations(operation) -> Iterator[str]:
    """The locations that the text has: all but those of modules and of
    terminators that are not printed."""
    for region in operation.regions:
        for block in region:
            for op in block:
                name = op.operation.name
                implied = name in ("cuda_tile.yield", "cuda_tile.continue")
                silent = implied and not len(op.operands)
                if name != "cuda_tile.module" and not silent:
                    yield f"{name} {op.operation.location}"
                yield from locations(op.operation)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_reads_as_the_text_beside_it(name: str) -> None:
    text = tileir.parse(CASES / f"{name}.mlir")
    assert generic(read_bytecode(case(name))) == generic(text)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_reads_the_locations_of_the_text_beside_it(name: str) -> None:
    text = tileir.parse(CASES / f"{name}.debug.mlir")
    module = read_bytecode(case(name))
    assert list(locations(module.operation)) == list(locations(text.operation))


@pytest.mark.parametrize("name", CASE_NAMES)
def test_writes_what_the_disassembler_prints_identically(name: str, tmp_path: Path) -> None:
    written = write_bytecode(read_bytecode(case(name)), version_of(name))
    for options in ((), ("-g",)):
        expected = disassemble(case(name), tmp_path, *options)
        assert disassemble(written, tmp_path, *options) == expected


@pytest.mark.parametrize("name", CASE_NAMES)
def test_reads_again_what_it_writes(name: str) -> None:
    module = read_bytecode(case(name))
    written = write_bytecode(module, version_of(name))
    again = read_bytecode(written)
    for debug in (False, True):
        texts = [m.operation.get_asm(enable_debug_info=debug) for m in (module, again)]
        assert texts[0] == texts[1]
    assert write_bytecode(again, version_of(name)) == written


@pytest.mark.parametrize("name", COMPILED)
def test_writes_the_bytes_of_the_compiler(name: str) -> None:
    assert write_bytecode(read_bytecode(case(name)), version_of(name)) == case(name)


@pytest.mark.parametrize("version", tileir.bytecode.SUPPORTED, ids=str)
@pytest.mark.parametrize("name", CASE_NAMES)
def test_writes_at_other_versions_or_says_since_when(
    name: str, version: tileir.bytecode.Version, tmp_path: Path
) -> None:
    module = read_bytecode(case(name))
    try:
        written = write_bytecode(module, version)
    except BytecodeError as error:
        assert str(version) < version_of(name)
        assert f"or newer, {version} was asked for" in error.reason
        return
    assert generic(read_bytecode(written)) == generic(module)
    assert disassemble(written, tmp_path, "-g") == disassemble(case(name), tmp_path, "-g")


@pytest.mark.parametrize("name", ["vadd-13.3", "mm-13.3", "misc-13.1"])
def test_text_is_written_as_the_bytecode_it_was_printed_from(name: str, tmp_path: Path) -> None:
    module = tileir.parse(CASES / f"{name}.debug.mlir")
    written = write_bytecode(module, version_of(name))
    assert disassemble(written, tmp_path, "-g") == disassemble(case(name), tmp_path, "-g")
