"""What is done to a kernel when all of it is known: unused operations go, products and sums that
belong together become one operation.

Both look at operations in the order in which they were made, which is one in which no operation
comes before what it uses.
"""

from __future__ import annotations

from tileir.ir import Attribute, InsertionPoint, Operation, OpResult, Value

from .builder import Builder

_SUM, _DIFFERENCE, _PRODUCT = "cuda_tile.addf", "cuda_tile.subf", "cuda_tile.mulf"


def finish(builder: Builder) -> None:
    """Cleans the kernel that `builder` holds."""
    builder.memory.finish()
    _erase_unused(builder)
    _fuse_products(builder)


def _erase_unused(builder: Builder) -> None:
    kept: list[tuple[str, Operation]] = []
    for name, op in reversed(builder.removable):
        if any(_is_used(result) for result in op.results):
            kept.append((name, op))
        else:
            op.erase()
    builder.removable = kept[::-1]


def _is_used(value: Value) -> bool:
    return next(iter(value.uses), None) is not None


def _fuse_products(builder: Builder) -> None:
    """Has `a * b + c` rounded once.

    Products and sums of the same rounding are fused if the product is used nowhere else; a
    difference becomes the sum with a negated operand, which is exact.
    """
    gone: list[Operation] = []
    for name, op in builder.removable:
        if name in (_SUM, _DIFFERENCE) and (product := _fuse(op, name)) is not None:
            gone += [op, product]
    for op in gone:
        op.erase()


def _fuse(op: Operation, name: str) -> Operation | None:
    """Puts a fused operation in the place of a sum; the product that went into it, if any."""
    left, right = op.operands
    for value, other, product_is_right in ((left, right, False), (right, left, True)):
        product = _product(value)
        if product is None:
            continue
        attributes = _attributes(op)
        if _attributes(product) != attributes:
            continue
        factor, by = product.operands
        addend = other
        if name == _DIFFERENCE and product_is_right:
            factor = _negated(op, factor)
        elif name == _DIFFERENCE:
            addend = _negated(op, addend)
        fused = Operation.create(
            "cuda_tile.fma",
            [op.result.type],
            [factor, by, addend],
            attributes,
            loc=op.location,
            ip=InsertionPoint(op),
        )
        op.result.replace_all_uses_with(fused.result)
        return product
    return None


def _product(value: Value) -> Operation | None:
    """The product that a value is, if it is used once."""
    if not isinstance(value, OpResult):
        return None
    owner = value.owner
    if owner.name != _PRODUCT:
        return None
    uses = iter(value.uses)
    next(uses)
    return owner.operation if next(uses, None) is None else None


def _attributes(op: Operation) -> dict[str, Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _negated(op: Operation, value: Value) -> Value:
    return Operation.create(
        "cuda_tile.negf", [value.type], [value], loc=op.location, ip=InsertionPoint(op)
    ).result
