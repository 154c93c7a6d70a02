"""Slices of accumulators, 64 rows of them, written to shared memory for tensor memory accesses.

Of 64 rows that wgmma computes, each warp has 16, and a thread two neighbouring columns at a time.
In a transposed accumulator those are columns and rows. The buffer is made of panels of swizzled
rows, so that writing it meets no bank conflicts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from tileir.compiler.tile_types import CHUNK_BYTES, BufferInfo
from tileir.compiler.wgmma import ROWS, ROWS_OF_WARP
from tileir.ir import Attribute, Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering
from tileir.passes.convert_tile_gpu.shared_memory import shared_pointer, swizzled_chunk
from tileir.passes.convert_tile_gpu.vectors import pack
from tileir.passes.convert_tile_gpu.warpgroups import group_and_warp

#: Rows and columns of a matrix of stmatrix.
_MATRIX = 8

#: Row and column, from a thread's first element.
Place = tuple[int, int]


class Slice(ABC):
    """64 rows from `corner` on, and some columns of a tile, for a buffer of the kind `buffer`."""

    def __init__(self, ctx: Lowering, tile: Fragment, corner: Place, buffer: BufferInfo):
        self.ctx, self.tile, self.corner, self.buffer = ctx, tile, corner, buffer

    @staticmethod
    def of(
        ctx: Lowering, tile: Fragment, corner: Place, buffer: BufferInfo, transposed: bool
    ) -> Slice:
        kind = _TransposedSlice if transposed else _UprightSlice
        return kind(ctx, tile, corner, buffer)

    def prepare(self) -> None:
        """Loads what the elements are still to be computed from."""
        for row, column in self._places():
            self.tile.prepare((self.corner[0] + row, self.corner[1] + column))

    def write(self, start: Value, offset: int) -> None:
        """Writes the elements, from `offset` bytes after `start` (i32) on. Slices share addresses
        with each other that share their `start`."""
        if self.buffer.element_bytes == 2:
            self._write_matrices(start, offset)
        else:
            self._write_elements(start, offset)

    @abstractmethod
    def _places(self) -> Iterator[Place]:
        """A thread's elements, from its first."""

    @abstractmethod
    def _write_matrices(self, start: Value, offset: int) -> None:
        """16-bit elements, by stmatrix."""

    @abstractmethod
    def _write_elements(self, start: Value, offset: int) -> None:
        """32-bit elements, by vectors."""

    # ---- what both need --------------------------------------------------------------------------

    def _at(self, row: int, column: int) -> Value:
        return self.tile.at((self.corner[0] + row, self.corner[1] + column))

    def _pack(self, places: Sequence[Place]) -> Value:
        return pack(self.ctx, [self._at(*place) for place in places], self.tile.info.element)

    def _divide(self, value: Value, by: int) -> tuple[Value, Value]:
        return self.ctx.builder.divided(value, self.ctx.builder.c32(by))

    def _warp(self) -> Value:
        """The number of this warp in its warpgroup."""
        return group_and_warp(self.ctx)[1]

    def _swizzled(self, row: Value, chunk: Value) -> Value:
        """Byte offset in a panel of a row's 16-byte chunk, for run-time rows and chunks."""
        b = self.ctx.builder
        chunk = swizzled_chunk(b, self.buffer, row, chunk)
        return b.add(b.mul(row, b.c32(self.buffer.pitch_bytes)), b.mul(chunk, b.c32(CHUNK_BYTES)))

    def _pointer(self, start: Value, offset: int) -> Value:
        return self.ctx.builder.offset(shared_pointer(self.ctx, start), offset)

    def _store_matrices(self, pointer: Value, registers: Sequence[Value], layout: str) -> None:
        """Four matrices at once; lane 8 i + r says where row r of matrix i goes."""
        b = self.ctx.builder
        attributes: dict[str, Attribute] = {
            "layout": b.attribute(f"#nvvm.mma_layout<{layout}>"),
            "shape": b.attribute("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
            "eltType": b.attribute("#nvvm.ld_st_matrix_elt_type<b16>"),
        }
        bits = [b.op("llvm.bitcast", [pair], b.i32) for pair in registers]
        b.create("nvvm.stmatrix", [pointer, *bits], attributes=attributes)

    def _store(self, value: Value, pointer: Value, alignment: int) -> None:
        b = self.ctx.builder
        b.create("llvm.store", [value, pointer], attributes={"alignment": b.i64_attr(alignment)})


class _UprightSlice(Slice):
    """As many columns as one panel has."""

    def _places(self) -> Iterator[Place]:
        for half in (0, _MATRIX):
            for column in range(0, self.buffer.panel, _MATRIX):
                for i in (0, 1):
                    yield half, column + i

    def _write_matrices(self, start: Value, offset: int) -> None:
        """Two above each other and two side by side."""
        ctx, b = self.ctx, self.ctx.builder
        matrix, low = self._divide(ctx.lane, _MATRIX)
        down = b.op("arith.andi", [matrix, b.c32(1)], b.i32)
        share = b.mul(self._warp(), b.c32(ROWS_OF_WARP))
        row = b.add(b.add(low, b.mul(down, b.c32(_MATRIX))), share)
        right = b.op("arith.shrui", [matrix, b.c32(1)], b.i32)
        for first in range(0, self.buffer.panel, 2 * _MATRIX):
            pairs = [
                self._pack([(half, column), (half, column + 1)])
                for column in (first, first + _MATRIX)
                for half in (0, _MATRIX)
            ]
            chunk = b.add(right, b.c32(first // _MATRIX)) if first else right
            pointer = self._pointer(b.add(start, self._swizzled(row, chunk)), offset)
            self._store_matrices(pointer, pairs, "row")

    def _write_elements(self, start: Value, offset: int) -> None:
        """The two neighbours that a thread holds, at once."""
        ctx, b = self.ctx, self.ctx.builder
        group, quad = self._divide(ctx.lane, 4)
        chunk, second = self._divide(quad, 2)
        within = b.mul(second, b.c32(CHUNK_BYTES // 2))
        row = b.add(group, b.mul(self._warp(), b.c32(ROWS_OF_WARP)))
        for column in range(0, self.buffer.panel, _MATRIX):
            place = self._swizzled(row, b.add(chunk, b.c32(column // 4)))
            first = b.add(start, b.add(place, within))
            for half in (0, _MATRIX):  # rows so far apart are swizzled alike
                pair = self._pack([(half, column), (half, column + 1)])
                pointer = self._pointer(first, offset + half * self.buffer.pitch_bytes)
                self._store(pair, pointer, CHUNK_BYTES // 2)


class _TransposedSlice(Slice):
    """64 columns, in as many panels as that takes: of each, a warp has 16 columns of all rows."""

    def _places(self) -> Iterator[Place]:
        for row in range(0, ROWS, _MATRIX):
            for half in (0, _MATRIX):
                for i in (0, 1):
                    yield row + i, half

    def _write_matrices(self, start: Value, offset: int) -> None:
        """Two side by side and two above each other, each transposed."""
        ctx, b = self.ctx, self.ctx.builder
        matrix, low = self._divide(ctx.lane, _MATRIX)
        down = b.op("arith.shrui", [matrix, b.c32(1)], b.i32)
        row = b.add(low, b.mul(down, b.c32(_MATRIX)))
        right = b.op("arith.andi", [matrix, b.c32(1)], b.i32)
        chunk = b.add(right, b.mul(self._warp(), b.c32(ROWS_OF_WARP // _MATRIX)))
        start = b.add(start, self._swizzled(row, chunk))
        for first in range(0, ROWS, 2 * _MATRIX):
            pairs = [
                self._pack([(row, half), (row + 1, half)])
                for row in (first, first + _MATRIX)
                for half in (0, _MATRIX)
            ]
            pointer = self._pointer(start, offset + first * self.buffer.pitch_bytes)
            self._store_matrices(pointer, pairs, "col")

    def _write_elements(self, start: Value, offset: int) -> None:
        """One by one: a thread's neighbours lie in different rows."""
        ctx, b = self.ctx, self.ctx.builder
        group, quad = self._divide(ctx.lane, 4)
        column = b.add(group, b.mul(self._warp(), b.c32(ROWS_OF_WARP)))
        panel, column = self._divide(column, self.buffer.panel)
        chunk, second = self._divide(column, 4)
        start = b.add(start, b.mul(panel, b.c32(self.buffer.panel_bytes)))
        start = b.add(start, b.mul(second, b.c32(CHUNK_BYTES // 4)))
        for half in (0, _MATRIX):
            for i in (0, 1):
                first = b.add(b.mul(quad, b.c32(2)), b.c32(i))
                place = self._swizzled(first, b.add(chunk, b.c32(half // 4)))
                for row in range(0, ROWS, _MATRIX):
                    skipped = offset + row * self.buffer.pitch_bytes
                    pointer = self._pointer(b.add(start, place), skipped)
                    self._store(self._at(row + i, half), pointer, CHUNK_BYTES // 4)
