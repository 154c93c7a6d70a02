"""convert-cuda-tile: from tiles as values to tiles in the registers of a block."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.locations import plain_location
from tileir.compiler.symbols import OWN_PREFIX
from tileir.compiler.unsupported import Unsupported, refusal
from tileir.ir import InsertionPoint, Operation, OpView, StringAttr
from tileir.passes.base import ModulePass
from tileir.passes.convert_cuda_tile import (  # noqa: F401  (each module registers its rules)
    arithmetic,
    conversions,
    debug,
    math,
    memory,
    products,
    scratch,
    shapes,
    slices,
    views,
)
from tileir.passes.convert_cuda_tile.control_flow import convert_entry
from tileir.passes.convert_cuda_tile.globals import convert_global

#: PTX ISA, "Identifiers"; LLVM does not allow the % of PTX.
_PTX_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+")
#: Functions of libdevice, our own memory, the function behind `print`, a constant of PTX.
_TAKEN = ("__nv_", OWN_PREFIX, "vprintf", "WARP_SZ")


@dataclass(frozen=True)
class ConvertCudaTile(ModulePass):
    """Lower cuda_tile to tile_gpu, arith, math and scf; tiles have no layout yet.

    Scalars (rank-0 tiles) become builtin scalars, elementwise arithmetic becomes `arith` and
    `math` on tiles, views dissolve into the loads and stores that use them, tokens disappear
    (`order-memory` has turned them into barriers), and `break`, `continue` and `return` become
    structured control flow.
    """

    name = "convert-cuda-tile"

    def apply(self, module: Operation) -> None:
        for op in list(module.regions[0].blocks[0]):
            if op.operation.name == "cuda_tile.module":
                self._convert(op.operation)
                op.operation.erase()

    def _convert(self, tile_module: Operation) -> None:
        builder = Builder(InsertionPoint(tile_module), plain_location(tile_module.location))
        gpu_module = builder.create(
            "gpu.module", attributes={"sym_name": tile_module.attributes["sym_name"]}, regions=1
        )
        body = builder.block(gpu_module.regions[0])
        with builder.at(body):
            for op in tile_module.regions[0].blocks[0]:
                convert = (
                    convert_entry if op.operation.name == "cuda_tile.entry" else convert_global
                )
                try:
                    _check_name(op)
                    convert(builder, op)
                except Unsupported as error:
                    raise refusal(op, error.reason, error.remedy) from None


def _check_name(op: OpView) -> None:
    name = StringAttr(op.operation.attributes["sym_name"]).value
    if not _PTX_IDENTIFIER.fullmatch(name):
        raise Unsupported(f"the name '{name}' is no PTX identifier", "use letters, digits, _ and $")
    if name.startswith(_TAKEN):
        raise Unsupported(f"the name '{name}' belongs to the system", "choose another")
