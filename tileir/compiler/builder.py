"""Building operations with little ceremony: the one way in which passes make new IR."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from tileir.compiler.tile_types import BufferInfo, is_tile_type, tile_of, tile_type
from tileir.ir import (
    Attribute,
    Block,
    DenseBoolArrayAttr,
    DenseElementsAttr,
    DenseI64ArrayAttr,
    FloatAttr,
    FloatType,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Location,
    Operation,
    Region,
    ShapedType,
    Type,
    Value,
)

Attributes = Mapping[str, Attribute]


class Builder:
    """An insertion point and a location, and functions that build there.

    `with builder.at(block): ...` moves the insertion point for a while.
    """

    def __init__(self, point: InsertionPoint, location: Location):
        self.point = point
        self.location = location
        self.context = location.context
        self._types: dict[str, Type] = {}
        self._attributes: dict[str, Attribute] = {}
        self._texts: dict[Type, str] = {}
        self._constants: dict[tuple[int, Type], Value] = {}
        #: where constants are built that are shared
        self._constants_point: InsertionPoint | None = None
        #: operations created so far
        self.count = 0
        self.i1, self.i8, self.i16, self.i32, self.i64 = (
            IntegerType.get_signless(n, self.context) for n in (1, 8, 16, 32, 64)
        )
        self.index = IndexType.get(self.context)

    @contextlib.contextmanager
    def at(self, place: Block | InsertionPoint) -> Iterator[None]:
        """Builds at the end of a block, or at an insertion point."""
        saved = self.point
        self.point = InsertionPoint(place) if isinstance(place, Block) else place
        try:
            yield
        finally:
            self.point = saved

    def create(
        self,
        name: str,
        operands: Sequence[Value] = (),
        results: Sequence[Type] = (),
        attributes: Attributes | None = None,
        regions: int = 0,
    ) -> Operation:
        """A new operation at the insertion point, with so many empty `regions`; nothing verifies
        it yet."""
        self.count += 1
        return Operation.create(
            name,
            results=results,
            operands=operands,
            attributes=dict(attributes) if attributes else None,
            regions=regions,
            loc=self.location,
            ip=self.point,
        )

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        result: Type,
        attributes: Attributes | None = None,
    ) -> Value:
        """An operation with one result."""
        return self.create(name, operands, [result], attributes).results[0]

    def anchor(self) -> Operation:
        """An operation that does nothing, for others to be built before it later."""
        return self.create("arith.constant", [], [self.i32], {"value": self.i32_attr(0)})

    def block(self, region: Region, arguments: Sequence[Type] = ()) -> Block:
        """A new block at the end of `region`."""
        return region.blocks.append(*arguments, arg_locs=[self.location] * len(arguments))

    # ---- types and attributes ----------------------------------------------------------------

    def type(self, text: str) -> Type:
        """The type written `text`; remembered, since parsing costs more than building."""
        result = self._types.get(text)
        if result is None:
            result = self._types[text] = Type.parse(text, self.context)
        return result

    def text(self, type: Type) -> str:
        """A type as it is written; remembered, since writing costs more than building, too."""
        result = self._texts.get(type)
        if result is None:
            result = self._texts[type] = str(type)
        return result

    def struct(self, types: Sequence[Type]) -> Type:
        """LLVM's struct of these types."""
        return self.type(f"!llvm.struct<({', '.join(map(self.text, types))})>")

    def attribute(self, text: str) -> Attribute:
        """The attribute written `text`, remembered as types are."""
        result = self._attributes.get(text)
        if result is None:
            result = self._attributes[text] = Attribute.parse(text, self.context)
        return result

    def i32_attr(self, value: int) -> IntegerAttr:
        return IntegerAttr.get(self.i32, value)

    def i64_attr(self, value: int) -> IntegerAttr:
        return IntegerAttr.get(self.i64, value)

    def flags_attr(self, flags: Sequence[bool]) -> Attribute:
        return DenseBoolArrayAttr.get(list(flags), self.context)

    def segments(self, *counts: int | Value | None) -> Attribute:
        """`operandSegmentSizes`: how many operands each group has; an optional one counts 1 if it
        is there."""
        sizes = [n if isinstance(n, int) else int(n is not None) for n in counts]
        return self.attribute(f"array<i32: {', '.join(map(str, sizes))}>")

    # ---- constants ---------------------------------------------------------------------------

    def share_constants(self) -> None:
        """From now on, builds each integer once, here, where it must dominate all that follows."""
        self._constants_point = InsertionPoint(self.anchor())

    def constant(self, value: int | float | bool, type: Type) -> Value:
        """`value` as a scalar, or as every element of a tile."""
        if self._constants_point is None or not isinstance(type, (IntegerType, IndexType)):
            return self._constant(value, type)
        key = (int(value), type)
        found = self._constants.get(key)
        if found is None:
            with self.at(self._constants_point):
                found = self._constants[key] = self._constant(value, type)
        return found

    def _constant(self, value: int | float | bool, type: Type) -> Value:
        if is_tile_type(type):
            shaped = ShapedType(type)
            attribute: Attribute = DenseElementsAttr.get_splat(
                type, self.number_attr(value, shaped.element_type)
            )
        else:
            attribute = self.number_attr(value, type)
        return self.op("arith.constant", [], type, {"value": attribute})

    def number_attr(self, value: int | float | bool, type: Type) -> Attribute:
        """A scalar as an attribute; integers wrap around to the width of their type."""
        if isinstance(type, FloatType):
            return FloatAttr.get(type, float(value), loc=self.location)
        value = int(value)
        if isinstance(type, IntegerType):
            width = IntegerType(type).width
            value = (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
            if width == 1:
                value = -value
        return IntegerAttr.get(type, value)

    def c32(self, value: int) -> Value:
        return self.constant(value, self.i32)

    def c64(self, value: int) -> Value:
        return self.constant(value, self.i64)

    # ---- integers and addresses ---------------------------------------------------------------

    def add(self, a: Value, b: Value) -> Value:
        return self.op("arith.addi", [a, b], a.type)

    def sub(self, a: Value, b: Value) -> Value:
        return self.op("arith.subi", [a, b], a.type)

    def mul(self, a: Value, b: Value) -> Value:
        return self.op("arith.muli", [a, b], a.type)

    def divided(self, value: Value, by: Value) -> tuple[Value, Value]:
        """Quotient and remainder, unsigned."""
        operands = [value, by]
        return (
            self.op("arith.divui", operands, value.type),
            self.op("arith.remui", operands, value.type),
        )

    def zext_or_trunc(self, value: Value, type: Type) -> Value:
        """An unsigned integer in the type of another width."""
        if value.type == type:
            return value
        narrower = IntegerType(type).width < IntegerType(value.type).width
        return self.op("arith.trunci" if narrower else "arith.extui", [value], type)

    def alloc(self, info: BufferInfo, *, per_warp: bool = False) -> Value:
        """A buffer in shared memory; `per_warp`: each warp reads only what it wrote itself."""
        attributes = {"per_warp": self.attribute("unit")} if per_warp else None
        return self.op("tile_gpu.alloc", [], self.type(str(info)), attributes)

    def permute(self, tile: Value, permutation: Sequence[int]) -> Value:
        """The tile whose dimension i is `permutation[i]` of `tile`."""
        attributes = {"permutation": DenseI64ArrayAttr.get(list(permutation), self.context)}
        type_ = tile_type(self, tile_of(tile).permuted(permutation))
        return self.op("tile_gpu.permute", [tile], type_, attributes)

    def either(
        self,
        condition: Value,
        type: Type,
        then: Callable[[], Value],
        otherwise: Callable[[], Value],
    ) -> Value:
        """What one of two branches computes: an `scf.if` with one result."""
        branch = self.create("scf.if", [condition], [type], regions=2)
        for region, compute in zip(branch.regions, (then, otherwise), strict=True):
            with self.at(self.block(region)):
                self.create("scf.yield", [compute()])
        return branch.results[0]

    def advance(self, pointer: Value, elements: Value, element_bytes: int) -> Value:
        """pointer + elements * element_bytes."""
        attributes = {
            "rawConstantIndices": self.attribute("array<i32: -2147483648>"),
            "elem_type": self.attribute(f"!llvm.array<{element_bytes} x i8>"),
        }
        return self.op("llvm.getelementptr", [pointer, elements], pointer.type, attributes)

    def offset(self, pointer: Value, bytes_: int) -> Value:
        """pointer + bytes: a constant, which becomes part of the instruction that uses it."""
        if not bytes_:
            return pointer
        attributes = {
            "rawConstantIndices": self.attribute(f"array<i32: {bytes_}>"),
            "elem_type": self.attribute("i8"),
        }
        return self.op("llvm.getelementptr", [pointer], pointer.type, attributes)

    def compare(self, predicate: str, a: Value, b: Value, result: Type | None = None) -> Value:
        """Integer comparison; `predicate` as in the text of arith.cmpi: eq, slt, ult, ..."""
        names = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
        attributes = {"predicate": self.i64_attr(names.index(predicate))}
        return self.op("arith.cmpi", [a, b], result or self.i1, attributes)
