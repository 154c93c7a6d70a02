"""From the tree of a Python function to operations of Tile IR bytecode."""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import tileir
from tileir.bytecode import FileBuilder, Region, Source, Type, Value

Operand = Value | int | float
float16, float32, int32 = "f16", "f32", "i32"

BUILTINS: set[Any] = set()


def builtin(function: Callable[..., Any]) -> Any:
    """Makes a function of the language; kernels call it without `c`, their compiler."""
    BUILTINS.add(function)
    return function


_SIGNED = {"signedness": "signed"}
_ARITHMETIC = {
    ast.Add: (operator.add, "addf", "addi", {}),
    ast.Sub: (operator.sub, "subf", "subi", {}),
    ast.Mult: (operator.mul, "mulf", "muli", {}),
    ast.Div: (operator.truediv, "divf", None, {}),
    ast.FloorDiv: (operator.floordiv, None, "divi", _SIGNED | {"rounding": "negative_inf"}),
    ast.Mod: (operator.mod, None, "remi", _SIGNED),  # of negative numbers as in C, and Triton
    ast.BitAnd: (operator.and_, None, "andi", {}),
}
_COMPARISONS = {
    ast.Lt: (operator.lt, "less_than"), ast.LtE: (operator.le, "less_than_or_equal"),
    ast.Gt: (operator.gt, "greater_than"), ast.GtE: (operator.ge, "greater_than_or_equal"),
    ast.Eq: (operator.eq, "equal"), ast.NotEq: (operator.ne, "not_equal"),
}  # fmt: skip


class Compiler:
    """Compiles one specialisation of a kernel."""

    def __init__(
        self,
        function: Callable[..., None],
        types: dict[str, tuple[str, bool]],
        constants: dict[str, Any],
    ):
        self.filename = inspect.getsourcefile(function) or "<unknown>"
        lines, self.first_line = inspect.getsourcelines(function)
        self.lines = [line.rstrip("\n") for line in lines]
        self.indent = len(lines[0]) - len(lines[0].lstrip())
        self.tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
        self.globals = function.__globals__
        self.file = FileBuilder(producer="minitriton")
        tiles = [
            self.file.tile((), self.file.pointer(element) if array else element)
            for element, array in types.values()
        ]
        self.out = self.file.entry(function.__name__, tiles, self.place(self.tree))
        self.names: dict[str, Any] = dict(zip(types, self.out.parameters, strict=True)) | constants
        self.order = self.value("make_token", self.file.token())

    def compile(self) -> bytes:
        assert isinstance(self.tree, ast.FunctionDef)
        self.block(self.tree.body)
        self.out.emit("return")
        return self.file.encode()

    def place(self, node: ast.AST) -> Source:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return Source(self.filename, self.first_line + line - 1, self.indent + column + 1)

    def fail(self, node: ast.AST, reason: str) -> NoReturn:
        """An error that shows the line and points into it."""
        place = self.place(node)
        line = self.lines[place.line - self.first_line]
        shown = f"{reason}\n    {line.strip()}\n    "
        caret = " " * (place.column - 1 - (len(line) - len(line.lstrip()))) + "^"
        raise tileir.ParseError(shown + caret, location=str(place))

    # ---- statements --------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(name)], value=value):
                    self.names[name] = self.expression(value)
                case ast.AugAssign(target=ast.Name(name), op=op, value=value):
                    left, right = self.names[name], self.expression(value)
                    self.names[name] = self.binary(statement, op, left, right)
                case ast.Expr(value=ast.Call() as call):
                    self.expression(call)
                case ast.For(target=ast.Name(name), iter=ast.Call(ast.Name("range"), bounds)):
                    self.loop(statement, name, [self.expression(bound) for bound in bounds])
                case ast.Expr(value=ast.Constant(str())) | ast.Pass():
                    pass
                case _:
                    self.fail(statement, f"{type(statement).__name__} does not exist here")

    def loop(self, node: ast.For, counter: str, bounds: list[Operand]) -> None:
        """Names that the body assigns and that exist before are carried from step to step."""
        assigned = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _is_stored(n)}
        carried = [name for name in self.names if name in assigned]
        start, stop, step = {1: [0, *bounds, 1], 2: [*bounds, 1], 3: bounds}[len(bounds)]
        limits = [self.tensor(each, self.file.tile((), int32)) for each in (start, stop, step)]
        initial = [self.order, *(self.tensor(self.names[name]) for name in carried)]
        types = [value.type for value in initial]
        outer = dict(self.names)

        def body(index: Value, order: Value, *values: Value) -> None:
            self.names.update(zip(carried, values, strict=True))
            self.names[counter], self.order = index, order
            self.block(node.body)
            self.out.emit("continue", [self.order, *(self.names[name] for name in carried)])

        self.out.location = self.place(node)
        region = Region([limits[0].type, *types], body)
        self.order, *results = self.out.emit(
            "for", *limits, initial, results=types, regions=[region]
        )
        self.names = outer | dict(zip(carried, results, strict=True))

    # ---- expressions -------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Tuple(items) | ast.List(items):
                return tuple(self.expression(item) for item in items)
            case ast.Name(name) if name in self.names:
                return self.names[name]
            case ast.Name(name) if name in self.globals:
                return self.globals[name]
            case ast.Name(name):
                self.fail(node, f"{name} is not defined")
            case ast.Attribute(value, name):
                return getattr(self.expression(value), name)
            case ast.BinOp(left, op, right):
                return self.binary(node, op, self.expression(left), self.expression(right))
            case ast.UnaryOp(ast.USub(), operand):
                return self.binary(node, ast.Sub(), 0, self.expression(operand))
            case ast.Compare(left, [op], [right]):
                return self.compare(node, op, self.expression(left), self.expression(right))
            case ast.Subscript(value, ast.Tuple(items)):
                return self.expand(node, self.expression(value), items)
            case ast.Call(ast.Attribute(value, "to"), [dtype]):
                return self.convert(node, self.expression(value), self.expression(dtype))
            case ast.Call(function, arguments, keywords):
                return self.call(node, function, arguments, keywords)
        self.fail(node, f"{type(node).__name__} does not exist here")

    def call(self, node: ast.Call, function: ast.expr, arguments: Any, keywords: Any) -> Any:
        target = self.expression(function)
        if target not in BUILTINS:
            self.fail(node, f"{ast.unparse(function)} is no function of this language")
        positional = [self.expression(argument) for argument in arguments]
        named = {keyword.arg: self.expression(keyword.value) for keyword in keywords}
        try:
            inspect.signature(target).bind(self, *positional, **named)
        except TypeError as error:
            self.fail(node, f"{target.__name__}: {error}")
        self.out.location = self.place(node)
        return target(self, *positional, **named)

    def binary(self, node: ast.AST, op: ast.operator, left: Operand, right: Operand) -> Any:
        if type(op) not in _ARITHMETIC:
            self.fail(node, f"there is no operator {type(op).__name__}")
        fold, for_floats, for_integers, attributes = _ARITHMETIC[type(op)]
        if not isinstance(left, Value) and not isinstance(right, Value):
            return fold(left, right)
        self.out.location = self.place(node)
        if isinstance(left, Value) and left.type.element.kind == "ptr":
            left, right = self.same_shape(left, self.tensor(right, self.file.tile((), int32)))
            return self.value("offset", left.type, left, right)
        left, right = self.same_shape(*self.tensors(left, right))
        name = for_floats if left.type.element.kind.startswith("f") else for_integers
        if name is None:
            self.fail(node, f"{left.type.element} has no operator {type(op).__name__}")
        return self.value(name, left.type, left, right, **attributes)

    def compare(self, node: ast.expr, op: ast.cmpop, left: Operand, right: Operand) -> Any:
        fold, predicate = _COMPARISONS[type(op)]
        if not isinstance(left, Value) and not isinstance(right, Value):
            return fold(left, right)
        self.out.location = self.place(node)
        left, right = self.same_shape(*self.tensors(left, right))
        mask = self.file.tile(left.type.shape, "i1")
        parts = {"comparison_predicate": predicate}
        if left.type.element.kind.startswith("f"):
            return self.value("cmpf", mask, left, right, comparison_ordering="ordered", **parts)
        return self.value("cmpi", mask, left, right, signedness="signed", **parts)

    def expand(self, node: ast.expr, value: Value, items: list[ast.expr]) -> Value:
        """value[:, None]: a new dimension of one element for each None."""
        sizes = iter(value.type.shape)
        shape = [1 if isinstance(item, ast.Constant) else next(sizes) for item in items]
        return self.reshape(value, shape)

    def convert(self, node: ast.expr, value: Value, element: str) -> Value:
        self.out.location = self.place(node)
        return self.value("ftof", self.file.tile(value.type.shape, element), value)

    # ---- values ------------------------------------------------------------------------------

    def value(self, name: str, result: Type, *operands: Any, **parts: Any) -> Value:
        return self.out.value(name, result, *operands, **parts)

    def tensor(self, operand: Operand, like: Type | None = None) -> Value:
        """A value; of a number, a constant like `like`, or else a scalar."""
        if isinstance(operand, Value):
            return operand
        default = self.file.tile((), float32 if isinstance(operand, float) else int32)
        return self.out.constant(like or default, operand)

    def tensors(self, *operands: Operand) -> list[Value]:
        """Values; numbers take the element type of the first operand that is a value."""
        element = next((each.type.element for each in operands if isinstance(each, Value)), None)
        like = None if element is None else self.file.tile((), element)
        return [self.tensor(operand, like) for operand in operands]

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        return self.value("reshape", self.file.tile(shape, value.type.element), value)

    def broadcast(self, value: Value, shape: Sequence[int]) -> Value:
        shape = tuple(shape)
        if value.type.shape == shape:
            return value
        padded = (1,) * (len(shape) - len(value.type.shape)) + value.type.shape
        return self.value(
            "broadcast", self.file.tile(shape, value.type.element), self.reshape(value, padded)
        )

    def same_shape(self, *values: Value) -> list[Value]:
        """Broadcast to one shape by NumPy's rule; the verifier says if there is none."""
        rank = max(len(value.type.shape) for value in values)
        padded = [(1,) * (rank - len(v.type.shape)) + v.type.shape for v in values]
        return [self.broadcast(value, tuple(map(max, *padded))) for value in values]


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
