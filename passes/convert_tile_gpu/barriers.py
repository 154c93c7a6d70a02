"""The named barriers of a block: what each of the sixteen is for, and how threads meet at one.

(PTX ISA, "Parallel Synchronization and Communication Instructions: barrier".)
"""

from __future__ import annotations

from enum import IntEnum

from tileir.compiler.builder import Builder
from tileir.ir import Value


class NamedBarrier(IntEnum):
    """The first number of each use."""

    #: All threads of the block: `gpu.barrier`.
    BLOCK = 0
    #: The consumers, by replica.
    CONSUMERS = 1
    #: The warps that store a tile together, by warpgroup.
    WARPGROUPS = 3
    #: Both replicas, by whose turn it is.
    TURNS = 8
    #: The producer, and the warp that has made barriers and maps for it.
    READY = 14
    #: The producer's warps arrive here, the consumers wait.
    START = 15


def meet(b: Builder, barrier: Value, threads: int) -> None:
    """Waits until so many threads have arrived at a barrier, given by its number (i32)."""
    attributes = {"operandSegmentSizes": b.segments(1, 1, 0)}
    b.create("nvvm.barrier", [barrier, b.c32(threads)], attributes=attributes)
