"""Integer and bitwise operations."""

from __future__ import annotations

from collections.abc import Callable

from ..numerics import integers
from ..numerics.formats import I1, IntFormat
from . import access
from .access import Op, is_signed, keyword
from .emitter import Emitter
from .registry import translates

# Expressions for what is wrong with operands, given their names.
Problems = Callable[..., list[str]]


def int_format(e: Emitter, op: Op) -> tuple[IntFormat, str]:
    """The format of the first operand and its name in the generated code."""
    fmt = e.slot(op.operands[0]).number
    assert isinstance(fmt, IntFormat)
    return fmt, e.constant(fmt, fmt.name.upper())


def _name(op: Op) -> str:
    return op.operation.name.removeprefix("cuda_tile.")


def _promise(op: Op, function: str, fmt: str) -> Problems | None:
    """Problems that check `overflow<...>`, as a function of the operands' names."""
    promise = keyword(op, "overflow", "none")
    if promise == "none":
        return None

    def problems(*names: str) -> list[str]:
        arguments = ", ".join([*names, fmt])
        tests = [
            f"integers.{function}({arguments}, {signed})" if promise in kinds else "None"
            for signed, kinds in (
                (True, ("no_signed_wrap", "no_wrap")),
                (False, ("no_unsigned_wrap", "no_wrap")),
            )
        ]
        return [f"checks.overflow({promise!r}, {', '.join(tests)})"]

    return problems


@translates("addi", "subi", "muli")
def _arithmetic(e: Emitter, op: Op) -> None:
    function, sign = {"addi": ("add", "+"), "subi": ("subtract", "-"), "muli": ("multiply", "*")}[
        _name(op)
    ]
    fmt, name = int_format(e, op)
    e.elementwise(
        op,
        lambda a, b: f"integers.{function}({a}, {b}, I1)" if fmt is I1 else f"{a} {sign} {b}",
        checks=_promise(op, f"{function}_overflows", name),
    )


@translates("negi")
def _negate(e: Emitter, op: Op) -> None:
    fmt, name = int_format(e, op)
    promise = keyword(op, "overflow", "none")

    def problems(x: str) -> list[str]:
        if promise == "none":
            return []
        return [f"checks.overflow({promise!r}, {x} == {integers.bounds(fmt, True)[0]}, None)"]

    e.elementwise(op, lambda x: f"integers.negate({x}, {name})", checks=problems)


@translates("absi")
def _absolute(e: Emitter, op: Op) -> None:
    _, name = int_format(e, op)
    e.elementwise(op, lambda x: f"integers.absolute({x}, {name})")


@translates("mulhii")
def _multiply_high(e: Emitter, op: Op) -> None:
    _, name = int_format(e, op)
    e.elementwise(op, lambda a, b: f"integers.multiply_high({a}, {b}, {name})")


@translates("divi")
def _divide(e: Emitter, op: Op) -> None:
    fmt, name = int_format(e, op)
    signed, mode = is_signed(op), keyword(op, "rounding", "zero")

    def expression(a: str, b: str) -> str:
        if fmt is not I1 and signed and mode == "negative_inf":
            return f"{a} // {b}"
        return f"integers.divide({a}, {b}, {name}, {signed}, {mode!r})"

    e.elementwise(op, expression, checks=_divisor_check(op, name, signed))


@translates("remi")
def _remainder(e: Emitter, op: Op) -> None:
    _, name = int_format(e, op)
    signed = is_signed(op)
    e.elementwise(
        op,
        lambda a, b: f"integers.remainder({a}, {b}, {name}, {signed})",
        checks=_divisor_check(op, name, signed, remainder=True),
    )


def _divisor_check(op: Op, fmt: str, signed: bool, remainder: bool = False) -> Problems | None:
    """The check of a divisor, left out where it is a constant that cannot fail."""
    known = access.known_integer(op.operands[1])
    if known is not None and known not in (0, -1):
        return None
    if remainder:
        return lambda a, b: [f"checks.nonzero({b})"]
    return lambda a, b: [f"checks.divisor({a}, {b}, {fmt}, {signed})"]


@translates("maxi", "mini")
def _extremum(e: Emitter, op: Op) -> None:
    fmt, name = int_format(e, op)
    function = "maximum" if _name(op) == "maxi" else "minimum"
    signed = is_signed(op)

    def expression(a: str, b: str) -> str:
        if signed and fmt is not I1:
            return f"np.{function}({a}, {b})"
        return f"integers.{function}({a}, {b}, {name}, {signed})"

    e.elementwise(op, expression)


@translates("shli", "shri")
def _shift(e: Emitter, op: Op) -> None:
    fmt, name = int_format(e, op)
    left = _name(op) == "shli"
    promise = _promise(op, "shift_left_overflows", name) if left else None
    known = access.known_integer(op.operands[1])
    safe = known is not None and 0 <= known < fmt.bits

    def problems(a: str, n: str) -> list[str]:
        found = [] if safe else [f"checks.shift({n}, {name})"]
        return found + (promise(a, n) if promise else [])

    def expression(a: str, n: str) -> str:
        if left:
            return f"integers.shift_left({a}, {n}, {name})"
        return f"integers.shift_right({a}, {n}, {name}, {is_signed(op)})"

    e.elementwise(op, expression, checks=problems)


@translates("andi", "ori", "xori")
def _bitwise(e: Emitter, op: Op) -> None:
    sign = {"andi": "&", "ori": "|", "xori": "^"}[_name(op)]
    e.elementwise(op, lambda a, b: f"{a} {sign} {b}")


_COMPARISONS = {
    "equal": "==",
    "not_equal": "!=",
    "less_than": "<",
    "less_than_or_equal": "<=",
    "greater_than": ">",
    "greater_than_or_equal": ">=",
}


@translates("cmpi")
def _compare(e: Emitter, op: Op) -> None:
    fmt, name = int_format(e, op)
    predicate = keyword(op, "comparison_predicate")
    sign = _COMPARISONS[predicate]
    plain = predicate in ("equal", "not_equal") or (is_signed(op) and fmt is not I1)
    reader = f"integers.read({{}}, {name}, {is_signed(op)})"

    def expression(a: str, b: str) -> str:
        if not plain:
            a, b = reader.format(a), reader.format(b)
        return f"{a} {sign} {b}"

    e.elementwise(op, expression)
