"""assign-layouts: which thread holds which element of every tile.

By rule, not by search:

1. Values that must or should share a layout form classes: operands and results of elementwise
   operations, values carried by loops and branches. Constants, `iota` and splats cost nothing,
   so each use gets its own and they tie nothing together.
2. Anchors give classes their layouts, the most demanding first: accumulators of matrix products,
   scans, then loads and stores by size (coalesced).
3. A layout spreads from class to class through operations that only regroup digits: reshape,
   permute, broadcast (backwards), reduce (forwards). Where that would give each thread copies of
   many results, others may say first what they want, and threads share them out.
4. Where an operation needs another layout than a value has, a `convert_layout` is inserted. A
   load or store keeps the layout of its class if that layout wastes no memory transactions; where
   rings of fetched tiles fill shared memory, a load may read a sector in two halves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tileir.compiler import wgmma
from tileir.compiler.builder import Builder
from tileir.compiler.constants import retype
from tileir.compiler.ir_util import int_attr, keyword
from tileir.compiler.layout import Layout, Owner, blocked, reshapable
from tileir.compiler.mma import (
    WarpGrid,
    accumulator_layout,
    lhs_layout,
    warp_grid_of,
)
from tileir.compiler.tile_types import (
    LINE_BYTES,
    TileInfo,
    is_tile_type,
    tile_info,
    tile_of,
    tile_type,
)
from tileir.dialects import tile_gpu
from tileir.ir import Attribute, DenseElementsAttr, InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.memory_accesses import (
    SECTOR_BYTES,
    VECTOR_BYTES,
    access_vector,
    memory_order,
    wastes_no_sectors,
)
from tileir.passes.analysis.products import keep_whole_rows, mma_instruction, stored_grid
from tileir.passes.analysis.reductions import crosses_warps, shared_out, shares_out
from tileir.passes.analysis.regrouping import REGROUPING, backward, forward
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.walk import kernels, ops_named, ops_of, ops_on_tiles, redirect, uses_of

#: Operations whose first operand is what they write.
_STORES = (
    *("tile_gpu.store", "tile_gpu.tma_store", "tile_gpu.scatter", "tile_gpu.atomic_red"),
    "tile_gpu.prefetch_lines",
)
#: Operations without operands or with scalar ones: a copy for each use costs nothing.
_FREE = ("arith.constant", "tile_gpu.splat", "tile_gpu.iota", "ub.poison")
#: What passes through shared memory anyway: operands and results lie as they like.
_UNTIED = ("scf.", "tile_gpu.print", "tile_gpu.extract", "tile_gpu.insert", "tile_gpu.cat")


@dataclass(frozen=True)
class AssignLayouts(ModulePass):
    """Give every tile a layout and convert where two meet."""

    name = "assign-layouts"

    def apply(self, module: Operation) -> None:
        capability = target_of(module).capability
        for kernel in kernels(module):
            _duplicate_free_values(kernel)
            _Assignment(kernel, num_warps_of(kernel), capability).run()


def _duplicate_free_values(kernel: Operation) -> None:
    for op in ops_named(kernel, *_FREE):
        if not is_tile_type(op.operation.results[0].type):
            continue
        for use in list(op.operation.results[0].uses)[1:]:
            clone = op.operation.clone(ip=InsertionPoint(op))
            use.owner.operation.operands[use.operand_number] = clone.results[0]


class _Assignment:
    def __init__(self, kernel: Operation, num_warps: int, capability: int):
        self.kernel = kernel
        self.num_warps = num_warps
        self.capability = capability
        self.parent: dict[Value, Value] = {}
        self.layouts: dict[Value, Layout] = {}
        self.regrouping: list[OpView] = []
        self.whole_rows = False
        self.has_rings = False
        self.builder = Builder(InsertionPoint.at_block_begin(kernel.regions[0].blocks[0]),
                               kernel.location)  # fmt: skip

    def run(self) -> None:
        ops = ops_on_tiles(self.kernel)
        self.whole_rows = keep_whole_rows(ops_of(self.kernel, tile_gpu.DotOp))
        self.has_rings = bool(ops_of(self.kernel, tile_gpu.SpecializeOp))
        for op in ops:
            self._tie(op)
        for op in self._anchors(ops):
            self._anchor(op)
        for op in ops:
            if isinstance(op, tile_gpu.ReduceOp):  # of what had no layout before
                self._anchor(op)
            for value in _tiles(op):
                if self._layout(value) is None:
                    self._assign(value, self._default(tile_of(value)))
        for op in ops:
            self._set_types(op)
        for op in ops:
            self._convert_where_needed(op)

    # ---- classes -----------------------------------------------------------------------------

    def _find(self, value: Value) -> Value:
        root = value
        while (above := self.parent.get(root)) is not None:
            root = above
        return root

    def _union(self, values: Sequence[Value]) -> None:
        tiles = [v for v in values if is_tile_type(v.type)]
        for other in tiles[1:]:
            a, b = self._find(tiles[0]), self._find(other)
            if a != b:
                self.parent[b] = a

    def _tie(self, op: OpView) -> None:
        """Unites the values that `op` keeps in one layout."""
        name, operands = op.operation.name, list(op.operation.operands)
        results = list(op.operation.results)
        if name in REGROUPING:
            if is_tile_type(results[0].type):
                self.regrouping.append(op)
            if name == "tile_gpu.reduce":
                self._union(operands)
                self._union(results)
        elif name in ("tile_gpu.dot", "tile_gpu.to_shared"):
            self._union([*operands[2:], *results])
        elif name == "tile_gpu.dot_wait":
            for operand, result in zip(operands, results, strict=True):
                self._union([operand, result])
        elif name == "tile_gpu.insert":
            self._union([operands[1], *results])
        elif name == "scf.for":
            body = op.operation.regions[0].blocks[0]
            yielded = list(body)[-1].operation.operands
            for group in zip(operands[3:], list(body.arguments)[1:], yielded, results, strict=True):
                self._union(list(group))
        elif name == "scf.if":
            ends = [list(r.blocks[0])[-1].operation.operands for r in op.operation.regions
                    if len(r.blocks)]  # fmt: skip
            for group in zip(results, *ends, strict=True) if results else ():
                self._union(list(group))
        elif name == "scf.while":
            self._tie_while(op)
        elif not name.startswith(_UNTIED):
            self._union([*operands, *results])

    def _tie_while(self, op: OpView) -> None:
        before, after = (region.blocks[0] for region in op.operation.regions)
        leaving = list(list(before)[-1].operation.operands)[1:]
        again = list(after)[-1].operation.operands
        for group in zip(op.operation.operands, before.arguments, again, strict=True):
            self._union(list(group))
        for group in zip(leaving, after.arguments, op.operation.results, strict=True):
            self._union(list(group))

    # ---- anchors -----------------------------------------------------------------------------

    def _anchors(self, ops: list[OpView]) -> list[OpView]:
        """Operations that want a layout, the most demanding first."""
        rank = {
            "tile_gpu.dot": 0,
            "tile_gpu.tma_store": 1,
            "tile_gpu.scan": 1,
            "tile_gpu.load": 2,
            "tile_gpu.gather": 2,
            "tile_gpu.atomic_rmw": 2,
            "tile_gpu.atomic_cas": 2,
            "tile_gpu.reduce": 3,
            "tile_gpu.store": 4,
            "tile_gpu.scatter": 4,
            "tile_gpu.atomic_red": 4,
            "tile_gpu.prefetch_lines": 5,
        }
        chosen = [
            op for op in ops if op.operation.name in rank and is_tile_type(_anchor_value(op).type)
        ]
        return sorted(
            chosen,
            key=lambda op: (
                rank[op.operation.name],
                -tile_of(_anchor_value(op)).num_elements,
            ),
        )

    def _anchor(self, op: OpView) -> None:
        value = _anchor_value(op)
        name = op.operation.name
        if name == "tile_gpu.dot":
            layout = self._product_layout(op)
        elif name == "tile_gpu.tma_store":
            layout = self._stored_layout(value)
        elif name == "tile_gpu.scan":
            layout = self._scan_layout(op)
        elif name == "tile_gpu.reduce":
            layout = self._shared_out(op)
        else:
            layout = self._coalesced(op)
        if layout is not None:
            self._assign(value, layout)

    def _product_layout(self, dot: OpView) -> Layout:
        """The accumulator's layout for the tensor core, or for scalar multiply-adds."""
        acc = tile_of(dot.operation.results[0])
        if keyword(dot, "instruction", "") == "wgmma":
            return wgmma.accumulator_layout(acc.shape, self._groups(dot.operation.results[0]))
        instruction = mma_instruction(dot, self.capability)
        if instruction is None:
            vector = math.gcd(acc.shape[-1], 4)
            return blocked(acc.shape, tuple(range(len(acc.shape))), vector, self.num_warps)
        grid = WarpGrid.choose(instruction, acc.shape, self.num_warps, self.whole_rows)
        return accumulator_layout(instruction, acc.shape, grid)

    def _shared_out(self, reduce: OpView) -> Layout | None:
        """The layout in which the lanes of a warp share out results, if they combine them; results
        that warps combine pass through shared memory and may lie as others like."""
        source = self._layout(reduce.operation.operands[0])
        if source is None or not shares_out(reduce, source) or crosses_warps(reduce, source):
            return None
        return shared_out(reduce, source)

    def _groups(self, acc: Value) -> wgmma.WarpgroupGrid:
        """How warpgroups share an accumulator."""
        groups = wgmma.WarpgroupGrid.choose(tile_of(acc).shape, self.num_warps, self.whole_rows)
        assert groups is not None, "choose-products has checked"
        return groups

    def _stored_layout(self, value: Value) -> Layout:
        """The layout of a tile that leaves by tensor memory accesses."""
        grid = stored_grid(value, self.num_warps, self.whole_rows)
        assert grid is not None, "specialize-warps has checked"
        return wgmma.accumulator_layout(tile_of(value).shape, grid)

    def _scan_layout(self, scan: OpView) -> Layout:
        info = tile_of(scan.operation.operands[0])
        dim = int_attr(scan, "dim")
        vector = math.gcd(info.shape[-1], VECTOR_BYTES // info.element_bytes)
        order = tuple(range(len(info.shape)))
        return blocked(info.shape, order, vector, self.num_warps, no_warps_in=dim)

    def _coalesced(self, op: OpView) -> Layout:
        """Neighbouring threads access neighbouring addresses, in vectors as wide as allowed, but
        not so wide that threads are left without work."""
        info = tile_of(_anchor_value(op))
        order = memory_order(op, len(info.shape))
        share = max(1, info.num_elements // (32 * self.num_warps))
        vector = min(access_vector(op, info), 1 << (share.bit_length() - 1))
        return blocked(info.shape, order, vector, self.num_warps)

    def _default(self, info: TileInfo) -> Layout:
        return blocked(info.shape, tuple(range(len(info.shape))), 1, self.num_warps)

    # ---- spreading ---------------------------------------------------------------------------

    def _layout(self, value: Value) -> Layout | None:
        return self.layouts.get(self._find(value))

    def _assign(self, value: Value, layout: Layout) -> None:
        """Gives the class of `value` a layout, if it has none, and spreads it."""
        pending = [(value, layout)]
        while pending:
            value, layout = pending.pop(0)
            root = self._find(value)
            if root in self.layouts:
                continue
            self.layouts[root] = layout
            pending += self._through_regrouping()

    def _through_regrouping(self) -> Iterator[tuple[Value, Layout]]:
        """Layouts that follow, through regrouping operations, for classes without one."""
        for op in self.regrouping:
            source, result = op.operation.operands[0], op.operation.results[0]
            before, after = self._layout(source), self._layout(result)
            if before is not None and after is None:
                if isinstance(op, tile_gpu.ReduceOp) and shares_out(op, before):
                    continue
                layout = forward(op, before)
                if layout is not None:
                    yield result, layout
            elif before is None and after is not None:
                layout = backward(op, after)
                if layout is not None:
                    yield source, layout

    # ---- rewriting ---------------------------------------------------------------------------

    def _set_types(self, op: OpView) -> None:
        values = [*op.operation.results]
        values += [a for region in op.operation.regions for b in region.blocks for a in b.arguments]
        for value in values:
            info = tile_info(value.type)
            if info is not None:
                value.set_type(tile_type(self.builder, info.with_layout(self._layout(value))))
        if op.operation.name == "arith.constant" and is_tile_type(op.operation.results[0].type):
            op.operation.attributes["value"] = _retyped_constant(op)

    def _convert_where_needed(self, op: OpView) -> None:
        name = op.operation.name
        if name in REGROUPING:
            self._fit_regrouping(op)
        elif name == "tile_gpu.load":
            self._fit_result(op, self._memory_layout(op))
        elif name in ("tile_gpu.store", "tile_gpu.atomic_red"):
            self._convert_operand(op, 0, self._memory_layout(op))
        elif name == "tile_gpu.tma_store":
            self._convert_operand(op, 0, self._stored_layout(op.operation.operands[0]))
        elif name == "tile_gpu.scan":
            self._fit_scan(op)
        elif name == "tile_gpu.dot":
            self._fit_product(op)

    def _memory_layout(self, op: OpView) -> Layout:
        info = tile_of(_anchor_value(op))
        halves = self.has_rings and op.operation.name == "tile_gpu.load"
        if wastes_no_sectors(op, info, SECTOR_BYTES // 2 if halves else SECTOR_BYTES):
            return info.layout
        own = self._coalesced_in_warps(op, info) if isinstance(op, tile_gpu.StoreOp) else None
        return own or self._coalesced(op)

    def _coalesced_in_warps(self, op: OpView, info: TileInfo) -> Layout | None:
        """Coalesced accesses by the warps that hold the elements, which need not wait for others,
        if each has whole cache lines."""
        order = memory_order(op, len(info.shape))
        layout = info.layout.within_warps(order, access_vector(op, info))
        if layout is None or layout.free_strides(Owner.WARP, self.num_warps):
            return None
        whole_lines = wastes_no_sectors(op, info.with_layout(layout), LINE_BYTES)
        return layout if whole_lines else None

    def _fit_regrouping(self, op: OpView) -> None:
        """The source decides what the result of a reduction is; elsewhere the smaller side
        is converted, which is the source."""
        result = tile_info(op.operation.results[0].type)
        source = tile_of(op.operation.operands[0])
        if result is None or forward(op, source.layout) == result.layout:
            return
        if isinstance(op, tile_gpu.ReduceOp) and result.layout == self._shared_out(op):
            return
        wanted = backward(op, result.layout)
        if wanted is not None:
            for index in range(len(op.operation.operands)):
                self._convert_operand(op, index, wanted)
            return
        natural = forward(op, source.layout)
        if natural is None:  # a reshape whose digits do not fit together
            common = reshapable(source.shape, result.shape, self.num_warps)
            self._convert_operand(op, 0, common)
            natural = common.reshape(result.shape)
            assert natural is not None
        for value in op.operation.results:
            self._fit_value(op, value, natural)

    def _fit_scan(self, op: OpView) -> None:
        info = tile_of(op.operation.operands[0])
        if info.layout.count(Owner.WARP, int_attr(op, "dim")) == 1:
            return
        layout = self._scan_layout(op)
        for index in range(len(op.operation.operands)):
            self._convert_operand(op, index, layout)
        for result in op.operation.results:
            self._fit_value(op, result, layout)

    def _fit_product(self, op: OpView) -> None:
        natural = self._product_layout(op)
        self._convert_operand(op, 2, natural)
        self._fit_result(op, natural)
        lhs = tile_info(op.operation.operands[0].type)
        if lhs is None:  # in shared memory
            return
        instruction = mma_instruction(op, self.capability)
        if keyword(op, "instruction", "") == "wgmma":
            groups = self._groups(op.operation.results[0])
            self._convert_operand(op, 0, wgmma.lhs_layout(lhs.shape, lhs.element, groups))
        elif instruction is not None:
            wanted = lhs_layout(instruction, lhs.shape, warp_grid_of(natural))
            self._convert_operand(op, 0, wanted)

    def _convert_operand(self, op: OpView, index: int, layout: Layout) -> None:
        value = op.operation.operands[index]
        info = tile_of(value)
        if info.layout == layout:
            return
        self.builder.point, self.builder.location = InsertionPoint(op), op.location
        new = tile_type(self.builder, info.with_layout(layout))
        op.operation.operands[index] = self.builder.op("tile_gpu.convert_layout", [value], new)

    def _fit_result(self, op: OpView, natural: Layout) -> None:
        self._fit_value(op, op.operation.results[0], natural)

    def _fit_value(self, op: OpView, value: Value, natural: Layout) -> None:
        """Lets `op` give `value` in its natural layout and converts it for its users."""
        info = tile_of(value)
        if info.layout == natural:
            return
        uses = uses_of(value)
        old = value.type
        value.set_type(tile_type(self.builder, info.with_layout(natural)))
        self.builder.point = InsertionPoint.after(op)
        self.builder.location = op.location
        converted = self.builder.op("tile_gpu.convert_layout", [value], old)
        redirect(uses, converted)


def _tiles(op: OpView) -> Iterator[Value]:
    for value in op.operation.results:
        if is_tile_type(value.type):
            yield value
    for region in op.operation.regions:
        for block in region.blocks:
            for argument in block.arguments:
                if is_tile_type(argument.type):
                    yield argument


def _anchor_value(op: OpView) -> Value:
    """The value whose layout an anchor is about."""
    of_operand = op.operation.name in _STORES
    return op.operation.operands[0] if of_operand else op.operation.results[0]


def _retyped_constant(op: OpView) -> Attribute:
    value = DenseElementsAttr(op.operation.attributes["value"])
    return retype(value, op.operation.results[0].type)
