"""From a module at any stage to the last ones: what `tile-translate` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tileir import trace
from tileir.compiler.mlir_bytecode import to_bytecode
from tileir.compiler.pipeline import MLIR_STAGES, Options, passes_of
from tileir.compiler.run_passes import run_passes
from tileir.compiler.target import Target
from tileir.compiler.worker import shared_worker
from tileir.errors import TileError
from tileir.ir import Operation
from tileir.passes.attach_target import opt_level_of, target_of
from tileir.passes.choose_num_warps import NUM_WARPS_ATTRIBUTE
from tileir.passes.walk import kernels, walk

#: What a module can be brought to.
FORMS = ("llvmir", "ptx", "cubin", "sass")


def translate(source: Any, to: str, options: Options, ptxas: str | None) -> str | bytes:
    """See `tileir.compiler.translate`."""
    from tileir.source import parse

    if to not in FORMS:
        raise TileError(f"cannot translate to '{to}'", remedy=f"choose one of {', '.join(FORMS)}")
    shared_worker().start()  # gets ready while we lower
    module = parse(source)
    stage = stage_of(module.operation)
    first = MLIR_STAGES.index(stage)
    if stage != "cuda_tile":
        options = replace(
            options,
            target=str(target_of(module.operation)),
            opt_level=opt_level_of(module.operation),
        )
        first += 1
    for following in MLIR_STAGES[first:]:
        with trace.slice(following, "stage"):
            run_passes(module, passes_of(following, options))
    nvvm = to_bytecode(module)
    if to == "llvmir":
        return shared_worker().run("llvmir", nvvm)
    ptx = shared_worker().run("ptx", nvvm)
    if to == "ptx":
        return ptx
    from tileir.compiler.toolchain import assemble, disassemble

    cubin = assemble(ptx, str(Target.parse(options.target)), options.opt_level, ptxas).cubin
    return disassemble(cubin) if to == "sass" else cubin


def stage_of(module: Operation) -> str:
    """The stage that a module is at, by its operations and the attributes of its kernels."""
    names = {op.operation.name for op in walk(module)}
    if "cuda_tile.module" in names:
        return "cuda_tile"
    if any(NUM_WARPS_ATTRIBUTE in kernel.attributes for kernel in kernels(module)):
        return "tile_gpu"
    if "gpu.func" in names:
        return "nvgpu"
    if "gpu.module" in names:
        return "nvvm"
    raise TileError(
        "the module holds neither Tile IR nor kernels",
        remedy="give a cuda_tile.module, or what tile-opt printed at a later stage",
    )
