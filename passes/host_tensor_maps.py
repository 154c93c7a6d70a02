"""host-tensor-maps: the launcher makes tensor maps and passes them as parameters.

    gpu.func @k(%p, %m, %n)                      gpu.func @k(%p, %m, %n, %map)
        %map = tensor_map %p sizes[%m, %n] ...  =>      ...
        ...

Only in kernels compiled for our own launcher (`launch=managed`), and only for maps that it can
work out from the parameters; how is recorded on the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.tile_types import tensor_map_box
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, Value
from tileir.passes.analysis.launch_expressions import (
    launch_expression,
    launch_expressions,
    launch_pointer,
)
from tileir.passes.attach_target import is_managed
from tileir.passes.base import ModulePass
from tileir.passes.launch_contract import add_hidden_parameter
from tileir.passes.walk import kernels, ops_of, replace_op
from tileir.runtime.expressions import Expression
from tileir.runtime.tensor_map import TensorMapRecipe


@dataclass(frozen=True)
class HostTensorMaps(ModulePass):
    """Have the launcher make tensor maps and pass them as parameters."""

    name = "host-tensor-maps"

    def apply(self, module: Operation) -> None:
        if not is_managed(module):
            return
        for kernel in kernels(module):
            for op in ops_of(kernel, tile_gpu.TensorMapOp):
                recipe = _recipe(op)
                if recipe is not None:
                    tensor_map = add_hidden_parameter(kernel, op.result.type, recipe)
                    replace_op(op, tensor_map)
                    _prefetch(kernel, tensor_map)


def _prefetch(kernel: Operation, tensor_map: Value) -> None:
    """Has the first access find the map at hand; that of results comes when nothing hides it."""
    start = InsertionPoint.at_block_begin(kernel.regions[0].blocks[0])
    Builder(start, kernel.location).create("tile_gpu.prefetch_map", [tensor_map])


def _recipe(op: tile_gpu.TensorMapOp) -> TensorMapRecipe | None:
    """How a launcher makes the map; None if it depends on more than parameters."""
    box = tensor_map_box(op.result.type)
    base = launch_pointer(op.base)
    sizes = launch_expressions(op.sizes)
    strides = launch_expressions(op.strides)
    if base is None or sizes is None or strides is None:
        return None
    extents: list[Expression] = list(box.shape)
    if op.rows is not None:
        rows = launch_expression(op.rows)
        if rows is None:
            return None
        extents[box.order[-2]] = rows
    fastest_first = list(reversed(box.order))
    return TensorMapRecipe(
        dtype=box.element,
        base=base[0],
        offset=base[1],
        dims=tuple(sizes[d] for d in fastest_first),
        strides=tuple(["mul", strides[d], box.element_bytes] for d in fastest_first[1:]),
        box=tuple(extents[d] for d in fastest_first),
        element_strides=(1,) * len(box.shape),
        swizzle=box.swizzle,
    )
