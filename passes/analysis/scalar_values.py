"""What scalar code computes from given integers, found out while compiling.

For heuristics: integers are unbounded here, and the code's own may wrap around.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from tileir.compiler.ir_util import defining_op, int_attr, splat_integer
from tileir.ir import OpView, Value


def _quotient(a: int, b: int) -> int:
    """Rounded towards zero."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b


_BINARY: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divui": operator.floordiv,
    "arith.divsi": _quotient,
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.floordivsi": operator.floordiv,
    "arith.remui": operator.mod,
    "arith.remsi": lambda a, b: a - _quotient(a, b) * b,
    "arith.minui": min,
    "arith.minsi": min,
    "arith.maxui": max,
    "arith.maxsi": max,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
}
_UNARY = ("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast", "tile_gpu.first_lane")
#: In the order of arith.cmpi's predicates.
_COMPARISONS: tuple[Callable[[int, int], bool], ...] = (
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.lt, operator.le, operator.gt, operator.ge,
)  # fmt: skip


def scalar_value(value: Value, known: Mapping[Value, int], unknown: int) -> int | None:
    """`value` if the values in `known` are as given, and every other that no scalar operation
    computes is `unknown`; None if an operation among them is not one of integers, or undefined."""
    return _Evaluation(known, unknown).find(value)


class _Evaluation:
    def __init__(self, known: Mapping[Value, int], unknown: int):
        self._values: dict[Value, int | None] = dict(known)
        self._unknown = unknown

    def find(self, value: Value) -> int | None:
        if value not in self._values:
            self._values[value] = self._compute(value)
        return self._values[value]

    def _compute(self, value: Value) -> int | None:
        op = defining_op(value)
        if op is None or op.operation.name.startswith("nvvm.read.ptx.sreg."):
            return self._unknown
        constant = splat_integer(op)
        if constant is not None:
            return constant
        operands = [self.find(operand) for operand in op.operation.operands]
        numbers = [number for number in operands if number is not None]
        return _result(op, numbers) if len(numbers) == len(operands) else None


def _result(op: OpView, operands: list[int]) -> int | None:
    name = op.operation.name
    if name in _UNARY:
        return operands[0]
    if name == "arith.select":
        return operands[1] if operands[0] else operands[2]
    if name == "arith.cmpi":
        return int(_COMPARISONS[int_attr(op, "predicate")](*operands))
    if name not in _BINARY:
        return None
    try:
        return _BINARY[name](*operands)
    except ZeroDivisionError:
        return None
