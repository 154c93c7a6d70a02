"""Matrix multiply-accumulate."""

from __future__ import annotations

from .access import Op, is_signed
from .emitter import Emitter, Slot
from .registry import translates


def _emit(e: Emitter, op: Op, factors: list[Slot], expression: str) -> None:
    """The result; a row or column with an undefined element is undefined as a whole."""
    a, b, c = factors
    result = e.new_slot(op.results[0])
    e.line(f"{result.name} = {expression}")
    if result.poison:
        e.line(
            f"{result.poison} = poison.join({c.poison}, "
            f"poison.through({a.poison}, {a.shape}, lambda m: m.any(-1, keepdims=True)), "
            f"poison.through({b.poison}, {b.shape}, lambda m: m.any(-2, keepdims=True)))"
        )


@translates("mmaf")
def _float(e: Emitter, op: Op) -> None:
    a, b, c = (e.slot(value) for value in list(op.operands)[:3])
    formats = f"{e.format_name(a.number)}, {e.format_name(c.number)}"
    _emit(
        e,
        op,
        [a, b, c],
        f"matmul.multiply_accumulate({e.full(a)}, {e.full(b)}, {c.name}, {formats})",
    )


@translates("mmaf_scaled")
def _scaled(e: Emitter, op: Op) -> None:
    a, b, c, a_scale, b_scale = (e.slot(value) for value in op.operands)
    formats = ", ".join(e.format_name(slot.number) for slot in (a, a_scale, c))
    for scale in (a_scale, b_scale):
        e.demand(scale, "a scale")
    tiles = ", ".join([e.full(a), e.full(b), c.name, e.full(a_scale), e.full(b_scale)])
    _emit(e, op, [a, b, c], f"matmul.multiply_accumulate_scaled({tiles}, {formats})")


@translates("mmai")
def _integer(e: Emitter, op: Op) -> None:
    a, b, c = (e.slot(value) for value in list(op.operands)[:3])
    signs = f"{is_signed(op, 'signedness_lhs')}, {is_signed(op, 'signedness_rhs')}"
    _emit(
        e,
        op,
        [a, b, c],
        f"matmul.multiply_accumulate_integers({e.full(a)}, {e.full(b)}, {c.name}, {signs})",
    )
