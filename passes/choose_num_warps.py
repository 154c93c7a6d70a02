"""choose-num-warps: how many warps a kernel gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler import wgmma
from tileir.compiler.ir_util import int_attr
from tileir.compiler.locations import plain_location
from tileir.compiler.target import Target
from tileir.compiler.tile_types import tile_info, tile_of
from tileir.dialects import tile_gpu
from tileir.dialects.cuda_tile import hint
from tileir.dialects.diagnostics import emit_remark
from tileir.ir import Attribute, IntegerAttr, IntegerType, Operation, OpView
from tileir.passes.analysis.products import (
    accumulators,
    choose_warpgroups,
    fits_warpgroups,
)
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.convert_cuda_tile.control_flow import HINTS_ATTRIBUTE
from tileir.passes.walk import kernels, ops_named, ops_of, ops_on_tiles

NUM_WARPS_ATTRIBUTE = "tile_gpu.num_warps"

#: Warps of the producer in a specialised kernel: registers are shared out among warpgroups.
PRODUCER_WARPS = 4

#: Accumulator elements that a thread holds comfortably beside its operands.
_ACCUMULATORS_PER_THREAD = 64
#: Accumulator elements beyond which a thread has no registers left for its operands.
_MOST_ACCUMULATORS = 128
#: Elements of one tile that a thread holds: code is written out for each, and two vectors in flight
#: keep the memory busy.
_ELEMENTS_PER_THREAD = 16
#: The same where warps combine what they have, which takes longer the more they are. A thread holds
#: as many comfortably beside a few others.
_ELEMENTS_TO_COMBINE = 64
#: Warps among which a kernel without matrix products is divided, at most.
_MOST_WARPS = 16
#: Warps that a block may have.
_LARGEST_BLOCK = 32


@dataclass(frozen=True)
class ChooseNumWarps(ModulePass):
    """Choose the number of warps of each kernel.

    The hint `num_worker_warps_per_cta` decides if there is one, a block can have so many, and they
    can hold the accumulators of its matrix products. Otherwise the products do, or else the
    largest tile: enough warps that a thread's share fits its registers, few enough that threads
    have work.
    """

    name = "choose-num-warps"

    def apply(self, module: Operation) -> None:
        target = target_of(module)
        for kernel in kernels(module):
            if NUM_WARPS_ATTRIBUTE in kernel.attributes:
                continue
            set_num_warps(kernel, _choose(kernel, target))


def num_warps_of(kernel: Operation) -> int:
    """The number of warps recorded on a kernel, 4 if there is none."""
    if NUM_WARPS_ATTRIBUTE not in kernel.attributes:
        return 4
    return IntegerAttr(kernel.attributes[NUM_WARPS_ATTRIBUTE]).value


def set_num_warps(kernel: Operation, warps: int) -> None:
    i32 = IntegerType.get_signless(32, kernel.context)
    kernel.attributes[NUM_WARPS_ATTRIBUTE] = IntegerAttr.get(i32, warps)


def combines(kernel: Operation) -> bool:
    """Whether warps of a kernel combine what they have: it reduces or scans tiles."""
    return bool(ops_named(kernel, "tile_gpu.reduce", "tile_gpu.scan"))


def block_threads(kernel: Operation) -> int:
    """Threads of a block: the kernel's warps, or the sets of them that a specialised kernel has,
    and the producer beside them."""
    warps = num_warps_of(kernel)
    for split in ops_of(kernel, tile_gpu.SpecializeOp):
        return 32 * (warps * int_attr(split, "replicas", 1) + PRODUCER_WARPS)
    return 32 * warps


def hinted_warps(hints: Attribute | None, target: Target) -> int | None:
    """The number of warps that a program asks for."""
    return hint(hints, target.hint_key, "num_worker_warps_per_cta", range(1, _LARGEST_BLOCK + 1))


def _choose(kernel: Operation, target: Target) -> int:
    hinted = hinted_warps(kernel.attributes.get(HINTS_ATTRIBUTE), target)
    dots = ops_of(kernel, tile_gpu.DotOp)
    if not dots:
        return hinted or _for_tiles(kernel)
    if hinted and _hold_accumulators(dots, hinted, target):
        return hinted
    warps = _for_products(dots, target)
    if hinted and warps != hinted:
        emit_remark(
            plain_location(dots[0].location),
            f"{warps} warps compute, not {hinted} as num_worker_warps_per_cta asks for: "
            f"{_refusal(dots, hinted)}",
        )
    return warps


def _hold_accumulators(dots: Sequence[OpView], warps: int, target: Target) -> bool:
    """Whether so many warps can compute products without spilling registers."""
    if choose_warpgroups(dots, target) is not None:
        groups, rest = divmod(warps, wgmma.WARPS)
        return rest == 0 and fits_warpgroups(dots, target, groups)
    return accumulators(dots) <= warps * 32 * _MOST_ACCUMULATORS


def _refusal(dots: Sequence[OpView], warps: int) -> str:
    """Why so many warps cannot compute the products."""
    most = wgmma.WARPS * max(wgmma.GROUPS)
    if warps > most:
        return f"a block has registers for {most} that multiply, beside those that load tiles"
    per_thread = accumulators(dots) // (32 * warps)
    if per_thread > _MOST_ACCUMULATORS:
        return f"each thread would hold {per_thread} accumulators, and spill registers"
    shape = "x".join(map(str, tile_of(dots[0].operation.results[0]).shape))
    return f"warpgroups of 4 cannot share out the accumulator of {shape}"


def _for_tiles(kernel: Operation) -> int:
    largest = 1
    for op in ops_on_tiles(kernel):
        for result in op.operation.results:
            info = tile_info(result.type)
            if info is not None:
                largest = max(largest, info.num_elements)
    warps = 1
    while warps < 4 and largest >= 2 * warps * 128:
        warps *= 2
    share = _ELEMENTS_TO_COMBINE if combines(kernel) else _ELEMENTS_PER_THREAD
    while warps < _MOST_WARPS and largest > warps * 32 * share:
        warps *= 2
    return warps


def _for_products(dots: Sequence[OpView], target: Target) -> int:
    """Those of warpgroups where these can compute all products. Otherwise each warp owns at least
    one 16x8 block of every accumulator; where one product feeds another, whole rows, so that the
    result can stay in registers.
    """
    groups = choose_warpgroups(dots, target)
    if groups is not None:
        return wgmma.WARPS * groups
    tiles = [tile_of(dot.operation.results[0]) for dot in dots]
    rows = min(tile.shape[-2] for tile in tiles)
    blocks = min(tile.num_elements // (16 * 8) for tile in tiles)
    limit = rows // 16 if len(dots) > 1 else blocks
    warps = 4
    while warps < 8 and accumulators(dots) > warps * 32 * _ACCUMULATORS_PER_THREAD:
        warps *= 2
    return max(1, min(warps, limit))
