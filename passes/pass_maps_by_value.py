"""pass-maps-by-value: tensor maps among a kernel's parameters are read where they are.

The last touch on `llvm.func`, since the conversion from `gpu.func` drops the attributes: a kernel's
generic pointers are tensor maps of 128 bytes, passed by value, and not to be copied.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir import ArrayAttr, Attribute, DictAttr, Operation
from tileir.passes.base import ModulePass

_BY_VALUE = "{llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}"


@dataclass(frozen=True)
class PassMapsByValue(ModulePass):
    """Mark tensor maps among a kernel's parameters as passed by value."""

    name = "pass-maps-by-value"

    def apply(self, module: Operation) -> None:
        for top in module.regions[0].blocks[0]:
            if top.operation.name != "gpu.module":
                continue
            for op in top.operation.regions[0].blocks[0]:
                if "nvvm.kernel" in op.operation.attributes:
                    _mark(op.operation)


def _mark(function: Operation) -> None:
    context = function.context
    by_value = Attribute.parse(_BY_VALUE, context)
    arguments = function.regions[0].blocks[0].arguments
    maps = [str(argument.type) == "!llvm.ptr" for argument in arguments]
    if any(maps):
        nothing = DictAttr.get({}, context)
        function.attributes["arg_attrs"] = ArrayAttr.get(
            [by_value if is_map else nothing for is_map in maps], context
        )
