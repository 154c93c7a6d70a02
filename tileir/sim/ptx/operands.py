"""Operands of instructions."""

from __future__ import annotations

import struct

from .lexer import Tokens, integer
from .scope import Scope
from .syntax import (
    Address,
    Arguments,
    Immediate,
    Module,
    Negated,
    Operand,
    Pair,
    Sink,
    Special,
    Symbol,
    Vector,
)

# What %NAME may mean where no register has that name.
_SPECIAL = {
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    *(f"%{name}.{axis}" for name in ("clusterid", "nclusterid") for axis in "xyz"),
    *(f"%{name}.{axis}" for name in ("cluster_ctaid", "cluster_nctaid") for axis in "xyz"),
    *("%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%is_explicit_cluster"),
    *("%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt"),
    *("%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%clock64", "%globaltimer"),
    *("%globaltimer_lo", "%globaltimer_hi", "%total_smem_size", "%dynamic_smem_size"),
    "%aggr_smem_size",
}


class OperandParser:
    """Reads operands with the names of a scope."""

    def __init__(self, tokens: Tokens, module: Module, scope: Scope):
        self._tokens = tokens
        self._module = module
        self.scope = scope

    def operand(self) -> Operand:
        tokens = self._tokens
        text = tokens.text
        if text == "[":
            return self._address()
        if text == "{":
            return Vector(self._list("{", "}"))
        if text == "(":
            return Arguments(self._list("(", ")"))
        if text == "!":
            tokens.advance()
            register = self.scope.register(tokens.word())
            if register is None:
                raise tokens.error("expected a predicate after '!'")
            return Negated(register)
        first = self._simple()
        if tokens.accept("|"):
            return Pair(first, self._simple())
        return first

    def _list(self, start: str, end: str) -> tuple[Operand, ...]:
        tokens = self._tokens
        tokens.expect(start)
        found: list[Operand] = []
        while not tokens.accept(end):
            if found:
                tokens.expect(",")
            found.append(self.operand())
        return tuple(found)

    def _address(self) -> Address:
        tokens = self._tokens
        tokens.expect("[")
        base = self._simple()
        offset = 0
        while tokens.text in ("+", "-"):
            sign = 1 if tokens.advance() == "+" else -1
            offset += sign * tokens.integer()
        coordinates: tuple[Operand, ...] = ()
        while tokens.accept(","):
            coordinates += (self.operand(),)
        tokens.expect("]")
        if isinstance(base, Symbol):
            base, offset = Symbol(base.target, 0, base.generic), offset + base.offset
        return Address(base, offset, coordinates)

    def _simple(self) -> Operand:
        """A register, name or constant expression."""
        tokens = self._tokens
        if tokens.kind == "word":
            return self._named(tokens.word())
        if tokens.text == "%":
            raise tokens.error("a stray '%'")
        value = self._sum()
        if isinstance(value, Immediate):
            return value
        return Immediate(value)

    def _named(self, name: str) -> Operand:
        tokens = self._tokens
        if name == "_":
            return Sink()
        register = self.scope.register(name)
        if register is not None:
            return register
        if name == "WARP_SZ":
            return Immediate(32)
        if name in _SPECIAL:
            return Special(name)
        if name == "generic" and tokens.accept("("):
            inner = self._named(tokens.word())
            tokens.expect(")")
            if isinstance(inner, Symbol):
                return Symbol(inner.target, inner.offset, generic=True)
            raise tokens.error("generic() needs a variable")
        target = (
            self.scope.variable(name)
            or self._module.variables.get(name)
            or self._module.functions.get(name)
        )
        if target is not None:
            offset = 0
            while tokens.text in ("+", "-"):
                sign = 1 if tokens.advance() == "+" else -1
                offset += sign * tokens.integer()
            return Symbol(target, offset)
        if name.startswith("%"):
            raise tokens.error(f"unknown register '{name}'")
        return self.scope.refer_to_label(name)

    # --- constants -------------------------------------------------------------------------------

    def _sum(self) -> int | Immediate:
        value = self._term()
        while isinstance(value, int) and self._tokens.text in ("+", "-"):
            sign = 1 if self._tokens.advance() == "+" else -1
            value += sign * self._integer_term()
        return value

    def _integer_term(self) -> int:
        value = self._term()
        if not isinstance(value, int):
            raise self._tokens.error("expected an integer")
        return value

    def _term(self) -> int | Immediate:
        tokens = self._tokens
        if tokens.accept("-"):
            value = self._term()
            if isinstance(value, Immediate):
                return _negated(value)
            return -value
        if tokens.accept("~"):
            return ~self._integer_term()
        if tokens.accept("("):
            value = self._sum()
            tokens.expect(")")
            return value
        text = tokens.expect_kind("number", "an operand")
        value = integer(text)
        return float_literal(text) if value is None else value


def float_literal(text: str) -> Immediate:
    """0f3F800000, 0d3FF0000000000000, 1.5, 1e-3."""
    if text[:2] in ("0f", "0F"):
        bits = int(text[2:], 16)
        return Immediate(struct.unpack("<f", struct.pack("<I", bits))[0], bits, 32)
    if text[:2] in ("0d", "0D"):
        bits = int(text[2:], 16)
        return Immediate(struct.unpack("<d", struct.pack("<Q", bits))[0], bits, 64)
    return Immediate(float(text))


def _negated(value: Immediate) -> Immediate:
    if value.bits is None:
        return Immediate(-value.value)
    return Immediate(-value.value, value.bits ^ 1 << (value.width - 1), value.width)
