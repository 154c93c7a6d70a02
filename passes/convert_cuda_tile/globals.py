"""Globals of the module become globals of LLVM."""

from __future__ import annotations

from tileir.compiler.builder import Builder
from tileir.compiler.constants import retype_to_bits
from tileir.compiler.ir_util import element_bytes, keyword
from tileir.compiler.locations import plain_location
from tileir.ir import DenseElementsAttr, IntegerAttr, OpView, ShapedType
from tileir.passes.convert_cuda_tile.converter import Converter, lowers


def convert_global(builder: Builder, op: OpView) -> None:
    """A module-level variable in global memory, as the integers that its elements are in memory."""
    attributes = op.operation.attributes
    value = DenseElementsAttr(attributes["value"])
    shaped = ShapedType(value.type)
    builder.location = plain_location(op.location)
    alignment = IntegerAttr(attributes["alignment"]).value if "alignment" in attributes else 0
    count, width = shaped.shape[0], 8 * element_bytes(value.type)
    private = keyword(op, "symbol_visibility", "public") == "private"
    builder.create(
        "llvm.mlir.global",
        attributes={
            "sym_name": attributes["sym_name"],
            "global_type": builder.attribute(f"!llvm.array<{count} x i{width}>"),
            "value": retype_to_bits(value, builder.type(f"tensor<{count}xi{width}>")),
            "addr_space": builder.i32_attr(1),
            "alignment": builder.i64_attr(alignment or element_bytes(value.type)),
            "linkage": builder.attribute(f"#llvm.linkage<{'internal' if private else 'external'}>"),
        },
        regions=1,
    )


@lowers("get_global")
def _get_global(c: Converter, op: OpView) -> None:
    attributes = {"global_name": op.operation.attributes["name"]}
    pointer = c.builder.type("!llvm.ptr<1>")
    c.set(op, c.builder.op("llvm.mlir.addressof", [], pointer, attributes))
