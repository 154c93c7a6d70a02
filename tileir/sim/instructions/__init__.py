"""The instructions, one module a family; importing it registers all of them."""

from __future__ import annotations

from . import (
    atomics,
    barriers,
    bulk,
    compare,
    control,
    conversions,
    cp_async,
    floats,
    integers,
    matrices,
    mbarriers,
    memory,
    mma,
    moves,
    tensor,
    tensor_maps,
    warp,
    wgmma,
)

__all__ = [
    "atomics",
    "barriers",
    "bulk",
    "compare",
    "control",
    "conversions",
    "cp_async",
    "floats",
    "integers",
    "matrices",
    "mbarriers",
    "memory",
    "mma",
    "moves",
    "tensor",
    "tensor_maps",
    "warp",
    "wgmma",
]
