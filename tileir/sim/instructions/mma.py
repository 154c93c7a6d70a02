"""mma.sync: products of small matrices held by a warp."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.cohort import Array, Cohort
from ..numerics import fragments
from ..ptx.syntax import Operand, Vector
from ..ptx.types import F64, TYPES, U32, Type

# shape: rows, K. Columns are always 8.
_SHAPES = {
    "m8n8k4": (8, 4),
    "m8n8k16": (8, 16),
    "m8n8k32": (8, 32),
    **{f"m16n8k{k}": (16, k) for k in (4, 8, 16, 32, 64)},
}
_BITS = {"s4": 4, "u4": 4, "f16": 16, "bf16": 16, "tf32": 32, "f64": 64}
_BITS |= {"s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8}


@instruction("mma.sync", stops=True)
def multiply_accumulate(e: Emitter, f: Form) -> None:
    """mma.sync.aligned.shape.row.col{.satfinite}.d.a.b.c D, A, B, C."""
    f.need("aligned")
    shape = f.need(*_SHAPES)
    f.need("row")
    f.need("col")
    saturate = f.has("satfinite")
    f.has("kind::f8f6f4")
    d_type = f.type("f16", "f32", "f64", "s32")
    a_name, b_name = (f.one_of(*_BITS) for _ in "ab")
    c_type = f.type("f16", "f32", "f64", "s32")
    if a_name is None or b_name is None:
        raise f.error("unknown types of the operands")
    rows, depth = _SHAPES[shape]
    _check_counts(f, rows, depth, a_name, c_type)
    e.converge()
    lists = [_registers(e, f.operand(k), type_) for k, type_ in (
        (1, F64 if a_name == "f64" else U32), (2, F64 if b_name == "f64" else U32),
        (3, _held(c_type)),
    )]  # fmt: skip
    types = f"{a_name!r}, {b_name!r}, {e.dtype_name(c_type.dtype)}, {e.dtype_name(d_type.dtype)}"
    call = e.call(product, *lists, types, rows, saturate)
    e.write_each(_vector(f.operand(0)), call, _held(d_type))


def _held(type_: Type) -> Type:
    """Accumulators of 16 bits come in pairs."""
    return U32 if type_.bits == 16 else type_


def _vector(operand: Operand) -> Vector:
    return operand if isinstance(operand, Vector) else Vector((operand,))


def _registers(e: Emitter, operand: Operand, type_: Type) -> str:
    """A list of registers as an expression; numbers stand for all lanes."""
    values = []
    for element in _vector(operand).elements:
        value = e.read(element, type_)
        values.append(value if value.startswith(("R[", "t")) else f"w.fill({value})")
    return f"({', '.join(values)},)"


def _check_counts(f: Form, rows: int, depth: int, a_name: str, c_type: Type) -> None:
    halves = rows // 8
    per = max(1, 32 // _BITS[a_name])
    expected = (halves * depth // (4 * per), depth // (4 * per))
    found = tuple(len(_vector(f.operand(k)).elements) for k in (1, 2))
    accumulators = halves * (1 if c_type.bits == 16 else 2)
    if found != expected or len(_vector(f.operand(3)).elements) != accumulators:
        raise f.error(
            f"expected {expected[0]}, {expected[1]} and {accumulators} registers for A, B and C"
        )


def product(
    w: Cohort,
    a: tuple[Array, ...],
    b: tuple[Array, ...],
    c: tuple[Array, ...],
    a_type: str,
    b_type: str,
    c_dtype: np.dtype[Any],
    d_dtype: np.dtype[Any],
    rows: int,
    saturate: bool,
) -> list[Array]:
    """The registers of D = A B + C."""
    left = fragments.matrix_a(_elements(a, a_type), rows)
    right = fragments.matrix_b(_elements(b, b_type))
    added = fragments.matrix_c(c, c_dtype).astype(d_dtype)
    combine = fragments.accumulate_saturating if saturate else fragments.accumulate
    held = np.dtype(np.uint32) if d_dtype.itemsize == 2 else d_dtype
    return fragments.registers_of(combine(left, right, added), held)


def _elements(registers: tuple[Array, ...], name: str) -> Array:
    if _BITS[name] == 4:
        return fragments.nibbles(registers, name == "s4")
    return fragments.elements(registers, TYPES[name])
