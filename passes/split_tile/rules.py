"""How one slice of an operation's result is computed from slices of its operands.

A rule for an operation gives, for a slice of its results along dimension `dim` into `factor`
parts, the form that each operand is needed in; None if no form of the operands will do. Most
operations are then copied with the sliced operands; a `builder` says where it takes more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tileir.compiler.ir_util import int_attr
from tileir.dialects.cuda_tile import DivBy, PtrType, SameElements, TileType, assume_predicate
from tileir.dialects.elements import element_dtype
from tileir.ir import (
    Attribute,
    DenseElementsAttr,
    DenseI32ArrayAttr,
    IntegerType,
    OpView,
    Type,
    Value,
)
from tileir.passes.split_tile.builder import splat_of
from tileir.passes.split_tile.forms import (
    WHOLE,
    Form,
    can_be_cut,
    shape_of,
    sliced_type,
    tile_type,
)
from tileir.passes.split_tile.operations import ELEMENTWISE

if TYPE_CHECKING:
    from tileir.passes.split_tile.slicer import Slicer

Forms = list[Form]
OperandRule = Callable[[OpView, int, int], Forms | None]
BuildRule = Callable[["Slicer", OpView, int], Sequence[Value]]

_OPERANDS: dict[str, OperandRule] = {}
_BUILDERS: dict[str, BuildRule] = {}


def slices(*names: str) -> Callable[[OperandRule], OperandRule]:
    """Registers the rule for operations of cuda_tile, named without the dialect."""

    def register(rule: OperandRule) -> OperandRule:
        _OPERANDS.update({"cuda_tile." + name: rule for name in names})
        return rule

    return register


def builds(*names: str) -> Callable[[BuildRule], BuildRule]:
    """Registers how a slice is built, for operations of which a copy is not enough."""

    def register(rule: BuildRule) -> BuildRule:
        _BUILDERS.update({"cuda_tile." + name: rule for name in names})
        return rule

    return register


def operand_forms(op: OpView, dim: int, factor: int) -> Forms | None:
    """The form of each operand that a slice of the results of `op` takes, or None."""
    name = op.operation.name
    if name in ELEMENTWISE:
        return _all(dim, op)
    rule = _OPERANDS.get(name)
    return None if rule is None else rule(op, dim, factor)


def _all(form: Form, op: OpView) -> Forms:
    return [form] * len(op.operation.operands)


def build(slicer: Slicer, op: OpView, dim: int) -> Sequence[Value]:
    """Builds a slice of the results of `op`, whose operands are there in the right forms."""
    builder = _BUILDERS.get(op.operation.name, copy_sliced)
    return builder(slicer, op, dim)


def copy_sliced(
    slicer: Slicer, op: OpView, dim: int, attributes: dict[str, Attribute] | None = None
) -> Sequence[Value]:
    """A copy of `op` on slices of its operands; every result is sliced along `dim`."""
    forms = operand_forms(op, dim, slicer.factor)
    assert forms is not None
    operands = [slicer.get(v, f) for v, f in zip(op.operation.operands, forms, strict=True)]
    types = [sliced_type(tile_type(r), dim, slicer.factor) for r in op.operation.results]
    new = slicer.builder.clone(op, operands, types, attributes)
    slicer.map_captured(op, new)
    return list(new.results)


# ---- constants -------------------------------------------------------------------------------


@slices("constant")
def _constant(op: OpView, dim: int, factor: int) -> Forms | None:
    """A list of different numbers has no slice known now: it is taken out of the whole."""
    return [] if DenseElementsAttr(op.operation.attributes["value"]).is_splat else None


@builds("constant")
def _build_constant(slicer: Slicer, op: OpView, dim: int) -> Sequence[Value]:
    type_ = sliced_type(tile_type(op.operation.results[0]), dim, slicer.factor)
    value = splat_of(DenseElementsAttr(op.operation.attributes["value"]), type_)
    return [slicer.builder.op("cuda_tile.constant", [], type_, {"value": value})]


@slices("iota")
def _iota(op: OpView, dim: int, factor: int) -> Forms | None:
    return []


@builds("iota")
def _build_iota(slicer: Slicer, op: OpView, dim: int) -> Sequence[Value]:
    """s * n/factor + (0, 1, ...): below n, which the element type holds as unsigned."""
    b = slicer.builder
    type_ = sliced_type(tile_type(op.operation.results[0]), dim, slicer.factor)
    counted = b.op("cuda_tile.iota", [], type_)
    width = IntegerType(type_.element_type).width
    first = b.scaled(b.resized(slicer.number, width), type_.shape[0])
    ones = b.op("cuda_tile.reshape", [first], type_.with_shape([1]))
    return [b.add(b.op("cuda_tile.broadcast", [ones], type_), counted)]


@slices("assume")
def _assume(op: OpView, dim: int, factor: int) -> Forms | None:
    return [dim]


@builds("assume")
def _build_assume(slicer: Slicer, op: OpView, dim: int) -> Sequence[Value]:
    """The promise as far as it holds for each slice alone; none if nothing is left of it."""
    value = op.operation.operands[0]
    predicate = assume_predicate(op.operation.attributes["predicate"])
    size = shape_of(value)[dim] // slicer.factor
    if isinstance(predicate, DivBy):
        predicate = _div_by_of_slice(predicate, dim, size, tile_type(value))
    elif isinstance(predicate, SameElements):
        predicate = _same_elements_of_slice(predicate, dim, size)
    if predicate is None:
        return [slicer.get(value, dim)]
    attributes = {"predicate": predicate.attribute(slicer.builder.context)}
    return copy_sliced(slicer, op, dim, attributes)


def _div_by_of_slice(predicate: DivBy, dim: int, size: int, type_: TileType) -> DivBy | None:
    """Groups of `every` elements start at a multiple. A slice of whole groups keeps them; a slice
    inside a group starts at the group's first element plus a multiple of its own size."""
    every = predicate.every
    if every is None or predicate.along != dim or size % every == 0:
        return predicate
    if every % size:
        return None
    return DivBy(math.gcd(predicate.divisor, size * _pace(type_.element_type)), size, dim)


def _pace(element: Type) -> int:
    """What promised groups grow by: 1 for integers, bytes for pointers."""
    if not isinstance(element, PtrType) or str(element.pointee) in ("f4E2M1FN", "fnv8E5M3FNU"):
        return 1
    return element_dtype(element.pointee).itemsize


def _same_elements_of_slice(predicate: SameElements, dim: int, size: int) -> SameElements | None:
    block = list(predicate.block)
    if size % block[dim] == 0:
        return predicate
    if block[dim] % size:
        return None
    block[dim] = size
    return SameElements(tuple(block))


# ---- shape -----------------------------------------------------------------------------------


@slices("broadcast")
def _broadcast(op: OpView, dim: int, factor: int) -> Forms | None:
    return [WHOLE if shape_of(op.operation.operands[0])[dim] == 1 else dim]


@slices("permute")
def _permute(op: OpView, dim: int, factor: int) -> Forms | None:
    return [list(DenseI32ArrayAttr(op.operation.attributes["permutation"]))[dim]]


@slices("reshape")
def _reshape(op: OpView, dim: int, factor: int) -> Forms | None:
    source, result = (shape_of(v) for v in (op.operation.operands[0], op.operation.results[0]))
    there = reshaped_dim(result, source, dim, factor)
    return None if there is None else [there]


def reshaped_dim(result: Sequence[int], source: Sequence[int], dim: int, factor: int) -> int | None:
    """The dimension of `source` whose slices are those of `result` along `dim`, or None.

    Dimensions of both shapes fall into groups of equal product, in row-major order; a reshape
    works on each group alone. Slices along the first dimension of a group are contiguous in it,
    and so they are along the first dimension of the group in the other shape.
    """
    before = math.prod(result[:dim])
    start = 1
    for there, size in enumerate(source):
        if start == before and size > 1:
            return there if can_be_cut(source, there, factor) else None
        start *= size
    return None


@slices("cat")
def _cat(op: OpView, dim: int, factor: int) -> Forms | None:
    return None if int_attr(op, "dim") == dim else [dim, dim]


def _takes_all(op: OpView, dim: int) -> bool:
    """Whether an `extract` takes all of its source along `dim`: the index is 0 there."""
    return shape_of(op.operation.operands[0])[dim] == shape_of(op.operation.results[0])[dim]


@slices("extract")
def _extract(op: OpView, dim: int, factor: int) -> Forms | None:
    indices = [WHOLE] * (len(op.operation.operands) - 1)
    return [dim if _takes_all(op, dim) else WHOLE, *indices]


@builds("extract")
def _build_extract(slicer: Slicer, op: OpView, dim: int) -> Sequence[Value]:
    """Of a whole source, slice s of the k-th slice is the (k * factor + s)-th smaller one. That is
    less than the size of the source, so nothing wraps."""
    if _takes_all(op, dim):
        return copy_sliced(slicer, op, dim)
    b = slicer.builder
    operands = [slicer.get(v, WHOLE) for v in op.operation.operands]
    operands[1 + dim] = b.add(b.scaled(operands[1 + dim], slicer.factor), slicer.number)
    type_ = sliced_type(tile_type(op.operation.results[0]), dim, slicer.factor)
    return list(b.clone(op, operands, [type_]).results)


@slices("insert")
def _insert(op: OpView, dim: int, factor: int) -> Forms | None:
    source, destination = op.operation.operands[:2]
    if shape_of(source)[dim] != shape_of(destination)[dim]:
        return None
    return [dim, dim] + [WHOLE] * (len(op.operation.operands) - 2)


@slices("pack", "unpack")
def _repack(op: OpView, dim: int, factor: int) -> Forms | None:
    """Slices are those of the bytes if their ends are ends of bytes and of elements."""
    shapes = [shape_of(v) for v in (op.operation.operands[0], op.operation.results[0])]
    return [0] if all(can_be_cut(shape, 0, factor) for shape in shapes) else None


# ---- matrix products and reductions ----------------------------------------------------------


@slices("mmaf", "mmai")
def _product(op: OpView, dim: int, factor: int) -> Forms | None:
    """Rows come from rows of the left operand, columns from columns of the right one, products of
    a batch from both. The contracted dimension is never cut: sums keep their order."""
    rank = len(shape_of(op.operation.results[0]))
    if dim == rank - 2:
        return [dim, WHOLE, dim]
    return [WHOLE, dim, dim] if dim == rank - 1 else [dim, dim, dim]


@slices("mmaf_scaled")
def _scaled_product(op: OpView, dim: int, factor: int) -> Forms | None:
    lhs, rhs, acc = _product(op, dim, factor) or []
    return [lhs, rhs, acc, lhs, rhs]


@slices("reduce")
def _reduce(op: OpView, dim: int, factor: int) -> Forms | None:
    """The reduced dimension is gone from the result."""
    source = dim if dim < int_attr(op, "dim") else dim + 1
    return _all(source, op)


@slices("scan")
def _scan(op: OpView, dim: int, factor: int) -> Forms | None:
    return None if int_attr(op, "dim") == dim else _all(dim, op)


# ---- views -----------------------------------------------------------------------------------


@slices("make_partition_view", "make_strided_view", "make_gather_scatter_view")
def _view(op: OpView, dim: int, factor: int) -> Forms | None:
    return [WHOLE]


@builds("make_partition_view", "make_strided_view", "make_gather_scatter_view")
def _build_view(slicer: Slicer, op: OpView, dim: int) -> Sequence[Value]:
    return [slicer.accesses.view(op.operation.results[0], dim).view]
