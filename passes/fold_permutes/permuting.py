"""Permuting the tiles that one is computed from."""

from __future__ import annotations

from dataclasses import dataclass, field

from tileir.compiler.builder import Builder
from tileir.compiler.constants import retype
from tileir.compiler.ir_util import bool_list, defining_op, has_flag
from tileir.compiler.tile_types import TileInfo, is_tile_type, tile_of, tile_type
from tileir.dialects import tile_gpu
from tileir.ir import DenseElementsAttr, InsertionPoint, OpView, Value
from tileir.passes.fold_permutes.origins import Origins, carried_by, is_splat
from tileir.passes.fold_permutes.permutations import (
    TRANSPOSED,
    Permutation,
    before_reshape,
    composed,
    is_identity,
)


@dataclass
class Permuting:
    """Permutes the tiles that lead to one, in place: nothing else sees them."""

    _known: dict[Value, Value] = field(default_factory=dict)

    def permuted(self, value: Value, permutation: Permutation) -> Value:
        """The tile permuted, where `Origins.are_free` has said that it can be."""
        if value not in self._known:
            self._known[value] = self._permute(value, permutation)
        return self._known[value]

    def _permute(self, value: Value, permutation: Permutation) -> Value:
        if is_identity(permutation) or not is_tile_type(value.type):
            return value
        op = defining_op(value)
        assert op is not None, "what loops carry is known by then"
        if isinstance(op, tile_gpu.PermuteOp):
            return self.permuted(op.source, composed(op, permutation))
        info, b = tile_of(value).permuted(permutation), Builder(InsertionPoint(op), op.location)
        if is_splat(op):
            return _splat(b, op, info)
        if isinstance(op, tile_gpu.ReshapeOp):
            before = before_reshape(op, permutation)
            assert before is not None, "no other reshape is free"
            return _reshaped(b, self.permuted(op.source, before), info)
        self._permute_operands(b, op, value, permutation)
        value.set_type(tile_type(b, info))
        return value

    def _permute_operands(
        self, b: Builder, op: OpView, value: Value, permutation: Permutation
    ) -> None:
        if isinstance(op, tile_gpu.LoadOp):
            permute_access(op, permutation)
        elif isinstance(op, tile_gpu.BroadcastOp):
            op.operation.operands[0] = self._row(b, op.source, permutation)
        elif isinstance(op, tile_gpu.DotOp):
            self._transpose_product(b, op)
        elif op.operation.name == "scf.for":
            self._permute_carried(b, op, value, permutation)
        else:
            for index, operand in enumerate(op.operation.operands):
                op.operation.operands[index] = self.permuted(operand, permutation)

    def _row(self, b: Builder, row: Value, permutation: Permutation) -> Value:
        """The source of a broadcast, permuted. It is small: if need be, by an operation."""
        if Origins(may_be_products=False).are_free(row, permutation):
            return self.permuted(row, permutation)
        return b.permute(row, permutation)

    def _transpose_product(self, b: Builder, op: tile_gpu.DotOp) -> None:
        operands = [self.permuted(each, TRANSPOSED) for each in (op.rhs, op.lhs, op.acc)]
        for index, operand in enumerate(operands):
            op.operation.operands[index] = operand
        unsigned = [has_flag(op, f"{side}_unsigned") for side in ("rhs", "lhs")]
        for side, flag in zip(("lhs", "rhs"), unsigned, strict=True):
            _set_flag(b, op, f"{side}_unsigned", flag)

    def _permute_carried(
        self, b: Builder, loop: OpView, result: Value, permutation: Permutation
    ) -> None:
        first, argument, last = carried_by(loop, result)
        index = list(loop.operation.results).index(result)
        loop.operation.operands[index + 3] = self.permuted(first, permutation)
        argument.set_type(tile_type(b, tile_of(argument).permuted(permutation)))
        self._known[argument] = argument
        end = list(loop.operation.regions[0].blocks[0])[-1].operation
        end.operands[index] = self.permuted(last, permutation)


def _set_flag(b: Builder, op: OpView, name: str, flag: bool) -> None:
    if flag:
        op.operation.attributes[name] = b.attribute("unit")
    elif has_flag(op, name):
        del op.operation.attributes[name]


def _splat(b: Builder, op: OpView, info: TileInfo) -> Value:
    type_ = tile_type(b, info)
    if isinstance(op, tile_gpu.SplatOp):
        return b.op("tile_gpu.splat", [op.source], type_)
    value = retype(DenseElementsAttr(op.operation.attributes["value"]), type_)
    return b.op("arith.constant", [], type_, {"value": value})


def _reshaped(b: Builder, source: Value, info: TileInfo) -> Value:
    """`source`, which has as many elements, in the shape of `info`."""
    op = defining_op(source)
    if isinstance(op, tile_gpu.ReshapeOp):
        source = op.source
    if tile_of(source) == info:
        return source
    return b.op("tile_gpu.reshape", [source], tile_type(b, info))


def drop_reshapes(value: Value) -> None:
    """Has those use the source of a reshape who only reshape it back."""
    op = defining_op(value)
    if not isinstance(op, tile_gpu.ReshapeOp):
        return
    for use in list(value.uses):
        user = use.owner.operation.opview
        if isinstance(user, tile_gpu.ReshapeOp) and user.result.type == op.source.type:
            user.result.replace_all_uses_with(op.source)
            user.operation.erase()


def permute_access(op: tile_gpu.LoadOp | tile_gpu.StoreOp, permutation: Permutation) -> None:
    """Accesses the tensor with its dimensions in another order. What is known of the contiguous one
    stays true, wherever that is."""
    b = Builder(InsertionPoint(op), op.location)
    lists = [list(values) for values in (op.starts, op.sizes, op.strides)]
    rest = [values[dim] for values in lists for dim in permutation]
    first = len(op.operation.operands) - len(rest)
    for index, operand in enumerate(rest, first):
        op.operation.operands[index] = operand
    inside = bool_list(op, "in_bounds")
    op.operation.attributes["in_bounds"] = b.flags_attr([inside[dim] for dim in permutation])
