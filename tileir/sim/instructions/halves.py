"""Packed 16-bit integers: add, min and max of u16x2 and s16x2."""

from __future__ import annotations

from ..code.emitter import Emitter
from ..code.form import Form
from ..ptx.syntax import Register
from ..ptx.types import TYPES, Type


def packed_integers(e: Emitter, f: Form, type_: Type, name: str, relu: bool = False) -> None:
    f.count(3)
    element = e.dtype_name(TYPES[type_.element].dtype)
    a, b = (_elements(e, f, index, type_, element) for index in (1, 2))
    if name in ("add", "sub"):
        value = f"{a} {'+' if name == 'add' else '-'} {b}"
    else:
        value = f"np.{name}imum({a}, {b})"
    if relu:
        value = f"np.maximum({value}, {element}.type(0))"
    e.write(f.operand(0), f"({value}).view({e.dtype_name(type_.dtype)})", type_)


def _elements(e: Emitter, f: Form, index: int, type_: Type, element: str) -> str:
    value = e.read(f.operand(index), type_)
    if not isinstance(f.operand(index), Register):
        value = f"w.fill({value})"
    return f"{value}.view({element})"
