"""Building operations of cuda_tile on scalars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.compiler.builder import Attributes, Builder
from tileir.dialects.cuda_tile import (
    ComparisonPredicate,
    Signedness,
    TileType,
    TokenType,
    enum_attribute,
)
from tileir.dialects.elements import array_from_elements, element_dtype, elements_from_array
from tileir.ir import DenseElementsAttr, IntegerType, Operation, OpView, Type, Value
from tileir.passes.split_tile.forms import tile_type

_PREDICATES = {"eq": ComparisonPredicate.Equal, "ult": ComparisonPredicate.LessThan}


def width_of(scalar: Value) -> int:
    """Bits of a rank-0 tile of integers."""
    return IntegerType(tile_type(scalar).element_type).width


class TileBuilder(Builder):
    """A `Builder` whose arithmetic is that of cuda_tile; scalars are rank-0 tiles."""

    def scalar(self, width: int) -> TileType:
        """The type of a scalar integer."""
        return TileType.get([], IntegerType.get_signless(width, self.context))

    def constant(self, value: int | float | bool, type: Type) -> Value:
        """A tile of numbers, all of them `value`."""
        assert isinstance(type, TileType)
        dtype = element_dtype(type.element_type)
        element = np.array(value).astype(dtype)
        return self.op(
            "cuda_tile.constant", [], type, {"value": elements_from_array(element, type)}
        )

    def integer(self, value: int, width: int = 32) -> Value:
        return self.constant(value, self.scalar(width))

    def add(self, a: Value, b: Value) -> Value:
        return self.op("cuda_tile.addi", [a, b], a.type)

    def sub(self, a: Value, b: Value) -> Value:
        return self.op("cuda_tile.subi", [a, b], a.type)

    def mul(self, a: Value, b: Value) -> Value:
        return self.op("cuda_tile.muli", [a, b], a.type)

    def scaled(self, a: Value, factor: int) -> Value:
        """`a * factor`, for a scalar."""
        return a if factor == 1 else self.mul(a, self.integer(factor, width_of(a)))

    def smaller(self, a: Value, b: Value) -> Value:
        """The smaller of two unsigned numbers."""
        return self.op("cuda_tile.mini", [a, b], a.type, self._unsigned())

    def larger(self, a: Value, b: Value) -> Value:
        """The larger of two unsigned numbers."""
        return self.op("cuda_tile.maxi", [a, b], a.type, self._unsigned())

    def compare(self, predicate: str, a: Value, b: Value, result: Type | None = None) -> Value:
        """Comparison of scalars: `eq` or `ult`."""
        attributes = {
            "comparison_predicate": enum_attribute(_PREDICATES[predicate], self.context),
            **self._unsigned(),
        }
        return self.op("cuda_tile.cmpi", [a, b], result or self.scalar(1), attributes)

    def resized(self, value: Value, width: int) -> Value:
        """An unsigned number in another width; it must fit."""
        if width_of(value) == width:
            return value
        if width_of(value) > width:
            return self.op("cuda_tile.trunci", [value], self.scalar(width))
        return self.op("cuda_tile.exti", [value], self.scalar(width), self._unsigned())

    def _unsigned(self) -> Attributes:
        return {"signedness": enum_attribute(Signedness.Unsigned, self.context)}

    # ---- tokens and regions --------------------------------------------------------------------

    def token(self) -> Value:
        """A token ordered after nothing."""
        return self.op("cuda_tile.make_token", [], TokenType.get(self.context))

    def join(self, tokens: Sequence[Value]) -> Value:
        """A token ordered after all of `tokens`."""
        different = list(dict.fromkeys(tokens))
        if not different:
            return self.token()
        if len(different) == 1:
            return different[0]
        return self.op("cuda_tile.join_tokens", different, TokenType.get(self.context))

    def branch(self, condition: Value, results: Sequence[Type]) -> Operation:
        """An `if` with two empty branches."""
        new = self.create("cuda_tile.if", [condition], results, regions=2)
        for region in new.regions:
            self.block(region)
        return new

    def clone(
        self,
        op: OpView,
        operands: Sequence[Value],
        results: Sequence[Type],
        attributes: Attributes | None = None,
    ) -> Operation:
        """A copy of `op` at its own location, regions included."""
        new = op.operation.clone(ip=self.point)
        for i, operand in enumerate(operands):
            new.operands[i] = operand
        for result, type_ in zip(new.results, results, strict=True):
            result.set_type(type_)
        for name, attribute in (attributes or {}).items():
            new.attributes[name] = attribute
        return new


def splat_of(value: DenseElementsAttr, type_: TileType) -> DenseElementsAttr:
    """The splat `value` under another tile type."""
    element = np.array(array_from_elements(value).reshape(-1)[0])
    return DenseElementsAttr(elements_from_array(element, type_))
