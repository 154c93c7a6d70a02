"""Atomic operations, one transaction for each element, by one thread."""

from __future__ import annotations

from collections.abc import Callable

from tileir.compiler.ir_util import keyword
from tileir.compiler.tile_types import tile_info
from tileir.compiler.unsupported import Unsupported
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.pointers import pointer_to
from tileir.passes.convert_tile_gpu.scratch import shared_by_all
from tileir.passes.convert_tile_gpu.tensors import TensorAccess
from tileir.passes.convert_tile_gpu.vectors import both

AtomicOp = tile_gpu.AtomicRMWOp | tile_gpu.AtomicCASOp

#: LLVM's atomicrmw kinds (LLVMOpsEnums).
_KINDS = {
    "xchg": 0, "add": 1, "and": 3, "or": 5, "xor": 6, "max": 7, "min": 8, "umax": 9, "umin": 10,
    "addf": 11,
}  # fmt: skip
_ORDERINGS = {"relaxed": 2, "acquire": 4, "release": 5, "acq_rel": 6}
_SCOPES = {"block": "block", "device": "device", "system": ""}


@lowers("tile_gpu.atomic_rmw")
def _atomic_rmw(ctx: Lowering, op: tile_gpu.AtomicRMWOp) -> None:
    kind = keyword(op, "kind")

    def apply(address: Value, value: Value, _: Value | None) -> Value:
        return _rmw(ctx, op, kind, address, value, keyword(op, "ordering"))

    _each_element(ctx, op, op.value, None, apply)


@lowers("tile_gpu.atomic_cas")
def _atomic_cas(ctx: Lowering, op: tile_gpu.AtomicCASOp) -> None:
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


Apply = Callable[[Value, Value, Value | None], Value]


def _each_element(
    ctx: Lowering, op: AtomicOp, value: Value, compare: Value | None, apply: Apply
) -> None:
    """Applies an atomic operation to each element (address, value, value to compare with), by its
    owner where its mask is true. A masked element returns `compare` if there is one."""
    info = tile_info(value.type)
    count = info.layout.num_registers if info else 1
    addresses, values = ctx.registers(op.addresses, count), ctx.registers(value, count)
    compares = ctx.registers(compare, count) if compare is not None else [None] * count
    masks, owner = ctx.masks(op.mask, count), ctx.owner_of(info)
    results = [
        _guarded(ctx, both(ctx, mask, owner), apply, address, new, expected)
        for address, new, expected, mask in zip(addresses, values, compares, masks, strict=True)
    ]
    if op.scratch is not None:
        results = shared_by_all(ctx, op.result, op.scratch, results)
    ctx.set(op, results)


def _guarded(
    ctx: Lowering, guard: Value | None, apply: Apply, address: Value, new: Value,
    expected: Value | None,
) -> Value:  # fmt: skip
    b = ctx.builder
    if guard is None:
        return apply(address, new, expected)
    return b.either(
        guard,
        new.type,
        lambda: apply(address, new, expected),
        lambda: b.constant(0, new.type) if expected is None else expected,
    )


@lowers("tile_gpu.atomic_red")
def _atomic_red(ctx: Lowering, op: tile_gpu.AtomicRedOp) -> None:
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
