"""Loads, stores and atomic updates by the generic proxy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...interp.lanes import turns
from ..observer import Access
from .addressing import Place, locate
from .cohort import Array, Cohort, Lanes
from .faults import ThreadFault, first_lane

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch


class Traits:
    """What an access says of itself besides the address: for observers."""

    __slots__ = ("space", "order", "scope", "site")

    def __init__(self, space: str, order: Any, scope: Any, site: Instruction):
        self.space = space
        self.order = order
        self.scope = scope
        self.site = site


def load(w: Cohort, traits: Traits, address: Array, dtype: np.dtype[Any], lanes: Lanes) -> Array:
    """One element a lane, [n, 32]."""
    size = dtype.itemsize
    places = locate(w, traits.space, address, size, lanes)
    if w.launch.watch:
        report(w, "load", traits, places, size)
    if len(places) == 1:
        flat, lead = places[0].storage.typed(dtype)
        return flat[(places[0].offset - lead) // size]
    out = np.zeros((len(w.warps), 32), dtype)
    for place in places:
        flat, lead = place.storage.typed(dtype)
        np.copyto(out, flat[(place.offset - lead) // size], where=_mask(place))
    return out


def load_vector(
    w: Cohort, traits: Traits, address: Array, dtype: np.dtype[Any], count: int, lanes: Lanes
) -> list[Array]:
    """`count` neighbouring elements a lane, each [n, 32]."""
    size = dtype.itemsize
    places = locate(w, traits.space, address, size * count, lanes)
    if w.launch.watch:
        report(w, "load", traits, places, size * count)
    if len(places) == 1:
        flat, lead = places[0].storage.typed(dtype)
        index = (places[0].offset - lead) // size
        return [flat[index + k] if k else flat[index] for k in range(count)]
    outs = [np.zeros((len(w.warps), 32), dtype) for _ in range(count)]
    for place in places:
        flat, lead = place.storage.typed(dtype)
        index = (place.offset - lead) // size
        for k, out in enumerate(outs):
            np.copyto(out, flat[index + k], where=_mask(place))
    return outs


def store(w: Cohort, traits: Traits, address: Array, values: tuple[Any, ...], lanes: Lanes) -> None:
    """Neighbouring elements a lane; of lanes with the same address the last one wins."""
    size = values[0].dtype.itemsize
    places = locate(w, traits.space, address, size * len(values), lanes)
    if w.launch.watch:
        report(w, "store", traits, places, size * len(values), values)
    word = np.dtype(f"u{size}")
    words = [value.view(word) for value in values]
    for place in places:
        check_writeable(w, place)
        flat, lead = place.storage.typed(word)
        index = (place.offset - lead) // size
        if place.active is not None:
            index = index[place.active]
        for k, value in enumerate(words):
            chosen = value[place.active] if place.active is not None and value.ndim else value
            _put(w.launch, flat, index + k, chosen)


def _put(launch: Launch, flat: Array, index: Array, words: Array) -> None:
    """Stores words; who waits for memory to change need not look at what was there before."""
    if (flat[index] != words).any():
        launch.version += 1
        flat[index] = words


def _mask(place: Place) -> Any:
    return True if place.active is None else place.active


def check_writeable(w: Cohort, place: Place) -> None:
    if place.space == "param" or not getattr(place.storage, "writeable", True):
        active = w.active if place.active is None else place.active
        raise ThreadFault(
            f"{place.storage.name} is written, but is read-only",
            thread=first_lane(w.threads, active),
        )


def report(
    w: Cohort,
    kind: Any,
    traits: Traits,
    places: list[Place],
    size: int,
    stored: tuple[Any, ...] | None = None,
) -> None:
    """Tells observers of an access."""
    watch = w.launch.watch
    assert watch is not None
    for place in places:
        watch.access(
            Access(
                kind, place.space, traits.order, traits.scope, traits.site, w.warps,  # type: ignore[arg-type]
                place.active, place.storage, place.offset, size, stored,
            )
        )  # fmt: skip


# --- atomic updates ------------------------------------------------------------------------------


def update(
    w: Cohort,
    traits: Traits,
    address: Array,
    operation: Callable[..., Array],
    operands: tuple[tuple[Array, ...], ...],
    dtype: np.dtype[Any],
    lanes: Lanes,
    wants_result: bool,
) -> list[Array]:
    """Atomic updates of neighbouring elements: `operation(old, *operands)` gives the new ones.

    `operands[k]` are those of element k, [n, 32] or scalars. Elements of all lanes are updated
    one after another, lane by lane; the old values are returned.
    """
    count, size = len(operands), dtype.itemsize
    shape = (len(w.warps), 32)
    olds = [np.zeros(shape, dtype) for _ in range(count)]
    places = locate(w, traits.space, address, size * count, lanes)
    if w.launch.watch:
        report(w, "atomic" if wants_result else "reduce", traits, places, size * count)
    for place in places:
        check_writeable(w, place)
        flat, lead = place.storage.typed(dtype)
        active = np.ones(shape, bool) if place.active is None else place.active
        first = (place.offset[active] - lead) // size
        for k in range(count):
            mine = [np.broadcast_to(x, shape)[active] for x in operands[k]]
            old, changed = _update(flat, first + k, operation, mine)
            olds[k][active] = old
            if changed:
                w.launch.version += 1
    return olds


def _update(
    flat: Array, index: Array, operation: Callable[..., Array], operands: list[Array]
) -> tuple[Array, bool]:
    """(old values, whether memory changed)"""
    old = np.empty(index.shape, flat.dtype)
    changed = False
    for turn in turns(index):
        where = index[turn]
        before = flat[where]
        after = operation(before, *(x[turn] for x in operands))
        flat[where] = after
        old[turn] = before
        changed = changed or before.tobytes() != after.tobytes()
    return old, changed
