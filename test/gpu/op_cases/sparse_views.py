"""Gather/scatter views: rows (or columns) at loaded positions, some of them outside."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .kernel import Kernel, tile
from .shapes import numbered
from .values import generator
from .views import Accesses, View

_VIEWS = (
    (View((40, 50), (16, 32), sparse=0), ((0,), (32,), (19,))),
    (View((40, 50), (32, 16), sparse=1), ((0,), (9,), (39,))),
    (View((40, 50), (16, 32), sparse=0, dynamic=True, strides=(1, 40)), ((32,), (3,))),
    (View((64, 64), (8, 64), sparse=0, aligned=16), ((0,),)),
    (View((300,), (64,), sparse=0, padding="zero"), ((),)),
    (View((6, 40, 20), (2, 16, 16), sparse=1), ((0, 1), (4, 16), (5, 3))),
    (View((6, 40, 20), (4, 4, 1), sparse=0, dynamic=True), ((12, 7), (39, 19))),
)


def _access(a: Accesses, view: View, rest: tuple[int, ...], rows: np.ndarray, integer: str) -> str:
    """The index operands: a tile for the sparse dimension, scalars for the others."""
    assert view.sparse is not None
    tile_index = a.kernel.load(rows.astype(f"int{integer[1:]}"), integer)
    names = [a.kernel.number(i, "i32") for i in rest]
    names.insert(view.sparse, tile_index)
    return ", ".join(names)


def _index_types(view: View, integer: str) -> str:
    assert view.sparse is not None
    types = ["tile<i32>"] * (len(view.tile) - 1)
    types.insert(view.sparse, tile([view.tile[view.sparse]], integer))
    return ", ".join(types)


def _rows(view: View, seed: str, outside: bool) -> np.ndarray:
    """Distinct positions; some beyond the tensor."""
    assert view.sparse is not None
    rng = generator("rows", seed, str(view))
    extent, count = view.shape[view.sparse], view.tile[view.sparse]
    return rng.permutation(extent + (5 if outside else 0))[:count]


def _gathers(element: str) -> Kernel:
    a = Accesses("gather_view", element)
    k = a.kernel
    for view, rests in _VIEWS:
        made = view.make(k, k.pointer(numbered((view.elements,), element), element), element)
        for rest in rests:
            for integer in ("i32", "i64"):
                index = _access(a, view, rest, _rows(view, str(rest), True), integer)
                x = k.fresh("x")
                k.emit(f"{x}, {x}t = load_view_tko weak {made.view}[{index}] : {made.type}, "
                       f"{_index_types(view, integer)} -> {tile(view.tile, element)}, token"
                       )  # fmt: skip
                k.store(x, element, view.tile, f"gather {element} {view} at {rest} {integer}")
    return k


def _scatters(element: str) -> Kernel:
    a = Accesses("scatter_view", element)
    k = a.kernel
    for view, rests in _VIEWS:
        memory = numbered((view.elements,), element)
        pointer = k.output(memory, element, f"scatter {element} {view} at {rests}")
        made = view.make(k, pointer, element)
        token = k.op("make_token : token")
        for rest in rests:
            value = k.load(numbered(view.tile, element)[::-1].copy(), element)
            index = _access(a, view, rest, _rows(view, str(rest), True), "i32")
            after = k.fresh("t")
            k.emit(f"{after} = store_view_tko weak {value}, {made.view}[{index}] token = {token} : "
                   f"{tile(view.tile, element)}, {made.type}, {_index_types(view, 'i32')} -> token"
                   )  # fmt: skip
            token = after
    return k


def kernels() -> Iterator[Kernel]:
    for element in ("i1", "i8", "f16", "f32", "f64"):
        yield _gathers(element)
        yield _scatters(element)
