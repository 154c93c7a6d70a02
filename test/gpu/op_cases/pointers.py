"""Loads and stores through tiles of pointers: masks, padding, contiguity, scalars, orderings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileir.runtime.dtypes import storage_dtype

from .kernel import Kernel, tile
from .shapes import ELEMENTS, numbered
from .values import generator

_SCOPES = ("tl_blk", "device", "sys")


class Pointers:
    """A kernel of accesses of one element type."""

    def __init__(self, name: str, element: str):
        self.kernel = Kernel(f"{name}_{element}")
        self.element = element

    def at(self, pointer: str, offsets: str, shape: Sequence[int], integer: str = "i32") -> str:
        """A tile of pointers `offsets` elements after a scalar pointer."""
        k, unit = self.kernel, [1] * len(shape)
        pointers = f"ptr<{self.element}>"
        one = k.op(f"reshape {pointer} : tile<{pointers}> -> {tile(unit, pointers)}")
        many = k.op(f"broadcast {one} : {tile(unit, pointers)} -> {tile(shape, pointers)}")
        type_ = tile(shape, pointers)
        return k.op(f"offset {many}, {offsets} : {type_}, {tile(shape, integer)} -> {type_}")

    def load(
        self, pointers: str, shape: Sequence[int], mask: str = "", padding: str = "",
        ordering: str = "weak", token: str = "",
    ) -> tuple[str, str]:  # fmt: skip
        """(value, token)"""
        k, x = self.kernel, self.kernel.fresh("x")
        operands = ", ".join(filter(None, (pointers, mask, padding)))
        types = [tile(shape, f"ptr<{self.element}>")]
        types += [tile(shape, "i1")] * bool(mask) + [tile(shape, self.element)] * bool(padding)
        after = f" token={token}" if token else ""
        k.emit(f"{x}, {x}t = load_ptr_tko {ordering} {operands}{after} : {', '.join(types)} -> "
               f"{tile(shape, self.element)}, token")  # fmt: skip
        return x, f"{x}t"

    def store(
        self, pointers: str, value: str, shape: Sequence[int], mask: str = "",
        ordering: str = "weak", token: str = "",
    ) -> str:  # fmt: skip
        k, t = self.kernel, self.kernel.fresh("t")
        operands = ", ".join(filter(None, (pointers, value, mask)))
        types = [tile(shape, f"ptr<{self.element}>"), tile(shape, self.element)]
        types += [tile(shape, "i1")] * bool(mask)
        after = f" token={token}" if token else ""
        k.emit(f"{t} = store_ptr_tko {ordering} {operands}{after} : {', '.join(types)} -> token")
        return t

    def judge(self, value: str, shape: Sequence[int], label: str) -> None:
        self.kernel.store(value, self.element, shape, f"{label} {self.element}")

    def line(self, count: int) -> str:
        return self.kernel.op(f"iota : {tile([count], 'i32')}")


def _patterns(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Offsets with and without runs: a permutation, runs of four, strides, a reversal."""
    line = np.arange(count)
    runs = rng.permutation(count // 4)[:, None] * 4 + np.arange(4)
    return {
        "scattered": rng.permutation(count),
        "runs of four": runs.reshape(-1),
        "every third": 3 * line,
        "reversed": line[::-1].copy(),
    }


def _gathers(element: str) -> Kernel:
    """Offsets that are loaded, so that nothing is known about them."""
    p = Pointers("gather", element)
    k, rng = p.kernel, generator("gather", element)
    count = 256
    source = k.pointer(numbered((1024,), element), element)
    mask = k.load(rng.random(count) < 0.7, "i1")
    padding = k.load(numbered((count,), element)[::-1].copy(), element)
    for label, offsets in _patterns(rng, count).items():
        for integer in ("i16", "i32", "i64"):
            index = k.load(offsets.astype(f"int{integer[1:]}"), integer)
            pointers = p.at(source, index, [count], integer)
            x, _ = p.load(pointers, [count])
            p.judge(x, [count], f"load {label} {integer}")
        x, _ = p.load(pointers, [count], mask, padding)
        p.judge(x, [count], f"load masked {label}")
    return k


def _scatters(element: str) -> Kernel:
    p = Pointers("scatter", element)
    k, rng = p.kernel, generator("scatter", element)
    count = 256
    value = k.load(numbered((count,), element)[::-1].copy(), element)
    mask = k.load(rng.random(count) < 0.7, "i1")
    for label, offsets in _patterns(rng, count).items():
        for masked in (False, True):
            name = f"store {'masked ' * masked}{label} {element}"
            target = k.output(numbered((1024,), element), element, name)
            index = k.load(offsets.astype(np.int32), "i32")
            p.store(p.at(target, index, [count]), value, [count], mask if masked else "")
    return k


def _contiguous(element: str) -> Kernel:
    """What the compiler may turn into vectors: iota plus bases that are multiples of 1 to 16,
    masks that end within a vector, or at its edge; a mask that is constant in runs."""
    p = Pointers("contiguous", element)
    k, count, size = p.kernel, 256, storage_dtype(element).itemsize
    line = p.line(count)
    data = numbered((1024,), element)
    for start in (1, 2, 4, 8, 16):
        source = k.pointer(data, element, offset=start)
        target = k.output(data, element, f"store contiguous from {start} {element}", offset=start)
        begin = k.op(f"assume div_by<{start}>, {k.number(3 * start, 'i32')} : tile<i32>")
        end = k.op(f"assume div_by<{start}>, {k.number(13 * start, 'i32')} : tile<i32>")
        shift, bound = (
            k.op(
                f"broadcast {k.op(f'reshape {x} : tile<i32> -> tile<1xi32>')} : tile<1xi32> -> "
                f"tile<{count}xi32>"
            )  # fmt: skip
            for x in (begin, end)
        )
        offsets = k.op(f"addi {line}, {shift} : tile<{count}xi32>")
        below = k.op(
            f"cmpi less_than {line}, {bound}, signed : tile<{count}xi32> -> tile<{count}xi1>"
        )
        bytes_ = min(16, start * size)
        reading, writing = (
            p.at(k.op(f"assume div_by<{bytes_}>, {x} : tile<ptr<{element}>>"), offsets, [count])
            for x in (source, target)
        )
        x, _ = p.load(reading, [count])
        p.judge(x, [count], f"load contiguous from {start}")
        padding = k.load(data[:count].copy(), element)
        y, _ = p.load(reading, [count], below, padding)
        p.judge(y, [count], f"load contiguous from {start} masked")
        p.store(writing, x, [count], below)
    return k


def _planes(element: str) -> Kernel:
    """Rank 2: rows times a stride plus columns, as front ends write them; also transposed."""
    p = Pointers("planes", element)
    k, rows, columns, pitch = p.kernel, 16, 32, 48
    row, column = p.line(rows), p.line(columns)
    shape, i32 = [rows, columns], "i32"
    row = k.op(f"reshape {row} : {tile([rows], i32)} -> {tile([rows, 1], i32)}")
    column = k.op(f"reshape {column} : {tile([columns], i32)} -> {tile([1, columns], i32)}")
    stride = k.full(pitch, [rows, 1], i32)
    start = k.op(f"muli {row}, {stride} : {tile([rows, 1], i32)}")
    rows_ = k.op(f"broadcast {start} : {tile([rows, 1], i32)} -> {tile(shape, i32)}")
    columns_ = k.op(f"broadcast {column} : {tile([1, columns], i32)} -> {tile(shape, i32)}")
    offsets = k.op(f"addi {rows_}, {columns_} : {tile(shape, i32)}")
    data = numbered((rows * pitch,), element)
    source = k.op(f"assume div_by<16>, {k.pointer(data, element)} : tile<ptr<{element}>>")
    x, _ = p.load(p.at(source, offsets, shape), shape)
    p.judge(x, shape, "load plane")
    turned = k.op(f"permute {offsets} [1, 0] : {tile(shape, i32)} -> {tile(shape[::-1], i32)}")
    y, _ = p.load(p.at(source, turned, shape[::-1]), shape[::-1])
    p.judge(y, shape[::-1], "load plane transposed")
    target = k.output(data[::-1].copy(), element, f"store plane {element}")
    p.store(p.at(target, offsets, shape), x, shape)
    return k


def _scalars(element: str) -> Kernel:
    """Pointers of rank 0 and tiles of one pointer, with masks; equal pointers in a load."""
    p = Pointers("scalars", element)
    k, data = p.kernel, numbered((64,), element)
    source = k.pointer(data, element)
    x, _ = p.load(source, [])
    p.judge(x, [], "load scalar")
    place = k.op(f"offset {source}, {k.number(7, 'i32')} : tile<ptr<{element}>>, tile<i32> -> "
                 f"tile<ptr<{element}>>")  # fmt: skip
    y, _ = p.load(place, [])
    p.judge(y, [], "load scalar at an offset")
    for value in (1, 0):
        mask = k.number(value, "i1")
        z, _ = p.load(place, [], mask, x)
        p.judge(z, [], f"load scalar masked {value}")
        target = k.output(data, element, f"store scalar masked {value} {element}")
        p.store(target, y, [], mask)
    same = k.full(5, [64], "i32")
    w, _ = p.load(p.at(source, same, [64]), [64])
    p.judge(w, [64], "load one element 64 times")
    back = k.op(f"offset {place}, {k.number(-3, 'i64')} : tile<ptr<{element}>>, tile<i64> -> "
                f"tile<ptr<{element}>>")  # fmt: skip
    v, _ = p.load(back, [])
    p.judge(v, [], "load scalar at a negative offset")
    return k


def _orderings(element: str) -> Kernel:
    p = Pointers("pointer_ordering", element)
    k, count = p.kernel, 64
    line, data = p.line(count), numbered((count,), element)
    mask = k.load(generator("ordering").random(count) < 0.7, "i1")
    padding = k.load(data[::-1].copy(), element)
    for scope in _SCOPES:
        for ordering in ("relaxed", "acquire"):
            pointers = p.at(k.pointer(data, element), line, [count])
            x, _ = p.load(pointers, [count], ordering=f"{ordering} {scope}")
            p.judge(x, [count], f"load {ordering} {scope}")
            y, _ = p.load(pointers, [count], mask, padding, f"{ordering} {scope}")
            p.judge(y, [count], f"load {ordering} {scope} masked")
        for ordering in ("relaxed", "release"):
            label = f"store {ordering} {scope} {element}"
            target = k.output(data[::-1].copy(), element, label)
            p.store(p.at(target, line, [count]), x, [count], mask, f"{ordering} {scope}")
            scalar = k.output(data[:1].copy(), element, f"{label} scalar")
            value, _ = p.load(k.pointer(data[3:4].copy(), element), [],
                              ordering=f"acquire {scope}")  # fmt: skip
            p.store(scalar, value, [], "", f"{ordering} {scope}")
    return k


def _exchanges() -> Kernel:
    """Tokens order a store and a load of the same memory by other threads: a tile is stored,
    loaded reversed, stored over itself, and loaded again, in several orderings."""
    p = Pointers("exchange", "i32")
    k, count = p.kernel, 512
    line = p.line(count)
    last = k.full(count - 1, [count], "i32")
    reverse = k.op(f"subi {last}, {line} : {tile([count], 'i32')}")
    for load, store in (
        ("weak", "weak"), ("relaxed device", "relaxed device"),
        ("acquire tl_blk", "release tl_blk"), ("acquire sys", "release sys"),
    ):  # fmt: skip
        memory = k.output(np.zeros(count, np.int32), "i32", f"memory {load} {store}")
        straight, turned = (p.at(memory, index, [count]) for index in (line, reverse))
        value = k.load(numbered((count,), "i32"), "i32")
        token = p.store(straight, value, [count], ordering=store)
        x, token = p.load(turned, [count], ordering=load, token=token)
        p.judge(x, [count], f"reversed {load} {store}")
        token = p.store(straight, x, [count], ordering=store, token=token)
        y, token = p.load(turned, [count], ordering=load, token=token)
        p.judge(y, [count], f"reversed twice {load} {store}")
    return k


def kernels() -> Iterator[Kernel]:
    for element in ELEMENTS:
        yield _gathers(element)
        yield _scatters(element)
        yield _contiguous(element)
        yield _planes(element)
        yield _scalars(element)
    for element in ("i1", "i8", "f16", "f32", "i64"):
        yield _orderings(element)
    yield _exchanges()
