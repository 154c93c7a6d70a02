"""The functions that kernels call; `c` is the compiler of the kernel, which passes itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minitriton.compiler import Compiler, Operand, builtin, int32
from tileir.bytecode import Region, Value


@builtin
def program_id(c: Compiler, axis: int) -> Value:
    return c.out.emit("get_tile_block_id", results=[c.file.tile((), int32)] * 3)[axis]


@builtin
def arange(c: Compiler, start: int, end: int) -> Value:
    """start, start + 1, ... below end."""
    tile = c.file.tile((end - start,), int32)
    first = c.broadcast(c.out.constant(c.file.tile((), int32), start), tile.shape)
    return c.value("addi", tile, c.value("iota", tile), first)


@builtin
def zeros(c: Compiler, shape: Sequence[int], dtype: str) -> Value:
    return c.out.constant(c.file.tile(shape, dtype), 0)


@builtin
def load(c: Compiler, pointers: Value, mask: Value | None = None, other: float = 0) -> Value:
    """What lies at the addresses; `other` where the mask is false, which reads nothing."""
    tile = c.file.tile(pointers.type.shape, pointers.type.element.element)
    padding = None
    if mask is not None:
        mask, padding = c.broadcast(mask, tile.shape), c.out.constant(tile, other)
    loaded, c.order = c.out.emit(
        "load_ptr_tko", pointers, mask, padding, c.order,
        results=[tile, c.file.token()], memory_ordering_semantics="weak",
    )  # fmt: skip
    return loaded


@builtin
def store(c: Compiler, pointers: Value, value: Operand, mask: Value | None = None) -> None:
    """Writes where the mask is true."""
    shape = pointers.type.shape
    stored = c.broadcast(c.tensor(value, c.file.tile((), pointers.type.element.element)), shape)
    mask = None if mask is None else c.broadcast(mask, shape)
    (c.order,) = c.out.emit(
        "store_ptr_tko", pointers, stored, mask, c.order,
        results=[c.file.token()], memory_ordering_semantics="weak",
    )  # fmt: skip


@builtin
def dot(c: Compiler, left: Value, right: Value, accumulator: Value) -> Value:
    """left @ right + accumulator."""
    return c.value("mmaf", accumulator.type, left, right, accumulator)


@builtin
def exp(c: Compiler, x: Value) -> Value:
    return c.value("exp", x.type, x)


@builtin
def maximum(c: Compiler, left: Operand, right: Operand) -> Value:
    left, right = c.same_shape(*c.tensors(left, right))
    return c.value("maxf", left.type, left, right)


def _reduce(c: Compiler, x: Value, axis: int, combine: str, identity: float) -> Value:
    scalar = c.file.tile((), x.type.element)
    shape = x.type.shape[:axis] + x.type.shape[axis + 1 :]

    def body(element: Value, so_far: Value) -> None:
        c.out.emit("yield", [c.value(combine, scalar, element, so_far)])

    (reduced,) = c.out.emit(
        "reduce", [x], dim=axis, identities=[c.file.number(x.type.element.kind, identity)],
        results=[c.file.tile(shape, x.type.element)], regions=[Region([scalar] * 2, body)],
    )  # fmt: skip
    return reduced


@builtin
def sum(c: Compiler, x: Value, axis: int) -> Value:
    return _reduce(c, x, axis, "addf", 0.0)


@builtin
def max(c: Compiler, x: Value, axis: int) -> Value:
    return _reduce(c, x, axis, "maxf", -np.inf)
