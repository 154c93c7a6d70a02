"""What kernels of one module share: declared functions and tables of constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.compiler.constants import retype_to_bits
from tileir.compiler.layout import Layout
from tileir.compiler.symbols import OWN_PREFIX, free_symbol, has_symbol
from tileir.compiler.tile_types import TileInfo
from tileir.ir import (
    DenseElementsAttr,
    FlatSymbolRefAttr,
    InsertionPoint,
    StringAttr,
    Type,
    TypeAttr,
    Value,
)
from tileir.passes.convert_tile_gpu.lowering import Lowering
from tileir.passes.convert_tile_gpu.vectors import from_memory, memory_type


def declare_function(ctx: Lowering, name: str, operands: Sequence[Type], result: Type) -> None:
    """Declares a function of libdevice, once for each module."""
    if has_symbol(ctx.module_body, name):
        return
    b = ctx.builder
    arguments = ", ".join(map(str, operands))
    with b.at(InsertionPoint.at_block_begin(ctx.module_body)):
        b.create(
            "llvm.func",
            attributes={
                "sym_name": StringAttr.get(name),
                "function_type": b.attribute(f"!llvm.func<{result} ({arguments})>"),
                "linkage": b.attribute("#llvm.linkage<external>"),
            },
            regions=1,
        )


def global_memory(ctx: Lowering, name: str, size: int, alignment: int) -> Value:
    """The address (i64) of memory of the module that starts as zeros and outlives launches; the
    same for every kernel that asks for it by this name."""
    name = OWN_PREFIX + name
    b, block = ctx.builder, ctx.module_body
    type_ = b.type(f"!llvm.array<{size} x i8>")
    if not has_symbol(block, name):
        with b.at(InsertionPoint.at_block_begin(block)):
            variable = b.create(
                "llvm.mlir.global",
                attributes={
                    "sym_name": StringAttr.get(name),
                    "global_type": TypeAttr.get(type_),
                    "addr_space": b.i32_attr(1),
                    "alignment": b.i64_attr(alignment),
                    "linkage": b.attribute("#llvm.linkage<internal>"),
                },
                regions=1,
            )
        with b.at(b.block(variable.regions[0])):
            b.create("llvm.return", [b.op("llvm.mlir.zero", [], type_)])
    pointer = b.type("!llvm.ptr<1>")
    symbol = {"global_name": FlatSymbolRefAttr.get(name)}
    address = b.op("llvm.mlir.addressof", [], pointer, symbol)
    return b.op("llvm.ptrtoint", [address], b.i64)


def constant_table(ctx: Lowering, info: TileInfo, value: DenseElementsAttr) -> list[Value]:
    """Registers of a constant tile with differing elements: read from a table in memory."""
    b, layout, size = ctx.builder, info.layout, info.element_bytes
    pointer, word = b.type("!llvm.ptr<4>"), b.type(f"i{8 * size}")
    table = {"global_name": FlatSymbolRefAttr.get(_add_table(ctx, info, value))}
    base = b.op("llvm.mlir.addressof", [], pointer, table)
    first = _linear(ctx, layout, info.shape)
    registers = []
    for offset in layout.register_offsets:
        constant = int(np.ravel_multi_index(offset, info.shape))
        index = b.add(first, b.c32(constant)) if constant else first
        loaded = b.op("llvm.load", [b.advance(base, index, size)], word)
        in_memory = ctx.bitcast(loaded, memory_type(ctx, info.element))
        registers.append(from_memory(ctx, in_memory, info.element))
    return registers


def _linear(ctx: Lowering, layout: Layout, shape: Sequence[int]) -> Value:
    """Row-major index of this thread's first element."""
    b, index = ctx.builder, None
    for dim, size in enumerate(shape):
        coordinate = ctx.coordinate(layout, dim)
        index = coordinate if index is None else b.add(b.mul(index, b.c32(size)), coordinate)
    assert index is not None
    return index


def _add_table(ctx: Lowering, info: TileInfo, value: DenseElementsAttr) -> str:
    """A global with the bits of the elements; its name."""
    b, count, width = ctx.builder, info.num_elements, 8 * info.element_bytes
    name = free_symbol(ctx.module_body, "constant")
    with b.at(InsertionPoint.at_block_begin(ctx.module_body)):
        b.create(
            "llvm.mlir.global",
            attributes={
                "sym_name": StringAttr.get(name),
                "global_type": b.attribute(f"!llvm.array<{count} x i{width}>"),
                "value": retype_to_bits(value, b.type(f"tensor<{count}xi{width}>")),
                "addr_space": b.i32_attr(4),
                "constant": b.attribute("unit"),
                "linkage": b.attribute("#llvm.linkage<internal>"),
            },
            regions=1,
        )
    return name
