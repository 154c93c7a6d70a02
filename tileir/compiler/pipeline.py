"""The pipeline: which passes run, in which order, and why each sits where it does."""

from __future__ import annotations

#: Stages that are modules of MLIR, in order.
MLIR_STAGES = ("cuda_tile", "tile_gpu", "nvgpu", "nvvm")
#: Stages that are text, each made from the module at the stage `nvvm`.
TEXT_STAGES = ("llvmir", "ptx", "sass")
#: All stages, in order.
STAGES = (*MLIR_STAGES, *TEXT_STAGES)


def passes_of(stage: str, target: str, opt_level: int) -> list[str]:
    """The passes that lead from the stage before to `stage`."""
    if stage == "cuda_tile":
        return [
            f"attach-target{{chip={target} opt-level={opt_level}}}",
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
            # Before layouts, because loads that become copies need none.
            "stage-operands",
            # Everything below divides work among warps.
            "choose-num-warps",
            "choose-products",
            "overlap-products",
            "pipeline-loads",
            "cse",
            "assign-layouts",
            # After layouts, because these follow from them.
            "split-reductions",
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
        return [f"gpu.module({','.join([*inner, 'reconcile-unrealized-casts'])})"]
    raise ValueError(f"unknown stage '{stage}'")


def pipeline_text(stage: str, target: str = "sm_90a", opt_level: int = 3) -> str:
    """The textual pipeline from a module of `cuda_tile` to `stage`."""
    stages = MLIR_STAGES[: MLIR_STAGES.index(stage) + 1]
    passes = [text for each in stages for text in passes_of(each, target, opt_level)]
    return f"builtin.module({','.join(passes)})"
