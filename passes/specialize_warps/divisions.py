"""Divisions that are mostly none.

The producer's first fetch, which a launch waits for, waits for the place of a tile, and that for
two or three divisions of some 130 cycles each: of the block's number by that of a group's tiles,
say. Where there is one group, the dividend is below the divisor, and the quotient known to be 0.

Only where the divisor is the same for all tiles: otherwise some blocks would start before others,
and those that share tiles fetch them for each other only if they keep step.
"""

from __future__ import annotations

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, splat_integer
from tileir.ir import Block, Operation, Value

_REMAINDERS = ("arith.remsi", "arith.remui")
_DIVISIONS = ("arith.divsi", "arith.divui", *_REMAINDERS)


class Divisions:
    """Builds divisions that branch around themselves."""

    def __init__(self, b: Builder) -> None:
        self._b = b
        #: By operation, operands and block.
        self._known: dict[tuple[str, Value, Value, Block], Value] = {}

    def build(self, old: Operation, dividend: Value, divisor: Value) -> Value | None:
        """What `old` gives for these operands; None if it is no division, or one by a constant,
        which needs no branch."""
        if old.name not in _DIVISIONS or splat_integer(defining_op(divisor)) is not None:
            return None
        quotient = self._quotient(f"arith.div{old.name[-2:]}", dividend, divisor)
        if old.name not in _REMAINDERS:
            return quotient
        return self._b.sub(dividend, self._b.mul(quotient, divisor))

    def _quotient(self, name: str, dividend: Value, divisor: Value) -> Value:
        b = self._b
        key = (name, dividend, divisor, b.point.block)
        if key in self._known:
            return self._known[key]
        zero = b.constant(0, dividend.type)
        below = b.compare("slt" if name.endswith("si") else "ult", dividend, divisor)
        if name.endswith("si"):
            below = b.op("arith.andi", [below, b.compare("sge", dividend, zero)], b.i1)
        self._known[key] = b.either(
            below,
            dividend.type,
            lambda: zero,
            lambda: b.op(name, [dividend, divisor], dividend.type),
        )
        return self._known[key]
