"""setp and set."""

from __future__ import annotations

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..ptx.syntax import Pair, Sink
from ..ptx.types import PRED, TYPES, Type
from .floats import read as read_float

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# Unsigned comparisons have names of their own for untyped bits.
_UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_UNORDERED = {"equ": "==", "neu": "!=", "ltu": "<", "leu": "<=", "gtu": ">", "geu": ">="}
COMBINATIONS = {"and": "&", "or": "|", "xor": "^"}


def _comparison(e: Emitter, f: Form) -> tuple[str, str | None, Type]:
    """(the comparison as an expression, how it is combined with a predicate, its type)"""
    operator = f.need(*_SIGNS, *_UNSIGNED, *_UNORDERED, "num", "nan")
    combination = f.one_of(*COMBINATIONS)
    flush = f.has("ftz")
    result = f.optional_type() if f.name == "set" else None
    type_ = f.type()
    a, b = read_float(e, f, 1, type_, flush), read_float(e, f, 2, type_, flush)
    if operator in _UNORDERED:
        value = f"({a} {_UNORDERED[operator]} {b})"
        if operator != "neu":  # != holds for NaN anyway
            value = f"({value} | ({a} != {a}) | ({b} != {b}))"
    elif operator == "ne" and type_.is_float:
        value = f"(({a} < {b}) | ({a} > {b}))"
    elif operator in ("num", "nan"):
        unordered = f"({a} != {a}) | ({b} != {b})"
        value = f"({unordered})" if operator == "nan" else f"(~({unordered}))"
    else:
        value = f"({a} {(_SIGNS | _UNSIGNED)[operator]} {b})"
    if result is not None:
        return value, combination, result
    return value, combination, type_


@instruction("setp")
def set_predicate(e: Emitter, f: Form) -> None:
    """setp d, a, b, or setp d|q, a, b, c with `comparison combined with c` and its negation."""
    value, combination, type_ = _comparison(e, f)
    result = f.operand(0)
    if type_.lanes > 1:
        _packed(e, f, value, combination)
        return
    if isinstance(result, Pair):
        value = e.temporary(value)
    outcomes = [value, f"(~{value})"]
    if combination is not None:
        other = e.read(f.operand(3), PRED)
        outcomes = [f"{one} {COMBINATIONS[combination]} {other}" for one in outcomes]
    results = (result.first, result.second) if isinstance(result, Pair) else (result,)
    for operand, outcome in zip(results, outcomes, strict=False):
        if not isinstance(operand, Sink):
            e.write(operand, outcome, PRED)


def _packed(e: Emitter, f: Form, value: str, combination: str | None) -> None:
    """f16x2, bf16x2: one predicate for each half."""
    result = f.operand(0)
    if not isinstance(result, Pair):
        raise f.error("a packed comparison gives two predicates")
    value = e.temporary(value)
    for place, operand in enumerate((result.first, result.second)):
        if isinstance(operand, Sink):
            continue
        outcome = f"{value}[:, {place}::2]"
        if combination is not None:
            outcome += f" {COMBINATIONS[combination]} {e.read(f.operand(3), PRED)}"
        e.write(operand, outcome, PRED)


@instruction("set")
def set_value(e: Emitter, f: Form) -> None:
    """All ones, or 1.0, where the comparison holds."""
    value, combination, type_ = _comparison(e, f)
    if combination is not None:
        value = f"({value} {COMBINATIONS[combination]} {e.read(f.operand(3), PRED)})"
    element = TYPES[type_.element] if type_.lanes > 1 else type_
    name = e.dtype_name(element.dtype)
    true = e.constant(element.dtype.type(1) if element.is_float else element.dtype.type(0))
    one = true if element.is_float else f"~{true}"
    zero = e.constant(element.dtype.type(0))
    chosen = f"where({value}, {one}, {zero}).astype({name})"
    if type_.lanes > 1:
        chosen = f"{chosen}.view({e.dtype_name(type_.dtype)})"
    e.write(f.operand(0), chosen, type_)
