"""The state of a conversion, and the registry of its rules.

A rule is a free function `rule(c, op)` registered under the name of an operation. It builds the
replacement with `c.builder` and records the new values with `c.set(op, ...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tileir.compiler.builder import Attributes, Builder
from tileir.compiler.ir_util import defining_op
from tileir.compiler.locations import plain_location
from tileir.compiler.tile_types import STORED_AS, is_tile_type, tile_of
from tileir.compiler.unsupported import Unsupported, refusal
from tileir.dialects import tile_gpu
from tileir.dialects.cuda_tile import PtrType, TokenType
from tileir.ir import Block, OpView, ShapedType, StringAttr, Type, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.convert_cuda_tile.view_records import ViewTable

#: The second parameter is the operation, of the class that the rule is for.
Rule = Callable[["Converter", Any], None]
RULES: dict[str, Rule] = {}

_INTERPRETER = "the interpreter (backend 'interp') runs every operation"

#: Conversions of `arith`, which work on scalars but not on our tiles.
_CASTS = {
    "arith.bitcast", "arith.extf", "arith.extsi", "arith.extui", "arith.fptosi",
    "arith.fptoui", "arith.sitofp", "arith.truncf", "arith.trunci", "arith.uitofp",
}  # fmt: skip


def lowers(*names: str) -> Callable[[Rule], Rule]:
    """Registers a rule for operations of cuda_tile, named without the dialect."""

    def register(rule: Rule) -> Rule:
        for name in names:
            RULES["cuda_tile." + name] = rule
        return rule

    return register


class Converter:
    """Values of cuda_tile and what they became."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.facts = AxisAnalysis()
        self.views = ViewTable()
        self._values: dict[Value, Value] = {}
        #: memory from `alloca`, and the blocks whose ends free it
        self.scratch: list[tuple[Block, Value]] = []

    def __getitem__(self, value: Value) -> Value:
        return self._values[value]

    def operands(self, op: OpView) -> list[Value]:
        """The converted operands, without tokens."""
        return [self[o] for o in op.operation.operands if not is_token(o.type)]

    def set(self, op: OpView, *values: Value) -> None:
        """Records the new values of the results of `op`, tokens left out."""
        results = [r for r in op.operation.results if not is_token(r.type)]
        for result, value in zip(results, values, strict=True):
            self._values[result] = value

    def bind(self, old: Value, new: Value) -> None:
        self._values[old] = new

    # ---- types -------------------------------------------------------------------------------

    def type(self, type_: Type) -> Type:
        """A scalar type for rank-0 tiles, `!tile_gpu.tile` for others. Scalar pointers stay
        pointers, tiles of pointers become tiles of addresses. Raises Unsupported."""
        shaped = ShapedType(type_)
        shape, element = shaped.shape, shaped.element_type
        pointer = is_pointer(element)
        element = self.stored(element)
        if not shape:
            return self.builder.type("!llvm.ptr<1>") if pointer else element
        return self.tile_type(shape, self.builder.i64 if pointer else element)

    def tile_type(self, shape: Sequence[int], element: Type) -> Type:
        dims = "x".join(map(str, shape))
        return self.builder.type(f"!tile_gpu.tile<{dims}x{self.stored(element)}>")

    def stored(self, element: Type) -> Type:
        """The type that stands for elements of a format of which only conversions know more."""
        name = STORED_AS.get(str(element))
        return self.builder.type(name) if name else element

    def like(self, type_: Type, element: Type) -> Type:
        """`type_` (a scalar or tile of tile_gpu) with another element type."""
        if not is_tile_type(type_):
            return element
        return self.tile_type(ShapedType(type_).shape, element)

    # ---- building ----------------------------------------------------------------------------

    def elementwise(
        self,
        name: str,
        operands: Sequence[Value],
        element: Type | None = None,
        attributes: Attributes | None = None,
    ) -> Value:
        """An operation on scalars or tiles of one shape, giving `element`s (default: as the
        first operand)."""
        type_ = operands[0].type
        result = type_ if element is None else self.like(type_, element)
        source = _without_units(operands[0]) if len(operands) == 1 else None
        if source is not None:
            # What follows a product stays a matrix until it is stored.
            value = self.elementwise(name, [source], element, attributes)
            return self.builder.op("tile_gpu.reshape", [value], result)
        if name in _CASTS and is_tile_type(type_):
            kind = self.builder.attribute(f"#tile_gpu.cast_kind<{name.removeprefix('arith.')}>")
            return self.builder.op("tile_gpu.cast", operands, result, {"kind": kind})
        return self.builder.op(name, operands, result, attributes)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        name = "tile_gpu.select" if is_tile_type(condition.type) else "arith.select"
        return self.builder.op(name, [condition, a, b], a.type)

    def call(self, callee: str, operands: Sequence[Value], element: Type | None = None) -> Value:
        """An intrinsic or a function of libdevice on each element."""
        attributes = {"callee": self.builder.attribute(f'"{callee}"')}
        return self.elementwise("tile_gpu.call", operands, element, attributes)

    def ptx(
        self, text: str, constraints: str, operands: Sequence[Value], element: Type | None = None
    ) -> Value:
        """PTX instructions on each element."""
        context = self.builder.context
        attributes: Attributes = {
            "ptx": StringAttr.get(text, context),
            "constraints": StringAttr.get(constraints, context),
        }
        return self.elementwise("tile_gpu.inline_ptx", operands, element, attributes)

    def full(self, value: int | float | bool, like: Value) -> Value:
        """`value` as a constant of the type of `like`."""
        return self.builder.constant(value, like.type)

    def address(self, pointer: Value) -> Value:
        """A scalar pointer as an i64."""
        if pointer.type == self.builder.i64:
            return pointer
        return self.builder.op("llvm.ptrtoint", [pointer], self.builder.i64)

    def splat(self, scalar: Value, type_: Type) -> Value:
        """A tile of `type_` filled with a scalar (a pointer becomes its address)."""
        if str(scalar.type) == "!llvm.ptr<1>":
            scalar = self.address(scalar)
        return self.builder.op("tile_gpu.splat", [scalar], type_)

    # ---- walking -----------------------------------------------------------------------------

    def convert_op(self, op: OpView) -> None:
        self.builder.location = plain_location(op.location)
        name = op.operation.name
        rule = RULES.get(name)
        if rule is None:
            raise refusal(op, "no code generation", _INTERPRETER)
        try:
            rule(self, op)
        except Unsupported as error:
            raise refusal(op, error.reason, error.remedy or _INTERPRETER) from None

    def convert_straight_line(self, block: Block) -> None:
        """Converts the operations of a block without control flow, but for its terminator."""
        for op in list(block)[:-1]:
            self.convert_op(op)


def _without_units(value: Value) -> Value | None:
    """The matrix, or larger tile, that became `value` by dimensions of size 1 alone."""
    op = defining_op(value)
    if not isinstance(op, tile_gpu.ReshapeOp):
        return None
    wide = tile_of(op.source).wide
    return op.source if len(wide) > 1 and tile_of(value).wide == wide else None


def is_token(type_: Type) -> bool:
    return isinstance(type_, TokenType)


def is_pointer(type_: Type) -> bool:
    return isinstance(type_, PtrType)
