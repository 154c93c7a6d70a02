"""The passes, by name. Each lives in a module of its own, loaded when it first runs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir.ir import Operation
    from tileir.passes.base import ModulePass


@dataclass(frozen=True)
class PassEntry:
    """Where a pass lives, and the sentence that `tile-opt --help` prints."""

    name: str
    module: str
    class_name: str
    summary: str

    def load(self) -> type[ModulePass]:
        return getattr(importlib.import_module(f"tileir.passes.{self.module}"), self.class_name)

    def run(self, operation: Operation, options: Mapping[str, str]) -> None:
        """Runs the pass on a `builtin.module` with options given as text."""
        self.load().from_options(options).apply(operation)


_ENTRIES = [
    PassEntry("attach-target", "attach_target", "AttachTarget",
              "Record the GPU architecture and optimisation level on the module"),
    PassEntry("split-tile", "split_tile", "SplitTile",
              "Compute tiles that are too large for a block's registers slice by slice"),
    PassEntry("order-memory", "order_memory", "OrderMemory",
              "Turn the token order of memory operations into barriers"),
    PassEntry("convert-cuda-tile", "convert_cuda_tile", "ConvertCudaTile",
              "Lower cuda_tile to tile_gpu, arith, math and scf; tiles have no layout yet"),
    PassEntry("fold-permutes", "fold_permutes", "FoldPermutes",
              "Load and store tiles in the order in which matrix products use and give them"),
    PassEntry("choose-num-warps", "choose_num_warps", "ChooseNumWarps",
              "Choose the number of warps of each kernel"),
    PassEntry("stage-operands", "stage_operands", "StageOperands",
              "Put the operands of matrix products in shared memory or in registers"),
    PassEntry("choose-products", "choose_products", "ChooseProducts",
              "Choose the instruction of each matrix product"),
    PassEntry("promote-products", "promote_products", "PromoteProducts",
              "Add up sums of 8-bit floats in full precision"),
    PassEntry("regroup-rounds", "regroup_rounds", "RegroupRounds",
              "Let a round of a loop over k fetch a cache line of it"),
    PassEntry("persist-blocks", "persist_blocks", "PersistBlocks",
              "Let each block that is started do the work of several"),
    PassEntry("swizzle-blocks", "swizzle_blocks", "SwizzleBlocks",
              "Take the program's blocks in an order in which neighbours share tiles"),
    PassEntry("overlap-products", "overlap_products", "OverlapProducts",
              "Keep the products of a loop in flight into its next round"),
    PassEntry("specialize-warps", "specialize_warps", "SpecializeWarps",
              "Let one thread fetch tiles while the other warps compute"),
    PassEntry("host-tensor-maps", "host_tensor_maps", "HostTensorMaps",
              "Have the launcher make tensor maps and pass them as parameters"),
    PassEntry("build-tensor-maps", "build_tensor_maps", "BuildTensorMaps",
              "Let blocks make the tensor maps that no launcher made for them"),
    PassEntry("pipeline-loads", "pipeline_loads", "PipelineLoads",
              "Overlap the loads of a loop's matrix operands with its computation"),
    PassEntry("assign-layouts", "assign_layouts", "AssignLayouts",
              "Give every tile a layout and convert where two meet"),
    PassEntry("split-reductions", "split_reductions", "SplitReductions",
              "Split reductions across warps into a part within warps and the rest"),
    PassEntry("place-buffers", "place_buffers", "PlaceBuffers",
              "Spell out layout conversions and staging through shared memory"),
    PassEntry("allocate-shared-memory", "allocate_shared_memory", "AllocateSharedMemory",
              "Give each buffer its place in shared memory"),
    PassEntry("insert-barriers", "insert_barriers", "InsertBarriers",
              "Order conflicting accesses to shared memory with barriers"),
    PassEntry("convert-tile-gpu", "convert_tile_gpu", "ConvertTileGPU",
              "Lower tile_gpu to the code of one thread: gpu, scf, arith, nvgpu and nvvm"),
    PassEntry("annotate-parameters", "annotate_parameters", "AnnotateParameters",
              "Mark tensor maps as passed by value, and numbers that are never negative"),
]  # fmt: skip

#: Every pass of this package by its name on the command line.
REGISTRY: dict[str, PassEntry] = {entry.name: entry for entry in _ENTRIES}
