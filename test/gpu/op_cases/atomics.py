"""Atomic operations: every mode, type, scope and ordering; masks, scalars, contention, views.

Sums of floats are of small integers, so that their order does not matter. Old values are judged
where no two threads meet; where they do, the sum is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileir.runtime.dtypes import storage_dtype

from .kernel import tile
from .pointers import Pointers
from .reductions import small
from .values import FLOATS, WIDTH, generator, integer_pairs
from .views import View

from .kernel import Kernel  # isort: skip

_INTEGER_MODES = ("and", "or", "xor", "add", "max", "min", "umax", "umin", "xchg")
_ORDERINGS = ("relaxed", "acquire", "release", "acq_rel")
_SCOPES = ("tl_blk", "device", "sys")
_COUNT = 256


class Atomics(Pointers):
    def rmw(
        self, pointers: str, mode: str, value: str, shape: list[int], mask: str = "",
        ordering: str = "relaxed device",
    ) -> str:  # fmt: skip
        """The old values."""
        k, old = self.kernel, self.kernel.fresh("o")
        types = [tile(shape, f"ptr<{self.element}>"), tile(shape, self.element)]
        types += [tile(shape, "i1")] * bool(mask)
        tail = f", {mask}" if mask else ""
        k.emit(f"{old}, {old}t = atomic_rmw_tko {ordering} {pointers}, {mode}, {value}{tail} : "
               f"{', '.join(types)} -> {tile(shape, self.element)}, token")  # fmt: skip
        return old

    def cas(
        self, pointers: str, compare: str, value: str, shape: list[int], mask: str = "",
        ordering: str = "relaxed device",
    ) -> str:  # fmt: skip
        k, old = self.kernel, self.kernel.fresh("o")
        types = [tile(shape, f"ptr<{self.element}>"), tile(shape, self.element)]
        types += [tile(shape, "i1")] * bool(mask)
        tail = f", {mask}" if mask else ""
        k.emit(f"{old}, {old}t = atomic_cas_tko {ordering} {pointers}, {compare}, {value}{tail} : "
               f"{', '.join(types)} -> {tile(shape, self.element)}, token")  # fmt: skip
        return old


def _data(element: str) -> tuple[np.ndarray, np.ndarray]:
    if element in WIDTH:
        return integer_pairs(element, _COUNT, "atomic")
    return small((_COUNT,), element, "memory"), small((_COUNT,), element, "operand")


def _modes(element: str) -> tuple[str, ...]:
    if element in WIDTH:
        return _INTEGER_MODES
    return ("addf", "xchg") if element in ("f32", "f64") else ("addf",)


def _every_mode(element: str) -> Kernel:
    """One thread for each element: old values and memory."""
    a = Atomics("atomic", element)
    k, (memory, operand) = a.kernel, _data(element)
    line, value = a.line(_COUNT), k.load(operand, element)
    mask = k.load(generator("atomic mask").random(_COUNT) < 0.6, "i1")
    zeros = k.full("0.0" if element in FLOATS else 0, [_COUNT], element)
    for mode in _modes(element):
        target = k.output(memory, element, f"memory {mode} {element}")
        a.judge(a.rmw(a.at(target, line, [_COUNT]), mode, value, [_COUNT]), [_COUNT], f"old {mode}")
        target = k.output(memory, element, f"memory {mode} masked {element}")
        old = a.rmw(a.at(target, line, [_COUNT]), mode, value, [_COUNT], mask)
        kept = k.op(f"select {mask}, {old}, {zeros} : {tile([_COUNT], 'i1')}, "
                    f"{tile([_COUNT], element)}")  # fmt: skip
        a.judge(kept, [_COUNT], f"old {mode} masked")
    return k


def _orderings(element: str) -> Kernel:
    a = Atomics("atomic_ordering", element)
    k, (memory, operand) = a.kernel, _data(element)
    line, value = a.line(_COUNT), k.load(operand, element)
    mode = "add" if element in WIDTH else "addf"
    for scope in _SCOPES:
        for ordering in _ORDERINGS:
            name = f"{ordering} {scope}"
            target = k.output(memory, element, f"memory {mode} {name} {element}")
            old = a.rmw(a.at(target, line, [_COUNT]), mode, value, [_COUNT], ordering=name)
            a.judge(old, [_COUNT], f"old {mode} {name}")
    return k


def _scalars(element: str) -> Kernel:
    """One transaction for the block, whose old value all threads see; masked on and off."""
    a = Atomics("atomic_scalar", element)
    k, (memory, operand) = a.kernel, _data(element)
    value = k.number(operand[3], element)
    for mode in _modes(element):
        target = k.output(memory[:4], element, f"memory {mode} scalar {element}")
        old = a.rmw(target, mode, value, [], ordering="acq_rel device")
        a.judge(old, [], f"old {mode} scalar")
        one = k.op(f"reshape {old} : tile<{element}> -> {tile([1], element)}")
        spread = k.op(f"broadcast {one} : {tile([1], element)} -> {tile([_COUNT], element)}")
        a.judge(spread, [_COUNT], f"old {mode} scalar in all threads")
        for mask in (0, 1):
            label = f"memory {mode} scalar masked {mask} {element}"
            target = k.output(memory[:4], element, label)
            a.rmw(target, mode, value, [], k.number(mask, "i1"))
    return k


def _contended(element: str) -> Kernel:
    """Many blocks and elements meet at few addresses."""
    a = Atomics("atomic_contended", element)
    k = a.kernel
    k.grid = (64, 1, 1)
    line = a.line(_COUNT)
    few = k.op(f"andi {line}, {k.full(7, [_COUNT], 'i32')} : {tile([_COUNT], 'i32')}")
    one = "1.0" if element in FLOATS else 1
    mode = "addf" if element in FLOATS else "add"
    # 64 blocks times 32 elements; bf16 counts to 256 only
    blocks = 8 if element == "bf16" else 64
    k.grid = (blocks, 1, 1)
    target = k.output(np.zeros(8, storage_dtype(element)), element, f"memory {mode} {element}")
    a.rmw(a.at(target, few, [_COUNT]), mode, k.full(one, [_COUNT], element), [_COUNT])
    total = k.output(
        np.zeros(1, storage_dtype(element)), element, f"memory {mode} scalar {element}"
    )
    a.rmw(total, mode, k.scalar(one, element), [])
    if element in WIDTH:
        for mode in ("max", "umin"):
            target = k.output(np.full(8, 100, storage_dtype(element)), element, f"memory {mode}")
            value = k.op(f"muli {line}, {k.full(-3, [_COUNT], 'i32')} : {tile([_COUNT], 'i32')}")
            if element == "i64":
                value = k.op(f"exti {value} signed : {tile([_COUNT], 'i32')} -> "
                             f"{tile([_COUNT], 'i64')}")  # fmt: skip
            a.rmw(a.at(target, few, [_COUNT]), mode, value, [_COUNT])
    return k


def _compare_and_swap(element: str) -> Kernel:
    """Half of the comparisons hold; -0 is not 0, and NaN equals itself by its bits."""
    a = Atomics("cas", element)
    k, (memory, operand) = a.kernel, _data(element)
    rng = generator("cas", element)
    compare = np.where(rng.random(_COUNT) < 0.5, memory, operand[::-1])
    if element in FLOATS:
        memory[:4] = [0.0, -0.0, np.nan, -0.0]
        compare[:4] = [-0.0, -0.0, np.nan, 0.0]
    line = a.line(_COUNT)
    expected, value = k.load(compare, element), k.load(operand, element)
    mask = k.load(rng.random(_COUNT) < 0.6, "i1")
    for name in ("relaxed device", "acquire tl_blk", "release sys", "acq_rel device"):
        for masked in (False, True):
            label = f"cas {name}{' masked' * masked} {element}"
            pointers = a.at(k.output(memory, element, f"memory {label}"), line, [_COUNT])
            old = a.cas(pointers, expected, value, [_COUNT], mask if masked else "", name)
            a.judge(old, [_COUNT], f"old cas {name}{' masked' * masked}")
    for place in (0, 1, 5, 6):
        target = k.output(memory[place : place + 1].copy(), element, f"memory cas scalar {element}")
        old = a.cas(
            target, k.number(compare[place], element), k.number(operand[place], element), []
        )
        a.judge(old, [], f"old cas scalar {place}")
        target = k.output(memory[place : place + 1].copy(), element, f"memory cas off {element}")
        numbers = [k.number(x[place], element) for x in (compare, operand)]
        old = a.cas(target, *numbers, [], k.number(0, "i1"))
        a.judge(old, [], f"old cas scalar off {place}")
    return k


_VIEWS = (
    View((100,), (32,), padding=None),
    View((30, 50), (16, 16), padding=None, dynamic=True),
    View((30, 50), (16, 8), padding=None, dim_map=(1, 0)),
    View((20, 30), (8, 16), padding=None, steps=(3, 7)),
    View((5, 9, 20), (4, 4, 16), padding=None),
    View((64, 2), (64, 2), padding=None),
)


def _reductions_in_views(element: str) -> Kernel:
    """atomic_red_view_tko: elements beyond the edge are dropped; tiles may overlap."""
    a = Atomics("atomic_view", element)
    k = a.kernel
    modes = [mode for mode in _modes(element) if mode != "xchg"]
    for number, view in enumerate(_VIEWS):
        for mode in modes if number == 1 else modes[:1] if element in FLOATS else ("add",):
            label = f"{mode} {element} {view}"
            memory = small((view.elements,), element, "view")
            pointer = k.output(memory, element, label)
            made = view.make(k, pointer, element)
            scope = ("device", "tl_blk")[number % 2]
            token = k.op("make_token : token")
            for at in view.chosen():
                value = k.load(small(view.tile, element, str(at)), element)
                names = ", ".join(k.number(i, "i32") for i in at)
                after = k.fresh("t")
                k.emit(f"{after} = atomic_red_view_tko relaxed {scope} {made.view}[{names}], "
                       f"{mode}, {value} token = {token} : {tile(view.tile, element)}, "
                       f"{made.type}, tile<i32> -> token")  # fmt: skip
                token = after
    return k


def kernels() -> Iterator[Kernel]:
    for element in ("i32", "i64", *FLOATS):
        yield _every_mode(element)
        yield _scalars(element)
        yield _contended(element)
        yield _orderings(element)
        yield _reductions_in_views(element)
    for element in ("i32", "i64", "f32", "f64"):
        yield _compare_and_swap(element)
