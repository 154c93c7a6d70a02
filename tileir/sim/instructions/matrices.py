"""ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16 bits between shared memory and registers.

Lane 8 * j + r gives the address of row r of matrix j; its 16 bytes are spread over lanes 4 * r to
4 * r + 3, two elements each. `.trans` swaps rows and columns on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.addressing import locate
from ..machine.cohort import Array, Cohort
from ..machine.memory import Traits, report
from ..ptx.syntax import Operand, Vector
from ..ptx.types import U32
from .memory import address_of, space_of, traits

_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_ROW = 16
_LANES = {count: np.arange(32) < 8 * count for count in _COUNTS.values()}


def _parse(e: Emitter, f: Form) -> tuple[int, bool]:
    """(number of matrices, whether they are transposed)"""
    f.need("sync")
    f.need("aligned")
    f.need("m8n8")
    count = _COUNTS[f.need(*_COUNTS)]
    transposed = f.has("trans")
    if space_of(f, "shared") == "shared::cluster":
        raise f.error("only the block's own shared memory")
    f.type("b16")
    e.converge()
    return count, transposed


def _vector(operand: Operand) -> Vector:
    return operand if isinstance(operand, Vector) else Vector((operand,))


@instruction("ldmatrix", stops=True)
def load(e: Emitter, f: Form) -> None:
    count, transposed = _parse(e, f)
    result = _vector(f.operand(0))
    if len(result.elements) != count:
        raise f.error(f"expected {count} registers, found {len(result.elements)}")
    address, name = address_of(e, f.operand(1)), traits(e, "generic")
    e.write_each(result, e.call(load_matrices, name, address, count, transposed), U32)


@instruction("stmatrix", stops=True)
def store(e: Emitter, f: Form) -> None:
    count, transposed = _parse(e, f)
    source = _vector(f.operand(1))
    if len(source.elements) != count:
        raise f.error(f"expected {count} registers, found {len(source.elements)}")
    values = ", ".join(e.read(element, U32) for element in source.elements)
    address, name = address_of(e, f.operand(0)), traits(e, "generic")
    call = f"{e.use(store_matrices)}(w, {name}, {address}, ({values},), {transposed}, {e.lanes()})"
    e.line(call)


def _rows(w: Cohort, kind: Any, traits: Traits, address: Array, count: int) -> Array:
    """Bytes of shared memory at which each row starts, int64[n, 8 * count]."""
    lanes = np.broadcast_to(_LANES[count], (len(w.warps), 32)) & w.active
    space = (
        "generic" if address.dtype.itemsize == 8 and (address >> np.uint64(62)).any() else "shared"
    )
    places = locate(w, space, address, _ROW, lanes)
    if w.launch.watch:
        report(w, kind, traits, places, _ROW)
    return places[0].offset[:, : 8 * count]


def load_matrices(
    w: Cohort, traits: Traits, address: Array, count: int, transposed: bool
) -> list[Array]:
    """One register a matrix, uint32[n, 32]."""
    start = _rows(w, "load", traits, address, count)
    words, _ = w.launch.shared.typed(np.dtype(np.uint32))
    rows = words[(start >> 2)[:, :, None] + np.arange(4)]
    split = rows.reshape(len(start), count, 32)
    return [_transpose(split[:, j]) if transposed else split[:, j] for j in range(count)]


def _transpose(matrix: Array) -> Array:
    """A matrix spread over lanes, uint32[n, 32], with rows and columns swapped."""
    halves = np.ascontiguousarray(matrix).view(np.uint16).reshape(-1, 8, 8)
    return np.ascontiguousarray(halves.transpose(0, 2, 1)).view(np.uint32).reshape(-1, 32)


def store_matrices(
    w: Cohort, traits: Traits, address: Array, values: tuple[Array, ...], transposed: bool, _: Any
) -> None:
    start = _rows(w, "store", traits, address, len(values))
    words, _ = w.launch.shared.typed(np.dtype(np.uint32))
    matrices = [_transpose(value) if transposed else value for value in values]
    data = np.stack(matrices, axis=1).reshape(len(start), 8 * len(values), 4)
    words[(start >> 2)[:, :, None] + np.arange(4)] = data
    w.launch.version += 1


@instruction("movmatrix", stops=True)
def move(e: Emitter, f: Form) -> None:
    for modifier in ("sync", "aligned", "m8n8", "trans"):
        f.need(modifier)
    f.type("b16")
    e.converge()
    value = e.read(f.operand(1), U32)
    e.write(f.operand(0), e.call(transposed_matrix, value), U32)


def transposed_matrix(w: Cohort, value: Array) -> Array:
    return _transpose(value)
