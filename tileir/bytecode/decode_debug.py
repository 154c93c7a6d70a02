"""The debug section: scopes and locations, and which operation has which."""

from __future__ import annotations

import struct

from tileir.bytecode.fields import DebugIndex
from tileir.bytecode.records import File
from tileir.bytecode.sections import read_table
from tileir.bytecode.stream import Cursor
from tileir.bytecode.tags import DEBUG

MAX_DEBUG_DEPTH = 200
MAX_DEBUG_NODES = 10_000


class DebugSection:
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
