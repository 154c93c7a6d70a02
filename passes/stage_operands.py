"""stage-operands: matrix operands go to shared memory, unless they are already at hand.

Tensor cores take their operands in layouts that suit no global load, so operands pass through
shared memory, from where `ldmatrix` deals them out. The exception is a left operand computed from
another product (the probabilities of attention): its registers already lie as the next product
needs them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, splat_integer
from tileir.compiler.tile_types import operand_buffer, tile_info
from tileir.ir import InsertionPoint, Operation, OpView, Value
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels, walk

_ELEMENTWISE = (
    "arith.",
    "math.",
    "tile_gpu.call",
    "tile_gpu.cast",
    "tile_gpu.ftof",
    "tile_gpu.inline_ptx",
    "tile_gpu.select",
)


@dataclass(frozen=True)
class StageOperands(ModulePass):
    """Put the operands of matrix products in shared memory or in registers."""

    name = "stage-operands"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            for op in walk(kernel):
                if op.operation.name == "tile_gpu.dot":
                    _stage(op)


def _stage(dot: OpView) -> None:
    for index, operand in enumerate(list(dot.operation.operands)[:2]):
        info = tile_info(operand.type)
        if info is None or (index == 0 and comes_from_product(operand)):
            continue
        buffer = operand_buffer(info.shape, info.element, _memory_order(operand))
        builder = Builder(InsertionPoint(dot), dot.location)
        staged = builder.op("tile_gpu.to_shared", [operand], builder.type(str(buffer)))
        dot.operation.operands[index] = staged


def comes_from_product(value: Value) -> bool:
    """Whether elementwise operations lead from a matrix product to `value`."""
    pending, seen = [value], set()
    while pending:
        value = pending.pop()
        op = defining_op(value)
        if op is None or value in seen:
            continue
        seen.add(value)
        if op.operation.name == "tile_gpu.dot":
            return True
        if op.operation.name.startswith(_ELEMENTWISE):
            pending += [o for o in op.operation.operands if tile_info(o.type)]
    return False


def _memory_order(value: Value) -> tuple[int, ...]:
    """The dimensions from slowest to fastest, as the tile lies in global memory."""
    op = defining_op(value)
    rank = len(tile_info(value.type).shape)
    if op is not None and op.operation.name == "tile_gpu.load":
        contiguous = contiguous_dim(op)
        if contiguous is not None:
            return (*(d for d in range(rank) if d != contiguous), contiguous)
    return tuple(range(rank))


def contiguous_dim(access: OpView) -> int | None:
    """The last dimension of a load or store whose stride is known to be 1."""
    strides = list(access.strides)
    for dim in reversed(range(len(strides))):
        if splat_integer(defining_op(strides[dim])) == 1:
            return dim
    return None
