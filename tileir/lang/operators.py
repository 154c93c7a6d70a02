"""Operators: Python computes with constants, run-time values build operations, and classes of the
kernel's author have theirs walked."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..errors import TileError
from . import branches, calls
from .errors import TileTypeError, TileValueError
from .values import Tile, is_runtime

if TYPE_CHECKING:
    from .interpreter import Interpreter

#: Bits of an integer constant beyond which something went wrong.
_MAX_BITS = 4096
_MAX_REPEATS = 4096


def attempt(self: Interpreter, node: ast.AST, function: Callable[..., Any], *operands: Any) -> Any:
    """Applies an operator; what Python says against it becomes an error with a place."""
    self.frame.node = node
    try:
        return function(*operands)
    except TileError:
        raise
    except (TypeError, AttributeError) as error:
        if _raised_inside(error):
            raise
        raise TileTypeError(str(error)) from None
    except (ArithmeticError, LookupError, ValueError) as error:
        if _raised_inside(error):
            raise
        text = str(error) if not isinstance(error, KeyError) else f"there is no key {error}"
        raise TileValueError(text) from None


_OWN_FOLDER = str(Path(__file__).parent)


def _raised_inside(error: BaseException) -> bool:
    """Whether an exception came from within our own code, which should not happen."""
    trace = error.__traceback__
    assert trace is not None
    if trace.tb_next is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER)


def _check_size(operation: type[ast.operator], left: Any, right: Any) -> None:
    """Refuses constants that Python would compute for ages, or not at all."""
    bits = 0
    if type(left) is int and type(right) is int:
        if operation is ast.Pow:
            bits = left.bit_length() * right
        elif operation is ast.LShift:
            bits = left.bit_length() + right
    if bits > _MAX_BITS:
        raise TileValueError(f"the constant has more than {_MAX_BITS} bits")
    if operation is ast.Mult:
        for sequence, count in ((left, right), (right, left)):
            if isinstance(sequence, (tuple, str)) and type(count) is int and count > _MAX_REPEATS:
                raise TileValueError(f"a {type(sequence).__name__} repeated {count} times")


#: Operators that can make large constants of small ones.
_GROWING = frozenset({ast.Pow, ast.LShift, ast.Mult})

BINARY: dict[type[ast.operator], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Add: (operator.add, "__add__"),
    ast.Sub: (operator.sub, "__sub__"),
    ast.Mult: (operator.mul, "__mul__"),
    ast.Div: (operator.truediv, "__truediv__"),
    ast.FloorDiv: (operator.floordiv, "__floordiv__"),
    ast.Mod: (operator.mod, "__mod__"),
    ast.Pow: (operator.pow, "__pow__"),
    ast.LShift: (operator.lshift, "__lshift__"),
    ast.RShift: (operator.rshift, "__rshift__"),
    ast.BitOr: (operator.or_, "__or__"),
    ast.BitXor: (operator.xor, "__xor__"),
    ast.BitAnd: (operator.and_, "__and__"),
    ast.MatMult: (operator.matmul, "__matmul__"),
}

_COMPARE: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Eq: (operator.eq, "__eq__"),
    ast.NotEq: (operator.ne, "__ne__"),
    ast.Lt: (operator.lt, "__lt__"),
    ast.LtE: (operator.le, "__le__"),
    ast.Gt: (operator.gt, "__gt__"),
    ast.GtE: (operator.ge, "__ge__"),
}

_UNARY: dict[type[ast.unaryop], tuple[Callable[[Any], Any], str]] = {
    ast.Invert: (operator.invert, "__invert__"),
    ast.UAdd: (operator.pos, "__pos__"),
    ast.USub: (operator.neg, "__neg__"),
}

#: Types whose operators are never functions of the kernel's author.
_PLAIN = frozenset({int, float, bool, str, Tile, tuple, type(None)})


def apply_binary(
    self: Interpreter, node: ast.AST, operation: type[ast.operator], left: Any, right: Any
) -> Any:
    """What a binary operator gives; `node` is where errors are."""
    function, method = BINARY[operation]
    if type(left) not in _PLAIN or type(right) not in _PLAIN:
        own = _own_operator(left, right, method)
        if own is not None:
            self.frame.node = node
            return self.call(own[0], own[1])
    if operation in _GROWING:
        self.frame.node = node
        _check_size(operation, left, right)
    return attempt(self, node, function, left, right)


def _own_operator(left: Any, right: Any, method: str) -> tuple[Any, tuple[Any, Any]] | None:
    """The operator that a class of the kernel's author defines, and its arguments."""
    for function, arguments in (
        (getattr(type(left), method, None), (left, right)),
        (getattr(type(right), f"__r{method[2:]}", None), (right, left)),
    ):
        if isinstance(function, FunctionType) and calls.is_inlined(function):
            return function, arguments
    return None


def binary(self: Interpreter, node: ast.BinOp) -> Any:
    # Long sums are nested on the left: a loop, so that their length does not matter.
    chain = [node]
    left = node.left
    while isinstance(left, ast.BinOp):
        chain.append(left)
        left = left.left
    value = self.evaluate(left)
    for link in reversed(chain):
        value = apply_binary(self, link, type(link.op), value, self.evaluate(link.right))
    return value


def unary(self: Interpreter, node: ast.UnaryOp) -> Any:
    if isinstance(node.op, ast.Not):
        return branches.negate(self, node, branches.condition(self, node.operand))
    value = self.evaluate(node.operand)
    function, method = _UNARY[type(node.op)]
    own = getattr(type(value), method, None)
    if isinstance(own, FunctionType) and calls.is_inlined(own):
        return self.call(own, (value,))
    return attempt(self, node, function, value)


def compare(self: Interpreter, node: ast.Compare) -> Any:
    left = self.evaluate(node.left)
    return _compare_from(self, node, 0, left)


def _compare_from(self: Interpreter, node: ast.Compare, index: int, left: Any) -> Any:
    """`left < a < b ...` from the comparison at `index` on: the rest only if the first holds."""
    right = self.evaluate(node.comparators[index])
    first = _compare_two(self, node, node.ops[index], left, right)
    if index + 1 == len(node.ops):
        return first
    return branches.both(self, node, first, lambda: _compare_from(self, node, index + 1, right))


def _compare_two(self: Interpreter, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> Any:
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(self, node, isinstance(op, ast.Is), left, right)
    if isinstance(op, (ast.In, ast.NotIn)):
        found = _contains(self, node, right, left)
        return branches.negate(self, node, found) if isinstance(op, ast.NotIn) else found
    function, method = _COMPARE[type(op)]
    if type(left) not in _PLAIN or type(right) not in _PLAIN:
        own = getattr(type(left), method, None)
        if isinstance(own, FunctionType) and calls.is_inlined(own):
            return self.call(own, (left, right))
    if (
        isinstance(left, tuple)
        and isinstance(right, tuple)
        and (is_runtime(left) or is_runtime(right))
    ):
        return _compare_tuples(self, node, op, left, right)
    return attempt(self, node, function, left, right)


def _compare_tuples(self: Interpreter, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> Any:
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        self.frame.node = node
        raise TileTypeError("tuples of run-time values have no order, only == and !=")
    equal: Any = len(left) == len(right)
    for one, other in zip(left, right, strict=False):
        if equal is False:
            break
        equal = branches.both(
            self, node, equal, lambda a=one, b=other: _compare_two(self, node, ast.Eq(), a, b)
        )
    return branches.negate(self, node, equal) if isinstance(op, ast.NotEq) else equal


def _identity(self: Interpreter, node: ast.AST, positive: bool, left: Any, right: Any) -> bool:
    if isinstance(left, Tile) and isinstance(right, Tile):
        self.frame.node = node
        raise TileTypeError("tiles have no identity", remedy="compare their elements with == or !=")
    # Constants of enums, dtypes and types are one object each; numbers need not be.
    known = left is right or (type(left) is type(right) is int and left == right)
    return known == positive


def _contains(self: Interpreter, node: ast.AST, container: Any, item: Any) -> Any:
    own = getattr(type(container), "__contains__", None)
    if isinstance(own, FunctionType) and calls.is_inlined(own):
        return branches.truth(self, node, self.call(own, (container, item)))
    if not isinstance(container, tuple) or not (is_runtime(container) or is_runtime(item)):
        return attempt(self, node, operator.contains, container, item)
    found: Any = False
    for each in container:
        found = branches.either(
            self, node, found, lambda each=each: _compare_two(self, node, ast.Eq(), item, each)
        )
    return found
