"""What kernels of one module share: declared functions and tables of constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.compiler.layout import Layout
from tileir.compiler.tile_types import TileInfo
from tileir.dialects.elements import array_from_elements
from tileir.ir import (
    Block,
    DenseElementsAttr,
    FlatSymbolRefAttr,
    InsertionPoint,
    StringAttr,
    Type,
    Value,
)
from tileir.passes.convert_tile_gpu.lowering import Lowering


def _find_symbol(block: Block, name: str) -> bool:
    return any(
        "sym_name" in op.operation.attributes
        and StringAttr(op.operation.attributes["sym_name"]).value == name
        for op in block
    )


def declare_function(ctx: Lowering, name: str, operands: Sequence[Type], result: Type) -> None:
    """Declares a function of libdevice, once for each module."""
    block = ctx.module_body
    if _find_symbol(block, name):
        return
    b = ctx.builder
    arguments = ", ".join(map(str, operands))
    saved, b.point = b.point, InsertionPoint.at_block_begin(block)
    b.create(
        "llvm.func",
        attributes={
            "sym_name": b.attribute(f'"{name}"'),
            "function_type": b.attribute(f"!llvm.func<{result} ({arguments})>"),
            "linkage": b.attribute("#llvm.linkage<external>"),
        },
        regions=1,
    )
    b.point = saved


def constant_table(ctx: Lowering, info: TileInfo, value: DenseElementsAttr) -> list[Value]:
    """Registers of a constant tile with differing elements: read from a table in memory."""
    b, layout = ctx.builder, info.layout
    assert layout is not None
    type_ = ctx.register_type(info.element)
    name = _add_table(ctx, array_from_elements(value), type_)
    pointer = b.type("!llvm.ptr<4>")
    base = b.op("llvm.mlir.addressof", [], pointer, {"global_name": FlatSymbolRefAttr.get(name)})
    first = _linear(ctx, layout, info.shape)
    registers = []
    for offset in layout.register_offsets:
        constant = int(np.ravel_multi_index(offset, info.shape))
        index = b.add(first, b.c32(constant)) if constant else first
        attributes = {
            "rawConstantIndices": b.attribute("array<i32: -2147483648>"),
            "elem_type": b.attribute(_memory_type(type_)),
        }
        place = b.op("llvm.getelementptr", [base, index], pointer, attributes)
        loaded = b.op("llvm.load", [place], b.type(_memory_type(type_)))
        if str(type_) == "i1":
            loaded = b.compare("ne", loaded, b.constant(0, loaded.type))
        registers.append(loaded)
    return registers


def _memory_type(type_: Type) -> str:
    return "i8" if str(type_) == "i1" else str(type_)


def _linear(ctx: Lowering, layout: Layout, shape: Sequence[int]) -> Value:
    """Row-major index of this thread's first element."""
    b, index = ctx.builder, None
    for dim, size in enumerate(shape):
        coordinate = ctx.coordinate(layout, dim)
        index = coordinate if index is None else b.add(b.mul(index, b.c32(size)), coordinate)
    assert index is not None
    return index


def _add_table(ctx: Lowering, values: np.ndarray, type_: Type) -> str:
    block = ctx.module_body
    b = ctx.builder
    name = next(n for i in range(1 << 20) if not _find_symbol(block, n := f"constant_{i}"))
    memory = _memory_type(type_)
    width = np.dtype(np.uint8).itemsize * values.dtype.itemsize * 8
    bits = ", ".join(str(int(x)) for x in values.reshape(-1).view(f"i{values.dtype.itemsize}"))
    saved, b.point = b.point, InsertionPoint.at_block_begin(block)
    b.create(
        "llvm.mlir.global",
        attributes={
            "sym_name": b.attribute(f'"{name}"'),
            "global_type": b.attribute(f"!llvm.array<{values.size} x {memory}>"),
            "value": b.attribute(f"dense<[{bits}]> : tensor<{values.size}xi{width}>"),
            "addr_space": b.i32_attr(4),
            "constant": b.attribute("unit"),
            "linkage": b.attribute("#llvm.linkage<internal>"),
        },
        regions=1,
    )
    b.point = saved
    return name
