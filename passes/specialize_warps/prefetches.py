"""What epilogues read is asked for before products run.

A tile that is added to a product's result is read where it is added, all at once and late. Its rows
are asked for where the work on a tile of the result begins, so that memory brings them into the
second-level cache meanwhile, unless the producer fetches them. Rows and columns are few registers:
they are loaded before the products, where nothing else waits for registers.
"""

from __future__ import annotations

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, int_attr, keyword, with_branches
from tileir.compiler.tile_types import tile_of
from tileir.dialects import tile_gpu
from tileir.ir import Block, InsertionPoint, Operation, OpView, TypeAttr, Value
from tileir.passes.analysis.memory_accesses import contiguous_dim
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.walk import computed_from, recompute

#: Requests for the cache are made in units of so many bytes.
_UNIT = 16
#: Smaller tiles, rows of bias for one, stay in the cache anyway.
_SMALLEST = 16 * 1024
_PURE = ("arith.", "nvvm.read.ptx.sreg.")


def prefetch_epilogue(plan: Plan) -> None:
    """Asks early for the tiles that are loaded after a loop around products, in the same block."""
    fetched = {source.load.operation for source in plan.sources}
    for block, loop in _loops_of_rings(plan):
        ops = [op.operation for op in block]
        after = [op.opview for op in ops[ops.index(loop) + 1 :] if op not in fetched]
        loads = [op for op in after if isinstance(op, tile_gpu.LoadOp) and not op.ordered]
        rows = [load for load in loads if _is_row(load, block)]
        for load in loads:
            if load not in rows and _suits(load, block):
                _prefetch(load, block)
        if len(rows) == len(loads):
            for load in rows:
                _load_early(load, block, loop)


def _is_row(load: tile_gpu.LoadOp, block: Block) -> bool:
    """Whether a load reads few elements, whose place is known where the loop begins."""
    tile = tile_of(load.operation.results[0])
    return (
        tile.is_row
        and keyword(load, "ordering", "weak") == "weak"
        and all(_is_known(operand, block) for operand in load.operation.operands)
    )


def _load_early(load: tile_gpu.LoadOp, block: Block, loop: Operation) -> None:
    """Loads before the loop what is few registers, for the loop to hide how long that takes."""
    b = Builder(InsertionPoint(loop), load.location)
    known: dict[Value, Value] = {}
    for i, operand in enumerate(load.operation.operands):
        load.operation.operands[i] = recompute(b, operand, known, lambda op: _inside(op, block))
    load.operation.move_before(loop)


def _loops_of_rings(plan: Plan) -> list[tuple[Block, Operation]]:
    """The operations that hold the rings' loops, each with its block: that of a loop over tiles, or
    of the kernel."""
    found = {}
    for ring in plan.rings:
        op = with_branches(ring.block.owner)
        if op.name in ("scf.for", "scf.if"):
            found[op] = op.block
    return [(block, op) for op, block in found.items()]


def _suits(load: tile_gpu.LoadOp, block: Block) -> bool:
    tile = tile_of(load.operation.results[0])
    size = tile.element_bytes
    for extent in tile.shape:
        size *= extent
    return (
        len(tile.shape) == 2
        and size >= _SMALLEST
        and keyword(load, "ordering", "weak") == "weak"
        and contiguous_dim(load) is not None
        and int_attr(load, "alignment") >= _UNIT
        and all(_is_known(operand, block) for operand in load.operation.operands)
    )


def _is_known(value: Value, block: Block) -> bool:
    """Whether `value` can be computed where `block` begins."""
    ops = [defining_op(source) for source in computed_from(value, lambda op: _inside(op, block))]
    return all(
        op.operation.name.startswith(_PURE) and not op.operation.regions
        for op in ops
        if op is not None and _inside(op, block)
    )


def _inside(op: OpView, block: Block) -> bool:
    return op.operation.block == block


def _prefetch(load: tile_gpu.LoadOp, block: Block) -> None:
    b = Builder(InsertionPoint.at_block_begin(block), load.location)
    known: dict[Value, Value] = {}
    operands = [
        recompute(b, operand, known, lambda op: _inside(op, block))
        for operand in load.operation.operands
    ]
    names = ("alignment", "in_bounds", "operandSegmentSizes")
    attributes = {name: load.operation.attributes[name] for name in names}
    attributes["tile"] = TypeAttr.get(load.operation.results[0].type)
    b.create("tile_gpu.prefetch", operands, attributes=attributes)
