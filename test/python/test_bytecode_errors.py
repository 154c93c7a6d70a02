"""Malformed bytecode: every error has a reason and the offset of the byte at fault."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from bytecode_support import case

from tileir.bytecode.decode import decode
from tileir.bytecode.decode_body import MAX_REGION_DEPTH
from tileir.bytecode.encode import encode
from tileir.bytecode.records import Block, File, Function, Op, Record
from tileir.bytecode.schema import BY_NAME
from tileir.bytecode.sections import Section, read_header, read_sections
from tileir.bytecode.stream import Cursor, Output
from tileir.bytecode.tags import ATTRIBUTES, DEBUG, MAX_ATTRIBUTE_DEPTH, TYPES
from tileir.bytecode.version import V13_1, V13_3
from tileir.errors import BytecodeError

VADD = case("vadd-13.3")
ALL_OPS = "all-ops-13.5"


def fails(data: bytes, reason: str, offset: int | None = None) -> None:
    with pytest.raises(BytecodeError) as raised:
        decode(data)
    assert reason in raised.value.reason
    if offset is not None:
        assert raised.value.location == f"byte {offset}"


def patched(data: bytes, offset: int, new: bytes | str) -> bytes:
    """`data` with the bytes at `offset` replaced."""
    new = bytes.fromhex(new) if isinstance(new, str) else new
    return data[:offset] + new + data[offset + len(new) :]


def section(data: bytes, which: Section) -> Cursor:
    cursor = Cursor(data)
    read_header(cursor)
    return read_sections(cursor)[which]


def offset_of(data: bytes, op: str) -> int:
    """Where the first `op` of the only function starts."""
    return next(o.offset for o in decode(data).functions[0].body if o.spec.name == op)


# ---------------------------------------------------------------------------------------------
# Header and sections
# ---------------------------------------------------------------------------------------------


def test_empty_and_foreign_files() -> None:
    fails(b"", "not Tile IR bytecode", 0)
    fails(b"ML\xefR" + bytes(100), "not Tile IR bytecode", 0)
    fails(VADD[:9], "unexpected end of data", 9)


@pytest.mark.parametrize("version", ["0c01", "0d00", "0d06", "0e01"])
def test_version(version: str) -> None:
    fails(patched(VADD, 8, version), "is not supported, only 13.1 to 13.5", 8)


def test_version_tag() -> None:
    fails(patched(VADD, 10, "0200"), "unknown version tag 0x2", 10)
    fails(patched(VADD, 10, "0100"), "unknown version tag 0x1", 10)  # preview: newest version only


def test_unknown_section() -> None:
    fails(patched(VADD, 12, "8f"), "unknown section 15", 12)


def test_missing_alignment() -> None:
    fails(patched(VADD, 12, "02"), "section function must be aligned to 8 bytes", 12)


def test_alignment_is_a_power_of_two() -> None:
    fails(patched(VADD, 15, "03"), "alignment 3 is not a power of two", 15)
    fails(patched(VADD, 15, "00"), "alignment 0 is not a power of two", 15)


def test_section_longer_than_the_file() -> None:
    fails(patched(VADD, 13, "ff7f"), "section function of 16383 bytes", 12)


def test_truncated_at_every_byte() -> None:
    for size in range(len(VADD)):
        with pytest.raises(BytecodeError):
            decode(VADD[:size])


def test_bytes_after_the_end() -> None:
    fails(VADD + b"\0", "1 bytes left over after the end marker", len(VADD))


def test_mandatory_sections() -> None:
    head = VADD[:12]
    fails(head + b"\0", "there is no string section", 13)


def test_the_last_of_duplicate_sections_counts() -> None:
    file = decode(VADD)
    producer = bytes([Section.PRODUCER, 1, 0]) + bytes([Section.PRODUCER, 1, 1])
    data = VADD[:-1] + producer + b"\0"
    assert decode(data).producer == 1
    assert decode(data).strings == file.strings


# ---------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------


def test_table_count_is_checked() -> None:
    strings = section(VADD, Section.STRING)
    fails(patched(VADD, strings.offset, "ffffff7f"), "strings do not fit", strings.offset)


def test_table_offsets_ascend() -> None:
    strings = section(VADD, Section.STRING)
    second = strings.offset + 4 + 4
    fails(patched(VADD, second, struct.pack("<I", 40)), "strings have bad offsets", second)
    fails(patched(VADD, second, struct.pack("<I", 1 << 31)), "strings have bad offsets", second - 4)


def test_type_tag() -> None:
    offset = decode(VADD).types[2].offset
    fails(patched(VADD, offset, "17"), "unknown type tag 23", offset)


def test_type_refers_to_an_earlier_type() -> None:
    offset = decode(VADD).types[3].offset  # ptr<f32>: 0C 02
    fails(patched(VADD, offset + 1, "03"), "index 3 into 3 types", offset + 1)


def test_kind_of_a_nested_type() -> None:
    file = decode(VADD)
    token = next(i for i, t in enumerate(file.types) if t.spec.name == "token")
    file.types.append(Record(TYPES.by_name["tile"], {"element": token, "shape": ()}))
    fails(encode(file), "a type token cannot stand here")


def test_type_newer_than_the_file() -> None:
    offset = decode(VADD).types[2].offset
    data = patched(case("vadd-13.2"), offset, "13")
    fails(data, "type f4E2M1FN needs bytecode 13.3, this is 13.2", offset)


def test_unknown_type_flags() -> None:
    data = case("vadd-13.4")
    offset = next(t.offset for t in decode(data).types if t.spec.name == "ptr")
    fails(patched(data, offset + 1, "02"), "unknown flags 0x2 of ptr", offset + 1)


def test_leftover_of_a_table_entry() -> None:
    second = section(VADD, Section.TYPE).offset + 4 + 4
    fails(patched(VADD, second, struct.pack("<I", 2)), "1 bytes left over after a type")


def test_constant_size() -> None:
    constants = section(VADD, Section.CONSTANT)
    at = constants.offset + 16
    assert VADD[at] == 4
    fails(patched(VADD, at, "05"), "5 bytes of a constant do not fit", at)
    fails(patched(VADD, at, "03"), "1 bytes left over after a constant", at + 4)


# ---------------------------------------------------------------------------------------------
# Debug information
# ---------------------------------------------------------------------------------------------


def test_debug_index() -> None:
    debug = section(VADD, Section.DEBUG)
    first = debug.offset + 16
    assert VADD[first] == 4
    fails(patched(VADD, first, "ff"), "index 255 into 12 debug records", first)
    fails(patched(VADD, first, "03"), "debug record 3 is not a location", first)


def test_number_of_debug_indices() -> None:
    file = decode(VADD)
    data = encode(file)
    debug = section(data, Section.DEBUG)
    assert data[debug.offset + 8] == 23
    file.functions[0].body.insert(0, Op(BY_NAME["make_token"], [7], {}, []))
    longer = encode(file)
    count = section(longer, Section.DEBUG).offset + 8
    # One index fewer than operations: the table that follows starts earlier.
    with pytest.raises(BytecodeError):
        decode(patched(longer, count, "17"))


def test_debug_record_of_the_wrong_kind() -> None:
    file = decode(VADD)
    file.debug.append(
        Record(DEBUG.by_name["loc"], {"scope": 1, "filename": 0, "line": 1, "column": 1})
    )
    fails(encode(file), "expected subprogram or lexical_block, got file")


def test_function_location_out_of_range() -> None:
    offset = decode(VADD).functions[0].offset + 3
    fails(patched(VADD, offset, "02"), "location 2, but 1 functions have debug", offset)


# ---------------------------------------------------------------------------------------------
# Functions and globals
# ---------------------------------------------------------------------------------------------


def test_function_flags() -> None:
    offset = decode(VADD).functions[0].offset + 2
    for flags in ("04", "05", "07"):
        fails(patched(VADD, offset, flags), "'vadd' is not a public entry", offset)
    fails(patched(VADD, offset, "16"), "unknown flags 0x16 of function 'vadd'", offset)


def test_signature_is_a_function_type() -> None:
    offset = decode(VADD).functions[0].offset
    fails(patched(VADD, offset + 1, "02"), "the signature of 'vadd' is not a function type", offset)


def test_string_index() -> None:
    offset = decode(VADD).functions[0].offset
    fails(patched(VADD, offset, "63"), "index 99 into 5 strings", offset)


def test_parameter_attributes_are_not_supported() -> None:
    data = case("multimem-13.5")
    at = data.index(bytes.fromhex("0b000600")) + 2
    fails(patched(data, at, "0500"), "attributes of parameters are not supported", at)


def test_global_fields() -> None:
    data = case("all-ops-13.3")
    item = decode(data).globals[1]
    fails(patched(data, item.offset + 4, "02"), "symbol_visibility has no value 2")
    fails(patched(data, item.offset + 5, "02"), "the constant flag of a global must be 0 or 1")


# ---------------------------------------------------------------------------------------------
# Operations
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opcode", ["16", "19", "31", "34", "4b", "7e"])
def test_unknown_opcode(opcode: str) -> None:
    offset = offset_of(VADD, "make_token")
    fails(patched(VADD, offset, opcode), f"unknown opcode 0x{opcode}", offset)


def test_preview_opcode() -> None:
    offset = offset_of(VADD, "make_token")
    fails(patched(VADD, offset, "828001"), "unknown opcode 0x4002", offset)


def test_operation_newer_than_the_file() -> None:
    offset = offset_of(VADD, "make_token")
    fails(patched(VADD, offset, "78"), "gdc_wait_tko needs bytecode 13.4, this is 13.3", offset)


def test_value_that_is_not_defined() -> None:
    offset = offset_of(VADD, "addf")
    fails(patched(VADD, offset + 4, "1f"), "value 31 is not defined here", offset + 4)


def test_result_type() -> None:
    offset = offset_of(VADD, "addf")
    fails(patched(VADD, offset + 1, "02"), "a type f32 cannot stand here", offset + 1)
    fails(patched(VADD, offset + 1, "50"), "index 80 into 11 types", offset + 1)


def test_flags_of_an_operation() -> None:
    offset = offset_of(VADD, "addf")
    fails(patched(VADD, offset + 2, "02"), "unknown flags 0x2 of addf", offset + 2)


def test_enumeration() -> None:
    offset = offset_of(VADD, "addf")
    fails(patched(VADD, offset + 3, "08"), "rounding has no value 8", offset + 3)
    fails(patched(VADD, offset + 3, "07"), "rounding<nearest_away> needs bytecode 13.4", offset + 3)


def test_number_of_results() -> None:
    offset = offset_of(VADD, "load_view_tko")
    fails(patched(VADD, offset + 1, "01"), "load_view_tko has 2 results, got 1", offset + 1)


def test_predicate_of_assume() -> None:
    offset = offset_of(VADD, "assume")
    reason = "expected div_by or same_elements or bounded, got bool"
    fails(patched(VADD, offset + 2, "0301"), reason, offset + 2)


def _edited(name: str, op: str, edit: Callable[[Op, File], None]) -> bytes:
    file = decode(case(name))
    edit(next(o for o in file.functions[0].body if o.spec.name == op), file)
    return encode(file)


def test_operands_of_counted_operations() -> None:
    def none(op: Op, file: File) -> None:
        op.operands = []

    def three(op: Op, file: File) -> None:
        op.operands = [0, 1, 2]

    fails(_edited(ALL_OPS, "for", none), "for cannot have 0 operands")
    fails(_edited(ALL_OPS, "gdc_wait_tko", three), "gdc_wait_tko cannot have 3 operands")


def test_regions() -> None:
    def two(op: Op, file: File) -> None:
        op.regions *= 2

    fails(_edited(ALL_OPS, "for", two), "for has 1 regions, got 2")
    data = case(ALL_OPS)
    blocks = offset_of(data, "for") + 10  # opcode, 1 + 1 results, flags, 1 + 4 operands, regions
    assert data[blocks - 1 : blocks + 2] == bytes([1, 1, 2])  # one region, one block, 2 arguments
    fails(patched(data, blocks, "02"), "a region of for has one block, got 2", blocks)


def test_inbounds_are_bools() -> None:
    def two(op: Op, file: File) -> None:
        op.attributes["inbounds"] = (2, 0)

    fails(_edited(ALL_OPS, "load_view_tko", two), "an array of bools must hold 0 and 1")


def test_names_in_hints_are_unique() -> None:
    file = decode(VADD)
    file.strings.append(b"default")
    hints = file.functions[0].hints
    assert hints is not None
    (value,) = hints.fields["entries"].values()
    hints.fields["entries"][len(file.strings) - 1] = value
    fails(encode(file), "names in a dictionary must be unique and not empty")


# ---------------------------------------------------------------------------------------------
# Limits
# ---------------------------------------------------------------------------------------------


def _nested_ifs(depth: int) -> bytes:
    body: list[Op] = []
    for _ in range(depth):
        branch = Block([], body)
        body = [Op(BY_NAME["if"], [], {}, [0], regions=[branch, None])]
    types = [
        Record(TYPES.by_name["i1"], {}),
        Record(TYPES.by_name["tile"], {"element": 0, "shape": ()}),
        Record(TYPES.by_name["function"], {"inputs": (1,), "results": ()}),
    ]
    return encode(File(V13_1, [b"k"], types, functions=[Function(0, 2, body)]))


def test_depth_of_regions() -> None:
    decode(_nested_ifs(MAX_REGION_DEPTH))
    fails(_nested_ifs(MAX_REGION_DEPTH + 1), "regions are nested more than 200 deep")


def test_depth_of_attributes() -> None:
    out = Output()
    for _ in range(MAX_ATTRIBUTE_DEPTH + 1):
        out.varint(ATTRIBUTES.by_name["array"].tag)
        out.varint(1)
    out.bytes(bytes([3, 1]))
    with pytest.raises(BytecodeError, match="attributes are nested more than 16 deep"):
        ATTRIBUTES.read(Cursor(bytes(out.data)), File(V13_3))
