"""Expressions: what is known at compile time is computed by Python, the rest by operators of
run-time values."""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import TileError
from . import branches, calls, elsewhere, static
from .arrays import Array
from .errors import TileStaticEvalError, TileSyntaxError, TileTypeError
from .frames import Closure, Undefined
from .operators import attempt, binary, compare, unary
from .plain import plain
from .values import RuntimeValue, Tile, describe, is_runtime

if TYPE_CHECKING:
    from .interpreter import Interpreter

_MISSING = object()


def name(self: Interpreter, node: ast.Name) -> Any:
    value = self.frame.locals.get(node.id, _MISSING)
    if value is _MISSING:
        value = _lookup(self, node)
    if type(value) is Undefined:
        self.frame.node = node
        raise TileTypeError(value.reason, remedy=value.remedy)
    return value


def _lookup(self: Interpreter, node: ast.Name) -> Any:
    """A name that has no value in the function itself: one of an outer function or a global."""
    name, frame = node.id, self.frame
    if name in frame.source.facts.locals:
        frame.node = node
        raise TileSyntaxError(f"'{name}' is read before it has a value")
    outer = frame.outer
    while outer is not None:
        if name in outer.locals:
            return outer.locals[name]
        frame, outer = outer, outer.outer
    for names in (frame.closure, frame.globals):
        if name in names:
            return plain(names[name])
    builtins = frame.globals.get("__builtins__", {})
    builtins = builtins if isinstance(builtins, dict) else vars(builtins)
    if name in builtins:
        return builtins[name]
    self.frame.node = node
    known = {*self.frame.locals, *frame.closure, *frame.globals, *builtins}
    raise TileSyntaxError(f"'{name}' is not defined", remedy=_suggestion(name, known))


def _suggestion(name: str, known: Any) -> str | None:
    close = difflib.get_close_matches(name, [each for each in known if isinstance(each, str)], 1)
    return f"did you mean '{close[0]}'?" if close else None


def constant(self: Interpreter, node: ast.Constant) -> Any:
    if isinstance(node.value, (complex, bytes)):
        self.frame.node = node
        raise TileSyntaxError(f"{type(node.value).__name__} cannot be used in a kernel")
    return node.value


def attribute(self: Interpreter, node: ast.Attribute) -> Any:
    value = self.evaluate(node.value)
    kind = type(value)
    if kind is ModuleType:
        try:
            return plain(getattr(value, node.attr))
        except AttributeError:
            self.frame.node = node
            raise TileSyntaxError(
                f"module '{value.__name__}' has no '{node.attr}'",
                remedy=elsewhere.function(node.attr) or _suggestion(node.attr, dir(value)),
            ) from None
    own = getattr(kind, node.attr, None)
    getter = own.fget if isinstance(own, property) else None
    if isinstance(getter, FunctionType) and calls.is_inlined(getter):
        self.frame.node = node
        return self.call(getter, (value,))
    self.frame.node = node
    try:
        return getattr(value, node.attr)
    except TileError:
        raise
    except AttributeError as error:
        if isinstance(own, property):
            raise TileTypeError(str(error)) from None
        remedy = _suggestion(node.attr, [each for each in dir(value) if each[0] != "_"])
        if isinstance(value, Tile):
            remedy = remedy or elsewhere.method(node.attr)
        if isinstance(value, tuple) and hasattr(list, node.attr):
            remedy = "lists are tuples in a kernel and cannot change: write x = (*x, more)"
        raise TileTypeError(
            f"{describe(value)} has no attribute '{node.attr}'", remedy=remedy
        ) from None


def subscript(self: Interpreter, node: ast.Subscript) -> Any:
    from .ops.threads import no_elements

    value = self.evaluate(node.value)
    index = self.evaluate(node.slice)
    self.frame.node = node
    own = getattr(type(value), "__getitem__", None)
    if isinstance(own, FunctionType) and calls.is_inlined(own):
        return self.call(own, (value, index))
    if isinstance(value, Array):
        raise no_elements()
    if isinstance(value, (tuple, str, range)) and isinstance(index, Tile):
        raise TileTypeError(
            f"the index into a {type(value).__name__} must be known at compile time",
            remedy="loop with ct.static_iter(...), so that the index is a constant",
        )
    return plain(attempt(self, node, operator.getitem, value, index))


def slice_(self: Interpreter, node: ast.Slice) -> slice:
    return slice(
        *(
            None if part is None else self.evaluate(part)
            for part in (node.lower, node.upper, node.step)
        )
    )


def items(self: Interpreter, nodes: list[ast.expr]) -> list[Any]:
    """The values of expressions, with `*x` spread out."""
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            found += static.iterate(self, node.value, self.evaluate(node.value))
        else:
            found.append(self.evaluate(node))
    return found


def tuple_(self: Interpreter, node: ast.Tuple | ast.List) -> tuple[Any, ...]:
    return tuple(items(self, node.elts))


def dict_(self: Interpreter, node: ast.Dict) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = self.evaluate(value)
            if not isinstance(other, dict):
                self.frame.node = value
                raise TileTypeError(f"** needs a dictionary, not {describe(other)}")
            found.update(other)
            continue
        constant_key = self.evaluate(key)
        if is_runtime(constant_key):
            self.frame.node = key
            raise TileTypeError("the keys of a dictionary must be known at compile time")
        found[constant_key] = self.evaluate(value)
    return found


def lambda_(self: Interpreter, node: ast.Lambda) -> Closure:
    return calls.make_closure(self, node)


def call(self: Interpreter, node: ast.Call) -> Any:
    function = self.evaluate(node.func)
    special = static.SPECIAL.get(function) if type(function) is FunctionType else None
    if special is not None:
        self.frame.node = node
        return special(self, node)
    args: list[Any] = []
    for argument in node.args:
        if isinstance(argument, ast.GeneratorExp):
            args.append(static.comprehension(self, argument))
        elif isinstance(argument, ast.Starred):
            args += static.iterate(self, argument.value, self.evaluate(argument.value))
        else:
            args.append(self.evaluate(argument))
    kwargs = _keywords(self, node) if node.keywords else {}
    self.frame.node = node
    return calls.call(self, function, args, kwargs)


def _keywords(self: Interpreter, node: ast.Call) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for keyword in node.keywords:
        value = self.evaluate(keyword.value)
        if keyword.arg is not None:
            given = {keyword.arg: value}
        elif isinstance(value, dict):
            given = value
        else:
            self.frame.node = keyword.value
            raise TileTypeError(f"** needs a dictionary, not {describe(value)}")
        for name, each in given.items():
            if name in found:
                self.frame.node = node
                raise TileTypeError(f"the argument '{name}' is given twice")
            found[name] = each
    return found


def conditional(self: Interpreter, node: ast.IfExp) -> Any:
    return branches.choose(
        self,
        node,
        branches.condition(self, node.test),
        lambda: self.evaluate(node.body),
        lambda: self.evaluate(node.orelse),
    )


def boolean(self: Interpreter, node: ast.BoolOp) -> Any:
    return branches.boolean(self, node, self.evaluate)


def formatted(self: Interpreter, node: ast.JoinedStr) -> Any:
    return static.format_string(self, node)


def named(self: Interpreter, node: ast.NamedExpr) -> Any:
    value = self.evaluate(node.value)
    self.frame.locals[node.target.id] = value
    return value


def comprehension(self: Interpreter, node: Any) -> tuple[Any, ...]:
    return static.comprehension(self, node)


def starred(self: Interpreter, node: ast.Starred) -> Any:
    self.frame.node = node
    raise TileSyntaxError("* cannot stand here")


HANDLERS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Name: name,
    ast.Constant: constant,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.Attribute: attribute,
    ast.Subscript: subscript,
    ast.Slice: slice_,
    ast.Tuple: tuple_,
    ast.List: tuple_,
    ast.Dict: dict_,
    ast.Lambda: lambda_,
    ast.Call: call,
    ast.IfExp: conditional,
    ast.BoolOp: boolean,
    ast.JoinedStr: formatted,
    ast.NamedExpr: named,
    ast.GeneratorExp: comprehension,
    ast.ListComp: comprehension,
    ast.DictComp: comprehension,
    ast.Starred: starred,
}

__all__ = ["HANDLERS", "RuntimeValue", "TileStaticEvalError"]
