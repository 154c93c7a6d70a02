"""The frame of a file: header, sections, and the offset tables inside sections.

    7F 'TileIR' 00, u8 major, u8 minor, u16 tag
    section*     u8 id (| 0x80 if aligned), varint length, [varint alignment, padding], payload
    00

A table (strings, types, constants, debug records) is a varint count N, padding to the width of an
offset, N offsets from the start of the data, and the data.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum

from tileir.bytecode.stream import Cursor, Output, malformed
from tileir.bytecode.version import SUPPORTED, Version

MAGIC = b"\x7fTileIR\x00"
_ALIGNED = 0x80
_PREVIEW_TAG = 1


class Section(IntEnum):
    """Numbers of the sections of a file."""

    END = 0
    STRING = 1
    FUNCTION = 2
    DEBUG = 3
    CONSTANT = 4
    TYPE = 5
    GLOBAL = 6
    PRODUCER = 7


ALIGNMENT = {
    Section.STRING: 4,
    Section.FUNCTION: 8,
    Section.DEBUG: 8,
    Section.CONSTANT: 8,
    Section.TYPE: 4,
    Section.GLOBAL: 1,
    Section.PRODUCER: 1,
}
"""What a section must be aligned to, in bytes from the start of the file."""


def read_header(cursor: Cursor) -> Version:
    if cursor.data[: len(MAGIC)] != MAGIC:
        raise malformed("not Tile IR bytecode: it does not start with 7F 'TileIR' 00", 0)
    cursor.take(len(MAGIC))
    version = Version(cursor.byte(), cursor.byte())
    if version not in SUPPORTED:
        known = f"{SUPPORTED[0]} to {SUPPORTED[-1]}"
        cursor.fail(f"bytecode version {version} is not supported, only {known}", len(MAGIC))
    (tag,) = struct.unpack("<H", cursor.take(2))
    if tag & ~_PREVIEW_TAG or (tag and version != SUPPORTED[-1]):
        cursor.fail(f"unknown version tag {tag:#x}", cursor.offset - 2)
    return version


def read_sections(cursor: Cursor) -> dict[Section, Cursor]:
    """A cursor over the payload of every section. Of duplicates the last one counts."""
    sections: dict[Section, Cursor] = {}
    while True:
        start = cursor.offset
        head = cursor.byte()
        number = head & ~_ALIGNED
        if number not in Section._value2member_map_:
            cursor.fail(f"unknown section {number}", start)
        section = Section(number)
        if section is Section.END:
            cursor.expect_end("the end marker")
            return sections
        length = cursor.varint()
        if head & _ALIGNED:
            _skip_padding(cursor)
        if cursor.offset % ALIGNMENT[section] or (ALIGNMENT[section] > 1 and head == number):
            cursor.fail(
                f"section {section.name.lower()} must be aligned to {ALIGNMENT[section]} bytes",
                start,
            )
        if length > cursor.remaining:
            cursor.fail(
                f"section {section.name.lower()} of {length} bytes, {cursor.remaining} left", start
            )
        sections[section] = Cursor(cursor.data, cursor.offset, cursor.offset + length)
        cursor.offset += length


def _skip_padding(cursor: Cursor) -> None:
    start = cursor.offset
    alignment = cursor.varint()
    if alignment == 0 or alignment & (alignment - 1):
        cursor.fail(f"alignment {alignment} is not a power of two", start)
    if -cursor.offset % alignment > cursor.remaining:
        cursor.fail(f"padding to {alignment} bytes passes the end", start)
    cursor.align(alignment)


def read_table(cursor: Cursor, width: int, what: str) -> list[Cursor]:
    """A cursor over every entry of a table that extends to the end of `cursor`."""
    count = cursor.count(what, width)
    if count == 0:  # some writers pad an empty table, some do not
        cursor.take(min(-cursor.offset % width, cursor.remaining))
        cursor.expect_end(f"an empty table of {what}")
        return []
    cursor.align(width)
    at = cursor.offset
    offsets = struct.unpack(f"<{count}{'I' if width == 4 else 'Q'}", cursor.take(count * width))
    start, size = cursor.offset, cursor.remaining
    ends = (*offsets[1:], size)
    for index, (first, last) in enumerate(zip(offsets, ends, strict=True)):
        if not first <= last <= size:
            cursor.fail(f"{what} have bad offsets", at + index * width)
    cursor.offset = cursor.end
    return [
        Cursor(cursor.data, start + first, start + last)
        for first, last in zip(offsets, ends, strict=True)
    ]


def write_header(out: Output, version: Version) -> None:
    out.bytes(MAGIC)
    out.bytes(struct.pack("<BBH", version.major, version.minor, 0))


def write_section(out: Output, section: Section, payload: Output) -> None:
    alignment = ALIGNMENT[section]
    out.byte(section | (_ALIGNED if alignment > 1 else 0))
    out.varint(len(payload))
    if alignment > 1:
        out.varint(alignment)
        out.align(alignment)
    out.bytes(payload.data)


def write_table(out: Output, width: int, entries: Sequence[bytes | bytearray]) -> None:
    """Append a table; `out` starts at an aligned place of the file."""
    out.varint(len(entries))
    out.align(width)
    offset = 0
    for entry in entries:
        out.bytes(offset.to_bytes(width, "little"))
        offset += len(entry)
    for entry in entries:
        out.bytes(entry)
