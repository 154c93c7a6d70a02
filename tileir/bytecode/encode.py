"""Records to bytes.

Sections come in the order function, global, constant, debug, type, string, producer. The records
are taken to be consistent, as those of `decode` and of the MLIR exporter are.
"""

from __future__ import annotations

import struct

from tileir.bytecode.records import Block, File, Function, Op
from tileir.bytecode.schema import (
    FUNCTION_HAS_HINTS,
    FUNCTION_KERNEL,
    Arity,
    Layout,
    Scheme,
    layout_of,
)
from tileir.bytecode.sections import Section, write_header, write_section, write_table
from tileir.bytecode.stream import Output
from tileir.bytecode.tags import ATTRIBUTES, DEBUG, TYPES
from tileir.bytecode.version import V13_3, V13_5


def encode(file: File) -> bytes:
    out = Output()
    write_header(out, file.version)
    write_section(out, Section.FUNCTION, _functions(file))
    if file.globals:
        write_section(out, Section.GLOBAL, _globals(file))
    write_section(out, Section.CONSTANT, _constants(file))
    write_section(out, Section.DEBUG, _debug(file))
    write_section(out, Section.TYPE, _types(file))
    write_section(out, Section.STRING, _table(4, file.strings))
    if file.producer is not None and file.version >= V13_3:
        producer = Output()
        producer.varint(file.producer)
        write_section(out, Section.PRODUCER, producer)
    out.byte(Section.END)
    return bytes(out.data)


def _table(width: int, entries: list[bytes] | list[bytearray]) -> Output:
    out = Output()
    write_table(out, width, entries)
    return out


def _constants(file: File) -> Output:
    entries = []
    for constant in file.constants:
        entry = Output()
        entry.varint(len(constant))
        entry.bytes(constant)
        entries.append(entry.data)
    return _table(8, entries)


def _types(file: File) -> Output:
    entries = []
    for record in file.types:
        entry = Output()
        TYPES.write(entry, record, file)
        entries.append(entry.data)
    return _table(4, entries)


def _globals(file: File) -> Output:
    out = Output()
    out.varint(len(file.globals))
    for item in file.globals:
        for value in (item.name, item.type, item.constant, item.alignment):
            out.varint(value)
        if file.version >= V13_3:
            out.varint(item.visibility)
            out.varint(item.is_constant)
    return out


def _debug(file: File) -> Output:
    slices = [[f.location, *_locations(f.body)] for f in file.functions]
    out = Output()
    out.varint(len(slices))
    out.align(4)
    start = 0
    for indices in slices:
        out.bytes(start.to_bytes(4, "little"))
        start += len(indices)
    out.varint(start)
    out.align(8)
    for indices in slices:
        out.bytes(struct.pack(f"<{len(indices)}Q", *indices))
    entries = []
    for record in file.debug:
        entry = Output()
        DEBUG.write(entry, record, file)
        entries.append(entry.data)
    # Other readers reject an empty table here: store one unknown record.
    write_table(out, 4, entries or [bytes(1)])
    return out


def _locations(operations: list[Op]) -> list[int]:
    """The location of every operation, one before those in its regions."""
    locations: list[int] = []
    for op in operations:
        locations.append(op.location)
        for block in op.regions:
            if block is not None:
                locations += _locations(block.operations)
    return locations


def _functions(file: File) -> Output:
    out = Output()
    out.varint(len(file.functions))
    for number, function in enumerate(file.functions, 1):
        _function(out, function, number, file)
    return out


def _function(out: Output, function: Function, location: int, file: File) -> None:
    out.varint(function.name)
    out.varint(function.signature)
    new_header = file.version >= V13_5
    has_hints = function.hints is not None
    out.byte(FUNCTION_KERNEL | (FUNCTION_HAS_HINTS if has_hints and not new_header else 0))
    out.varint(location)
    if function.hints is not None:
        ATTRIBUTES.write(out, function.hints, file)
    elif new_header:
        out.varint(ATTRIBUTES.by_name["optimization_hints"].tag)
        out.varint(0)
    if new_header:  # attributes of the parameters: an empty array
        out.varint(ATTRIBUTES.by_name["array"].tag)
        out.varint(0)
    body = Output()
    for op in function.body:
        _operation(body, op, file)
    out.varint(len(body))
    out.bytes(body.data)


def _operation(out: Output, op: Op, file: File) -> None:
    layout = layout_of(op.spec, file.version)
    out.varint(op.spec.opcode)
    if layout.counted_results:
        out.varint(len(op.results))
    for result in op.results:
        out.varint(result)
    if layout.flags:
        out.varint(_flags(op, layout))
    for attribute in layout.attributes:
        if attribute.name in op.attributes:
            attribute.encoding.write(out, op.attributes[attribute.name], file)
    _operands(out, op, layout)
    if op.spec.regions:
        out.varint(len(op.regions))
        for region in op.regions:
            _region(out, region, file)


def _flags(op: Op, layout: Layout) -> int:
    present = {name for name in op.attributes if name in layout.flags}
    if op.segments is not None:
        sizes = zip(op.spec.operands, op.segments, strict=True)
        present |= {o.name for o, size in sizes if size and o.arity is Arity.OPTIONAL}
    return sum(layout.flags[name] for name in present)


def _operands(out: Output, op: Op, layout: Layout) -> None:
    if op.segments is None:
        if layout.scheme is Scheme.COUNTED:
            out.varint(len(op.operands))
        for value in op.operands:
            out.varint(value)
        return
    position = 0
    for operand, size in zip(op.spec.operands, op.segments, strict=True):
        if operand.arity is Arity.VARIADIC:
            out.varint(size)
        for value in op.operands[position : position + size]:
            out.varint(value)
        position += size


def _region(out: Output, block: Block | None, file: File) -> None:
    if block is None:
        out.varint(0)
        return
    out.varint(1)
    out.varint(len(block.arguments))
    for type in block.arguments:
        out.varint(type)
    out.varint(len(block.operations))
    for op in block.operations:
        _operation(out, op, file)
