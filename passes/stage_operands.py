"""stage-operands: matrix operands go to shared memory, unless they are already at hand.

Tensor cores take their operands in layouts that suit no global load, so operands pass through
shared memory, from where `ldmatrix` deals them out. The exception is a left operand computed from
another product (the probabilities of attention): its registers already lie as the next product
needs them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op
from tileir.compiler.tile_types import operand_buffer, tile_info, tile_of
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.memory_accesses import memory_order
from tileir.passes.analysis.operand_loads import rounds_to_tf32
from tileir.passes.analysis.products import mma_instruction
from tileir.passes.analysis.regrouping import ELEMENTWISE
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels, ops_of


@dataclass(frozen=True)
class StageOperands(ModulePass):
    """Put the operands of matrix products in shared memory or in registers."""

    name = "stage-operands"

    def apply(self, module: Operation) -> None:
        capability = target_of(module).capability
        for kernel in kernels(module):
            for dot in ops_of(kernel, tile_gpu.DotOp):
                _stage(dot, capability)


def _stage(dot: OpView, capability: int) -> None:
    lhs, rhs, _ = dot.operation.operands
    in_registers = comes_from_product(lhs) and mma_instruction(dot, capability) is not None
    for index, operand in enumerate((lhs, rhs)):
        info = tile_info(operand.type)
        if info is None or (index == 0 and in_registers):
            continue
        buffer = operand_buffer(info.shape, info.element, _memory_order(operand))
        origin = defining_op(operand) or dot  # what an error about its memory names
        builder = Builder(InsertionPoint(dot), origin.location)
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
        if op.operation.name.startswith(ELEMENTWISE):
            pending += [o for o in op.operation.operands if tile_info(o.type)]
    return False


def _memory_order(value: Value) -> tuple[int, ...]:
    """The dimensions from slowest to fastest, as the tile lies in global memory; those of a matrix
    come last."""
    rank, load = len(tile_of(value).shape), defining_op(value)
    if load is not None and rounds_to_tf32(value):
        load = defining_op(load.operation.operands[0])
    if isinstance(load, tile_gpu.LoadOp):
        order = memory_order(load, rank)
        if order[:-2] == tuple(range(rank - 2)):
            return order
    return tuple(range(rank))
