"""Matrix products without tensor cores: a loop over k of multiply-adds on registers.

For f32, which tensor cores do not multiply exactly, and for shapes and types that no instruction
takes. Each thread owns elements of the accumulator and reads the rows and columns that they need
from shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    places = layout.register_offsets
    rows = sorted({place[:-1] for place in places})
    columns = sorted({(*place[:-2], place[-1]) for place in places})
    first = [ctx.coordinate(layout, dim) for dim in range(layout.rank)]
    depth = left.info.shape[-1]
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
        a, c = {}, {}
        for row in rows:
            at = [*_moved(ctx, first[:-1], row), k]
            a[row] = _element(ctx, left, at, info, unsigned[0])
        for column in columns:
            *batch, n = _moved(ctx, [*first[:-2], first[-1]], column)
            c[column] = _element(ctx, right, [*batch, k, n], info, unsigned[1])
        results = [
            _fused(ctx, a[place[:-1]], c[*place[:-2], place[-1]], accumulator)
            for place, accumulator in zip(places, accumulators, strict=True)
        ]
        b.create("scf.yield", results)
    return list(loop.results)


def _moved(ctx: Lowering, first: Sequence[Value], offsets: Sequence[int]) -> list[Value]:
    """Coordinates of an element from those of the thread's first."""
    b = ctx.builder
    return [b.add(x, b.c32(n)) if n else x for x, n in zip(first, offsets, strict=True)]


def _fused(ctx: Lowering, a: Value, c: Value, accumulator: Value) -> Value:
    b = ctx.builder
    if str(accumulator.type).startswith("i"):
        return b.add(b.mul(a, c), accumulator)
    return b.op("math.fma", [a, c, accumulator], accumulator.type)


def _element(
    ctx: Lowering, buffer: SharedBuffer, at: Sequence[Value], acc: TileInfo, unsigned: bool
) -> Value:
    """One element of an operand, widened to the type of the accumulator."""
    b, info = ctx.builder, buffer.info
    place = SharedAddress.of_place(ctx, info, at).index(0, 0)
    (value,) = load_elements(ctx, buffer, place, 1)
    type_ = ctx.register_type(acc.element)
    if str(type_).startswith("i"):
        return b.op("arith.extui" if unsigned else "arith.extsi", [value], type_)
    return to_float(ctx, value, info.element, type_)
