"""Conversions."""

from __future__ import annotations

from ..numerics.formats import F32, F64, I1, FloatFormat, IntFormat
from .access import Op, flag, is_signed, keyword
from .emitter import Emitter, Slot
from .registry import translates


def _formats(e: Emitter, op: Op) -> tuple[Slot, str, str]:
    """The source's slot, and the names of the source's and the result's formats."""
    source = e.slot(op.operands[0])
    target = e.format_of(op.results[0])
    assert source.fmt is not None
    return source, e.format_name(source.fmt), e.format_name(target)


@translates("bitcast")
def _bitcast(e: Emitter, op: Op) -> None:
    _, source, target = _formats(e, op)
    e.elementwise(op, lambda x: f"bits.bitcast({x}, {source}, {target})")


@translates("exti")
def _extend(e: Emitter, op: Op) -> None:
    slot, source, target = _formats(e, op)
    dtype = e.format_of(op.results[0]).dtype
    signed = is_signed(op)
    if signed and slot.fmt is not I1:
        e.elementwise(op, lambda x: f"{x}.astype(np.{dtype})")
    else:
        e.elementwise(op, lambda x: f"integers.extend({x}, {source}, {target}, {signed})")


@translates("trunci")
def _truncate(e: Emitter, op: Op) -> None:
    _, source, target = _formats(e, op)
    promise = keyword(op, "overflow", "none")

    def problems(x: str) -> list[str]:
        if promise == "none":
            return []
        tests = [
            f"integers.truncate_loses({x}, {source}, {target}, {signed})"
            if promise in (kind, "no_wrap")
            else "None"
            for signed, kind in ((True, "no_signed_wrap"), (False, "no_unsigned_wrap"))
        ]
        return [f"checks.overflow({promise!r}, {', '.join(tests)})"]

    e.elementwise(op, lambda x: f"integers.wrap({x}, {target})", checks=problems)


@translates("ftof")
def _float_to_float(e: Emitter, op: Op) -> None:
    _, source, target = _formats(e, op)
    mode = keyword(op, "rounding_mode", "nearest_even")
    e.elementwise(op, lambda x: f"rounding.convert({x}, {source}, {target}, {mode!r})")


@translates("itof")
def _int_to_float(e: Emitter, op: Op) -> None:
    slot, source, target = _formats(e, op)
    fmt = e.format_of(op.results[0])
    signed = is_signed(op)
    if signed and fmt in (F32, F64) and slot.fmt is not I1:
        e.elementwise(op, lambda x: f"{x}.astype(np.{fmt.dtype})")
    else:
        e.elementwise(op, lambda x: f"int_float.from_int({x}, {source}, {target}, {signed})")


@translates("ftoi")
def _float_to_int(e: Emitter, op: Op) -> None:
    slot, source, target = _formats(e, op)
    assert isinstance(slot.fmt, FloatFormat)
    assert isinstance(e.format_of(op.results[0]), IntFormat)
    arguments = f"{source}, {target}, {is_signed(op)}"

    def problems(x: str) -> list[str]:
        return [] if flag(op, "saturating") else [f"checks.float_to_int({x}, {arguments})"]

    convert = f"int_float.to_int({{}}, {arguments})".format
    e.elementwise(op, convert, problems, only_if_used=True)


@translates("int_to_ptr", "ptr_to_int", "ptr_to_ptr")
def _same_bits(e: Emitter, op: Op) -> None:
    """Pointers are int64: nothing happens."""
    source = e.slot(op.operands[0])
    slot = e.alias(op.results[0], source)
    slot.fmt = e.format_of(op.results[0])
