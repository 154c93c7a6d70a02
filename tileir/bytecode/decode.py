"""Bytes to records.

Everything is checked here that does not need MLIR: bounds, versions, indices, kinds of types and
attributes, value numbers. Time and memory are linear in the size of the input.
"""

from __future__ import annotations

import struct

from tileir.bytecode.enums import VISIBILITY
from tileir.bytecode.fields import CONSTANT, STRING, TYPE, U63, DebugIndex, Enum
from tileir.bytecode.records import Block, File, Function, Global, Op
from tileir.bytecode.schema import (
    BY_OPCODE,
    FUNCTION_HAS_HINTS,
    FUNCTION_KERNEL,
    FUNCTION_PRIVATE,
    Arity,
    Layout,
    Scheme,
    layout_of,
)
from tileir.bytecode.sections import Section, read_header, read_sections, read_table
from tileir.bytecode.stream import Cursor
from tileir.bytecode.tags import ATTRIBUTES, DEBUG, TYPES, VALUE_TYPE, VALUE_TYPES, Tagged
from tileir.bytecode.version import V13_3, V13_5

MAX_REGION_DEPTH = 200
MAX_DEBUG_DEPTH = 200
MAX_DEBUG_NODES = 10_000


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
    debug = _DebugSection(file, sections.get(Section.DEBUG))
    if Section.PRODUCER in sections:
        file.producer = STRING.read(sections[Section.PRODUCER], file)
        sections[Section.PRODUCER].expect_end("the producer")
    if Section.GLOBAL in sections:
        _read_globals(sections[Section.GLOBAL], file)
    _read_functions(sections[Section.FUNCTION], file, debug)
    return file


def _read_globals(cursor: Cursor, file: File) -> None:
    visibility = Enum(VISIBILITY)
    for _ in range(cursor.count("globals", 4)):
        start = cursor.offset
        item = Global(
            name=STRING.read(cursor, file),
            type=TYPE.read(cursor, file),
            constant=CONSTANT.read(cursor, file),
            alignment=U63.read(cursor, file),
            offset=start,
        )
        if file.version >= V13_3:
            item.visibility = visibility.read(cursor, file)
            flag = cursor.varint()
            if flag > 1:
                cursor.fail(f"the constant flag of a global must be 0 or 1, got {flag}", start)
            item.is_constant = bool(flag)
        file.globals.append(item)
    cursor.expect_end("the globals")


class _DebugSection:
    """The debug records, and for each function the index of one for itself and every operation."""

    def __init__(self, file: File, cursor: Cursor | None):
        self._starts: tuple[int, ...] = ()
        self._indices: tuple[int, ...] = ()
        if cursor is None:
            return
        functions = cursor.count("functions with debug information", 4)
        cursor.align(4)
        self._starts = struct.unpack(f"<{functions}I", cursor.take(4 * functions))
        total = cursor.count("debug indices", 8)
        cursor.align(8)
        start = cursor.offset
        self._indices = struct.unpack(f"<{total}Q", cursor.take(8 * total))
        self._read_records(read_table(cursor, 4, "debug records"), file)
        for position, index in enumerate(self._indices):
            at = start + 8 * position
            if index > len(file.debug):
                cursor.fail(f"index {index} into {len(file.debug)} debug records", at)
            if index and file.debug[index - 1].spec.name not in ("loc", "call_site", "unknown"):
                cursor.fail(f"debug record {index} is not a location", at)

    def _read_records(self, entries: list[Cursor], file: File) -> None:
        """Fill `file.debug`. A record may be shared by many, but not grow without bound when it is
        followed through: its depth and the number of its nodes are limited."""
        depths, sizes = [0], [1]  # of "none" and of the records read so far
        for entry in entries:
            record = DEBUG.read(entry, file)
            entry.expect_end("a debug record")
            scopes = [
                record.fields[item.name]
                for item in record.spec.fields
                if isinstance(item.encoding, DebugIndex)
            ]
            depths.append(1 + max((depths[index] for index in scopes), default=0))
            sizes.append(1 + sum(sizes[index] for index in scopes))
            if depths[-1] > MAX_DEBUG_DEPTH or sizes[-1] > MAX_DEBUG_NODES:
                entry.fail("debug scopes or call sites are nested too deeply", record.offset)
            file.debug.append(record)

    def locations(self, cursor: Cursor, reference: int, offset: int) -> tuple[int, ...]:
        """The slice of indices for a function whose location field is `reference`."""
        if reference == 0:
            return ()
        if reference > len(self._starts):
            cursor.fail(
                f"location {reference}, but {len(self._starts)} functions have debug information",
                offset,
            )
        start = self._starts[reference - 1]
        last = reference == len(self._starts)
        end = len(self._indices) if last else self._starts[reference]
        if not start <= end <= len(self._indices):
            cursor.fail(f"debug information {reference} has a bad offset", offset)
        return self._indices[start:end]


def _read_functions(cursor: Cursor, file: File, debug: _DebugSection) -> None:
    for _ in range(cursor.count("functions", 5)):
        file.functions.append(_read_function(cursor, file, debug))
    cursor.expect_end("the functions")


def _read_function(cursor: Cursor, file: File, debug: _DebugSection) -> Function:
    start = cursor.offset
    name = STRING.read(cursor, file)
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
    reader = _BodyReader(Cursor(cursor.data, cursor.offset, body_end), file, locations)
    body = reader.body(len(file.types[signature].fields["inputs"]))
    cursor.offset = body_end
    return Function(name, signature, body, hints, reader.own_location, start)


def _read_argument_attributes(cursor: Cursor, file: File) -> None:
    start = cursor.offset
    record = ATTRIBUTES.read(cursor, file)
    if record.spec.name != "array" or record.fields["items"]:
        cursor.fail("attributes of parameters are not supported", start)


class _BodyReader:
    """Reads the operations of one function.

    Values have numbers: parameters first, then block arguments and results as they come. The
    results of an operation are numbered after its regions, and the numbers used in a region are
    given out again after it.
    """

    def __init__(self, cursor: Cursor, file: File, locations: tuple[int, ...]):
        self._cursor = cursor
        self._file = file
        self._locations = locations
        self.own_location = locations[0] if locations else 0
        self._operations = 0
        self._values = 0

    def body(self, parameters: int) -> list[Op]:
        self._values = parameters
        operations = []
        while self._cursor.remaining:
            operations.append(self._operation(0))
        if self._locations and len(self._locations) != self._operations + 1:
            self._cursor.fail(
                f"{len(self._locations)} debug indices for {self._operations} operations "
                "and their function"
            )
        return operations

    def _operation(self, depth: int) -> Op:
        cursor, file = self._cursor, self._file
        start = cursor.offset
        layout = self._layout()
        spec = layout.spec
        self._operations += 1
        location = 0
        if self._operations < len(self._locations):
            location = self._locations[self._operations]
        results = self._results(layout)
        flags = self._flags(layout)
        attributes = {}
        for attribute in layout.attributes:
            if not attribute.has_flag or flags & layout.flags[attribute.name]:
                attributes[attribute.name] = attribute.encoding.read(cursor, file)
        operands, segments = self._operands(layout, flags)
        if spec.regions and (count := cursor.varint()) != spec.regions:
            cursor.fail(f"{spec.name} has {spec.regions} regions, got {count}")
        regions = [self._region(layout, depth + 1) for _ in range(spec.regions)]
        self._values += len(results)
        return Op(spec, results, attributes, operands, segments, regions, location, start)

    def _layout(self) -> Layout:
        start = self._cursor.offset
        opcode = self._cursor.varint()
        spec = BY_OPCODE.get(opcode)
        if spec is None:
            self._cursor.fail(f"unknown opcode {opcode:#x}", start)
        if self._file.version < spec.since:
            self._cursor.fail(
                f"{spec.name} needs bytecode {spec.since}, this is {self._file.version}", start
            )
        return layout_of(spec, self._file.version)

    def _results(self, layout: Layout) -> list[int]:
        cursor = self._cursor
        start = cursor.offset
        if layout.counted_results:
            count = cursor.count("results")
            if layout.results is not None and count != layout.results:
                cursor.fail(f"{layout.spec.name} has {layout.results} results, got {count}", start)
        else:
            count = layout.results or 0
        return [VALUE_TYPE.read(cursor, self._file) for _ in range(count)]

    def _flags(self, layout: Layout) -> int:
        if not layout.flags:
            return 0
        start = self._cursor.offset
        flags = self._cursor.varint()
        if flags > layout.flag_mask:
            self._cursor.fail(f"unknown flags {flags:#x} of {layout.spec.name}", start)
        return flags

    def _operands(self, layout: Layout, flags: int) -> tuple[list[int], list[int] | None]:
        if layout.scheme is Scheme.FIXED:
            return self._value_list(len(layout.operands)), None
        start = self._cursor.offset
        if layout.scheme is Scheme.COUNTED:
            count = self._cursor.count("operands")
            spec = layout.spec
            most = spec.maximum_operands
            if count < spec.minimum_operands or (most is not None and count > most):
                self._cursor.fail(f"{spec.name} cannot have {count} operands", start)
            return self._value_list(count), None
        operands: list[int] = []
        segments: list[int] = []
        for operand in layout.spec.operands:
            size = 1
            if operand not in layout.operands:
                size = 0
            elif operand.arity is Arity.VARIADIC:
                size = self._cursor.count("operands")
            elif operand.arity is Arity.OPTIONAL:
                size = 1 if flags & layout.flags[operand.name] else 0
            operands += self._value_list(size)
            segments.append(size)
        return operands, segments

    def _value_list(self, count: int) -> list[int]:
        cursor, limit = self._cursor, self._values
        values = []
        for _ in range(count):
            start = cursor.offset
            value = cursor.varint()
            if value >= limit:
                cursor.fail(f"value {value} is not defined here", start)
            values.append(value)
        return values

    def _region(self, layout: Layout, depth: int) -> Block | None:
        """One region. With `_operation` the only recursion: two Python frames a level."""
        cursor, name = self._cursor, layout.spec.name
        start = cursor.offset
        if depth > MAX_REGION_DEPTH:
            cursor.fail(f"regions are nested more than {MAX_REGION_DEPTH} deep", start)
        blocks = cursor.varint()
        if blocks > 1:
            cursor.fail(f"a region of {name} has one block, got {blocks}", start)
        if blocks == 0:
            return None
        values = self._values
        block = Block(list(VALUE_TYPES.read(cursor, self._file)), [])
        self._values += len(block.arguments)
        for _ in range(cursor.count("operations")):
            block.operations.append(self._operation(depth))
        self._values = values
        return block
