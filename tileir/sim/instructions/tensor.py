"""cp.async.bulk.tensor: boxes of tensors between global and shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.dtypes import element
from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.bulk import Reduction
from ..machine.cohort import Array, Cohort, Lanes
from ..machine.faults import ThreadFault
from ..machine.tensor import TensorLoad, TensorStore
from ..machine.tensor_map_format import decode
from ..ptx.syntax import Address, Operand, Vector
from ..ptx.types import S32, TYPES, Type
from .atomics import FUNCTIONS
from .bulk import MASK_TYPE, at, copies_of, each_lane, one_place
from .memory import address_of

_ALIGNMENT = 128
_START_ALIGNMENT = 16  # of the first coordinate in bytes; hardware traps otherwise
_RANKS = {f"{rank}d": rank for rank in range(1, 6)}
_MAP_BYTES = 128


def _map_and_coordinates(e: Emitter, f: Form, operand: Operand) -> tuple[str, str]:
    """([map, {coordinates}]) as expressions: the map's address, a list of coordinates."""
    rank = _RANKS[f.need(*_RANKS)]
    if not isinstance(operand, Address) or len(operand.coordinates) != 1:
        raise f.error("expected [map, {coordinates}]")
    vector = operand.coordinates[0]
    elements = vector.elements if isinstance(vector, Vector) else (vector,)
    if len(elements) != rank:
        raise f.error(f"expected {rank} coordinates, found {len(elements)}")
    coordinates = ", ".join(e.read(element, S32) for element in elements)
    return address_of(e, Address(operand.base, operand.offset)), f"({coordinates},)"


def _tile_mode(f: Form) -> None:
    f.has("tile")
    f.rest_starting("cta_group::1")


@instruction("cp.async.bulk.tensor", results=0)
def tensor_copy(e: Emitter, f: Form) -> None:
    """[to], [map, {coordinates}], [mbarrier]{, mask}{, policy}, or
    [map, {coordinates}], [from]{, policy}."""
    first = f.operand(0)
    assert isinstance(first, Address)
    if first.coordinates:
        _store(e, f, "None")
        return
    tensor, coordinates = _map_and_coordinates(e, f, f.operand(1))
    f.need("shared::cluster", "shared::cta")
    f.need("global")
    _tile_mode(f)
    f.need("mbarrier::complete_tx::bytes")
    multicast, hinted = f.has("multicast::cluster"), f.has("L2::cache_hint")
    rest = list(f.operands[3:])
    if hinted:
        rest.pop()
    mask = e.read(rest.pop(0), MASK_TYPE) if multicast else "None"
    if rest:
        raise f.error("only tile mode is supported")
    target, mbarrier = address_of(e, first), address_of(e, f.operand(2))
    arguments = f"{target}, {tensor}, {coordinates}, {mbarrier}, {mask}, {e.here}, {e.lanes()}"
    e.line(f"{e.use(issue_load)}(w, {arguments})")


@instruction("cp.reduce.async.bulk.tensor", results=0)
def tensor_reduction(e: Emitter, f: Form) -> None:
    operation = f.need("add", "min", "max", "inc", "dec", "and", "or", "xor")
    _store(e, f, repr(operation))


def _store(e: Emitter, f: Form, operation: str) -> None:
    tensor, coordinates = _map_and_coordinates(e, f, f.operand(0))
    f.need("global")
    f.need("shared::cta")
    _tile_mode(f)
    f.need("bulk_group")
    f.has("L2::cache_hint")
    source = address_of(e, f.operand(1))
    arguments = f"{source}, {tensor}, {coordinates}, {operation}, {e.here}, {e.lanes()}"
    e.line(f"{e.use(issue_store)}(w, {arguments})")


@instruction("cp.async.bulk.prefetch.tensor")
def prefetch(e: Emitter, f: Form) -> None:
    """No effect on values."""
    _map_and_coordinates(e, f, f.operand(0))
    f.need("L2")
    f.need("global")
    _tile_mode(f)
    f.has("L2::cache_hint")


def tensor_at(w: Cohort, address: int, row: int, lane: int) -> Any:
    """The tensor map that lies at a generic address."""
    storage, offset = one_place(w, "generic", address, 64, row, lane)
    flat, lead = storage.typed(np.dtype(np.uint8))
    return decode(flat[offset - lead : offset - lead + _MAP_BYTES].tobytes())


def _coordinates(coordinates: tuple[Array, ...], row: int, lane: int) -> tuple[int, ...]:
    return tuple(at(one, row, lane) for one in coordinates)


def _starts_inside(coordinates: tuple[int, ...], thread: int) -> None:
    """A fault for a store that starts before the tensor. An H200 traps with an illegal instruction,
    in stores as in reductions, along any dimension and whether or not some of the box lies inside;
    past the upper edges, and in loads, all starts are fine."""
    for dimension, start in enumerate(coordinates):
        if start < 0:
            raise ThreadFault(
                f"negative coordinate: a tensor store starts at {start} along dimension "
                f"{dimension} (0 is the innermost); only loads may start before the tensor",
                "skip boxes that lie outside, and let threads store those that straddle the edge",
                thread=thread,
            )


def _shared(w: Cohort, address: Array, row: int, lane: int) -> int:
    """The byte in the memory of all slots of one lane's address, which must be aligned to 128."""
    _, offset = one_place(w, "shared", at(address, row, lane), 1, row, lane)
    if offset % _ALIGNMENT:
        inside = offset % w.launch.shared.stride
        raise ThreadFault(
            f"misaligned address: byte {inside} of shared memory; tensor copies need multiples of "
            f"{_ALIGNMENT}",
            thread=int(w.threads[row, lane]),
        )
    return offset


def issue_load(
    w: Cohort,
    target: Array,
    tensor: Array,
    coordinates: tuple[Array, ...],
    mbarrier: Array,
    mask: Array | None,
    site: Any,
    lanes: Lanes,
) -> None:
    launch = w.launch
    for row, lane in each_lane(w, lanes):
        map_ = _checked_map(w, tensor, coordinates, row, lane)
        cast = None if mask is None else at(mask, row, lane)
        starts = copies_of(w, row, _shared(w, target, row, lane), cast)
        _, signal = one_place(w, "shared", at(mbarrier, row, lane), 8, row, lane)
        copy = TensorLoad(
            launch, site, int(w.threads[row, lane]), map_, _coordinates(coordinates, row, lane),
            starts, mbarriers=copies_of(w, row, signal, cast),
            map_address=at(tensor, row, lane),
        )  # fmt: skip
        _check_room(w, copy, row, lane)
        launch.issue(copy)


def _checked_map(
    w: Cohort, tensor: Array, coordinates: tuple[Array, ...], row: int, lane: int
) -> Any:
    map_ = tensor_at(w, at(tensor, row, lane), row, lane)
    thread = int(w.threads[row, lane])
    if len(map_.dims) != len(coordinates):
        raise ThreadFault(
            f"the tensor map has {len(map_.dims)} dimensions, the copy {len(coordinates)}",
            thread=thread,
        )
    start = at(coordinates[0], row, lane) * element(map_.dtype).bytes
    if start % _START_ALIGNMENT:
        raise ThreadFault(
            f"misaligned coordinate: a box starts {start} bytes into its rows; tensor copies need "
            f"multiples of {_START_ALIGNMENT}",
            thread=thread,
        )
    return map_


def _check_room(w: Cohort, copy: Any, row: int, lane: int) -> None:
    for start in copy.shared:
        inside = start % w.launch.shared.stride
        if inside + copy.bytes > w.launch.shared.used:
            raise ThreadFault(
                f"out of bounds: a box of {copy.bytes} bytes at byte {inside} of shared memory, "
                f"of which the block has {w.launch.shared.used}",
                thread=int(w.threads[row, lane]),
            )


def issue_store(
    w: Cohort,
    source: Array,
    tensor: Array,
    coordinates: tuple[Array, ...],
    operation: str | None,
    site: Any,
    lanes: Lanes,
) -> None:
    launch = w.launch
    for row, lane in each_lane(w, lanes):
        thread = int(w.threads[row, lane])
        map_ = _checked_map(w, tensor, coordinates, row, lane)
        starts = _coordinates(coordinates, row, lane)
        _starts_inside(starts, thread)
        reduction = reduction_on(map_.dtype, operation)
        copy = TensorStore(
            launch, site, thread, map_, starts, [_shared(w, source, row, lane)],
            function=reduction and reduction.function, dtype=reduction and reduction.dtype,
            map_address=at(tensor, row, lane),
        )  # fmt: skip
        _check_room(w, copy, row, lane)
        launch.bulk.add(thread, copy)


_BY_NAME: dict[str, Type] = {
    **{f"i{bits}": TYPES[f"s{bits}"] for bits in (8, 16, 32, 64)},
    **{name: TYPES[name] for name in ("u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")},
    "tf32": TYPES["f32"],
}


def reduction_on(dtype: str, operation: str | None) -> Reduction | None:
    """The reduction of elements whose type the map names."""
    if operation is None:
        return None
    type_ = _BY_NAME[dtype]
    if operation in ("and", "or", "xor"):
        type_ = TYPES[f"u{type_.bits}"]
    return Reduction(FUNCTIONS[operation], type_.dtype)
