"""Expressions: what is known at compile time is computed by Python, the rest by operators of
run-time values."""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import TileError
from . import branches, calls, elsewhere, static
from .arrays import Array
from .errors import TileStaticEvalError, TileSyntaxError, TileTypeError, TileValueError
from .frames import Closure, Undefined
from .values import RuntimeValue, Tile, describe, is_runtime

if TYPE_CHECKING:
    from .interpreter import Interpreter

_MISSING = object()

#: Bits of an integer constant beyond which something went wrong.
_MAX_BITS = 4096
_MAX_REPEATS = 4096


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
            return _as_constant(names[name])
    builtins = frame.globals.get("__builtins__", {})
    builtins = builtins if isinstance(builtins, dict) else vars(builtins)
    if name in builtins:
        return builtins[name]
    self.frame.node = node
    known = {*self.frame.locals, *frame.closure, *frame.globals, *builtins}
    raise TileSyntaxError(f"'{name}' is not defined", remedy=_suggestion(name, known))


def _as_constant(value: Any) -> Any:
    """Scalars of NumPy are Python's numbers."""
    if (
        type(value).__module__ == "numpy"
        and hasattr(value, "item")
        and not hasattr(value, "__len__")
    ):
        return value.item()
    return value


def _suggestion(name: str, known: Any) -> str | None:
    close = difflib.get_close_matches(name, [each for each in known if isinstance(each, str)], 1)
    return f"did you mean '{close[0]}'?" if close else None


def constant(self: Interpreter, node: ast.Constant) -> Any:
    if isinstance(node.value, (complex, bytes)):
        self.frame.node = node
        raise TileSyntaxError(f"{type(node.value).__name__} cannot be used in a kernel")
    return node.value


def _attempt(self: Interpreter, node: ast.AST, function: Callable[..., Any], *operands: Any) -> Any:
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
    function, method = BINARY[operation]
    if type(left) not in _PLAIN or type(right) not in _PLAIN:
        own = _own_operator(left, right, method)
        if own is not None:
            self.frame.node = node
            return self.call(own[0], own[1])
    if operation in _GROWING:
        self.frame.node = node
        _check_size(operation, left, right)
    return _attempt(self, node, function, left, right)


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
    value = self.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        return branches.negate(self, node, value)
    function, method = _UNARY[type(node.op)]
    own = getattr(type(value), method, None)
    if isinstance(own, FunctionType) and calls.is_inlined(own):
        return self.call(own, (value,))
    return _attempt(self, node, function, value)


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
    return _attempt(self, node, function, left, right)


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
    if not isinstance(container, tuple) or not (is_runtime(container) or is_runtime(item)):
        return _attempt(self, node, operator.contains, container, item)
    found: Any = False
    for each in container:
        found = branches.either(
            self, node, found, lambda each=each: _compare_two(self, node, ast.Eq(), item, each)
        )
    return found


def attribute(self: Interpreter, node: ast.Attribute) -> Any:
    value = self.evaluate(node.value)
    kind = type(value)
    if kind is ModuleType:
        try:
            return _as_constant(getattr(value, node.attr))
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
    return _attempt(self, node, operator.getitem, value, index)


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
        self.evaluate(node.test),
        lambda: self.evaluate(node.body),
        lambda: self.evaluate(node.orelse),
    )


def boolean(self: Interpreter, node: ast.BoolOp) -> Any:
    combine = branches.both if isinstance(node.op, ast.And) else branches.either
    return _boolean_from(self, node, combine, 0)


def _boolean_from(self: Interpreter, node: ast.BoolOp, combine: Any, index: int) -> Any:
    value = self.evaluate(node.values[index])
    if index + 1 == len(node.values):
        return value
    return combine(self, node, value, lambda: _boolean_from(self, node, combine, index + 1))


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
