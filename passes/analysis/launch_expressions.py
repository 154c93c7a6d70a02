"""Integers of a kernel as expressions that a launcher works out (`tileir.runtime.expressions`)."""

from __future__ import annotations

from collections.abc import Iterable

from tileir.compiler.ir_util import EXTENSIONS, defining_block, defining_op, splat_integer
from tileir.ir import IntegerType, OpView, Value
from tileir.passes.launch_contract import hidden_parameters
from tileir.runtime.expressions import Expression
from tileir.runtime.metadata import HiddenScalar

_OPERATORS = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.divui": "floordiv",
    "arith.minsi": "min",
    "arith.maxsi": "max",
}


#: Operations in an expression, and how deep they nest: far less than the launcher evaluates, since
#: passes build on expressions, and a value that is used twice is written twice.
_LARGEST = 64
_DEEPEST = 16


def launch_expression(value: Value) -> Expression | None:
    """`value` as an expression of the kernel's parameters; None if it is not known at launch, or
    takes too much to write down."""
    return _Search().find(value, _DEEPEST)


class _Search:
    """Writes one expression."""

    def __init__(self) -> None:
        self._left = _LARGEST

    def find(self, value: Value, depth: int) -> Expression | None:
        op = defining_op(value)
        if op is None:
            return _parameter(value)
        constant = splat_integer(op)
        if constant is not None:
            return constant
        name, operands = op.operation.name, list(op.operation.operands)
        if name in EXTENSIONS:
            return self.find(operands[0], depth)
        self._left -= 1
        if name not in _OPERATORS or self._left < 0 or depth == 0:
            return None
        left, right = (self.find(operand, depth - 1) for operand in operands)
        return None if left is None or right is None else [_OPERATORS[name], left, right]


def launch_expressions(values: Iterable[Value]) -> list[Expression] | None:
    """Several values as expressions; None if one of them is not known at launch."""
    expressions = [launch_expression(value) for value in values]
    known = [expression for expression in expressions if expression is not None]
    return known if len(known) == len(expressions) else None


def launch_pointer(value: Value, depth: int = _DEEPEST) -> tuple[int, Expression] | None:
    """A pointer as the index of a parameter and an offset in bytes; None if it is not known."""
    op = defining_op(value)
    if op is None:
        block = defining_block(value)
        is_parameter = block.owner.operation.name == "gpu.func"
        return (list(block.arguments).index(value), 0) if is_parameter else None
    operands = list(op.operation.operands)
    if op.operation.name != "llvm.getelementptr" or len(operands) != 2 or depth == 0:
        return None
    base, index = launch_pointer(operands[0], depth - 1), launch_expression(operands[1])
    if base is None or index is None:
        return None
    return base[0], ["add", base[1], ["mul", index, _element_bytes(op)]]


def _element_bytes(op: OpView) -> int:
    """Our address arithmetic counts in arrays of bytes as long as the element."""
    text = str(op.operation.attributes["elem_type"])
    return int(text.removeprefix("!llvm.array<").partition(" ")[0])


def _parameter(value: Value) -> Expression | None:
    """A parameter of the entry, or what the launcher fills a hidden one with."""
    block = defining_block(value)
    kernel = block.owner.operation
    if kernel.name != "gpu.func" or not isinstance(value.type, IntegerType):
        return None
    hidden, index = hidden_parameters(kernel), list(block.arguments).index(value)
    of_entry = len(block.arguments) - len(hidden)
    if index < of_entry:
        return f"param:{index}"
    recipe = hidden[index - of_entry]
    return recipe.value if isinstance(recipe, HiddenScalar) else None
