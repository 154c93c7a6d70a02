"""promote-products: sums of 8-bit floats are added up in full precision.

The tensor core keeps about 14 bits of the sum of products of 8-bit floats. A program that does not
say `fast_acc` gets more: `wgmma` sums no more than 128 elements of k on its own, and ordinary
additions add these sums to the accumulator ("promotion", as DeepGEMM and CUTLASS have it). What a
program adds by itself becomes the same, which needs fewer registers than a product of its own:

    %s = dot %a, %b, %zero                  %r = dot %a, %b, %acc promoted
    %r = addf %acc, %s              =>
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler import wgmma
from tileir.compiler.ir_util import defining_op, has_flag, is_zero, keyword
from tileir.compiler.tile_types import operand_of, tile_of
from tileir.dialects import tile_gpu
from tileir.ir import Attribute, Operation, OpView, Value
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels, ops_of, replace_op


@dataclass(frozen=True)
class PromoteProducts(ModulePass):
    """Add up sums of 8-bit floats in full precision."""

    name = "promote-products"

    def apply(self, module: Operation) -> None:
        unit = Attribute.parse("unit", module.context)
        for kernel in kernels(module):
            for op in ops_of(kernel, tile_gpu.DotOp):
                if keyword(op, "instruction", "") != "wgmma":
                    continue
                addition = _addition(op)
                if addition is not None:
                    _absorb(op, addition)
                if addition is not None or _needs_promotion(op):
                    op.operation.attributes["promoted"] = unit


def _needs_promotion(product: tile_gpu.DotOp) -> bool:
    """Whether the tensor core would sum more than it should."""
    operand = operand_of(product, 0)
    if has_flag(product, "fast_acc") or not wgmma.sums_roughly(operand.element):
        return False
    return operand.shape[1] > wgmma.ROUGH_DEPTH or not is_zero(product.acc)


def _addition(product: tile_gpu.DotOp) -> OpView | None:
    """The addition that is all that becomes of a product without accumulator, if its other operand
    is there before the product."""
    uses = list(product.result.uses)
    if len(uses) != 1 or not is_zero(product.acc) or tile_of(product.acc).element != "f32":
        return None
    user = uses[0].owner.operation
    if user.name != "arith.addf" or user.block != product.operation.block:
        return None
    other = user.operands[1 - uses[0].operand_number]
    return user.opview if _precedes(other, product) else None


def _precedes(value: Value, op: OpView) -> bool:
    source = defining_op(value)
    if source is None or source.operation.block != op.operation.block:
        return True  # from further outside, since the addition sees it
    return next(o for o in op.operation.block if o in (source, op)) == source


def _absorb(product: tile_gpu.DotOp, addition: OpView) -> None:
    """Lets the product do the addition."""
    lhs, rhs = addition.operation.operands
    product.operation.operands[2] = rhs if lhs == product.result else lhs
    replace_op(addition, product.result)
