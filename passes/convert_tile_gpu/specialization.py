"""Warps with different work, and the mbarriers between them."""

from __future__ import annotations

from tileir.compiler.ir_util import int_attr
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address

#: Barrier 0 is that of the whole block.
_CONSUMER_BARRIER = 1
#: Labels are local to the braces. A failed attempt has already waited for a while.
_WAIT = (
    "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
    "@!done bra AGAIN; }"
)


@lowers("tile_gpu.specialize")
def _specialize(ctx: Lowering, op: tile_gpu.SpecializeOp) -> None:
    b = ctx.builder
    producing = b.compare("uge", ctx.warp, b.c32(ctx.num_warps))
    branch = b.create("scf.if", [producing], regions=2)
    fewer, more = list(op.registers) if op.registers is not None else (None, None)
    with b.at(b.block(branch.regions[0])):
        _set_registers(ctx, "decrease", fewer)
        first = b.compare("eq", ctx.thread, b.c32(32 * ctx.num_warps))
        with ctx.only_if(first):
            for inner in op.producer.blocks[0]:
                ctx.lower(inner)
        b.create("scf.yield")
    with b.at(b.block(branch.regions[1])):
        _set_registers(ctx, "increase", more)
        with ctx.some_warps(_CONSUMER_BARRIER):
            for inner in op.consumers.blocks[0]:
                ctx.lower(inner)
        b.create("scf.yield")


def _set_registers(ctx: Lowering, action: str, count: int | None) -> None:
    if count is None:
        return
    b = ctx.builder
    attributes = {
        "action": b.attribute(f"#nvvm<action {action}>"),
        "regCount": b.i32_attr(count),
    }
    b.create("nvvm.setmaxregister", attributes=attributes)


@lowers("tile_gpu.mbarrier_init")
def _mbarrier_init(ctx: Lowering, op: tile_gpu.MbarrierInitOp) -> None:
    """One thread makes them; the fence shows them to asynchronous copies too."""
    b, barriers = ctx.builder, ctx.buffers[op.barrier]
    first = address(ctx, barriers)
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(0))):
        count = b.c32(int_attr(op, "count"))
        for stage in range(barriers.info.stages):
            place = b.add(first, b.c32(stage * barriers.info.stage_bytes))
            b.create("nvvm.mbarrier.init", [_pointer(ctx, place), count])
        b.create("nvvm.fence.mbarrier.init")


def _pointer(ctx: Lowering, place: Value) -> Value:
    return ctx.builder.op("llvm.inttoptr", [place], ctx.builder.type("!llvm.ptr<3>"))


def _barrier(ctx: Lowering, value: Value) -> Value:
    return address(ctx, ctx.buffers[value])


_ARRIVAL = {"scope": "#nvvm.mem_scope<cta>", "relaxed": "false"}


def _arrival(ctx: Lowering) -> dict:
    return {name: ctx.builder.attribute(text) for name, text in _ARRIVAL.items()}


@lowers("tile_gpu.mbarrier_expect")
def _mbarrier_expect(ctx: Lowering, op: tile_gpu.MbarrierExpectOp) -> None:
    b = ctx.builder
    operands = [_pointer(ctx, _barrier(ctx, op.barrier)), b.c32(int_attr(op, "bytes"))]
    b.create("nvvm.mbarrier.arrive.expect_tx", operands, attributes=_arrival(ctx))


@lowers("tile_gpu.mbarrier_arrive")
def _mbarrier_arrive(ctx: Lowering, op: tile_gpu.MbarrierArriveOp) -> None:
    """By the first lane. Its warp has come this far as a whole: the products that read the stage
    are done for all of its lanes at once."""
    b = ctx.builder
    place = _pointer(ctx, _barrier(ctx, op.barrier))
    arrives = b.compare("eq", ctx.lane, b.c32(0))
    if op.predicate is not None:
        arrives = b.op("arith.andi", [arrives, ctx.scalar(op.predicate)], b.i1)
    with ctx.only_if(arrives):
        b.create("nvvm.mbarrier.arrive", [place], [b.i64], _arrival(ctx))


@lowers("tile_gpu.mbarrier_wait")
def _mbarrier_wait(ctx: Lowering, op: OpView) -> None:
    barrier, parity = op.operation.operands
    operands = [_barrier(ctx, barrier), ctx.scalar(parity)]
    ctx.asm(_WAIT, "r,r,~{memory}", operands, None, True)
