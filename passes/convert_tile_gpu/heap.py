"""Memory from the heap of the device, for the whole block: `malloc` and `free` of CUDA.

The address that `malloc` gives is kept in front of the aligned one, for `free`.
"""

from __future__ import annotations

from tileir.compiler.ir_util import int_attr
from tileir.dialects import tile_gpu
from tileir.ir import FlatSymbolRefAttr, Operation, Type, Value
from tileir.passes.convert_tile_gpu.declarations import declare_function
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.pointers import pointer_to
from tileir.passes.convert_tile_gpu.shared_memory import load_elements

#: What `malloc` promises, and room for an address.
_SMALLEST_ALIGNMENT = 16
_ADDRESS_BYTES = 8


@lowers("tile_gpu.malloc")
def _malloc(ctx: Lowering, op: tile_gpu.MallocOp) -> None:
    assert op.scratch is not None, "place-buffers gives every allocation its scratch"
    b, buffer = ctx.builder, ctx.buffers[op.scratch]
    alignment = max(int_attr(op, "alignment"), _SMALLEST_ALIGNMENT)
    first = b.constant(0, b.index)
    with ctx.only_if(ctx.owner_of(None)):
        generic = b.type("!llvm.ptr")
        size = b.c64(int_attr(op, "bytes") + alignment)
        given = _call(ctx, "malloc", [size], generic).results[0]
        address = b.op("llvm.ptrtoint", [given], b.i64)
        with ctx.only_if(b.compare("eq", address, b.c64(0))):
            ctx.call_intrinsic("llvm.trap", [], None)
        above = b.add(address, b.c64(alignment))
        aligned = b.op("arith.andi", [above, b.c64(-alignment)], b.i64)
        b.create("llvm.store", [address, _place_of_address(ctx, aligned)])
        b.create("memref.store", [aligned, buffer.memref, first])
    ctx.barrier()
    (shared,) = load_elements(ctx, buffer, first, 1)
    ctx.set(op, [pointer_to(ctx, shared)])


@lowers("tile_gpu.free")
def _free(ctx: Lowering, op: tile_gpu.FreeOp) -> None:
    b = ctx.builder
    ctx.barrier()
    with ctx.only_if(ctx.owner_of(None)):
        aligned = b.op("llvm.ptrtoint", [ctx.scalar(op.pointer)], b.i64)
        address = b.op("llvm.load", [_place_of_address(ctx, aligned)], b.i64)
        generic = b.op("llvm.inttoptr", [address], b.type("!llvm.ptr"))
        _call(ctx, "free", [generic], b.type("!llvm.void"))


def _place_of_address(ctx: Lowering, aligned: Value) -> Value:
    """Where the address lies that `malloc` gave for an aligned one."""
    return pointer_to(ctx, ctx.builder.sub(aligned, ctx.builder.c64(_ADDRESS_BYTES)))


def _call(ctx: Lowering, name: str, operands: list[Value], result: Type) -> Operation:
    b = ctx.builder
    declare_function(ctx, name, [o.type for o in operands], result)
    attributes = {
        "callee": FlatSymbolRefAttr.get(name),
        "operandSegmentSizes": b.segments(len(operands), 0),
        "op_bundle_sizes": b.attribute("array<i32>"),
    }
    results = [] if str(result) == "!llvm.void" else [result]
    return b.create("llvm.call", operands, results, attributes)
