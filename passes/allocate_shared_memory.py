"""allocate-shared-memory: where each buffer lies.

Buffers whose lives do not overlap share memory (`analysis/shared_lives.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir import IntegerAttr, IntegerType, Operation
from tileir.passes.analysis.shared_demand import too_much_shared_memory
from tileir.passes.analysis.shared_lives import SharedLives, place
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels

SHARED_BYTES_ATTRIBUTE = "tile_gpu.shared_bytes"


@dataclass(frozen=True)
class AllocateSharedMemory(ModulePass):
    """Give each buffer its place in shared memory."""

    name = "allocate-shared-memory"

    def apply(self, module: Operation) -> None:
        target = target_of(module)
        i64 = IntegerType.get_signless(64, module.context)
        for kernel in kernels(module):
            buffers = SharedLives(kernel).buffers
            total = place(buffers)
            if total > target.shared_bytes:
                raise too_much_shared_memory(kernel, buffers, total, target)
            for buffer in buffers:
                buffer.op.operation.attributes["offset"] = IntegerAttr.get(i64, buffer.offset)
            kernel.attributes[SHARED_BYTES_ATTRIBUTE] = IntegerAttr.get(i64, total)
