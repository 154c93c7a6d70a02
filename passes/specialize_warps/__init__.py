"""specialize-warps: one thread fetches tiles, the other warps compute on them.

A kernel whose products read tiles that tensor memory accesses can fetch is split into two: the
producer runs the loops around its loads, and starts copies as far ahead as there is room; the
consumers run everything else.

    for i:                            producer                       consumers
        a = load(A, i)                for i:                         for i:
        b = load(B, i)          =>        wait until empty[s]            wait until full[s]
        acc = dot(a, b, acc)              expect bytes on full[s]        acc = dot(a[s], b[s], acc)
                                          copy a, b to stage s           arrive at empty[s]

A ring of buffers with two mbarriers a stage joins the two. Both count stages and phases across
all loops around the loads, so that the producer of a kernel that loops over tiles fetches the
next tile's operands while the consumers finish the last one.

Consumers of middle-sized tiles play ping-pong (`ping_pong.py`).

Copies go past the order of ordinary accesses: so kernels stay as they are of whose operands one
may see what was written before it (`order-memory` marks such loads).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import has_flag
from tileir.compiler.target import Target
from tileir.compiler.wgmma import WARPS
from tileir.dialects import tile_gpu
from tileir.ir import Block, InsertionPoint, Operation, OpView
from tileir.passes.analysis.operand_loads import operand_loads
from tileir.passes.attach_target import is_managed, target_of
from tileir.passes.base import ModulePass
from tileir.passes.choose_num_warps import num_warps_of, set_num_warps
from tileir.passes.overlap_products import wait_in_place
from tileir.passes.specialize_warps.block_pairs import pair_blocks
from tileir.passes.specialize_warps.consumers import Consumers, zero_unfetched
from tileir.passes.specialize_warps.ping_pong import REPLICAS, PingPong
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.specialize_warps.prefetches import prefetch_epilogue
from tileir.passes.specialize_warps.producer import Producer
from tileir.passes.specialize_warps.remarks import remark_division
from tileir.passes.specialize_warps.stores import replace_stores
from tileir.passes.walk import kernels, ops_of

#: Registers of a thread of the producer and of a consumer, by the number of consumer warpgroups,
#: where the even share of a block's registers is not enough for consumers.
_REGISTERS = {2: (40, 232), 3: (32, 160)}


@dataclass(frozen=True)
class SpecializeWarps(ModulePass):
    """Let one thread fetch tiles while the other warps compute.

    `stages` bounds the number of rounds that are fetched ahead; fewer where shared memory is
    short.
    """

    name = "specialize-warps"

    stages: int = 16

    def apply(self, module: Operation) -> None:
        target = target_of(module)
        for kernel in kernels(module):
            plan = Plan.of(kernel, target, self.stages) or self._waiting(kernel, target)
            if plan is not None and is_managed(module):
                plan = self._in_pairs(kernel, target, plan)
            if plan is not None:
                _specialize(kernel, plan)

    def _waiting(self, kernel: Operation, target: Target) -> Plan | None:
        """The plan with fewer stages for products that are done where they stand instead of staying
        in flight. They also are where there is no plan, but tiles that no other copies bring."""
        if not any(has_flag(op, "in_flight") for op in ops_of(kernel, tile_gpu.DotOp)):
            return None
        plan = Plan.of(kernel, target, self.stages, in_flight=False)
        if plan is not None or any(load.rounding for load in operand_loads(kernel)):
            wait_in_place(kernel)
        return plan

    def _in_pairs(self, kernel: Operation, target: Target, plan: Plan) -> Plan | None:
        """The plan for blocks that may come in pairs, if that suits; otherwise the one given."""
        shared = pair_blocks(kernel, plan)
        return plan if shared is None else Plan.of(kernel, target, self.stages, shared)


def _specialize(kernel: Operation, plan: Plan) -> None:
    prefetch_epilogue(plan)
    body = kernel.regions[0].blocks[0]
    *work, end = list(body)
    b = Builder(InsertionPoint(end), end.location)
    attributes = {}
    registers = _REGISTERS.get(num_warps_of(kernel) // WARPS)
    if registers:
        attributes["registers"] = b.attribute(f"array<i64: {registers[0]}, {registers[1]}>")
    ping_pong = PingPong.of(kernel, plan)
    if ping_pong is not None and not plan.make_room(REPLICAS):
        ping_pong = None
        plan.make_room(1)
    remark_division(kernel, plan, ping_pong)
    if ping_pong is not None:
        set_num_warps(kernel, num_warps_of(kernel) // REPLICAS)
        attributes["replicas"] = b.i64_attr(REPLICAS)
    plan.allocate(b, REPLICAS if ping_pong is not None else 1)
    split = b.create("tile_gpu.specialize", attributes=attributes, regions=2)
    producer, consumers = (b.block(region) for region in split.regions)
    Producer(b, plan).fill(producer, body)
    _move(work, plan, consumers)
    Consumers(plan, ping_pong).rewrite(consumers)
    replace_stores(plan.stores, split)
    if not plan.sources:  # they write there; what is computed from it only leaves by stores
        zero_unfetched(plan, consumers)
    # A block's barriers and buffers must last until the other has done with them.
    plan.meet(b)


def _move(work: Sequence[OpView], plan: Plan, consumers: Block) -> None:
    """What both sides need stays before the split; all else is the consumers'."""
    for op in work:
        if op.operation not in plan.shared:
            consumers.append(op)
