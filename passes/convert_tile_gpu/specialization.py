"""Warps with different work, and the mbarriers between them."""

from __future__ import annotations

from tileir.compiler.ir_util import int_attr
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.barriers import NamedBarrier, meet
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address, shared_pointer
from tileir.passes.convert_tile_gpu.warpgroups import same_in_warp

_READY_THREADS = 2 * 32
#: Labels are local to the braces. A failed attempt has already waited for a while.
_WAIT = (
    "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
    "@!done bra AGAIN; }"
)


@lowers("tile_gpu.specialize")
def _specialize(ctx: Lowering, op: tile_gpu.SpecializeOp) -> None:
    b, consumer_warps = ctx.builder, ctx.num_warps * int_attr(op, "replicas", 1)
    start, everyone = b.c32(NamedBarrier.START), 32 * ctx.block_warps
    producing = b.compare("uge", ctx.warp, b.c32(consumer_warps))
    branch = b.create("scf.if", [producing], regions=2)
    fewer, more = list(op.registers) if op.registers is not None else (None, None)
    with b.at(b.block(branch.regions[0])):
        ctx.asm("bar.arrive $0, $1;", "r,r,~{memory}", [start, b.c32(everyone)], None, True)
        _set_registers(ctx, "decrease", fewer)
        with ctx.only_if(b.compare("eq", ctx.warp, b.c32(consumer_warps))):
            meet(b, b.c32(NamedBarrier.READY), _READY_THREADS)
        first = b.compare("eq", ctx.thread, b.c32(32 * consumer_warps))
        with ctx.only_if(first):
            for inner in op.producer.blocks[0]:
                ctx.lower(inner)
        b.create("scf.yield")
    with b.at(b.block(branch.regions[1])):
        meet(b, start, everyone)
        _set_registers(ctx, "increase", more)
        with ctx.consumers(int_attr(op, "replicas", 1), NamedBarrier.CONSUMERS):
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


@lowers("tile_gpu.exit_if")
def _exit_if(ctx: Lowering, op: tile_gpu.ExitIfOp) -> None:
    _if(ctx, "exit;", ctx.scalar(op.condition), [])


@lowers("tile_gpu.first_lane")
def _first_lane(ctx: Lowering, op: tile_gpu.FirstLaneOp) -> None:
    b, value = ctx.builder, ctx.scalar(op.operand)
    if value.type == b.i32:
        ctx.set(op, [same_in_warp(ctx, value)])
        return
    high = b.op("arith.shrui", [value, b.c64(32)], b.i64)
    halves = [same_in_warp(ctx, b.op("arith.trunci", [half], b.i32)) for half in (value, high)]
    low, high = (b.op("arith.extui", [half], b.i64) for half in halves)
    ctx.set(op, [b.op("arith.ori", [low, b.op("arith.shli", [high, b.c64(32)], b.i64)], b.i64)])


@lowers("tile_gpu.replica")
def _replica(ctx: Lowering, op: OpView) -> None:
    ctx.set(op, [ctx.replica])


@lowers("tile_gpu.take_turn")
def _take_turn(ctx: Lowering, op: OpView) -> None:
    meet(ctx.builder, _turn(ctx, ctx.replica), _turn_threads(ctx))


@lowers("tile_gpu.pass_turn")
def _pass_turn(ctx: Lowering, op: tile_gpu.PassTurnOp) -> None:
    b = ctx.builder
    other = b.sub(b.c32(ctx.num_replicas - 1), ctx.replica)
    passes = b.constant(True, b.i1) if op.predicate is None else ctx.scalar(op.predicate)
    operands = [_turn(ctx, other), b.c32(_turn_threads(ctx))]
    _if(ctx, "bar.arrive $1, $2;", passes, operands)


def _if(ctx: Lowering, instruction: str, condition: Value, operands: list[Value]) -> None:
    """An instruction under a predicate. A branch would end the block of code in which accumulators
    are in flight, and ptxas would have products wait there (C7517)."""
    b = ctx.builder
    flag = b.op("arith.extui", [condition], b.i32)
    text = f"{{ .reg .pred p; setp.ne.b32 p, $0, 0; @p {instruction} }}"
    ctx.asm(
        text, ",".join(["r"] * (1 + len(operands))) + ",~{memory}", [flag, *operands], None, True
    )


def _turn(ctx: Lowering, replica: Value) -> Value:
    """The barrier of a replica's turn."""
    return ctx.builder.add(replica, ctx.builder.c32(NamedBarrier.TURNS))


def _turn_threads(ctx: Lowering) -> int:
    """Those of both replicas, one of which only arrives."""
    return 32 * ctx.num_warps * ctx.num_replicas


@lowers("tile_gpu.mbarrier_init")
def _mbarrier_init(ctx: Lowering, op: tile_gpu.MbarrierInitOp) -> None:
    """The fence shows them to asynchronous copies too."""
    b, barriers = ctx.builder, ctx.buffers[op.barrier]
    first = address(ctx, barriers)
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(32 * ctx.preparing_warp))):
        count = ctx.scalar(op.count)
        for stage in range(barriers.info.stages):
            place = b.add(first, b.c32(stage * barriers.info.stage_bytes))
            b.create("nvvm.mbarrier.init", [shared_pointer(ctx, place), count])
        b.create("nvvm.fence.mbarrier.init")


@lowers("tile_gpu.mbarrier_ready")
def _mbarrier_ready(ctx: Lowering, op: OpView) -> None:
    with ctx.only_if(ctx.builder.compare("eq", ctx.warp, ctx.builder.c32(ctx.preparing_warp))):
        ready = [ctx.builder.c32(NamedBarrier.READY), ctx.builder.c32(_READY_THREADS)]
        ctx.asm("bar.arrive $0, $1;", "r,r,~{memory}", ready, None, True)


def _barrier(ctx: Lowering, value: Value) -> Value:
    return address(ctx, ctx.buffers[value])


@lowers("tile_gpu.mbarrier_expect")
def _mbarrier_expect(ctx: Lowering, op: tile_gpu.MbarrierExpectOp) -> None:
    b = ctx.builder
    operands = [shared_pointer(ctx, _barrier(ctx, op.barrier)), ctx.scalar(op.bytes)]
    attributes = {
        "scope": b.attribute("#nvvm.mem_scope<cta>"),
        "relaxed": b.attribute("false"),
    }
    b.create("nvvm.mbarrier.arrive.expect_tx", operands, attributes=attributes)


@lowers("tile_gpu.mbarrier_arrive")
def _mbarrier_arrive(ctx: Lowering, op: tile_gpu.MbarrierArriveOp) -> None:
    """By the first lane. Its warp has come this far as a whole: the products that read the stage
    are done for all of its lanes at once."""
    predicate = None if op.predicate is None else ctx.scalar(op.predicate)
    arrive(ctx, op.barrier, bool(op.cluster), predicate)


def arrive(ctx: Lowering, at: Value, cluster: bool, predicate: Value | None = None) -> None:
    """The first lane arrives at a barrier, the second at that of the other block of a pair."""
    b = ctx.builder
    arrives = b.compare("eq", ctx.lane, b.c32(0))
    if predicate is not None:
        arrives = b.op("arith.andi", [arrives, predicate], b.i1)
    barrier = _barrier(ctx, at)
    _if(ctx, "mbarrier.arrive.shared::cta.b64 _, [$1];", arrives, [barrier])
    if cluster:
        _arrive_at_other(ctx, barrier, predicate)


def _arrive_at_other(ctx: Lowering, barrier: Value, predicate: Value | None) -> None:
    """(`.release.cluster`, written out, makes ptxas add a fence.)"""
    b = ctx.builder
    rank, size = (
        b.op(f"nvvm.read.ptx.sreg.cluster.{name}", [], b.i32) for name in ("ctarank", "nctarank")
    )
    last = b.sub(size, b.c32(1))
    is_second, is_pair = (b.compare("eq", value, b.c32(1)) for value in (ctx.lane, last))
    arrives = b.op("arith.andi", [is_second, is_pair], b.i1)
    if predicate is not None:
        arrives = b.op("arith.andi", [arrives, predicate], b.i1)
    other = b.op("arith.xori", [rank, last], b.i32)
    text = "mapa.shared::cluster.u32 $0, $1, $2;"
    there = ctx.asm(text, "=r,r,r", [barrier, other], b.i32, False).results[0]
    _if(ctx, "mbarrier.arrive.shared::cluster.b64 _, [$1];", arrives, [there])


@lowers("tile_gpu.cluster_barrier")
def _cluster_barrier(ctx: Lowering, op: OpView) -> None:
    text = "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;"
    ctx.asm(text, "~{memory}", [], None, True)


@lowers("tile_gpu.mbarrier_wait")
def _mbarrier_wait(ctx: Lowering, op: OpView) -> None:
    barrier, parity = op.operation.operands
    wait_for(ctx, barrier, parity)


def wait_for(ctx: Lowering, barrier: Value, parity: Value) -> None:
    """Until a barrier has completed the phase of this parity."""
    operands = [_barrier(ctx, barrier), ctx.scalar(parity)]
    ctx.asm(_WAIT, "r,r,~{memory}", operands, None, True)
