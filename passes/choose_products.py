"""choose-products: which instruction computes each matrix product.

`wgmma` where the target has it and the accumulator, its operands and the warps suit it; otherwise
`mma.sync` where an instruction takes the types and the shape; otherwise scalar multiply-adds.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.target import Target
from tileir.dialects import tile_gpu
from tileir.ir import Attribute, Operation, OpView
from tileir.passes.analysis.products import keep_whole_rows, mma_instruction, suits_wgmma
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.walk import kernels, ops_of


@dataclass(frozen=True)
class ChooseProducts(ModulePass):
    """Choose the instruction of each matrix product.

    `wgmma=false` leaves warpgroup instructions out.
    """

    name = "choose-products"

    wgmma: bool = True

    def apply(self, module: Operation) -> None:
        target = target_of(module)
        for kernel in kernels(module):
            dots = ops_of(kernel, tile_gpu.DotOp)
            whole_rows = keep_whole_rows(dots)
            for dot in dots:
                name = self._choose(dot, target, num_warps_of(kernel), whole_rows)
                attribute = Attribute.parse(f"#tile_gpu.instruction<{name}>", module.context)
                dot.operation.attributes["instruction"] = attribute

    def _choose(self, dot: OpView, target: Target, num_warps: int, whole_rows: bool) -> str:
        if self.wgmma and suits_wgmma(dot, target, num_warps, whole_rows):
            return "wgmma"
        instruction = mma_instruction(dot, target.capability)
        return "multiply_add" if instruction is None else "mma_sync"
