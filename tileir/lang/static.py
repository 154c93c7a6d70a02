"""What happens while a kernel is compiled: static evaluation, unrolling, context managers."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..errors import TileError
from . import calls
from .builder import OutsideError, ambient
from .errors import (
    TileStaticAssertionError,
    TileStaticEvalError,
    TileSyntaxError,
    TileTypeError,
    TileValueError,
)
from .frames import Frame, Undefined
from .plain import plain
from .ranges import Range
from .values import FormattedString, RuntimeValue, describe, is_runtime

if TYPE_CHECKING:
    from .interpreter import Interpreter

#: Rounds after which unrolling stops.
MAX_ROUNDS = 65536


# What users write.


def static_eval(expression: Any, /) -> Any:
    """Has Python evaluate an expression when the kernel is compiled.

    Everything that Python can do is allowed in it, but nothing that runs on the GPU: it may ask a
    tile or an array for its shape or dtype.
    """
    raise _outside("static_eval")


def static_assert(condition: Any, message: Any = None, /) -> None:
    """Stops compilation with `message` unless `condition`, evaluated as by `static_eval`, holds."""
    raise _outside("static_assert")


def static_iter(iterable: Any, /) -> Any:
    """In `for x in static_iter(...)`: unrolls the loop, so that `x` is a constant in each round."""
    raise _outside("static_iter")


def static_exception(exception: Any, /) -> Any:
    """In `raise static_exception(...)`: stops compilation with an exception."""
    raise _outside("static_exception")


def ensure_constant(value: Any, /) -> Any:
    """`value`, which must be known at compile time."""
    if is_runtime(value):
        raise TileTypeError(
            f"{describe(value)} is known only at run time, a constant is needed here",
            remedy="pass it as a ct.Constant parameter, or compute it from constants",
        )
    return value


def _outside(name: str) -> OutsideError:
    return OutsideError(f"{name}() works only inside of a kernel")


# Evaluation by Python.


def evaluate_statically(self: Interpreter, node: ast.expr) -> Any:
    """Has Python evaluate an expression that may use the names of the kernel."""
    code = getattr(node, "_code", None)
    if code is None:
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr):
                self.frame.node = each
                raise TileSyntaxError("names cannot be assigned in a static expression")
        code = compile(ast.Expression(node), self.frame.source.file, "eval")
        node._code = code  # type: ignore[attr-defined]
    names: dict[str, Any] = {}
    frame: Frame | None = self.frame
    frames: list[Frame] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.outer
    names.update(frames[-1].globals)
    names.update(frames[-1].closure)
    for frame in reversed(frames):
        names.update({k: v for k, v in frame.locals.items() if not isinstance(v, Undefined)})
    try:
        with ambient(None):
            return plain(eval(code, names))
    except RecursionError:
        raise
    except Exception as error:
        self.frame.node = node
        remedy = _known_at_run_time(node, names)
        if isinstance(error, OutsideError):
            reason = "a static expression is evaluated by Python and cannot compute with tiles"
            raise TileStaticEvalError(reason, remedy=remedy) from None
        if isinstance(error, TileError):
            raise
        raise TileStaticEvalError(f"{type(error).__name__}: {error}", remedy=remedy) from error


def _known_at_run_time(node: ast.expr, names: dict[str, Any]) -> str | None:
    """What to think of when a static expression failed: names that are no constants."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and is_runtime(names.get(each.id)):
            return f"'{each.id}' is {describe(names[each.id])}, known only at run time"
    return None


def _arguments(self: Interpreter, node: ast.Call, name: str, most: int = 1) -> list[ast.expr]:
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    if node.keywords or starred or not 1 <= len(node.args) <= most:
        wanted = "one expression" if most == 1 else "a condition and perhaps a message"
        raise TileSyntaxError(f"{name}() takes {wanted}")
    return node.args


def _do_static_eval(self: Interpreter, node: ast.Call) -> Any:
    return evaluate_statically(self, _arguments(self, node, "static_eval")[0])


def _do_static_assert(self: Interpreter, node: ast.Call) -> None:
    arguments = _arguments(self, node, "static_assert", 2)
    condition = evaluate_statically(self, arguments[0])
    self.frame.node = node
    if is_runtime(condition):
        raise TileTypeError(
            "the condition of static_assert() is known only at run time",
            remedy="test it with ct.assert_(condition)",
        )
    if not condition:
        message = evaluate_statically(self, arguments[1]) if len(arguments) > 1 else None
        self.frame.node = node
        text = f": {message}" if message is not None else ""
        raise TileStaticAssertionError(f"static assertion failed{text}")


@dataclass(frozen=True, slots=True)
class StaticIterable:
    """What `static_iter(...)` gives."""

    values: tuple[Any, ...]


def _do_static_iter(self: Interpreter, node: ast.Call) -> StaticIterable:
    argument = _arguments(self, node, "static_iter")[0]
    return StaticIterable(iterate(self, argument, evaluate_statically(self, argument)))


def _do_static_exception(self: Interpreter, node: ast.Call) -> Any:
    return evaluate_statically(self, _arguments(self, node, "static_exception")[0])


#: Functions whose arguments are not evaluated as usual.
SPECIAL: dict[FunctionType, Callable[[Any, ast.Call], Any]] = {
    static_eval: _do_static_eval,  # type: ignore[dict-item]
    static_assert: _do_static_assert,  # type: ignore[dict-item]
    static_iter: _do_static_iter,  # type: ignore[dict-item]
    static_exception: _do_static_exception,  # type: ignore[dict-item]
}


def raise_statement(self: Interpreter, node: ast.Raise) -> None:
    """A `raise` that is reached stops compilation."""
    if node.exc is None or node.cause is not None:
        raise TileSyntaxError("write raise ct.static_exception(...) with an exception")
    expression = node.exc
    if isinstance(expression, ast.Call):
        function = self.evaluate(expression.func)
        if function is static_exception:
            expression = _arguments(self, expression, "static_exception")[0]
    exception = evaluate_statically(self, expression)
    self.frame.node = node
    if isinstance(exception, type) and issubclass(exception, BaseException):
        exception = exception()
    if not isinstance(exception, BaseException):
        raise TileTypeError(f"{describe(exception)} is no exception")
    text = f": {exception}" if str(exception) else ""
    remedy = None
    if self.builder.block != self.builder.entry_block:
        remedy = (
            "raise stops the compiler on every path that leads to it; "
            "what is known only at run time is tested by ct.assert_(condition)"
        )
    raise TileStaticEvalError(f"{type(exception).__name__}{text}", remedy=remedy) from exception


def assert_statement(self: Interpreter, node: ast.Assert, condition: Any, message: Any) -> None:
    """`assert`: at compile time if the condition is known then, else on the GPU."""
    self.frame.node = node
    if not is_runtime(condition):
        if not condition:
            text = f": {message}" if message else ""
            raise TileStaticAssertionError(f"assertion failed{text}")
        return
    calls.REPLACEMENTS[ast.Assert](condition, message)


# Iteration.


def iterate(self: Interpreter, node: ast.AST, value: Any) -> tuple[Any, ...]:
    """All that an iterable holds, which must be known at compile time."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, StaticIterable):
        return value.values
    self.frame.node = node
    if isinstance(value, Range):
        known = value.known()
        if known is None:
            raise TileTypeError(
                "this range is known only at run time and cannot be unrolled",
                remedy="loop with `for i in range(...)`",
            )
        value = known
    try:
        if isinstance(value, RuntimeValue):
            raise TypeError
        iterator = iter(value)
    except TypeError:
        raise TileTypeError(
            f"{describe(value)} cannot be iterated",
            remedy="loop over range(...) and load or extract what belongs to each round",
        ) from None
    try:
        values = tuple(map(plain, itertools.islice(iterator, MAX_ROUNDS + 1)))
    except (TileError, RecursionError):
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise TileStaticEvalError(f"iterating over {describe(value)} raised {text}") from error
    if len(values) > MAX_ROUNDS:
        raise TileValueError(
            f"more than {MAX_ROUNDS} rounds would be unrolled",
            remedy="loop over range(...), which is a loop at run time",
        )
    return values


def comprehension(self: Interpreter, node: Any) -> Any:
    """A comprehension: a tuple, or a dictionary, of what it gives in each round."""
    from .control_flow import assign

    found: list[Any] = []
    frame = self.frame
    outer = frame.locals

    def rounds(index: int) -> None:
        if index == len(node.generators):
            if isinstance(node, ast.DictComp):
                found.append((self.evaluate(node.key), self.evaluate(node.value)))
            else:
                found.append(self.evaluate(node.elt))
            return
        generator = node.generators[index]
        for value in iterate(self, generator.iter, self.evaluate(generator.iter)):
            assign(self, generator.target, value)
            conditions = (self.evaluate(condition) for condition in generator.ifs)
            if all(_known_truth(self, generator.iter, condition) for condition in conditions):
                rounds(index + 1)

    # Its names are its own.
    frame.locals = dict(outer)
    rounds(0)
    frame.locals = outer
    return dict(found) if isinstance(node, ast.DictComp) else tuple(found)


def _known_truth(self: Interpreter, node: ast.AST, condition: Any) -> bool:
    if is_runtime(condition):
        self.frame.node = node
        raise TileTypeError(
            "the condition of a comprehension must be known at compile time",
            remedy="use a loop with `if`, or ct.where(...)",
        )
    return bool(condition)


def format_string(self: Interpreter, node: ast.JoinedStr) -> Any:
    """An f-string: text if all is known, else something to print."""
    pieces: list[str | tuple[Any, str]] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            pieces.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = self.evaluate(part.value)
        spec_node = part.format_spec
        spec = format_string(self, spec_node) if isinstance(spec_node, ast.JoinedStr) else ""
        if isinstance(value, FormattedString) and not spec:
            pieces += value.parts
        elif is_runtime(value) and isinstance(spec, str):
            # `!r`, which `{x=}` means as well, and `!s` print numbers as they are printed anyway.
            if part.conversion != -1 and spec:
                self.frame.node = part
                raise TileSyntaxError(
                    "!r, !s and !a with a format do not work with run-time values",
                    remedy=f"leave out the conversion: {{x:{spec}}}",
                )
            pieces.append((value, spec))
        else:
            converted = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}[part.conversion](value)
            pieces.append(_format(self, part, converted, spec))
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(piece for piece in pieces if isinstance(piece, str))
    return FormattedString(tuple(pieces))


def _format(self: Interpreter, node: ast.AST, value: Any, spec: Any) -> str:
    try:
        return format(value, spec)
    except (TypeError, ValueError) as error:
        self.frame.node = node
        raise TileValueError(str(error)) from None
