"""The record layer of the bytecode: primitives, tables, files to records and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bytecode_support import CASE_NAMES, case, version_of

from tileir.bytecode.decode import decode
from tileir.bytecode.dump import dump
from tileir.bytecode.encode import encode
from tileir.bytecode.records import File, Op, Record
from tileir.bytecode.schema import BY_NAME, OPERATIONS
from tileir.bytecode.sections import Section, read_header, read_sections
from tileir.bytecode.stream import Cursor, Output
from tileir.bytecode.tags import ATTRIBUTES, DYNAMIC, TYPES, TypedFloat, TypedInteger
from tileir.bytecode.version import SUPPORTED, V13_2, V13_3, V13_5, parse_version
from tileir.errors import BytecodeError

# ---------------------------------------------------------------------------------------------
# Primitives
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**64 - 1, "ff" * 9 + "01")],
)
def test_varint(value: int, encoded: str) -> None:
    out = Output()
    out.varint(value)
    assert out.data.hex() == encoded
    assert Cursor(bytes(out.data)).varint() == value


def test_overlong_varint_is_accepted() -> None:
    assert Cursor(bytes.fromhex("8000")).varint() == 0


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (-(2**63), "ff" * 9 + "01")],
)
def test_signed_varint(value: int, encoded: str) -> None:
    out = Output()
    out.signed_varint(value)
    assert out.data.hex() == encoded
    assert Cursor(bytes(out.data)).signed_varint() == value


@pytest.mark.parametrize(
    ("encoded", "reason"),
    [
        ("80", "byte 0: unexpected end of data in a varint"),
        ("80" * 10 + "00", "byte 0: varint is longer than 10 bytes"),
        ("ff" * 9 + "02", "byte 0: varint does not fit into 64 bits"),
    ],
)
def test_bad_varint(encoded: str, reason: str) -> None:
    with pytest.raises(BytecodeError, match=reason):
        Cursor(bytes.fromhex(encoded)).varint()


def test_int_array() -> None:
    out = Output()
    out.int_array((1, -1), 4)
    assert out.data.hex() == "02" + "01000000" + "ffffffff"
    assert Cursor(bytes(out.data)).int_array(4) == (1, -1)


def test_a_count_is_checked_before_memory_is_taken() -> None:
    out = Output()
    out.varint(2**60)
    with pytest.raises(BytecodeError, match="byte 0: 1152921504606846976 integers do not fit"):
        Cursor(bytes(out.data)).int_array(8)


# ---------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "bits", "encoded"),
    [
        ("f8E4M3FN", 0x7E, "7e"),
        ("f8E8M0FNU", 0xFF, "ff"),
        ("f16", 0xFC00, "80f007"),  # zigzag(+0xFC00)
        ("f32", 0x3F800000, "808080f807"),
        ("f32", 0xFF800000, "808080f81f"),  # -Inf: still a positive 64-bit number
        ("f64", 0xFFF0000000000000, "ffffffffffffff0f"),  # -Inf: a negative one
        ("f64", 0x3FF0000000000000, "80" * 7 + "f07f"),
        ("tf32", 0x7FFFF, "feff3f"),
    ],
)
def test_float_attribute(type: str, bits: int, encoded: str) -> None:
    file = File(V13_5, types=[Record(TYPES.by_name[type], {})])
    out = Output()
    TypedFloat().write(out, (0, bits), file)
    assert out.data.hex() == "00" + encoded
    assert TypedFloat().read(Cursor(bytes(out.data)), file) == (0, bits)


def test_f64_in_65_bits() -> None:
    """-Inf as the writer of cuda-tile 1.7.0 has it: the bits doubled, not read as signed."""
    file = File(V13_3, types=[Record(TYPES.by_name["f64"], {})])
    cursor = Cursor(bytes.fromhex("00" + "80" * 7 + "f0ff03"))
    assert TypedFloat().read(cursor, file) == (0, 0xFFF0000000000000)


def test_integer_attribute_is_zero_extended() -> None:
    file = File(V13_5, types=[Record(TYPES.by_name["i32"], {})])
    out = Output()
    TypedInteger().write(out, (0, 0xFFFFFFFF), file)
    assert out.data.hex() == "00ffffffff0f"
    too_wide = Output()
    TypedInteger().write(too_wide, (0, 1 << 32), file)
    with pytest.raises(BytecodeError, match="0x100000000 does not fit into i32"):
        TypedInteger().read(Cursor(bytes(too_wide.data)), file)


@pytest.mark.parametrize(
    ("name", "fields", "encoded"),
    [
        ("div_by", {"divisor": 16}, "081000"),
        ("div_by", {"divisor": 4, "every": 2, "along": 0}, "0804030400"),
        ("bounded", {"lower_bound": 0}, "0c0100"),
        ("bounded", {"lower_bound": -5, "upper_bound": 100}, "0c0309c801"),
        ("same_elements", {"values": (2,)}, "0901" + "0200000000000000"),
        ("bool", {"value": True}, "0301"),
    ],
)
def test_attribute(name: str, fields: dict, encoded: str) -> None:
    file = File(V13_3)
    out = Output()
    ATTRIBUTES.write(out, Record(ATTRIBUTES.by_name[name], fields), file)
    assert out.data.hex() == encoded
    assert ATTRIBUTES.read(Cursor(bytes(out.data)), file).fields == fields


# ---------------------------------------------------------------------------------------------
# Types
# ---------------------------------------------------------------------------------------------

_I64 = "0800000000000000"
_I32 = "08000000"


@pytest.mark.parametrize(
    ("version", "name", "fields", "encoded"),
    [
        ("13.1", "ptr", {"pointee": 0}, "0c00"),
        ("13.4", "ptr", {"pointee": 0}, "0c0000"),
        ("13.5", "ptr", {"pointee": 0, "kind": 2}, "0c010002"),
        ("13.1", "tile", {"element": 0, "shape": (8,)}, "0d0001" + _I64),
        (
            "13.3",
            "tensor_view",
            {"element": 0, "shape": (DYNAMIC,), "strides": (8,)},
            "0e0001" + "0000000000000080" + "01" + _I64,
        ),
        (
            "13.5",
            "tensor_view",
            {"element": 0, "shape": (8,), "strides": (8,), "kind": 1},
            "0e010001" + _I64 + "01" + _I64 + "01",
        ),
        (
            "13.2",
            "partition_view",
            {"tile_shape": (8,), "tensor_view": 1, "dim_map": (8,)},
            "0f01" + _I32 + "0101" + _I32 + "00",
        ),
        (
            "13.2",
            "partition_view",
            {"tile_shape": (8,), "tensor_view": 1, "dim_map": (8,), "padding": 4},
            "0f01" + _I32 + "0101" + _I32 + "0104",
        ),
        (
            "13.3",
            "partition_view",
            {"tile_shape": (8,), "tensor_view": 1, "dim_map": (8,), "padding": 4},
            "0f0101" + _I32 + "0101" + _I32 + "04",
        ),
        (
            "13.3",
            "gather_scatter_view",
            {"tile_shape": (8,), "tensor_view": 1, "sparse_dim": 0, "padding": 0},
            "140101" + _I32 + "010000",
        ),
        (
            "13.3",
            "strided_view",
            {"tile_shape": (8,), "traversal_strides": (8,), "tensor_view": 1, "dim_map": (8,)},
            "150001" + _I32 + "01" + _I32 + "0101" + _I32,
        ),
        ("13.4", "fnv8E5M3FNU", {}, "8201"),
    ],
)
def test_type(version: str, name: str, fields: dict, encoded: str) -> None:
    view = Record(TYPES.by_name["tensor_view"], {"element": 0, "shape": (), "strides": ()})
    file = File(parse_version(version), types=[Record(TYPES.by_name["f32"], {}), view])
    out = Output()
    TYPES.write(out, Record(TYPES.by_name[name], fields), file)
    assert out.data.hex() == encoded
    assert TYPES.read(Cursor(bytes(out.data)), file).fields == fields


# ---------------------------------------------------------------------------------------------
# Operations and files
# ---------------------------------------------------------------------------------------------


def test_number_of_operations_of_each_version() -> None:
    """Published opcodes: 92, 93, 100, 105, 108; entry, global and module never stand in a body."""
    counts = [sum(spec.since <= version for spec in OPERATIONS) for version in SUPPORTED]
    assert counts == [92 - 3, 93 - 3, 100 - 3, 105 - 3, 108 - 3]


def test_opcodes_are_unique_and_leave_the_known_gaps() -> None:
    opcodes = [spec.opcode for spec in OPERATIONS]
    gaps = {*range(0x19, 0x25), *range(0x34, 0x3A), 0x16, 0x31, 0x4B}
    assert sorted(opcodes) == sorted(set(range(0x7E)) - gaps)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_case_is_read_to_the_last_byte_and_written_back_identically(name: str) -> None:
    assert encode(decode(case(name))) == case(name)


def _count(operations: list[Op]) -> int:
    nested = (b.operations for op in operations for b in op.regions if b is not None)
    return len(operations) + sum(_count(block) for block in nested)


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("vadd-13.3", 22),
        ("mm-13.3", 37),
        ("misc-13.1", 122),
        ("misc-13.2", 110),
        ("all-ops-13.1", 130),
        ("all-ops-13.2", 133),
        ("all-ops-13.3", 148),
        ("all-ops-13.4", 155),
        ("all-ops-13.5", 155),
    ],
)
def test_number_of_operations_in_a_case(name: str, operations: int) -> None:
    (function,) = decode(case(name)).functions
    assert _count(function.body) == operations


_VADD_FUNCTIONS = """
01 02 06 06 01 0B 01 04 0A 00 78
44 07  06 04 08 10 00 00  06 04 08 10 00 03  06 04 08 10 00 06
10 05 00  10 05 00  10 05 00
06 05 0C 01 00 01  43 01 08 0A 01 10 00
06 05 0C 01 00 04  43 01 08 0B 01 12 00
06 05 0C 01 00 07  43 01 08 0C 01 14 00
30 05 05 05
42 09 11  3E 02 0A 07 04 00 19 01 16 09
42 09 13  3E 02 0A 07 04 00 1C 01 16 09
02 0A 00 00 1A 1D
42 09 15  66 01 07 04 00 1F 20 01 16 09
5C 00 00
"""


def test_function_section_of_vadd_byte_by_byte() -> None:
    data = encode(decode(case("vadd-13.3")))
    cursor = Cursor(data)
    read_header(cursor)
    functions = read_sections(cursor)[Section.FUNCTION]
    assert functions.offset == 0x10
    assert functions.take(functions.remaining) == bytes.fromhex(_VADD_FUNCTIONS)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_every_attribute_of_the_table_is_present_or_newer(name: str) -> None:
    file = decode(case(name))

    def check(operations: list[Op]) -> None:
        for op in operations:
            for attribute in op.spec.attributes:
                needed = not attribute.has_flag and attribute.since <= file.version
                assert not needed or attribute.name in op.attributes
            for block in op.regions:
                check(block.operations if block else [])

    check(file.functions[0].body)
    assert version_of(name) == str(file.version)


def test_all_ops_cases_contain_every_operation() -> None:
    def names(operations: list[Op]) -> set[str]:
        blocks = [b.operations for op in operations for b in op.regions if b is not None]
        return {op.spec.name for op in operations}.union(*map(names, blocks))

    found = names(decode(case("all-ops-13.5")).functions[0].body)
    found |= names(decode(case("multimem-13.5")).functions[0].body)
    found |= names(decode(case("mma-scaled-13.5")).functions[0].body)
    assert found == set(BY_NAME)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_dump_lists_every_operation_with_its_offset(name: str) -> None:
    file = decode(case(name))
    listed = re.findall(r"^ +byte (\d+) +(?:%\d+(?:, %\d+)* = )?(\w+)", dump(case(name)), re.M)
    functions = [(int(offset), op) for offset, op in listed if op in BY_NAME]

    def walk(operations: list[Op]) -> list[tuple[int, str]]:
        found = []
        for op in operations:
            found.append((op.offset, op.spec.name))
            for block in op.regions:
                found += walk(block.operations) if block else []
        return found

    assert functions == walk(file.functions[0].body)


def test_producer_is_stored_from_13_3_on() -> None:
    file = decode(case("vadd-13.3"))
    file.producer = len(file.strings)
    file.strings.append(b"tileir")
    data = encode(file)
    assert decode(data).producer == file.producer
    file.version = V13_2
    file.functions[0].hints = None
    assert decode(encode(file)).producer is None


def test_unknown_version() -> None:
    with pytest.raises(BytecodeError, match="choose one of 13.1, 13.2, 13.3, 13.4, 13.5"):
        parse_version("12.9")


def test_main_prints_errors_with_the_offset(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    from tileir.bytecode.__main__ import main

    path = tmp_path / "bad.tilebc"
    path.write_bytes(b"MLIR")
    assert main([str(path)]) == 1
    assert "error: byte 0: not Tile IR bytecode" in capsys.readouterr().err
