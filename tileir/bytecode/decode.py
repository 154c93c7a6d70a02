"""Bytes to records.

Everything is checked here that does not need MLIR: bounds, versions, indices, kinds of types and
attributes, value numbers. Time and memory are linear in the size of the input.
"""

from __future__ import annotations

from tileir.bytecode.decode_body import BodyReader
from tileir.bytecode.decode_debug import DebugSection
from tileir.bytecode.enums import VISIBILITY
from tileir.bytecode.fields import CONSTANT, STRING, SYMBOL, TYPE, U63, Enum
from tileir.bytecode.records import File, Function, Global
from tileir.bytecode.schema import (
    FUNCTION_HAS_HINTS,
    FUNCTION_KERNEL,
    FUNCTION_PRIVATE,
)
from tileir.bytecode.sections import Section, read_header, read_sections, read_table
from tileir.bytecode.stream import Cursor
from tileir.bytecode.tags import ATTRIBUTES, TYPES, Tagged
from tileir.bytecode.version import V13_3, V13_5


def decode(data: bytes) -> File:
    """The records of a bytecode file; `BytecodeError` with a byte offset if it is malformed."""
    cursor = Cursor(data)
    file = File(read_header(cursor))
    sections = read_sections(cursor)
    for required in (Section.STRING, Section.FUNCTION):
        if required not in sections:
            cursor.fail(f"there is no {required.name.lower()} section", len(data))
    for entry in read_table(sections[Section.STRING], 4, "strings"):
        file.strings.append(entry.take(entry.remaining))
    if Section.TYPE in sections:
        for entry in read_table(sections[Section.TYPE], 4, "types"):
            file.types.append(TYPES.read(entry, file))
            entry.expect_end("a type")
    if Section.CONSTANT in sections:
        for entry in read_table(sections[Section.CONSTANT], 8, "constants"):
            file.constants.append(entry.take(entry.count("bytes of a constant")))
            entry.expect_end("a constant")
    debug = DebugSection(file, sections.get(Section.DEBUG))
    if Section.PRODUCER in sections:
        file.producer = STRING.read(sections[Section.PRODUCER], file)
        sections[Section.PRODUCER].expect_end("the producer")
    symbols: set[bytes] = set()
    if Section.GLOBAL in sections:
        _read_globals(sections[Section.GLOBAL], file, symbols)
    _read_functions(sections[Section.FUNCTION], file, debug, symbols)
    return file


def _add_symbol(cursor: Cursor, name: bytes, symbols: set[bytes], offset: int) -> None:
    if name in symbols:
        cursor.fail(f"symbol {name.decode()!r} is defined twice", offset)
    symbols.add(name)


def _read_globals(cursor: Cursor, file: File, symbols: set[bytes]) -> None:
    visibility = Enum(VISIBILITY)
    for _ in range(cursor.count("globals", 4)):
        start = cursor.offset
        item = Global(
            name=SYMBOL.read(cursor, file),
            type=TYPE.read(cursor, file),
            constant=CONSTANT.read(cursor, file),
            alignment=U63.read(cursor, file),
            offset=start,
        )
        _add_symbol(cursor, file.strings[item.name], symbols, start)
        if file.version >= V13_3:
            item.visibility = visibility.read(cursor, file)
            flag = cursor.varint()
            if flag > 1:
                cursor.fail(f"the constant flag of a global must be 0 or 1, got {flag}", start)
            item.is_constant = bool(flag)
        file.globals.append(item)
    cursor.expect_end("the globals")


def _read_functions(cursor: Cursor, file: File, debug: DebugSection, symbols: set[bytes]) -> None:
    """`symbols` are the names of the globals."""
    global_names = set(symbols)
    for _ in range(cursor.count("functions", 5)):
        function = _read_function(cursor, file, debug, global_names)
        _add_symbol(cursor, file.strings[function.name], symbols, function.offset)
        file.functions.append(function)
    cursor.expect_end("the functions")


def _read_function(
    cursor: Cursor, file: File, debug: DebugSection, global_names: set[bytes]
) -> Function:
    start = cursor.offset
    name = SYMBOL.read(cursor, file)
    label = repr(file.text(name))
    signature = TYPE.read(cursor, file)
    if file.types[signature].spec.name != "function":
        cursor.fail(f"the signature of {label} is not a function type", start)
    flags_offset = cursor.offset
    flags = cursor.byte()
    has_hints = file.version >= V13_5 or bool(flags & FUNCTION_HAS_HINTS)
    known = FUNCTION_KERNEL | (0 if file.version >= V13_5 else FUNCTION_HAS_HINTS)
    if flags & ~(known | FUNCTION_PRIVATE):
        cursor.fail(f"unknown flags {flags:#x} of function {label}", flags_offset)
    if flags & FUNCTION_PRIVATE or not flags & FUNCTION_KERNEL:
        cursor.fail(
            f"function {label} is not a public entry; only entries are supported",
            flags_offset,
        )
    location_offset = cursor.offset
    locations = debug.locations(cursor, cursor.varint(), location_offset)
    hints = Tagged("optimization_hints").read(cursor, file) if has_hints else None
    if file.version >= V13_5:
        _read_argument_attributes(cursor, file)
    size = cursor.count("bytes of a function body")
    body_end = cursor.offset + size
    within = Cursor(cursor.data, cursor.offset, body_end)
    reader = BodyReader(within, file, locations, global_names)
    body = reader.body(len(file.types[signature].fields["inputs"]))
    cursor.offset = body_end
    return Function(name, signature, body, hints, reader.own_location, start)


def _read_argument_attributes(cursor: Cursor, file: File) -> None:
    start = cursor.offset
    record = ATTRIBUTES.read(cursor, file)
    if record.spec.name != "array" or record.fields["items"]:
        cursor.fail("attributes of parameters are not supported", start)
