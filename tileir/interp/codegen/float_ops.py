"""Floating-point operations."""

from __future__ import annotations

from ..numerics import functions
from ..numerics.formats import FloatFormat
from .access import Op, flag, keyword
from .emitter import Emitter
from .registry import translates

_INFIX = {
    "addf": ("add", "+"),
    "subf": ("subtract", "-"),
    "mulf": ("multiply", "*"),
    "divf": ("divide", "/"),
}


def float_format(e: Emitter, op: Op) -> tuple[FloatFormat, str]:
    """The format of the first operand and its name in the generated code."""
    fmt = e.slot(op.operands[0]).number
    assert isinstance(fmt, FloatFormat)
    return fmt, e.constant(fmt, fmt.name.upper())


def _flushed(text: str, ftz: bool) -> str:
    return f"floats.flush({text})" if ftz else text


def _name(op: Op) -> str:
    return op.operation.name.removeprefix("cuda_tile.")


@translates("addf", "subf", "mulf", "divf")
def _rounded_binary(e: Emitter, op: Op) -> None:
    function, sign = _INFIX[_name(op)]
    _, fmt = float_format(e, op)
    mode, ftz = keyword(op, "rounding_mode", "nearest_even"), flag(op, "flush_to_zero")

    def expression(a: str, b: str) -> str:
        if ftz and function == "multiply":
            return f"floats.multiply_flushed({a}, {b}, {mode!r})"
        a, b = _flushed(a, ftz), _flushed(b, ftz)
        if mode == "nearest_even":
            return _flushed(f"{a} {sign} {b}", ftz)
        return _flushed(f"floats.{function}({a}, {b}, {fmt}, {mode!r})", ftz)

    e.elementwise(op, expression)


@translates("fma")
def _fma(e: Emitter, op: Op) -> None:
    _, fmt = float_format(e, op)
    mode, ftz = keyword(op, "rounding_mode", "nearest_even"), flag(op, "flush_to_zero")

    def expression(*names: str) -> str:
        if ftz:
            return f"floats.fma_flushed({', '.join(names)}, {mode!r})"
        return f"floats.fma({', '.join(names)}, {fmt}, {mode!r})"

    e.elementwise(op, expression)


@translates("sqrt")
def _sqrt(e: Emitter, op: Op) -> None:
    _, fmt = float_format(e, op)
    mode, ftz = keyword(op, "rounding_mode", "nearest_even"), flag(op, "flush_to_zero")
    e.elementwise(op, lambda x: _flushed(f"floats.sqrt({_flushed(x, ftz)}, {fmt}, {mode!r})", ftz))


@translates("remf")
def _remainder(e: Emitter, op: Op) -> None:
    _, fmt = float_format(e, op)
    e.elementwise(op, lambda a, b: f"floats.remainder({a}, {b}, {fmt})")


@translates("maxf", "minf")
def _extremum(e: Emitter, op: Op) -> None:
    _, fmt = float_format(e, op)
    function = "maximum" if _name(op) == "maxf" else "minimum"
    ftz, propagate = flag(op, "flush_to_zero"), flag(op, "propagate_nan")
    e.elementwise(
        op,
        lambda a, b: (
            f"floats.{function}({_flushed(a, ftz)}, {_flushed(b, ftz)}, {fmt}, {propagate})"
        ),
    )


@translates("absf", "negf", "ceil", "floor")
def _simple_unary(e: Emitter, op: Op) -> None:
    form = {"absf": "abs({})", "negf": "-{}", "ceil": "np.ceil({})", "floor": "np.floor({})"}
    e.elementwise(op, form[_name(op)].format)


@translates("exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
def _function(e: Emitter, op: Op) -> None:
    fmt, fmt_name = float_format(e, op)
    name, ftz = _name(op), flag(op, "flush_to_zero")
    label = f"{name}_{fmt_name}"
    if label not in e.namespace:
        e.constant(functions.unary(name, fmt), label)
    e.elementwise(op, lambda x: _flushed(f"{label}({_flushed(x, ftz)})", ftz))


@translates("atan2", "fpowf", "pow", "fpowi")
def _two_argument_function(e: Emitter, op: Op) -> None:
    _, fmt = float_format(e, op)
    function = {"atan2": "atan2", "fpowi": "integer_power"}.get(_name(op), "power")
    e.elementwise(op, lambda a, b: f"functions.{function}({a}, {b}, {fmt})")


_ORDERED = {
    "equal": "{0} == {1}",
    "not_equal": "({0} < {1}) | ({0} > {1})",
    "less_than": "{0} < {1}",
    "less_than_or_equal": "{0} <= {1}",
    "greater_than": "{0} > {1}",
    "greater_than_or_equal": "{0} >= {1}",
}
# Unordered: the negation of the opposite ordered comparison.
_UNORDERED = {
    "equal": "~(({0} < {1}) | ({0} > {1}))",
    "not_equal": "{0} != {1}",
    "less_than": "~({0} >= {1})",
    "less_than_or_equal": "~({0} > {1})",
    "greater_than": "~({0} <= {1})",
    "greater_than_or_equal": "~({0} < {1})",
}


@translates("cmpf")
def _compare(e: Emitter, op: Op) -> None:
    ordered = keyword(op, "comparison_ordering") == "ordered"
    form = (_ORDERED if ordered else _UNORDERED)[keyword(op, "comparison_predicate")]
    e.elementwise(op, form.format)
