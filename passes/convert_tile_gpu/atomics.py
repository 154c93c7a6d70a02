"""Atomic operations, one transaction for each element, by one thread.

Updates are written as PTX, since LLVM's back end drops the order and the scope of an `atomicrmw`:
it makes `atom.global.add` of it, which is relaxed.
"""

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
from tileir.passes.convert_tile_gpu.vectors import PTX_SCOPES, both, memory_qualifier

AtomicOp = tile_gpu.AtomicRMWOp | tile_gpu.AtomicCASOp

#: Updates in PTX: `atom.ORDERING.SCOPE.global.THIS` and the bits of an element.
_UPDATES = {
    "xchg": "exch.b", "add": "add.u", "and": "and.b", "or": "or.b", "xor": "xor.b",
    "max": "max.s", "min": "min.s", "umax": "max.u", "umin": "min.u",
}  # fmt: skip
_FLOAT_SUMS = {"f16": "add.noftz.f16", "bf16": "add.noftz.bf16", "f32": "add.f32", "f64": "add.f64"}
#: First architecture that adds bf16 to memory.
_BF16_CAPABILITY = 90
#: Before, in a loop. The sum of two bf16 is rounded once more where it is an f32, which changes
#: nothing: that has more than twice as many bits. Labels are local to the braces.
_ADD_BF16 = (
    "{{ .reg .pred differs; .reg .b16 zero, seen, new; .reg .f32 sum, more; "
    "mov.b16 zero, 0; mov.b32 more, {{zero, $2}}; ld.relaxed.{scope}.global.b16 $0, [$1]; "
    "AGAIN: mov.b16 seen, $0; mov.b32 sum, {{zero, seen}}; add.rn.f32 sum, sum, more; "
    "cvt.rn.bf16.f32 new, sum; atom.relaxed.{scope}.global.cas.b16 $0, [$1], seen, new; "
    "setp.ne.s16 differs, $0, seen; @differs bra AGAIN; }}"
)
#: The ordering of updates whose result nobody asks for.
_WITHOUT_RESULT = "relaxed"
_ORDERINGS = {"relaxed": 2, "acquire": 4, "release": 5, "acq_rel": 6}
_SCOPES = {"block": "block", "device": "device", "system": ""}


@lowers("tile_gpu.atomic_rmw")
def _atomic_rmw(ctx: Lowering, op: tile_gpu.AtomicRMWOp) -> None:
    def apply(address: Value, value: Value, _: Value | None) -> Value:
        return _update(ctx, op, address, value)

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


def _update(ctx: Lowering, op: OpView, address: Value, value: Value) -> Value:
    """What was there before."""
    b, kind, width = ctx.builder, keyword(op, "kind"), ctx.width(value.type)
    name = str(value.type)
    if name == "bf16" and ctx.target.capability < _BF16_CAPABILITY:
        return _add_bf16(ctx, op, address, value)
    update = _FLOAT_SUMS[name] if kind == "addf" else f"{_UPDATES[kind]}{width}"
    bits = b.type(f"i{width}")
    register = {16: "h", 32: "r", 64: "l"}[width]
    text = f"atom{memory_qualifier(op, _WITHOUT_RESULT)}.global.{update} $0, [$1], $2;"
    operands = [address, ctx.bitcast(value, bits)]
    constraints = f"={register},l,{register},~{{memory}}"
    old = ctx.asm(text, constraints, operands, bits, True).results[0]
    return ctx.bitcast(old, value.type)


def _add_bf16(ctx: Lowering, op: OpView, address: Value, value: Value) -> Value:
    """In a loop, between fences."""
    b, ordering = ctx.builder, keyword(op, "ordering", _WITHOUT_RESULT)
    scope = b.attribute(f'"{_SCOPES[keyword(op, "scope")]}"')

    def fence(kind: str) -> None:
        if ordering in (kind, "acq_rel"):
            attributes = {"ordering": b.i64_attr(_ORDERINGS[kind]), "syncscope": scope}
            b.create("llvm.fence", attributes=attributes)

    fence("release")
    text = _ADD_BF16.format(scope=PTX_SCOPES[keyword(op, "scope")])
    operands = [address, ctx.bitcast(value, b.i16)]
    old = ctx.asm(text, "=&h,l,h,~{memory}", operands, b.i16, True).results[0]
    fence("acquire")
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
    if keyword(op, "kind") == "xchg":
        raise Unsupported("there is no exchange without a result")
    for register, offset in enumerate(info.layout.register_offsets):
        guard = both(ctx, access.inside(offset), owner)
        address = b.op("llvm.ptrtoint", [access.address(offset)], b.i64)
        value = fragment.registers[register]
        with ctx.only_if(guard):
            _update(ctx, op, address, value)
