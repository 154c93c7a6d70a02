"""Concatenation, slices by constant and by computed index, insertion, byte reinterpretation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileir.runtime.dtypes import storage_dtype

from .kernel import Kernel, tile
from .shapes import ELEMENTS, Moves, numbered
from .values import WIDTH

_CATS = (
    ((8,), 0), ((128,), 0), ((1,), 0), ((4, 8), 0), ((4, 8), 1), ((32, 64), 0), ((32, 64), 1),
    ((1, 16), 0), ((16, 1), 1), ((2, 4, 8), 0), ((2, 4, 8), 1), ((2, 4, 8), 2),
)  # fmt: skip
#: source, slice, indices
_SLICES = (
    ((64,), (16,), ((0,), (3,))), ((64,), (1,), ((0,), (37,), (63,))), ((8,), (8,), ((0,),)),
    ((16, 32), (8, 8), ((0, 0), (1, 3), (1, 0))), ((16, 32), (16, 4), ((0, 5),)),
    ((16, 32), (1, 32), ((11, 0),)), ((128, 64), (32, 64), ((2, 0),)),
    ((128, 64), (128, 16), ((0, 3),)), ((4, 8, 16), (2, 8, 4), ((1, 0, 3), (0, 0, 1))),
    ((4, 8, 16), (1, 1, 1), ((3, 7, 15), (0, 0, 0))),
)  # fmt: skip


def _cats(element: str) -> Kernel:
    k = Moves("cat", element)
    for shape, dim in _CATS:
        x = k.load(shape)
        y = k.kernel.load(numbered(shape, element)[::-1].copy(), element)
        whole = [2 * n if d == dim else n for d, n in enumerate(shape)]
        text = f"cat {x}, {y} dim = {dim} : {k.type(shape)}, {k.type(shape)} -> {k.type(whole)}"
        k.judge(text, whole, f"cat {shape} dim {dim}")
    return k.kernel


def _indices(k: Kernel, at: Sequence[int], known: bool) -> str:
    return ", ".join(k.scalar(i) if known else k.number(i, "i32") for i in at)


def _extracts(element: str, known: bool) -> Kernel:
    k = Moves("extract" if known else "extract_computed", element)
    for shape, part, indices in _SLICES:
        x = k.load(shape)
        for at in indices:
            names = _indices(k.kernel, at, known)
            k.judge(f"extract {x}[{names}] : {k.type(shape)} -> {k.type(part)}", part,
                    f"extract {part} of {shape} at {at}{'' if known else ' computed'}")  # fmt: skip
    return k.kernel


def _inserts(element: str, known: bool) -> Kernel:
    k = Moves("insert" if known else "insert_computed", element)
    for shape, part, indices in _SLICES:
        x, y = k.load(shape), k.kernel.load(numbered(part, element)[::-1].copy(), element)
        for at in indices:
            names = _indices(k.kernel, at, known)
            label = f"insert {part} into {shape} at {at}{' computed' * (not known)}"
            k.judge(f"insert {y}, {x}[{names}] : {k.type(part)}, {k.type(shape)}", shape, label)
    return k.kernel


def _bytes(element: str) -> Kernel:
    """To bytes and back, whole tiles of several sizes."""
    k = Kernel(f"pack_{element}")
    size = storage_dtype(element).itemsize
    for count in (8, 64, 512):
        values = numbered((count,), element)
        x = k.load(values, element)
        narrow, wide = tile([count], element), tile([count * size], "i8")
        k.store(
            k.op(f"pack {x} : {narrow} -> {wide}"), "i8", (count * size,), f"pack {count} {element}"
        )
        y = k.load(values.view(np.int8), "i8")
        k.store(
            k.op(f"unpack {y} : {wide} -> {narrow}"), element, (count,), f"unpack {count} {element}"
        )
    return k


def _bits() -> Kernel:
    """i1 takes one bit, the lowest first."""
    k = Kernel("pack_i1")
    for count in (8, 64, 512):
        values = numbered((count,), "i1")
        x = k.load(values, "i1")
        narrow, wide = tile([count], "i1"), tile([count // 8], "i8")
        k.store(k.op(f"pack {x} : {narrow} -> {wide}"), "i8", (count // 8,), f"pack {count} i1")
        y = k.load(np.packbits(values, bitorder="little").view(np.int8), "i8")
        k.store(k.op(f"unpack {y} : {wide} -> {narrow}"), "i1", (count,), f"unpack {count} i1")
    return k


def kernels() -> Iterator[Kernel]:
    for element in ("i1", "i8", "f16", "i32", "f64", "f8E4M3FN"):
        yield _cats(element)
        for known in (True, False):
            yield _extracts(element, known)
            yield _inserts(element, known)
    for element in ELEMENTS:
        if WIDTH.get(element, 8) >= 8 and storage_dtype(element).itemsize > 1:
            yield _bytes(element)
    yield _bits()
