"""print: a format string of C, and tiles in nested brackets.

One thread prints for the block. `vprintf` knows i32, i64 and f64 only, so every conversion is
rewritten for what its operand becomes:

    %d of an i8     %d of its sign extension        %x of an i8     %x of its zero extension
    %d of an i64    %lld                            %f of an f16    %f of its f64

A tile (by now in a buffer) is printed by loops over its dimensions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tileir.compiler.ir_util import text_attr
from tileir.compiler.unsupported import Unsupported
from tileir.ir import IntegerType, OpView, StringAttr, Value
from tileir.passes.convert_tile_gpu.conversions import to_float
from tileir.passes.convert_tile_gpu.lowering import Lowering, SharedBuffer, lowers
from tileir.passes.convert_tile_gpu.shared_memory import SharedAddress, load_elements

# flags, width, precision, length modifier, conversion
_CONVERSION = re.compile(r"%(?:(%)|([-+ #0]*)(\d*)(\.\d*)?(hh|h|ll|l|q|j|z|t|L)?(.))", re.DOTALL)
_SIGNED, _UNSIGNED, _FLOAT = "dic", "uoxX", "eEfFgGaA"
#: What one call of vprintf takes.
_MOST_ARGUMENTS = 32


@dataclass(frozen=True)
class Conversion:
    """`%-5.2f` in parts."""

    flags: str
    width: str
    precision: str
    letter: str

    def text(self, wide: bool = False) -> str:
        letter = "f" if self.letter == "F" else self.letter  # vprintf has no F
        return f"%{self.flags}{self.width}{self.precision}{'ll' if wide else ''}{letter}"


@dataclass
class _Call:
    """One call of vprintf under way."""

    ctx: Lowering
    text: str = ""
    values: list[Value] = field(default_factory=list)

    def add(self, text: str, value: Value) -> None:
        if len(self.values) == _MOST_ARGUMENTS:
            self.flush()
        self.text += text
        self.values.append(value)

    def flush(self) -> None:
        if self.text:
            attributes = {"format": StringAttr.get(self.text, self.ctx.builder.context)}
            self.ctx.builder.create("gpu.printf", self.values, attributes=attributes)
        self.text, self.values = "", []


@lowers("tile_gpu.print")
def _print(ctx: Lowering, op: OpView) -> None:
    b = ctx.builder
    operands = iter(list(op.operation.operands))
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(0))):
        call = _Call(ctx)
        for piece in _pieces(text_attr(op, "format")):
            if isinstance(piece, str):
                call.text += piece
                continue
            operand = next(operands)
            buffer = ctx.buffers.get(operand)
            if buffer is None:
                _print_scalar(call, piece, ctx.scalar(operand), str(operand.type))
            elif math.prod(buffer.info.shape) == 1:
                _print_element(call, piece, buffer, [b.c32(0)] * len(buffer.info.shape))
            else:
                call.flush()
                _print_tile(call, piece, buffer, [])
        call.flush()


def _pieces(text: str) -> Iterator[str | Conversion]:
    end = 0
    for match in _CONVERSION.finditer(text):
        yield text[end : match.start()]
        end = match.end()
        if match[1]:
            yield "%%"
        else:
            yield Conversion(match[2], match[3], match[4] or "", match[6])
    yield text[end:]


def _print_tile(
    call: _Call, conversion: Conversion, buffer: SharedBuffer, index: Sequence[Value]
) -> None:
    """The elements whose coordinates begin with `index`: `[a, b, c]`, nested by dimension."""
    ctx, b, shape = call.ctx, call.ctx.builder, buffer.info.shape
    if len(index) == len(shape):
        _print_element(call, conversion, buffer, index)
        call.flush()
        return
    call.text += "["
    call.flush()
    bounds = [b.c32(0), b.c32(shape[len(index)]), b.c32(1)]
    loop = b.create("scf.for", bounds, regions=1)
    body = b.block(loop.regions[0], [b.i32])
    with b.at(body):
        counter = body.arguments[0]
        with ctx.only_if(b.compare("ne", counter, b.c32(0))):
            call.text += ", "
            call.flush()
        _print_tile(call, conversion, buffer, [*index, counter])
        b.create("scf.yield")
    call.text += "]"
    call.flush()


def _print_element(
    call: _Call, conversion: Conversion, buffer: SharedBuffer, index: Sequence[Value]
) -> None:
    place = SharedAddress.of_place(call.ctx, buffer.info, index).index(0, 0)
    (value,) = load_elements(call.ctx, buffer, place, 1)
    _print_scalar(call, conversion, value, buffer.info.element)


def _print_scalar(call: _Call, conversion: Conversion, value: Value, element: str) -> None:
    ctx, b, letter = call.ctx, call.ctx.builder, conversion.letter
    is_integer = isinstance(value.type, IntegerType) and not element.startswith("f8")
    if letter in _FLOAT:
        if is_integer:
            value = b.op("arith.sitofp", [_widened(ctx, value, True)], b.type("f64"))
        else:
            value = to_float(ctx, value, element, b.type("f64"))
        call.add(conversion.text(), value)
        return
    if letter not in (*_SIGNED, *_UNSIGNED, "p"):
        raise Unsupported(f"'%{letter}' cannot print a number", remedy="use %d, %x, %f or another")
    if not is_integer:
        wide = to_float(ctx, value, element, b.type("f64"))
        value = b.op("arith.fptosi", [wide], b.i64)
    value = _widened(ctx, value, letter in _SIGNED)
    if letter == "p":
        value = value if value.type == b.i64 else b.op("arith.extui", [value], b.i64)
        conversion = Conversion("#", conversion.width, "", "x")
    call.add(conversion.text(wide=value.type == b.i64), value)


def _widened(ctx: Lowering, value: Value, signed: bool) -> Value:
    """An integer as i32 or i64. A boolean is 0 or 1 in any reading."""
    b, width = ctx.builder, ctx.width(value.type)
    if width >= 32:
        return value
    name = "arith.extsi" if signed and width > 1 else "arith.extui"
    return b.op(name, [value], b.i32)
