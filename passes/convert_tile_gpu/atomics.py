"""Atomic operations, one transaction for each element, by one thread."""

from __future__ import annotations

from tileir.compiler.ir_util import keyword
from tileir.compiler.tile_types import tile_info
from tileir.compiler.unsupported import Unsupported
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.global_memory import (
    TensorAccess,
    both,
    pointer_to,
    to_memory,
)
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import (
    load_elements,
    load_fragment,
    store_fragment,
)

#: LLVM's atomicrmw kinds (LLVMOpsEnums).
_KINDS = {
    "xchg": 0, "add": 1, "and": 3, "or": 5, "xor": 6, "max": 7, "min": 8, "umax": 9, "umin": 10,
    "addf": 11,
}  # fmt: skip
_ORDERINGS = {"relaxed": 2, "acquire": 4, "release": 5, "acq_rel": 6}
_SCOPES = {"block": "block", "device": "device", "system": ""}


@lowers("tile_gpu.atomic_rmw")
def _atomic_rmw(ctx: Lowering, op: OpView) -> None:
    kind = keyword(op, "kind")

    def apply(address: Value, value: Value, _: Value | None) -> Value:
        return _rmw(ctx, op, kind, address, value, keyword(op, "ordering"))

    _each_element(ctx, op, op.value, None, apply)


@lowers("tile_gpu.atomic_cas")
def _atomic_cas(ctx: Lowering, op: OpView) -> None:
    b = ctx.builder

    def apply(address: Value, value: Value, compare: Value | None) -> Value:
        assert compare is not None
        bits = b.type(f"i{ctx.width(value.type)}")
        ordering = keyword(op, "ordering")
        failure = {"acq_rel": "acquire", "release": "relaxed"}.get(ordering, ordering)
        attributes = {
            "success_ordering": b.i64_attr(_ORDERINGS[ordering]),
            "failure_ordering": b.i64_attr(_ORDERINGS[failure]),
            "syncscope": b.attribute(f'"{_SCOPES[keyword(op, "scope")]}"'),
        }
        operands = [pointer_to(ctx, address), ctx.bitcast(compare, bits), ctx.bitcast(value, bits)]
        struct = b.type(f"!llvm.struct<({bits}, i1)>")
        result = b.op("llvm.cmpxchg", operands, struct, attributes)
        return ctx.bitcast(ctx.extract(result, 0, bits), value.type)

    _each_element(ctx, op, op.value, op.compare, apply)


def _rmw(
    ctx: Lowering, op: OpView, kind: str, address: Value, value: Value, ordering: str
) -> Value:
    b = ctx.builder
    exchanged = ctx.bitcast(value, b.type(f"i{ctx.width(value.type)}")) if kind == "xchg" else value
    attributes = {
        "bin_op": b.i64_attr(_KINDS[kind]),
        "ordering": b.i64_attr(_ORDERINGS[ordering]),
        "syncscope": b.attribute(f'"{_SCOPES[keyword(op, "scope")]}"'),
    }
    old = b.op("llvm.atomicrmw", [pointer_to(ctx, address), exchanged], exchanged.type, attributes)
    return ctx.bitcast(old, value.type)


def _each_element(ctx: Lowering, op: OpView, value: Value, compare: Value | None, apply) -> None:
    """Applies an atomic operation to each element, by its owner where its mask is true. A masked
    element returns `compare` if there is one."""
    b = ctx.builder
    info = tile_info(value.type)
    count = info.layout.num_registers if info else 1
    addresses, values = ctx.registers(op.addresses, count), ctx.registers(value, count)
    compares = ctx.registers(compare, count) if compare is not None else [None] * count
    masks = ctx.registers(op.mask, count) if op.mask is not None else [None] * count
    owner = ctx.owns(info.layout) if info else b.compare("eq", ctx.thread, b.c32(0))
    results = []
    for address, new, expected, mask in zip(addresses, values, compares, masks, strict=True):
        guard = both(ctx, mask, owner)
        if guard is None:
            results.append(apply(address, new, expected))
            continue
        branch = b.create("scf.if", [guard], [new.type], regions=2)
        with b.at(b.block(branch.regions[0])):
            b.create("scf.yield", [apply(address, new, expected)])
        with b.at(b.block(branch.regions[1])):
            masked = expected if expected is not None else b.constant(0, new.type)
            b.create("scf.yield", [masked])
        results.append(branch.results[0])
    if op.scratch is not None:
        results = shared_by_all(ctx, op, results, owner)
    ctx.set(op, results)


def shared_by_all(
    ctx: Lowering, op: OpView, values: list[Value], owner: Value | None
) -> list[Value]:
    """What owners read, given to all threads through the scratch buffer of `op`."""
    b = ctx.builder
    buffer = ctx.buffers[op.scratch]
    info = tile_info(op.operation.results[0].type)
    with ctx.only_if(owner):
        _write_scratch(ctx, op, values)
    b.create("gpu.barrier")
    if info is None:
        return load_elements(ctx, buffer, b.constant(0, b.index), 1)
    return load_fragment(ctx, info, buffer)


def _write_scratch(ctx: Lowering, op: OpView, values: list[Value]) -> None:
    buffer, result = ctx.buffers[op.scratch], op.operation.results[0]
    info = tile_info(result.type)
    if info is None:
        place = ctx.builder.constant(0, ctx.builder.index)
        stored = to_memory(ctx, values[0], buffer.info.element)
        ctx.builder.create("memref.store", [stored, buffer.memref, place])
        return
    ctx.fragments[result] = Fragment(info, tuple(values))
    store_fragment(ctx, result, buffer)


@lowers("tile_gpu.atomic_red")
def _atomic_red(ctx: Lowering, op: OpView) -> None:
    """Elements outside the tensor are dropped."""
    b = ctx.builder
    fragment = ctx.fragment(op.value)
    info = fragment.info
    access = TensorAccess(ctx, op, info.layout, info.element_bytes)
    owner = ctx.owns(info.layout)
    kind = keyword(op, "kind")
    if kind == "xchg":
        raise Unsupported("there is no exchange without a result")
    for register, offset in enumerate(info.layout.register_offsets):
        guard = both(ctx, access.inside(offset), owner)
        address = b.op("llvm.ptrtoint", [access.address(offset)], b.i64)
        value = fragment.registers[register]
        with ctx.only_if(guard):
            _rmw(ctx, op, kind, address, value, "relaxed")
