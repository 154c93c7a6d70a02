"""Loads whose tiles become matrix operands in shared memory: they can be copied there
asynchronously, past the registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tileir.compiler.ir_util import defining_op, int_attr, keyword, text_attr
from tileir.compiler.tile_types import TENSOR_ALIGNMENT, BufferInfo, buffer_info, tile_of
from tileir.dialects import tile_gpu
from tileir.ir import Block, Operation, OpView, Value
from tileir.passes.analysis.memory_accesses import contiguous_dim
from tileir.passes.walk import computed_from, ops_named

#: cp.async copies 4, 8 or 16 bytes.
_SMALLEST_COPY = 4
_PURE = ("arith.", "llvm.getelementptr", "llvm.ptrtoint")
#: Operations that write, or wait for what other grids have written.
_WRITES = (
    "tile_gpu.store", "tile_gpu.scatter", "tile_gpu.tma_store", "nvvm.griddepcontrol",
    "tile_gpu.atomic_red", "tile_gpu.atomic_rmw", "tile_gpu.atomic_cas",
)  # fmt: skip
_READS = ("tile_gpu.load", "tile_gpu.gather")


@dataclass(frozen=True)
class OperandLoad:
    """A load whose only use is to become a buffer.

    `rounding` stands between the two where f32 becomes tf32, which tensor memory accesses do on
    the way, and other copies do not.
    """

    load: tile_gpu.LoadOp
    rounding: OpView | None
    to_shared: OpView
    buffer: BufferInfo

    @property
    def result(self) -> Value:
        """The buffer, as an operand of products."""
        return self.to_shared.operation.results[0]

    @property
    def users(self) -> list[OpView]:
        return [use.owner.operation.opview for use in self.result.uses]

    @property
    def suits_tensor_access(self) -> bool:
        """Whether a tensor memory access can do the load."""
        return self.buffer.swizzle > 0 and int_attr(self.load, "alignment") >= TENSOR_ALIGNMENT

    def erase(self) -> None:
        """Removes the operations from the load to the buffer, which nothing uses any more."""
        for op in (self.to_shared, self.rounding, self.load):
            if op is not None:
                op.operation.erase()


def operand_loads(op: Operation | OpView) -> Iterator[OperandLoad]:
    """The loads inside `op` that can be copied asynchronously, in order."""
    for inner in ops_named(op, "tile_gpu.to_shared"):
        source = inner.operation.operands[0]
        rounding = defining_op(source) if rounds_to_tf32(source) else None
        load = defining_op(source if rounding is None else rounding.operation.operands[0])
        if isinstance(load, tile_gpu.LoadOp) and _can_be_copied(load):
            buffer = buffer_info(inner.operation.results[0].type)
            yield OperandLoad(load, rounding, inner, buffer)


def rounds_to_tf32(value: Value) -> bool:
    """Whether a tile is f32 rounded to the nearest tf32, for a single use."""
    op = defining_op(value)
    return (
        op is not None
        and op.operation.name == "tile_gpu.ftof"
        and text_attr(op, "rounding") == "rn"
        and (tile_of(op.operation.operands[0]).element, tile_of(value).element) == ("f32", "tf32")
        and len(list(value.uses)) == 1
    )


def _can_be_copied(load: tile_gpu.LoadOp) -> bool:
    return (
        keyword(load, "ordering", "weak") == "weak"
        and contiguous_dim(load) is not None
        and int_attr(load, "alignment") >= _SMALLEST_COPY
        and keyword(load, "padding", "zero") == "zero"
        and len(list(load.operation.results[0].uses)) == 1
    )


def loads_of_rounds(loop: OpView) -> list[OperandLoad]:
    """The loads of the loop's own body that can be done for any round ahead of time: each round's
    place follows from its number, and no round before it may write what it reads. (Before the
    loop, the block meets before the first of them.)"""
    body = loop.operation.regions[0].blocks[0]
    sees_news = _brings_news(loop)
    return [
        load
        for load in operand_loads(loop)
        if load.load.operation.block == body
        and not (sees_news and load.load.ordered)
        and all(_depends_on_counter_only(o, body) for o in load.load.operation.operands)
    ]


def _brings_news(loop: OpView) -> bool:
    """Whether a round writes to memory, or acquires what others have written."""
    reads = ops_named(loop, *_READS)
    acquires = any(keyword(op, "ordering", "weak") == "acquire" for op in reads)
    return acquires or bool(ops_named(loop, *_WRITES))


def _depends_on_counter_only(value: Value, body: Block) -> bool:
    """Whether `value` can be computed for any round from the loop's counter: through pure
    operations on scalars."""
    sources = computed_from(value, lambda op: op.operation.block == body)
    return all(_is_counter_or_pure(source, body) for source in sources)


def _is_counter_or_pure(value: Value, body: Block) -> bool:
    op = defining_op(value)
    if op is None:
        return value.owner != body or value == body.arguments[0]
    return op.operation.block != body or op.operation.name.startswith(_PURE)
