"""Declarations: variables of state spaces, and registers."""

from __future__ import annotations

import math
from typing import Any

from .lexer import Tokens, integer
from .operands import float_literal
from .scope import Scope
from .syntax import Module, Register, Symbol, Variable
from .types import TYPES, Type

_OPAQUE = (".texref", ".samplerref", ".surfref")


def parse_register(tokens: Tokens, scope: Scope) -> list[Register]:
    """`.reg .b32 %r<10>, a, b`, without the semicolon."""
    tokens.expect(".reg")
    if tokens.text in (".v2", ".v4"):
        raise tokens.error("vector registers are not supported")
    type_ = _type(tokens)
    found: list[Register] = []
    while True:
        name = tokens.word()
        if tokens.accept("<"):
            scope.declare_family(name, tokens.integer(), type_)
            tokens.expect(">")
        else:
            found.append(scope.declare_register(name, type_))
        if tokens.text != "," or not _declares_more(tokens):
            return found
        tokens.advance()


def _declares_more(tokens: Tokens) -> bool:
    """Whether a comma continues this declaration, not a list of parameters."""
    position = tokens.start + 1
    return not tokens.source[position : position + 40].lstrip().startswith(".")


def parse_variable(tokens: Tokens, module: Module, scope: Scope, linkage: str) -> Variable:
    """`.shared .align 16 .b8 name[64] = {...}`, without the semicolon."""
    space = tokens.advance()[1:].split("::")[0]
    alignment, vector, pointee = 0, 1, False
    while True:
        if tokens.accept(".align"):
            size = tokens.integer()
            alignment = alignment if pointee else size  # behind .ptr it is the pointee's
        elif tokens.text in (".v2", ".v4"):
            vector = int(tokens.advance()[2:])
        elif tokens.accept(".ptr"):
            pointee = True
        elif tokens.text in (".attribute",):
            tokens.advance()
            _skip_parentheses(tokens)
        elif pointee and tokens.text in (".global", ".const", ".shared", ".local", ".param"):
            tokens.advance()
        elif tokens.text[1:] in TYPES or tokens.text in _OPAQUE:
            type_ = _type(tokens)
            break
        else:
            raise tokens.error(f"expected a type, found {tokens.found}")
        if pointee and tokens.kind == "word":
            type_ = TYPES["u64"]
            break
    return _named(tokens, module, scope, linkage, space, _Shape(type_, vector, alignment))


class _Shape:
    """What stands before the name: type, vector length, alignment; .ptr comes behind the type."""

    def __init__(self, type_: Type, vector: int, alignment: int):
        self.type = type_
        self.vector = vector
        self.alignment = alignment or type_.bytes * vector


def _named(
    tokens: Tokens, module: Module, scope: Scope, linkage: str, space: str, shape: _Shape
) -> Variable:
    while tokens.kind == "directive":  # .ptr .global .align 16 of a parameter
        if tokens.advance() == ".align":
            tokens.integer()
    name = tokens.word()
    extents: list[int | None] = []
    while tokens.accept("["):
        extents.append(None if tokens.text == "]" else tokens.integer())
        tokens.expect("]")
    values = _initialiser(tokens, module, scope) if tokens.accept("=") else ()
    count: int | None = shape.vector
    if extents and extents[0] is None:
        inner = math.prod(extent or 1 for extent in extents[1:])
        count = None if not values else -(-len(values) // inner) * inner * shape.vector
    elif extents:
        count = math.prod(extent or 0 for extent in extents) * shape.vector
    return Variable(name, space, shape.type, count, shape.alignment, values, bool(extents), linkage)


def _type(tokens: Tokens) -> Type:
    name = tokens.advance()[1:]
    if name not in TYPES:
        raise tokens.error(f"unknown or unsupported type '.{name}'")
    return TYPES[name]


def _initialiser(tokens: Tokens, module: Module, scope: Scope) -> tuple[Any, ...]:
    """A value, or nested { }, flattened."""
    if tokens.accept("{"):
        found: list[Any] = []
        while not tokens.accept("}"):
            found += _initialiser(tokens, module, scope)
            tokens.accept(",")
        return tuple(found)
    if tokens.kind == "number" or tokens.text == "-":
        negative = tokens.accept("-")
        text = tokens.expect_kind("number", "a number")
        value = integer(text)
        if value is None:
            literal = float_literal(text)
            return (-literal.value if negative else literal,)
        return (-value if negative else value,)
    return (_symbol(tokens, module),)


def _symbol(tokens: Tokens, module: Module) -> Symbol:
    name = tokens.word()
    generic = name == "generic"
    if generic:
        tokens.expect("(")
        name = tokens.word()
        tokens.expect(")")
    target = module.variables.get(name) or module.functions.get(name)
    if target is None:
        raise tokens.error(f"unknown variable '{name}' in an initial value")
    offset = 0
    if tokens.accept("+"):
        offset = tokens.integer()
    return Symbol(target, offset, generic)


def _skip_parentheses(tokens: Tokens) -> None:
    tokens.expect("(")
    depth = 1
    while depth:
        text = tokens.advance()
        depth += (text == "(") - (text == ")")
