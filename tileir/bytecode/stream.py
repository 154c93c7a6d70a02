"""Bytes in and out: a bounds-checked cursor, and an output buffer.

Primitives of the format: unsigned varints (LEB128, at most 10 bytes), signed varints (zigzag),
little-endian fixed-width integers, and arrays of those behind a varint count.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NoReturn

from tileir.errors import BytecodeError

PADDING = b"\xcb"
_ARRAY_FORMAT = {1: "b", 4: "i", 8: "q"}


class Cursor:
    """Reads `data[offset:end]`; offsets in errors count from the start of the file."""

    __slots__ = ("data", "offset", "end", "depth")

    def __init__(self, data: bytes, offset: int = 0, end: int | None = None):
        self.data = data
        self.offset = offset
        self.end = len(data) if end is None else end
        self.depth = 0  # of nested attributes

    @property
    def remaining(self) -> int:
        return self.end - self.offset

    def fail(self, reason: str, offset: int | None = None) -> NoReturn:
        raise malformed(reason, self.offset if offset is None else offset)

    def byte(self) -> int:
        if self.offset >= self.end:
            self.fail("unexpected end of data")
        value = self.data[self.offset]
        self.offset += 1
        return value

    def varint(self, bits: int = 64) -> int:
        """An unsigned number below 2^bits."""
        data, start, end = self.data, self.offset, self.end
        value = shift = 0
        offset = start
        while offset < end:
            byte = data[offset]
            offset += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> bits:
                    self.fail(f"varint does not fit into {bits} bits", start)
                self.offset = offset
                return value
            shift += 7
            if shift == 70:
                self.fail("varint is longer than 10 bytes", start)
        self.fail("unexpected end of data in a varint", start)

    def signed_varint(self, bits: int = 64) -> int:
        """A signed number in zigzag form, below 2^bits before it is read as signed."""
        value = self.varint(bits)
        return (value >> 1) ^ -(value & 1)

    def count(self, what: str, item_size: int = 1) -> int:
        """A number of items of at least `item_size` bytes each, which the data must hold."""
        start = self.offset
        value = self.varint()
        if value * item_size > self.remaining:
            self.fail(f"{value} {what} do not fit into the {self.remaining} bytes left", start)
        return value

    def take(self, size: int) -> bytes:
        if size > self.remaining:
            self.fail(f"{size} bytes expected, {self.remaining} left")
        start = self.offset
        self.offset += size
        return self.data[start : self.offset]

    def int_array(self, width: int) -> tuple[int, ...]:
        """A counted array of signed integers of `width` bytes."""
        count = self.count("integers", width)
        return struct.unpack(f"<{count}{_ARRAY_FORMAT[width]}", self.take(count * width))

    def align(self, alignment: int) -> None:
        self.take(-self.offset % alignment)

    def expect_end(self, what: str) -> None:
        if self.remaining:
            self.fail(f"{self.remaining} bytes left over after {what}")


def malformed(reason: str, offset: int) -> BytecodeError:
    """The error for bad input at byte `offset` of the file."""
    return BytecodeError(reason, location=f"byte {offset}")


class Output:
    """A growing buffer with the same primitives as `Cursor`."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data = bytearray()

    def __len__(self) -> int:
        return len(self.data)

    def byte(self, value: int) -> None:
        self.data.append(value)

    def bytes(self, value: bytes | bytearray) -> None:
        self.data += value

    def varint(self, value: int) -> None:
        data = self.data
        while value >= 0x80:
            data.append(value & 0x7F | 0x80)
            value >>= 7
        data.append(value)

    def signed_varint(self, value: int) -> None:
        """`value` lies in the range of a signed 64-bit integer."""
        self.varint(value << 1 if value >= 0 else ~(value << 1))

    def int_array(self, values: Sequence[int], width: int) -> None:
        self.varint(len(values))
        self.data += struct.pack(f"<{len(values)}{_ARRAY_FORMAT[width]}", *values)

    def align(self, alignment: int) -> None:
        self.data += PADDING * (-len(self.data) % alignment)
