"""Loads and stores through gather/scatter views: rows at positions that a tile gives.

They become a gather or scatter at a tile of addresses, with a mask for what lies outside the
tensor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tileir.compiler.ir_util import element_bytes
from tileir.ir import IntegerType, ShapedType, Type, Value
from tileir.passes.analysis.axis_facts import MAXIMUM
from tileir.passes.convert_cuda_tile.converter import Converter
from tileir.passes.convert_cuda_tile.view_records import Extent, View, ViewAccess


@dataclass(frozen=True)
class Places:
    """Where the elements of a tile lie: addresses, whether each is inside the tensor (None: all
    are), and the runs along the last dimension, as `tile_gpu.gather` describes them."""

    addresses: Value
    inside: Value | None
    contiguity: int
    alignment: int


def places(c: Converter, op: ViewAccess, view: View) -> Places:
    """The elements that `op` accesses at its index."""
    return _Computation(c, op, view).run()


class _Computation:
    def __init__(self, c: Converter, op: ViewAccess, view: View):
        self.c, self.view = c, view
        self.index = list(op.index)
        rank = len(view.tile)
        self.promised = list(op.inbounds) if op.inbounds is not None else [False] * rank
        self.numbers = c.tile_type(view.tile, c.builder.i64)
        self.size = element_bytes(view.tensor.element)

    def run(self) -> Places:
        c, tensor = self.c, self.view.tensor
        addresses = c.splat(c.address(tensor.base), self.numbers)
        inside = None
        for dim in range(len(self.view.tile)):
            coordinates = self._coordinates(dim)
            stride = c.builder.mul(tensor.strides[dim].value, c.builder.c64(self.size))
            step = c.elementwise("arith.muli", [coordinates, self._splat_along(dim, stride)])
            addresses = c.elementwise("arith.addi", [addresses, self._spread(step, self.numbers)])
            if dim == self.view.sparse_dim or not self._is_inside(dim):
                check = self._check(dim, coordinates)
                inside = check if inside is None else c.elementwise("arith.andi", [inside, check])
        contiguity, alignment = self._runs()
        return Places(addresses, inside, contiguity, alignment)

    # ---- coordinates ---------------------------------------------------------------------------

    def _along(self, dim: int, element: Type) -> Type:
        """The type of a tile that differs along one dimension only."""
        shape = [n if d == dim else 1 for d, n in enumerate(self.view.tile)]
        return self.c.tile_type(shape, element)

    def _splat_along(self, dim: int, scalar: Value) -> Value:
        return self.c.splat(scalar, self._along(dim, self.c.builder.i64))

    def _spread(self, value: Value, type_: Type) -> Value:
        if value.type == type_:
            return value
        return self.c.builder.op("tile_gpu.broadcast", [value], type_)

    def _coordinates(self, dim: int) -> Value:
        """Positions in the tensor along `dim`, as a tile of i64 that differs along it only."""
        c, b = self.c, self.c.builder
        line = c.tile_type([self.view.tile[dim]], b.i64)
        if dim == self.view.sparse_dim:
            rows = c[self.index[dim]]
            if IntegerType(ShapedType(rows.type).element_type).width < 64:
                rows = c.elementwise("arith.extsi", [rows], b.i64)
        else:
            rows = c.elementwise("arith.addi", [b.op("tile_gpu.iota", [], line),
                                                c.splat(self._start(dim), line)])  # fmt: skip
        along = self._along(dim, b.i64)
        return rows if rows.type == along else b.op("tile_gpu.reshape", [rows], along)

    def _start(self, dim: int) -> Value:
        b = self.c.builder
        index = self.c[self.index[dim]]
        if IntegerType(index.type).width < 64:
            index = b.op("arith.extui", [index], b.i64)
        return index

    def _start_multiple(self, dim: int) -> int:
        """A power of two that divides the position of a tile's first element along `dim`."""
        return min(self.c.facts.multiple(self.index[dim]), MAXIMUM)

    # ---- bounds --------------------------------------------------------------------------------

    def _extent(self, dim: int) -> Extent:
        return self.view.tensor.sizes[dim]

    def _is_inside(self, dim: int) -> bool:
        """Whether a tile at an index in range lies inside the tensor along `dim`."""
        known = math.gcd(self._extent(dim).multiple, self._start_multiple(dim))
        return bool(self.promised[dim]) or known % self.view.tile[dim] == 0

    def _check(self, dim: int, coordinates: Value) -> Value:
        """Whether positions are inside; negative rows are not."""
        c, b = self.c, self.c.builder
        size = self._splat_along(dim, self._extent(dim).value)
        check = b.compare("ult", coordinates, size, self._along(dim, b.i1))
        return self._spread(check, c.tile_type(self.view.tile, b.i1))

    # ---- what is known of the last dimension -----------------------------------------------------

    def _runs(self) -> tuple[int, int]:
        tensor, last = self.view.tensor, len(self.view.tile) - 1
        if last == self.view.sparse_dim or tensor.strides[last].constant != 1:
            return 1, self.size
        run = self.view.tile[last]
        start = self._start_multiple(last)
        divisors = [tensor.base_multiple, start * self.size]
        divisors += [tensor.strides[d].multiple * self.size for d in range(last)]
        if not self._is_inside(last):
            run = math.gcd(run, self._extent(last).multiple, start)
        return run, max(self.size, min(math.gcd(*divisors), 256))


def padding_value(c: Converter, view: View) -> Value | None:
    """A tile of what elements outside the tensor read as; None if they may be anything."""
    if view.padding is None:
        return None
    element = view.tensor.element
    type_ = c.tile_type(view.tile, element)
    infinity = 448.0 if str(element) == "f8E4M3FN" else math.inf  # its largest, having no infinity
    numbers = {"neg_zero": -0.0, "nan": math.nan, "pos_inf": infinity, "neg_inf": -infinity}
    return c.builder.constant(numbers.get(view.padding, 0), type_)
