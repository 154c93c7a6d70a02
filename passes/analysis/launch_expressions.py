"""Integers of a kernel as expressions that a launcher works out (`tileir.runtime.expressions`)."""

from __future__ import annotations

from collections.abc import Iterable

from tileir.compiler.ir_util import defining_block, defining_op, splat_integer
from tileir.ir import IntegerType, OpView, Value
from tileir.runtime.expressions import Expression

_OPERATORS = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.divui": "floordiv",
    "arith.minsi": "min",
    "arith.maxsi": "max",
}
_EXTENSIONS = ("arith.extui", "arith.extsi")


def launch_expression(value: Value) -> Expression | None:
    """`value` as an expression of the kernel's parameters; None if it is not known at launch."""
    op = defining_op(value)
    if op is None:
        return _parameter(value)
    constant = splat_integer(op)
    if constant is not None:
        return constant
    name, operands = op.operation.name, list(op.operation.operands)
    if name in _EXTENSIONS:
        return launch_expression(operands[0])
    if name not in _OPERATORS:
        return None
    parts = launch_expressions(operands)
    return None if parts is None else [_OPERATORS[name], *parts]


def launch_expressions(values: Iterable[Value]) -> list[Expression] | None:
    """Several values as expressions; None if one of them is not known at launch."""
    expressions = [launch_expression(value) for value in values]
    known = [expression for expression in expressions if expression is not None]
    return known if len(known) == len(expressions) else None


def launch_pointer(value: Value) -> tuple[int, Expression] | None:
    """A pointer as the index of a parameter and an offset in bytes; None if it is not known."""
    op = defining_op(value)
    if op is None:
        block = defining_block(value)
        is_parameter = block.owner.operation.name == "gpu.func"
        return (list(block.arguments).index(value), 0) if is_parameter else None
    if op.operation.name != "llvm.getelementptr" or len(op.operation.operands) != 2:
        return None
    base, index = (
        launch_pointer(op.operation.operands[0]),
        launch_expression(op.operation.operands[1]),
    )
    if base is None or index is None:
        return None
    return base[0], ["add", base[1], ["mul", index, _element_bytes(op)]]


def _element_bytes(op: OpView) -> int:
    """Our address arithmetic counts in arrays of bytes as long as the element."""
    text = str(op.operation.attributes["elem_type"])
    return int(text.removeprefix("!llvm.array<").partition(" ")[0])


def _parameter(value: Value) -> Expression | None:
    block = defining_block(value)
    if block.owner.operation.name != "gpu.func" or not isinstance(value.type, IntegerType):
        return None
    return f"param:{list(block.arguments).index(value)}"
