"""What the author of a kernel may want to know about how its work was divided."""

from __future__ import annotations

from tileir.compiler import hopper
from tileir.compiler.locations import plain_location
from tileir.compiler.tile_types import tile_of
from tileir.compiler.wgmma import WARPS
from tileir.dialects import tile_gpu
from tileir.dialects.diagnostics import emit_explanation
from tileir.ir import Operation, OpView
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.specialize_warps.ping_pong import PingPong
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.walk import ops_of


def remark_division(kernel: Operation, plan: Plan, ping_pong: PingPong | None) -> None:
    """Says at the first product who computes what, and which tile would be faster."""
    product = ops_of(kernel, tile_gpu.DotOp)[0]
    location = plain_location(product.location)
    emit_explanation(location, _division(kernel, plan, ping_pong, product))
    shape = tile_of(product.result).shape
    faster = hopper.faster_tile(*shape) if len(shape) == 2 else None
    if faster is not None:
        tile, share = faster
        emit_explanation(
            location,
            f"a tile of {tile.rows}x{tile.columns} would take {share:.2f} of the time for each "
            f"element of the result, where there are {hopper.MULTIPROCESSORS} such tiles or more",
        )


def _division(kernel: Operation, plan: Plan, ping_pong: PingPong | None, product: OpView) -> str:
    groups = num_warps_of(kernel) // WARPS
    shape = "x".join(map(str, tile_of(product.operation.results[0]).shape))
    rings = " and ".join(f"{ring.stages} stages of {ring.bytes} bytes" for ring in plan.rings)
    parts = [
        f"{groups} warpgroup{'s' * (groups > 1)} compute{'s' * (groups == 1)} tiles of {shape}"
        + (", taking turns" if ping_pong is not None else ""),
        f"one thread fetches {rings} by tensor memory accesses",
    ]
    if plan.blocks_per_multiprocessor > 1:
        parts.append(f"{plan.blocks_per_multiprocessor} blocks share a multiprocessor")
    if plan.pairs:
        parts.append("blocks pair up at launch where rows start off cache lines")
    if plan.stores:
        parts.append("results leave by tensor memory accesses")
    return "; ".join(parts)
