"""Statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import calls, contexts, static
from .arrays import Array
from .branches import if_statement
from .errors import TileSyntaxError, TileTypeError, TileValueError
from .loops import for_statement, while_statement
from .operators import apply_binary
from .signals import Signal
from .values import RuntimeValue, Tile, describe

if TYPE_CHECKING:
    from .interpreter import Interpreter


def assign(self: Interpreter, target: ast.AST, value: Any) -> None:
    """Gives the names in `target` their values."""
    if isinstance(target, ast.Name):
        self.frame.locals[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(self, target, value)
    elif isinstance(target, ast.Subscript):
        _assign_item(self, target, value)
    else:
        raise _no_attributes(self, target)


def _no_attributes(self: Interpreter, target: ast.AST) -> TileTypeError:
    self.frame.node = target
    return TileTypeError(
        "attributes cannot be assigned in a kernel",
        remedy="make a new object: dataclasses.replace(x, field=value)",
    )


def _unpack(self: Interpreter, target: ast.Tuple | ast.List, value: Any) -> None:
    values = static.iterate(self, target, value)
    names = target.elts
    stars = [index for index, name in enumerate(names) if isinstance(name, ast.Starred)]
    if not stars:
        if len(values) != len(names):
            self.frame.node = target
            raise TileValueError(f"{_count(values, 'value')} for {_count(names, 'name')}")
        for name, each in zip(names, values, strict=True):
            assign(self, name, each)
        return
    star = stars[0]
    after = len(names) - star - 1
    if len(values) < len(names) - 1:
        self.frame.node = target
        least = f"{len(names) - 1} or more names"
        raise TileValueError(f"{_count(values, 'value')} for {least}")
    middle = values[star : len(values) - after]
    spread = [*values[:star], tuple(middle), *values[len(values) - after :]]
    for name, each in zip(names, spread, strict=True):
        assign(self, name.value if isinstance(name, ast.Starred) else name, each)


def _count(things: Sequence[Any], name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"


def _assign_item(self: Interpreter, target: ast.Subscript, value: Any) -> None:
    container = self.evaluate(target.value)
    key = self.evaluate(target.slice)
    self.frame.node = target
    setter = getattr(type(container), "__setitem__", None)
    if isinstance(container, RuntimeValue) and setter is not None:
        setter(container, key, value)
        return
    if isinstance(container, dict) and isinstance(target.value, ast.Name):
        # A new dictionary, so that other paths through the kernel keep theirs.
        self.frame.locals[target.value.id] = {**container, key: value}
        return
    remedy = "build a new one"
    if isinstance(container, Array):
        remedy = "write ct.store(array, index, tile), or ct.scatter(array, indices, tile)"
    elif isinstance(container, Tile):
        remedy = "choose element by element: ct.where(condition, new, old)"
    raise TileTypeError(
        f"items of {describe(container)} cannot be assigned: it cannot change", remedy=remedy
    )


def assign_statement(self: Interpreter, node: ast.Assign) -> None:
    value = self.evaluate(node.value)
    for target in node.targets:
        assign(self, target, value)


def annotated_assign(self: Interpreter, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(self, node.target, self.evaluate(node.value))


def augmented_assign(self: Interpreter, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        before: ast.expr = ast.Name(target.id, ast.Load())
    elif isinstance(target, ast.Subscript):
        before = ast.Subscript(target.value, target.slice, ast.Load())
    else:
        raise _no_attributes(self, target)
    left = self.evaluate(ast.copy_location(before, target))
    right = self.evaluate(node.value)
    assign(self, target, apply_binary(self, node, type(node.op), left, right))


def expression(self: Interpreter, node: ast.Expr) -> None:
    self.evaluate(node.value)


def function(self: Interpreter, node: ast.FunctionDef) -> None:
    if node.decorator_list:
        self.frame.node = node.decorator_list[0]
        raise TileSyntaxError(
            "functions in a kernel cannot have decorators",
            remedy="define the function outside of the kernel",
        )
    self.frame.locals[node.name] = calls.make_closure(self, node)


def return_(self: Interpreter, node: ast.Return) -> Signal:
    frame = self.frame
    value = None if node.value is None else self.evaluate(node.value)
    if frame.caller is None and value is not None:
        frame.node = node
        raise TileTypeError(
            "a kernel returns nothing", remedy="write the result to an array with ct.store(...)"
        )
    frame.return_value = value
    return Signal.RETURN


def break_(self: Interpreter, node: ast.Break) -> Signal:
    return Signal.BREAK


def continue_(self: Interpreter, node: ast.Continue) -> Signal:
    return Signal.CONTINUE


def pass_(self: Interpreter, node: ast.Pass) -> None:
    return None


def assert_(self: Interpreter, node: ast.Assert) -> None:
    message = "" if node.msg is None else self.evaluate(node.msg)
    static.assert_statement(self, node, self.evaluate(node.test), message)


HANDLERS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Assign: assign_statement,
    ast.AnnAssign: annotated_assign,
    ast.AugAssign: augmented_assign,
    ast.Expr: expression,
    ast.If: if_statement,
    ast.For: for_statement,
    ast.While: while_statement,
    ast.With: contexts.with_statement,
    ast.FunctionDef: function,
    ast.Return: return_,
    ast.Break: break_,
    ast.Continue: continue_,
    ast.Pass: pass_,
    ast.Assert: assert_,
    ast.Raise: static.raise_statement,
}
