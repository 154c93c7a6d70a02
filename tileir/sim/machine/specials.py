"""Special registers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Extents = tuple[int, int, int]


class Specials:
    """The values of special registers for the warps of all slots.

    `blocks` int64[slots, 3] are the coordinates of the resident blocks; the launch keeps them.
    """

    def __init__(
        self,
        grid: Extents,
        block: Extents,
        cluster: Extents,
        blocks: Array,
        shared_bytes: int,
        dynamic_bytes: int,
    ):
        self._grid, self._block, self._cluster = grid, block, cluster
        self._blocks = blocks
        self._constants = {
            "nwarpid": 64,
            "nsmid": 132,
            "smid": 0,
            "gridid": 1,
            "cluster_nctarank": int(np.prod(cluster)),
            "is_explicit_cluster": int(np.prod(cluster) > 1),
            "total_smem_size": shared_bytes,
            "aggr_smem_size": shared_bytes,
            "dynamic_smem_size": dynamic_bytes,
        }
        x, y, z = block
        self._warps_per_block = -(-x * y * z // 32)
        number = np.arange(self._warps_per_block * 32).reshape(-1, 32)
        self._tid = (number % x, number // x % y, number // (x * y))

    def get(self, name: str, warps: Array) -> Array:
        """uint32[n, 32] (uint64 for %gridid)."""
        value = self._value(name, warps)
        dtype = np.uint64 if name == "gridid" else np.uint32
        return np.broadcast_to(value, (len(warps), 32)).astype(dtype)

    def _value(self, name: str, warps: Array) -> Any:
        base, _, axis = name.partition(".")
        if axis:
            return self._along(base, "xyz".index(axis), warps)
        lane = np.arange(32, dtype=np.uint64)
        one = np.uint64(1)
        masks = {
            "lanemask_eq": one << lane,
            "lanemask_lt": (one << lane) - one,
            "lanemask_le": (one << lane + one) - one,
            "lanemask_gt": ~((one << lane + one) - one),
            "lanemask_ge": ~((one << lane) - one),
        }
        if name in masks:
            return masks[name] & np.uint64(0xFFFFFFFF)
        if name == "laneid":
            return lane
        if name == "warpid":
            return (warps % self._warps_per_block)[:, None]
        if name == "cluster_ctarank":
            inside = [self._along("cluster_ctaid", axis, warps) for axis in range(3)]
            x, y, _ = self._cluster
            return inside[0] + x * (inside[1] + y * inside[2])
        return self._constants[name]

    def _along(self, base: str, axis: int, warps: Array) -> Any:
        if base == "tid":
            return self._tid[axis][warps % self._warps_per_block]
        if base == "ntid":
            return self._block[axis]
        if base == "nctaid":
            return self._grid[axis]
        if base == "cluster_nctaid":
            return self._cluster[axis]
        if base == "nclusterid":
            return self._grid[axis] // self._cluster[axis]
        block = self._blocks[warps // self._warps_per_block, axis][:, None]
        if base == "ctaid":
            return block
        if base == "clusterid":
            return block // self._cluster[axis]
        return block % self._cluster[axis]  # cluster_ctaid

    def thread_coordinates(self, thread: int) -> Extents:
        """Of a thread within its block; `thread` is warp * 32 + lane."""
        warp, lane = divmod(thread, 32)
        warp %= self._warps_per_block
        return tuple(int(tid[warp, lane]) for tid in self._tid)  # type: ignore[return-value]


def clusters_of(grid: Extents, cluster: Extents) -> Any:
    """The blocks of each cluster of a grid, x fastest, as lists of coordinates."""
    counts = [extent // size for extent, size in zip(grid, cluster, strict=True)]
    for k, j, i in itertools.product(*(range(count) for count in reversed(counts))):
        yield [
            (i * cluster[0] + x, j * cluster[1] + y, k * cluster[2] + z)
            for z, y, x in itertools.product(*(range(size) for size in reversed(cluster)))
        ]
