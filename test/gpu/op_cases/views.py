"""Loads and stores through views: ranks, strides, permuted dimensions, edges, padding, alignment,
promises, orderings, and gathers and scatters of rows.

Indices are parameters of the kernel, so that nothing is known of them at compile time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tileir.runtime.dtypes import storage_dtype

from .kernel import Kernel, tile
from .shapes import ELEMENTS, numbered
from .values import FLOATS


class Made(NamedTuple):
    """A view and a tensor view: names and types."""

    view: str
    type: str
    tensor: str
    tensor_type: str


@dataclass(frozen=True)
class View:
    """A tensor of `shape` and `strides` (default: contiguous) at `offset` elements into its
    memory, cut into tiles. `steps` makes it a strided view. With `dynamic`, extents and strides
    that are not 1 are parameters, which `divisor` is promised to divide where it does."""

    shape: tuple[int, ...]
    tile: tuple[int, ...]
    strides: tuple[int, ...] = ()
    dim_map: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    padding: str | None = "zero"
    offset: int = 0
    dynamic: bool = False
    divisor: int = 1
    aligned: int = 0
    index_type: str = "i32"
    sparse: int | None = None
    indices: tuple[tuple[int, ...], ...] = field(default=())

    @property
    def stride(self) -> tuple[int, ...]:
        if self.strides:
            return self.strides
        return tuple(int(np.prod(self.shape[d + 1 :], dtype=int)) for d in range(len(self.shape)))

    @property
    def elements(self) -> int:
        """Elements from the tensor's first to its last."""
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.stride, strict=True))

    @property
    def counts(self) -> tuple[int, ...]:
        """The index space."""
        dims = self.dim_map or range(len(self.tile))
        steps = self.steps or (self.tile if self.sparse is None else (1,) * len(self.tile))
        return tuple(-(-self.shape[d] // s) for d, s in zip(dims, steps, strict=True))

    def chosen(self) -> tuple[tuple[int, ...], ...]:
        """The corners of the index space, and what lies between."""
        if self.indices:
            return self.indices
        corners = list(itertools.product(*({0, n - 1} for n in self.counts)))
        middle = tuple(n // 2 for n in self.counts)
        return tuple(dict.fromkeys([corners[0], corners[-1], *corners[1:3], middle]))

    def __str__(self) -> str:
        parts = [f"{self.shape}", f"tile {self.tile}"]
        for name in ("strides", "dim_map", "steps", "padding", "offset", "dynamic", "sparse"):
            value = getattr(self, name)
            if value not in ((), 0, False, None):
                parts.append(f"{name} {value}")
        return " ".join(parts)

    # ---- text --------------------------------------------------------------------------------

    def make(self, k: Kernel, pointer: str, element: str) -> Made:
        base = pointer
        if self.aligned:
            base = k.op(f"assume div_by<{self.aligned}>, {pointer} : tile<ptr<{element}>>")
        size, shapes = self._extents(k, self.shape)
        step, strides = self._extents(k, self.stride, ones=True)
        tensor = f"tensor_view<{'x'.join([*shapes, element])}, strides=[{','.join(strides)}]>"
        dynamic = "tile<i32> -> " if "?" in [*shapes, *strides] else ""
        text = f"make_tensor_view {base}, shape = [{size}], strides = [{step}] : {dynamic}{tensor}"
        whole = k.op(text)
        type_ = self._type(tensor)
        kind = type_.partition("<")[0]
        return Made(k.op(f"make_{kind} {whole} : {type_}"), type_, whole, tensor)

    def _extents(
        self, k: Kernel, values: Sequence[int], ones: bool = False
    ) -> tuple[str, list[str]]:
        """Extents or strides as operands, and as they stand in the type."""
        operands, types = [], []
        for value in values:
            if not self.dynamic or (ones and value == 1):
                operands.append(str(value))
                types.append(str(value))
                continue
            name = k.number(value, "i32")
            if value % self.divisor == 0:
                name = k.op(f"assume div_by<{self.divisor}>, {name} : tile<i32>")
            operands.append(name)
            types.append("?")
        return ", ".join(operands), types

    def _type(self, tensor: str) -> str:
        cut = "x".join(map(str, self.tile))
        padding = f"padding_value = {self.padding}, " if self.padding else ""
        mapped = f", dim_map={list(self.dim_map)}" if self.dim_map else ""
        if self.sparse is not None:
            return (f"gather_scatter_view<tile=({cut}), {padding}{tensor}, "
                    f"sparse_dim={self.sparse}>")  # fmt: skip
        if self.steps:
            steps = ",".join(map(str, self.steps))
            cut = f"({cut}), traversal_strides=[{steps}]"
            return f"strided_view<tile={cut}, {padding}{tensor}{mapped}>"
        return f"partition_view<tile=({cut}), {padding}{tensor}{mapped}>"


class Accesses:
    """A kernel of loads or stores through views of one element type."""

    def __init__(self, name: str, element: str):
        self.kernel = Kernel(f"{name}_{element}")
        self.element = element

    def _memory(self, view: View) -> np.ndarray:
        return numbered((view.elements,), self.element)

    def index(self, view: View, at: Sequence[int]) -> tuple[str, str]:
        """Operands and types of an index."""
        names = [self.kernel.number(i, view.index_type) for i in at]
        return ", ".join(names), f"tile<{view.index_type}>"

    def load(self, view: View, ordering: str = "weak", inbounds: str = "") -> None:
        k = self.kernel
        pointer = k.pointer(self._memory(view), self.element, view.offset)
        name, type_, _, _ = view.make(k, pointer, self.element)
        for at in view.chosen():
            index, index_types = self.index(view, at)
            x = k.fresh("x")
            k.emit(f"{x}, {x}t = load_view_tko {ordering} {name}[{index}]{inbounds} : {type_}, "
                   f"{index_types} -> {tile(view.tile, self.element)}, token")  # fmt: skip
            label = f"load {ordering}{inbounds} {self.element} {view} at {at}"
            k.store(x, self.element, view.tile, label)

    def store(self, view: View, ordering: str = "weak", inbounds: str = "") -> None:
        """Stores a tile at each index; what the view does not cover must stay."""
        k = self.kernel
        label = f"store {ordering}{inbounds} {self.element} {view}"
        pointer = k.output(self._memory(view), self.element, label, offset=view.offset)
        name, type_, _, _ = view.make(k, pointer, self.element)
        token = k.op("make_token : token")
        for at in view.chosen():
            value = k.load(numbered(view.tile, self.element)[::-1].copy(), self.element)
            index, index_types = self.index(view, at)
            after = k.fresh("t")
            k.emit(f"{after} = store_view_tko {ordering} {value}, {name}[{index}] token = {token}"
                   f"{inbounds} : {tile(view.tile, self.element)}, {type_}, {index_types} -> token"
                   )  # fmt: skip
            token = after


_VIEWS = (
    View((100,), (32,)),
    View((64,), (64,), padding=None),
    View((1000,), (256,), dynamic=True),
    View((7,), (1,), padding=None),
    View((30, 50), (16, 16)),
    View((30, 50), (16, 16), dynamic=True),
    View((32, 64), (16, 32), padding=None),
    View((30, 50), (16, 8), dim_map=(1, 0)),
    View((30, 50), (8, 32), dim_map=(1, 0), dynamic=True),
    View((20, 30), (8, 16), strides=(1, 20)),
    View((20, 30), (16, 8), strides=(1, 24), dynamic=True),
    View((20, 30), (8, 16), strides=(77, 2)),
    View((1, 40), (1, 32)),
    View((40, 3), (16, 1)),
    View((5, 9, 20), (4, 4, 16)),
    View((5, 9, 20), (4, 16, 4), dim_map=(1, 2, 0), dynamic=True),
    View((3, 9, 10), (1, 8, 8), strides=(90, 1, 9)),
    View((3, 5, 6, 20), (2, 4, 4, 16)),
    View((3, 5, 6, 20), (16, 2, 4, 4), dim_map=(3, 0, 2, 1)),
    View((2, 3, 3, 5, 18), (1, 2, 2, 4, 8), dynamic=True),
    View((2, 3, 3, 5, 18), (8, 2, 2, 1, 4), dim_map=(4, 1, 2, 0, 3)),
)
#: Overlapping strided views: loads only, since overlapping stores would race.
_STRIDED = (
    View((50,), (16,), steps=(5,)),
    View((20, 30), (8, 16), steps=(3, 7)),
    View((20, 30), (16, 8), steps=(4, 4), dim_map=(1, 0), dynamic=True),
    View((60,), (8,), steps=(10,), padding=None, indices=((0,), (3,), (5,))),
    View((33,), (16,), strides=(3,), steps=(16,)),
)


def _loads(element: str) -> Iterator[Kernel]:
    for part, views in enumerate((_VIEWS[:9], _VIEWS[9:15], _VIEWS[15:], _STRIDED)):
        a = Accesses(f"load_view{part}", element)
        for view in views:
            a.load(view)
        yield a.kernel


def _stores(element: str) -> Iterator[Kernel]:
    for part, views in enumerate((_VIEWS[:12], _VIEWS[12:])):
        a = Accesses(f"store_view{part}", element)
        for view in views:
            a.store(replace(view, padding=None))
        yield a.kernel


def _paddings(element: str) -> Kernel:
    a = Accesses("padding", element)
    paddings = ("zero", "neg_zero", "nan", "pos_inf", "neg_inf")
    for padding in paddings if element in (*FLOATS, "tf32", "f8E4M3FN", "f8E5M2") else ("zero",):
        a.load(View((30,), (32,), padding=padding))
        a.load(View((11, 21), (8, 16), padding=padding, dynamic=True))
    return a.kernel


def _alignments(element: str) -> Iterator[Kernel]:
    """Vector accesses at addresses that are multiples of 1 to 16 elements, extents that are
    multiples of 1 to 16, all promised."""
    size = storage_dtype(element).itemsize
    a, b = Accesses("load_aligned", element), Accesses("store_aligned", element)
    for elements in (1, 2, 4, 8, 16):
        n = 3 * elements
        flat = View((16 * n,), (128,), offset=elements, dynamic=True, divisor=elements,
                    aligned=min(16, elements * size))  # fmt: skip
        rows = View((9, 4 * n), (8, 32), offset=elements, dynamic=True, divisor=elements,
                    aligned=min(16, elements * size))  # fmt: skip
        for view in (flat, rows, replace(rows, tile=(32, 8), dim_map=(1, 0))):
            a.load(view)
            b.store(replace(view, padding=None))
    yield a.kernel
    yield b.kernel


def _promises(element: str) -> Kernel:
    a = Accesses("inbounds", element)
    inside = View((32, 50), (16, 16), dynamic=True, indices=((0, 0), (1, 2)))
    edge = replace(inside, indices=((1, 3),))
    for promise in ("[true, true]", "[true, false]", "[false, true]", "[false, false]"):
        a.load(inside, inbounds=f" inbounds = {promise}")
        a.store(replace(inside, padding=None), inbounds=f" inbounds = {promise}")
    a.load(edge, inbounds=" inbounds = [true, false]")
    a.store(replace(edge, padding=None), inbounds=" inbounds = [true, false]")
    return a.kernel


def _index_types() -> Kernel:
    a = Accesses("index_types", "f32")
    for index_type in ("i8", "i16", "i32", "i64"):
        a.load(View((30, 50), (8, 16), index_type=index_type))
    wide = View((300,), (1,), index_type="i8", padding=None, indices=((-56,), (127,)))
    a.load(wide)  # indices are unsigned: -56 is 200
    return a.kernel


def _orderings(element: str) -> Kernel:
    a = Accesses("view_ordering", element)
    view = View((30, 50), (16, 16), dynamic=True)
    for scope in ("tl_blk", "device", "sys"):
        for ordering in ("relaxed", "acquire"):
            a.load(view, f"{ordering} {scope}")
        for ordering in ("relaxed", "release"):
            a.store(replace(view, padding=None), f"{ordering} {scope}")
    return a.kernel


def _shapes() -> Kernel:
    """The extents of tensors and of index spaces, in several types."""
    a = Accesses("view_shapes", "f16")
    k = a.kernel
    views = (
        View((30, 50), (16, 8), dim_map=(1, 0), dynamic=True),
        View((20, 30), (8, 16), steps=(3, 7)),
        View((30, 50), (8, 16), sparse=0),
        View((5, 9, 20), (4, 4, 16), dynamic=True),
    )
    for view in views:
        made = view.make(k, k.pointer(numbered((view.elements,), "f16"), "f16"), "f16")
        for element in ("i16", "i32", "i64"):
            for op, value, type_ in (
                ("get_index_space_shape", made.view, made.type),
                ("get_tensor_shape", made.tensor, made.tensor_type),
            ):
                extents, rank = k.fresh("n"), len(view.shape)
                k.emit(f"{extents}:{rank} = {op} {value} : {type_} -> tile<{element}>")
                for d in range(rank):
                    k.store(f"{extents}#{d}", element, (), f"{op} {view} {d} {element}")
    return k


def kernels() -> Iterator[Kernel]:
    for element in ("i1", "i8", "f16", "f32", "f64"):
        yield from _loads(element)
        yield from _stores(element)
    for element in ELEMENTS:
        yield _paddings(element)
        yield from _alignments(element)
    for element in ("i8", "f16", "f32", "f64", "i1"):
        yield _promises(element)
        yield _orderings(element)
    yield _index_types()
    yield _shapes()
