"""The pipeline: which passes run, in which order, and why each sits where it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tileir.compiler.effort import effort_of

#: Stages that are modules of MLIR, in order.
MLIR_STAGES = ("cuda_tile", "tile_gpu", "nvgpu", "nvvm")
#: Stages that are text, each made from the module at the stage `nvvm`.
TEXT_STAGES = ("llvmir", "ptx", "sass")
#: All stages, in order.
STAGES = (*MLIR_STAGES, *TEXT_STAGES)


@dataclass(frozen=True)
class Options:
    """What a compilation is asked for.

    `launch`: `plain` kernels have exactly the entry's parameters and any launcher can use them;
    `managed` ones may have more, which our launcher knows to fill.
    """

    target: str = "sm_90a"
    opt_level: int = 3
    launch: Literal["plain", "managed"] = "plain"


def passes_of(stage: str, options: Options) -> list[str]:
    """The passes that lead from the stage before to `stage`."""
    left_out = effort_of(options.opt_level).left_out
    return [text for text in _all_passes_of(stage, options) if text not in left_out]


def _all_passes_of(stage: str, options: Options) -> list[str]:
    if stage == "cuda_tile":
        return [
            _attach_target(options),
            # Constants and identities of the program itself, before anything depends on form.
            "canonicalize",
            "cse",
            # Last of the program's own form: its tiles must fit before anything is placed.
            "split-tile",
            "canonicalize",
        ]
    if stage == "tile_gpu":
        return [
            # Tokens are only in cuda_tile: their order must be spelled out before they go.
            "order-memory",
            "convert-cuda-tile",
            # Address arithmetic of loads has appeared; what does not change leaves the loops.
            "canonicalize",
            "cse",
            "loop-invariant-code-motion",
            # Whatever looks at loads and stores from here on sees no permutes in between.
            "fold-permutes",
            # Before layouts, because loads that become copies need none.
            "stage-operands",
            # Everything below divides work among warps.
            "choose-num-warps",
            "choose-products",
            # Which products run in flight depends on who adds them up.
            "promote-products",
            # For a producer, if the kernel gets one.
            "regroup-rounds",
            "persist-blocks",
            "swizzle-blocks",
            "loop-invariant-code-motion",
            "overlap-products",
            # A producer for what tensor memory accesses can fetch, cp.async for the rest.
            "specialize-warps",
            "host-tensor-maps",
            "build-tensor-maps",
            "cse",
            "assign-layouts",
            # After layouts, because these follow from them.
            "split-reductions",
            "canonicalize",
            # As deep as there is room for: what else needs shared memory is known now.
            "pipeline-loads",
            "canonicalize",
            "cse",
            "place-buffers",
            "allocate-shared-memory",
            # After allocation: buffers that share memory conflict.
            "insert-barriers",
        ]
    if stage == "nvgpu":
        return ["convert-tile-gpu"]
    if stage == "nvvm":
        # Upstream, in C++. Lowering gpu takes scf, arith, math, vector and memref along.
        inner = ["convert-nvgpu-to-nvvm", "convert-scf-to-cf", "convert-gpu-to-nvvm"]
        lower = f"gpu.module({','.join([*inner, 'reconcile-unrealized-casts'])})"
        # What LLVM would find first: it is faster on less, and at low levels does not look.
        return [lower, "cse", "annotate-parameters"]
    raise ValueError(f"unknown stage '{stage}'")


def _attach_target(options: Options) -> str:
    managed = " managed=true" if options.launch == "managed" else ""
    return f"attach-target{{chip={options.target} opt-level={options.opt_level}{managed}}}"


def pipeline_text(stage: str, options: Options) -> str:
    """The textual pipeline from a module of `cuda_tile` to `stage`."""
    stages = MLIR_STAGES[: MLIR_STAGES.index(stage) + 1]
    passes = [text for each in stages for text in passes_of(each, options)]
    return f"builtin.module({','.join(passes)})"
