"""How many blocks of a specialised kernel share a multiprocessor.

One, with a ring as deep as its shared memory: the producer hides the latency of memory, and more
blocks fetch more tiles that others have fetched. On an H200 products of 64x64 and 64x128 tiles take
up to 1.2 times as long with two (4096 cubed), but where there is little to do, less.
"""

from __future__ import annotations

from tileir.compiler import wgmma
from tileir.compiler.target import Target
from tileir.dialects.cuda_tile import hint
from tileir.ir import Operation
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.convert_cuda_tile.control_flow import HINTS_ATTRIBUTE

#: What the hint `occupancy` may be.
OCCUPANCIES = range(1, 33)


def blocks_per_multiprocessor(kernel: Operation, target: Target) -> int:
    """As many as the hint `occupancy` asks for, if one warpgroup
    computes. Several divide the registers of a whole multiprocessor among themselves."""
    if num_warps_of(kernel) > wgmma.WARPS:
        return 1
    hints = kernel.attributes.get(HINTS_ATTRIBUTE)
    return hint(hints, target.hint_key, "occupancy", OCCUPANCIES) or 1
