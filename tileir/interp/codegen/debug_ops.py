"""Promises, assertions, prints."""

from __future__ import annotations

from typing import Any

from mlir import ir

from ...dialects import cuda_tile
from .. import printf
from ..numerics.formats import IntFormat, PointerFormat
from . import access
from .access import Op
from .emitter import Emitter, Slot
from .memory_ops import token_of
from .registry import translates


@translates("assume")
def _assume(e: Emitter, op: Op) -> None:
    value = e.slot(op.operands[0])
    e.alias(op.results[0], value)
    if not e.check:
        return
    predicate = cuda_tile.assume_predicate(op.operation.attributes["predicate"])
    if isinstance(predicate, cuda_tile.DivBy) and _is_immaterial(op.results[0]):
        return
    # A promise that is made on every path may be checked once a launch.
    once = value.invariant and e.unconditional and not e.in_combiner
    # Nothing is promised of undefined elements.
    guard = f"if {value.poison} is None: " if value.poison else ""
    with e.hoisted(once):
        e.line(guard + _test(e, value, predicate))


def _is_immaterial(value: ir.Value) -> bool:
    """Whether a value serves only as the stride of dimensions of extent 1.

    Such a stride is multiplied by zero, and cuTile promises whatever divisibility suits it.
    """
    uses = list(value.uses)
    return bool(uses) and all(_is_idle_stride(use.owner, use.operand_number) for use in uses)


def _is_idle_stride(user: Op, operand: int) -> bool:
    name = user.operation.name
    if name == "cuda_tile.assume":
        return _is_immaterial(user.operation.results[0])
    if name != "cuda_tile.make_tensor_view":
        return False
    type_ = user.operation.results[0].type
    sizes = [d for d, extent in enumerate(type_.shape) if extent == cuda_tile.DYNAMIC]
    strides = [d for d, stride in enumerate(type_.strides) if stride == cuda_tile.DYNAMIC]
    position = operand - 1 - len(sizes)  # operands: the base, sizes, strides
    return position >= 0 and type_.shape[strides[position]] == 1


def _test(e: Emitter, value: Slot, predicate: Any) -> str:
    if isinstance(predicate, cuda_tile.DivBy):
        if value.fmt is None:
            return f"checks.divisible(np.int64({value.name}.base), {predicate.divisor})"
        if predicate.every is None:
            return f"checks.divisible({value.name}, {predicate.divisor})"
        is_pointer = isinstance(value.fmt, PointerFormat)
        step = value.pointee.memory_bits // 8 if is_pointer else 1
        return (
            f"checks.runs({e.full(value)}, {predicate.divisor}, {predicate.every}, "
            f"{predicate.along}, {step})"
        )
    if isinstance(predicate, cuda_tile.SameElements):
        return f"checks.same_elements({e.full(value)}, {predicate.block})"
    assert isinstance(value.fmt, IntFormat)
    signed = f"integers.as_signed({value.name}, {e.format_name(value.fmt)})"
    return f"checks.bounded({signed}, {predicate.lower}, {predicate.upper})"


@translates("assert")
def _assert(e: Emitter, op: Op) -> None:
    condition = e.slot(op.operands[0])
    e.demand(condition, "an assertion")
    e.line(f"t.verify({e.full(condition)}, {access.string(op, 'message')!r})")


@translates("print_tko", "print")
def _print(e: Emitter, op: Op) -> None:
    slots = [e.slot(value) for value in op.args]
    formats = []
    for slot in slots:
        e.demand(slot, "a print")
        assert slot.fmt is not None
        formats.append(slot.fmt)
    values = "".join(f"{e.full(slot)}, " for slot in slots)
    if cuda_tile.BREAKPOINT_ATTRIBUTE in op.operation.attributes:
        spec, place = access.string(op, cuda_tile.BREAKPOINT_ATTRIBUTE), str(op.location)
        e.line(f"debugger.stop({spec!r}, {place!r}, (t.x, t.y, t.z), ({values}))")
    else:
        text = e.constant(printf.compile_format(access.string(op, "str"), formats))
        e.line(f"t.print({text}({values}))")
    for result in op.results:
        token = e.new_slot(result)
        if e.check:
            e.line(f"{token.name} = {token_of(e, op)}")
