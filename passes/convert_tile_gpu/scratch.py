"""Values that one thread reads from memory and all threads get, through a scratch buffer."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.tile_types import tile_info
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, SharedBuffer
from tileir.passes.convert_tile_gpu.shared_memory import (
    load_elements,
    load_fragment,
    write_fragment,
)
from tileir.passes.convert_tile_gpu.vectors import to_memory


def shared_by_all(
    ctx: Lowering, result: Value, scratch: Value, values: Sequence[Value]
) -> list[Value]:
    """The registers (or the scalar) of `result`, of which owners have read `values`, as all
    threads get them."""
    b, buffer, info = ctx.builder, ctx.buffers[scratch], tile_info(result.type)
    if info is not None:
        write_fragment(ctx, Fragment(info, tuple(values)), buffer)
        ctx.barrier()
        return load_fragment(ctx, info, buffer)
    first = b.constant(0, b.index)
    with ctx.only_if(ctx.owner_of(None)):
        _write_scalar(ctx, values[0], buffer, first)
    ctx.barrier()
    return load_elements(ctx, buffer, first, 1)


def _write_scalar(ctx: Lowering, value: Value, buffer: SharedBuffer, place: Value) -> None:
    stored = to_memory(ctx, value, buffer.info.element)
    ctx.builder.create("memref.store", [stored, buffer.memref, place])
