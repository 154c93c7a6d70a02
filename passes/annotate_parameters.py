"""annotate-parameters: what LLVM must know of a kernel's parameters.

The last touch on `llvm.func`, since the conversion from `gpu.func` drops the attributes of
parameters. A kernel's generic pointers are tensor maps of 128 bytes, passed by value, and not to be
copied. Of integers that the program promises not to be negative, as front ends do for sizes, signed
quotients are unsigned ones, and those by powers of two shifts.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir import (
    ArrayAttr,
    Attribute,
    DenseI64ArrayAttr,
    DictAttr,
    IntegerType,
    Operation,
    Value,
)
from tileir.passes.base import ModulePass

#: The indices of a kernel's parameters that are never negative.
NONNEGATIVE_ATTRIBUTE = "tile_gpu.nonnegative"

_BY_VALUE = "llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant"


@dataclass(frozen=True)
class AnnotateParameters(ModulePass):
    """Mark tensor maps as passed by value, and numbers that are never negative."""

    name = "annotate-parameters"

    def apply(self, module: Operation) -> None:
        for top in module.regions[0].blocks[0]:
            if top.operation.name != "gpu.module":
                continue
            for op in top.operation.regions[0].blocks[0]:
                if "nvvm.kernel" in op.operation.attributes:
                    _annotate(op.operation)


def _annotate(function: Operation) -> None:
    marked = _nonnegative(function)
    texts = [
        _text(argument, index in marked)
        for index, argument in enumerate(function.regions[0].blocks[0].arguments)
    ]
    if any(texts):
        context = function.context
        attributes = [DictAttr(Attribute.parse(f"{{{text}}}", context)) for text in texts]
        function.attributes["arg_attrs"] = ArrayAttr.get(attributes, context)


def _nonnegative(function: Operation) -> set[int]:
    """The indices that were recorded; the record is for us, not for LLVM."""
    if NONNEGATIVE_ATTRIBUTE not in function.attributes:
        return set()
    indices = set(DenseI64ArrayAttr(function.attributes[NONNEGATIVE_ATTRIBUTE]))
    del function.attributes[NONNEGATIVE_ATTRIBUTE]
    return indices


def _text(argument: Value, nonnegative: bool) -> str:
    """The attributes of a parameter."""
    if str(argument.type) == "!llvm.ptr":
        return _BY_VALUE
    if not nonnegative:
        return ""
    width = IntegerType(argument.type).width
    # The end of the half-open range wraps around.
    return f"llvm.range = #llvm.constant_range<i{width}, 0, {-(1 << (width - 1))}>"
