"""Loads and stores of tiles of tensors.

A thread forms the address of its first element once; the others lie at offsets that are constants
times strides. Along the contiguous dimension, neighbouring registers move as one vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileir.compiler.ir_util import bool_list, keyword
from tileir.compiler.layout import Layout
from tileir.compiler.tile_types import TileInfo, tile_of
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.analysis.memory_accesses import TensorOp, access_vector, contiguous_dim
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.vectors import (
    both,
    load_vector,
    memory_qualifier,
    ordered_load,
    ordered_store,
    store_vector,
)

#: Extents beyond a tile's reach need no exact count: remaining elements are clamped to this.
_FAR = 1 << 30


class TensorAccess:
    """The addresses and bounds of one thread's part of a tile of a tensor."""

    def __init__(self, ctx: Lowering, op: TensorOp, layout: Layout, element_bytes: int):
        self.ctx, self.layout, self.size = ctx, layout, element_bytes
        self.contiguous = contiguous_dim(op)
        self.strides = [ctx.scalar(s) for s in op.strides]
        self.in_bounds = bool_list(op, "in_bounds")
        b = ctx.builder
        starts = [ctx.scalar(s) for s in op.starts]
        sizes = [ctx.scalar(s) for s in op.sizes]
        #: coordinates in the tensor of this thread's first element
        self.first = [self._add(s, ctx.coordinate(layout, d)) for d, s in enumerate(starts)]
        self.origin = ctx.scalar(op.base)
        for coordinate, stride, dim in zip(
            self.first, self.strides, range(layout.rank), strict=True
        ):
            step = coordinate if dim == self.contiguous else b.mul(coordinate, stride)
            self.origin = b.advance(self.origin, step, element_bytes)
        self.remaining = [
            None if inside else self._remaining(size, coordinate)
            for inside, size, coordinate in zip(self.in_bounds, sizes, self.first, strict=True)
        ]
        self._rows: dict[tuple[int, ...], Value] = {}
        self._bounds: dict[tuple[int, int], Value] = {}

    def _add(self, start: Value, coordinate: Value) -> Value:
        b = self.ctx.builder
        return b.add(start, b.op("arith.extui", [coordinate], b.i64))

    def _remaining(self, size: Value, first: Value) -> Value:
        """Elements from this thread's first to the end of the tensor, as an i32; not positive if
        the first lies outside."""
        b = self.ctx.builder
        difference = b.sub(size, first)
        for name, limit in (("minsi", _FAR), ("maxsi", -_FAR)):
            difference = b.op(f"arith.{name}", [difference, b.c64(limit)], b.i64)
        return b.op("arith.trunci", [difference], b.i32)

    def address(self, offset: Sequence[int]) -> Value:
        """Address of the register at `offset` from this thread's first element."""
        along = 0 if self.contiguous is None else offset[self.contiguous]
        row = tuple(0 if d == self.contiguous else x for d, x in enumerate(offset))
        return self.ctx.builder.offset(self._row(row), along * self.size)

    def _row(self, row: tuple[int, ...]) -> Value:
        if row not in self._rows:
            elements = self.row_elements(row)
            self._rows[row] = (
                self.origin
                if elements is None
                else self.ctx.builder.advance(self.origin, elements, self.size)
            )
        return self._rows[row]

    def row_elements(self, row: Sequence[int]) -> Value | None:
        """Elements from the thread's first to `row` (offsets outside the contiguous dimension)."""
        b, total = self.ctx.builder, None
        for dim, x in enumerate(row):
            if x and dim != self.contiguous:
                step = b.mul(self.strides[dim], b.c64(x))
                total = step if total is None else b.add(total, step)
        return total

    def inside(self, offset: Sequence[int]) -> Value | None:
        """Whether the element at `offset` is in the tensor; None if that is known."""
        result = None
        for dim in range(self.layout.rank):
            check = self.inside_along(dim, offset[dim])
            if check is not None:
                b = self.ctx.builder
                result = check if result is None else b.op("arith.andi", [result, check], b.i1)
        return result

    def inside_along(self, dim: int, x: int) -> Value | None:
        remaining = self.remaining[dim]
        if remaining is None:
            return None
        if (dim, x) not in self._bounds:
            b = self.ctx.builder
            self._bounds[dim, x] = b.compare("sgt", remaining, b.c32(x))
        return self._bounds[dim, x]


#: Bits of a padding value, by kind and format: exponent and mantissa widths, sign first.
_FLOATS = {
    "f64": (11, 52), "f32": (8, 23), "tf32": (8, 23), "f16": (5, 10), "bf16": (8, 7),
    "f8E5M2": (5, 2),
}  # fmt: skip


def padding_bits(kind: str, element: str) -> int:
    """The bit pattern of a padding value."""
    if kind == "zero":
        return 0
    if element == "f8E4M3FN":  # no infinities: the largest finite value stands for them
        return {"neg_zero": 0x80, "nan": 0x7F, "pos_inf": 0x7E, "neg_inf": 0xFE}[kind]
    exponent, mantissa = _FLOATS[element]
    sign = 1 << (exponent + mantissa)
    infinity = ((1 << exponent) - 1) << mantissa
    return {
        "neg_zero": sign,
        "nan": infinity | 1 << (mantissa - 1),
        "pos_inf": infinity,
        "neg_inf": sign | infinity,
    }[kind]


@lowers("tile_gpu.load")
def _load(ctx: Lowering, op: tile_gpu.LoadOp) -> None:
    info = tile_of(op.operation.results[0])
    access = TensorAccess(ctx, op, info.layout, info.element_bytes)
    fill = padding_bits(keyword(op, "padding", "zero"), info.element)
    qualifier = memory_qualifier(op)
    registers: dict[int, Value] = {}
    groups = {register: group for group in _groups(op, info) for register in group}

    def register(index: int) -> Value:
        """Loads a group when its first register is asked for."""
        if index in registers:
            return registers[index]
        group = groups[index]
        offset = info.layout.register_offsets[group[0]]
        address, inside = access.address(offset), access.inside(offset)
        if qualifier:
            values = [ordered_load(ctx, address, info.element, inside, fill, qualifier)]
        else:
            values = load_vector(ctx, address, len(group), info.element, inside, fill)
        registers.update(zip(group, values, strict=True))
        return registers[index]

    if ctx.when_stored.loaded(op):
        ctx.defer(op, register)
    else:
        ctx.set(op, [register(index) for index in range(info.layout.num_registers)])


@lowers("tile_gpu.store")
def _store(ctx: Lowering, op: tile_gpu.StoreOp) -> None:
    value = ctx.fragment(op.operation.operands[0])
    info = value.info
    access = TensorAccess(ctx, op, info.layout, info.element_bytes)
    owner = ctx.owns(info.layout)
    qualifier = memory_qualifier(op)
    for group in _groups(op, info):
        offset = info.layout.register_offsets[group[0]]
        guard = both(ctx, access.inside(offset), owner)
        values = [value.registers[r] for r in group]
        if qualifier:
            ordered_store(ctx, access.address(offset), values[0], info.element, guard, qualifier)
        else:
            store_vector(ctx, access.address(offset), values, info.element, guard)


def _groups(op: tile_gpu.LoadOp | tile_gpu.StoreOp, info: TileInfo) -> list[list[int]]:
    """Registers that one instruction moves."""
    dim = contiguous_dim(op)
    if dim is None:
        return [[r] for r in range(info.layout.num_registers)]
    vector = math.gcd(access_vector(op, info), info.layout.run(dim))
    return info.layout.groups(dim, vector)
