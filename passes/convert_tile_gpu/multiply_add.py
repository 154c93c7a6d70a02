"""Matrix products without tensor cores: a loop over k of multiply-adds on registers.

For f32 and f64, which tensor cores do not multiply exactly, and for shapes and types that no
instruction takes. Each thread owns elements of the accumulator and reads the rows and columns that
they need from shared memory.
"""

from __future__ import annotations

from tileir.compiler.ir_util import has_flag
from tileir.compiler.tile_types import TileInfo
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.conversions import to_float
from tileir.passes.convert_tile_gpu.lowering import Lowering, SharedBuffer
from tileir.passes.convert_tile_gpu.shared_memory import SharedAddress, load_elements


def multiply_add(ctx: Lowering, op: OpView, info: TileInfo) -> list[Value]:
    """The accumulator's registers after the product."""
    b = ctx.builder
    lhs, rhs, acc = op.operation.operands
    fragment = ctx.fragment(acc)
    left, right = ctx.buffers[lhs], ctx.buffers[rhs]
    layout = fragment.layout
    rows = sorted({offset[0] for offset in layout.register_offsets})
    columns = sorted({offset[1] for offset in layout.register_offsets})
    first_row, first_column = ctx.coordinate(layout, 0), ctx.coordinate(layout, 1)
    depth = left.info.shape[1]
    loop = b.create(
        "scf.for",
        [b.c32(0), b.c32(depth), b.c32(1), *fragment.registers],
        [v.type for v in fragment.registers],
        regions=1,
    )
    body = b.block(loop.regions[0], [b.i32, *(v.type for v in fragment.registers)])
    with b.at(body):
        k, *accumulators = body.arguments
        unsigned = [has_flag(op, f"{side}_unsigned") for side in ("lhs", "rhs")]
        a = {r: _element(ctx, left, _plus(ctx, first_row, r), k, info, unsigned[0]) for r in rows}
        c = {
            x: _element(ctx, right, k, _plus(ctx, first_column, x), info, unsigned[1])
            for x in columns
        }
        results = [
            _fused(ctx, a[row], c[column], accumulator)
            for (row, column), accumulator in zip(
                layout.register_offsets, accumulators, strict=True
            )
        ]
        b.create("scf.yield", results)
    return list(loop.results)


def _plus(ctx: Lowering, value: Value, constant: int) -> Value:
    return ctx.builder.add(value, ctx.builder.c32(constant)) if constant else value


def _fused(ctx: Lowering, a: Value, c: Value, accumulator: Value) -> Value:
    b = ctx.builder
    if str(accumulator.type).startswith("i"):
        return b.add(b.mul(a, c), accumulator)
    return b.op("math.fma", [a, c, accumulator], accumulator.type)


def _element(
    ctx: Lowering, buffer: SharedBuffer, row: Value, column: Value, acc: TileInfo, unsigned: bool
) -> Value:
    """One element of an operand, widened to the type of the accumulator."""
    b, info = ctx.builder, buffer.info
    place = (row, column) if info.order == (0, 1) else (column, row)
    (value,) = load_elements(ctx, buffer, _index(ctx, buffer, *place), 1)
    type_ = ctx.register_type(acc.element)
    if str(type_).startswith("i"):
        return b.op("arith.extui" if unsigned else "arith.extsi", [value], type_)
    return to_float(ctx, value, info.element, type_)


def _index(ctx: Lowering, buffer: SharedBuffer, row: Value, column: Value) -> Value:
    return SharedAddress(ctx, buffer.info, row, column).index(0, 0)
