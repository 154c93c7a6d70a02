"""Constants, shape manipulation, selection: what moves elements and computes nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from tileir.runtime.dtypes import storage_dtype

from .kernel import Kernel, tile
from .values import FLOATS, INTEGERS, generator, integers, random_bits, wide

NARROW = ("f8E4M3FN", "f8E5M2")
ELEMENTS = ("i1", *INTEGERS, *FLOATS, "tf32", *NARROW)


def numbered(shape: Sequence[int], element: str) -> np.ndarray:
    """An array in which as many elements differ as the type allows; no NaN."""
    count = int(np.prod(shape, dtype=int))
    rng = generator("numbered", element, str(count))
    if element in ("i1", *INTEGERS):
        values = np.resize(integers(element, count), count)
        return rng.permutation(values).reshape(shape)
    values = random_bits(element, count, rng)
    return np.where(np.isnan(wide(values)), np.zeros_like(values), values).reshape(shape)


class Moves:
    """A kernel that moves the elements of small arrays about."""

    def __init__(self, name: str, element: str):
        self.kernel = Kernel(f"{name}_{element}")
        self.element = element

    def load(self, shape: Sequence[int]) -> str:
        return self.kernel.load(numbered(shape, self.element), self.element)

    def type(self, shape: Sequence[int]) -> str:
        return tile(shape, self.element)

    def judge(self, text: str, shape: Sequence[int], label: str) -> None:
        self.kernel.store(self.kernel.op(text), self.element, shape, f"{label} {self.element}")


_RESHAPES = (
    ((256,), (16, 16)), ((16, 16), (256,)), ((8, 32), (32, 8)), ((4, 8, 16), (8, 64)),
    ((64, 8), (2, 2, 2, 2, 2, 16)), ((1, 64, 1), (64,)), ((128,), (1, 128, 1)), ((2, 64), (128, 1)),
    ((1, 1), (1, 1, 1)), ((16,), (4, 4)), ((32, 64), (64, 32)), ((2,), (1, 2)),
)  # fmt: skip
_PERMUTATIONS = (
    (16, 32), (2, 4), (128, 1), (1, 16), (64, 64), (4, 8, 16), (2, 1, 32), (2, 4, 8, 16),
    (2, 2, 4, 4, 8),
)  # fmt: skip
_BROADCASTS = (
    ((1,), (256,)), ((1, 16), (16, 16)), ((16, 1), (16, 16)), ((1, 1), (8, 64)),
    ((4, 1, 16), (4, 8, 16)), ((1, 8, 1), (4, 8, 16)), ((1, 8, 16), (4, 8, 16)), ((8,), (8,)),
    ((2, 1, 4, 1), (2, 8, 4, 8)),
)  # fmt: skip


def _reshapes(element: str) -> Kernel:
    k = Moves("reshape", element)
    for source, result in _RESHAPES:
        x = k.load(source)
        k.judge(f"reshape {x} : {k.type(source)} -> {k.type(result)}", result,
                f"reshape {source} to {result}")  # fmt: skip
    return k.kernel


def _permutes(element: str) -> Iterator[Kernel]:
    k = Moves("permute", element)
    for shape in _PERMUTATIONS:
        x = k.load(shape)
        permutations = list(itertools.permutations(range(len(shape))))[1:]
        chosen = permutations if len(shape) < 4 else permutations[:: len(permutations) // 5]
        for permutation in chosen:
            result = [shape[p] for p in permutation]
            text = f"permute {x} {list(permutation)} : {k.type(shape)} -> {k.type(result)}"
            k.judge(text, result, f"permute {shape} {permutation}")
    yield k.kernel


def _broadcasts(element: str) -> Kernel:
    k = Moves("broadcast", element)
    for source, result in _BROADCASTS:
        x = k.load(source)
        k.judge(f"broadcast {x} : {k.type(source)} -> {k.type(result)}", result,
                f"broadcast {source} to {result}")  # fmt: skip
    scalar = k.kernel.number(3 if element in INTEGERS else 1, element)
    one = k.kernel.op(f"reshape {scalar} : tile<{element}> -> {k.type([1, 1])}")
    k.judge(f"broadcast {one} : {k.type([1, 1])} -> {k.type([8, 16])}", (8, 16),
            "broadcast a scalar")  # fmt: skip
    x = k.load((1,))
    value = k.kernel.op(f"reshape {x} : {k.type([1])} -> tile<{element}>")
    one = k.kernel.op(f"reshape {value} : tile<{element}> -> {k.type([1])}")
    k.judge(f"broadcast {one} : {k.type([1])} -> {k.type([64])}", (64,), "from tile to scalar")
    return k.kernel


def _selects(element: str) -> Kernel:
    k = Moves("select", element)
    condition = k.kernel.load(generator("select").random((8, 64)) < 0.5, "i1")
    a, b = k.load((8, 64)), k.kernel.load(numbered((8, 64), element)[::-1].copy(), element)
    shape = (8, 64)
    k.judge(f"select {condition}, {a}, {b} : {tile(shape, 'i1')}, {k.type(shape)}", shape, "select")
    return k.kernel


def _constants(element: str) -> Kernel:
    """Splats, lists and their use at once; rank-0 constants."""
    k = Moves("constant", element)
    for shape in ((8,), (4, 16), (2, 4, 8)):
        values = numbered(shape, element)
        k.judge(f"constant <{element}: {listed(values, element)}> : {k.type(shape)}", shape,
                f"constant of {shape}")  # fmt: skip
        splat = listed(values.reshape(-1)[1], element)
        k.judge(f"constant <{element}: {splat}> : {k.type(shape)}", shape, "splat")
    scalar = listed(numbered((4,), element)[2], element)
    k.kernel.store(k.kernel.scalar(scalar, element), element, (), f"scalar {element}")
    return k.kernel


def listed(values: np.ndarray, element: str) -> str:
    """The text of constants; floats by their bits."""
    if values.ndim:
        return "[" + ", ".join(listed(v, element) for v in values) + "]"
    if element == "i1":
        return "true" if values else "false"
    if element in INTEGERS:
        return str(int(values))
    return _float_text(values, element)


def _float_text(value: np.ndarray, element: str) -> str:
    """Hexadecimal bits: tf32 counts 19."""
    raw = int.from_bytes(np.asarray(value).tobytes(), "little")
    if element == "tf32":
        return f"0x{raw >> 13:05X}"
    return f"0x{raw:0{2 * storage_dtype(element).itemsize}X}"


def _iotas() -> Kernel:
    k = Kernel("iota")
    for element, size in (("i8", 128), ("i16", 512), ("i32", 1024), ("i64", 256), ("i32", 1),
                          ("i8", 256), ("i1", 2), ("i32", 16)):  # fmt: skip
        value = k.op(f"iota : {tile([size], element)}")
        k.store(value, element, (size,), f"iota of {size} {element}")
    return k


def _grid() -> Kernel:
    """Every block writes its coordinates and the size of the grid."""
    k = Kernel("grid")
    k.grid = (3, 2, 4)
    k.emit("%nx, %ny, %nz = get_num_tile_blocks : tile<i32>")
    plane = k.op("muli %bz, %ny : tile<i32>")
    row = k.op(f"addi {plane}, %by : tile<i32>")
    start = k.op(f"muli {row}, %nx : tile<i32>")
    index = k.op(f"addi {start}, %bx : tile<i32>")
    output = k.output(np.zeros((24, 6), np.int32), "i32", "coordinates and size of the grid")
    for place, value in enumerate(("%bx", "%by", "%bz", "%nx", "%ny", "%nz")):
        scaled = k.op(f"muli {index}, {k.scalar(6)} : tile<i32>")
        offset = k.op(f"addi {scaled}, {k.scalar(place)} : tile<i32>")
        pointer = k.op(f"offset {output}, {offset} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>")
        k.emit(f"{k.fresh('t')} = store_ptr_tko weak {pointer}, {value} : tile<ptr<i32>>, tile<i32>"
               " -> token")  # fmt: skip
    return k


def kernels() -> Iterator[Kernel]:
    for element in ELEMENTS:
        yield _reshapes(element)
        yield from _permutes(element)
        yield _broadcasts(element)
        yield _selects(element)
        yield _constants(element)
    yield _iotas()
    yield _grid()
