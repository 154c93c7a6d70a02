"""cp.async.bulk and cp.reduce.async.bulk: linear copies of many bytes; their groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.addressing import locate
from ..machine.bulk import BulkCopy, Reduction, Run
from ..machine.cohort import Array, Cohort, Lanes
from ..machine.faults import ThreadFault
from ..ptx.syntax import Immediate, Operand
from ..ptx.types import TYPES, U32, Type
from .atomics import FUNCTIONS
from .memory import address_of

_SHARED = ("shared::cluster", "shared::cta")
_COMPLETION = ("mbarrier::complete_tx::bytes", "bulk_group")
MASK_TYPE = Type("b16", "b", 16, np.dtype(np.uint16))


@instruction("cp.async.bulk", "cp.reduce.async.bulk", results=0)
def bulk_copy(e: Emitter, f: Form) -> None:
    """[to], [from], size{, [mbarrier]}{, mask}{, policy}"""
    target, source = _direction(f)
    completion = f.need(*_COMPLETION)
    multicast, hinted = f.has("multicast::cluster"), f.has("L2::cache_hint")
    reduction = "None"
    if f.name == "cp.reduce.async.bulk":
        reduction = reduction_of(e, f)
    elif f.has("cp_mask"):
        raise f.error("byte masks are not supported")
    operands = list(f.operands)
    addresses = f"{address_of(e, operands[0])}, {address_of(e, operands[1])}"
    size = e.read(operands[2], U32)
    rest = operands[3:]
    if hinted:
        rest.pop()
    mbarrier = address_of(e, rest.pop(0)) if completion != "bulk_group" else "None"
    mask = e.read(rest.pop(0), MASK_TYPE) if multicast else "None"
    arguments = (
        f"{target!r}, {source!r}, {addresses}, {size}, {mbarrier}, {mask}, {reduction}, {e.here}, "
        f"{e.lanes()}"
    )
    e.line(f"{e.use(issue_bulk)}(w, {arguments})")


def _direction(f: Form) -> tuple[str, str]:
    """(state space of the target, of the source), in this order among the modifiers."""
    spaces = []
    for _ in range(2):
        found = f.one_of("global", *_SHARED)
        if found is None:
            raise f.error("expected the state spaces of target and source")
        spaces.append("global" if found == "global" else "shared")
    return spaces[0], spaces[1]


def reduction_of(e: Emitter, f: Form) -> str:
    """A name for the operation of a reducing copy."""
    operation = f.need("add", "min", "max", "inc", "dec", "and", "or", "xor")
    f.has("noftz")
    type_ = f.type()
    if operation in ("and", "or", "xor"):
        type_ = TYPES[f"u{type_.bits}"]
    return e.object(Reduction(FUNCTIONS[operation], type_.dtype), f"reduction_{operation}_{type_}")


def each_lane(w: Cohort, lanes: Lanes) -> list[tuple[int, int]]:
    """(row, lane) of the lanes that take part."""
    active = w.chosen(lanes)
    return [(int(row), int(lane)) for row, lane in np.argwhere(active)]


def at(x: Any, row: int, lane: int) -> int:
    """One lane's value of an operand."""
    return int(x[row, lane]) if np.ndim(x) else int(x)


def one_place(
    w: Cohort, space: str, address: int, alignment: int, row: int, lane: int
) -> tuple[Any, int]:
    """(storage, byte) of one lane's address."""
    only = np.zeros((len(w.warps), 32), bool)
    only[row, lane] = True
    place = locate(w, space, np.full(only.shape, address, np.uint64), alignment, only)[0]
    return place.storage, int(place.offset[row, lane])


def copies_of(w: Cohort, row: int, offset: int, mask: int | None) -> list[int]:
    """The same byte of the blocks of the cluster that a multicast mask names."""
    launch = w.launch
    if mask is None:
        return [offset]
    first = int(w.slots[row]) // launch.cluster_size * launch.cluster_size
    if mask >> launch.cluster_size:
        raise ThreadFault(f"multicast to {mask:#x} in a cluster of {launch.cluster_size}")
    inside = offset % launch.shared.stride
    ranks = [rank for rank in range(launch.cluster_size) if mask >> rank & 1]
    return [(first + rank) * launch.shared.stride + inside for rank in ranks]


def issue_bulk(
    w: Cohort,
    target_space: str,
    source_space: str,
    target: Array,
    source: Array,
    size: Array,
    mbarrier: Array | None,
    mask: Array | None,
    reduction: Reduction | None,
    site: Any,
    lanes: Lanes,
) -> None:
    launch = w.launch
    for row, lane in each_lane(w, lanes):
        thread = int(w.threads[row, lane])
        count = at(size, row, lane)
        if count % 16 or count == 0:
            raise ThreadFault(
                f"a bulk copy of {count} bytes: the size must be a multiple of 16", thread=thread
            )
        source_run = _run(w, source_space, at(source, row, lane), count, row, lane)
        target_run = _run(w, target_space, at(target, row, lane), count, row, lane)
        if mbarrier is None:
            copy = BulkCopy(launch, site, thread, source_run, [target_run], count, [], reduction)
            launch.bulk.add(thread, copy)
            continue
        _, signal = one_place(w, "shared", at(mbarrier, row, lane), 8, row, lane)
        cast = None if mask is None else at(mask, row, lane)
        targets = [Run(target_run.storage, o) for o in copies_of(w, row, target_run.offset, cast)]
        signals = copies_of(w, row, signal, cast)
        launch.issue(BulkCopy(launch, site, thread, source_run, targets, count, signals, reduction))


def _run(w: Cohort, space: str, address: int, count: int, row: int, lane: int) -> Run:
    storage, offset = one_place(w, space, address, 16, row, lane)
    one_place(w, space, address + count - 16, 16, row, lane)  # its end must be there, too
    return Run(storage, offset)


@instruction("cp.async.bulk.prefetch.L2")
def prefetch(e: Emitter, f: Form) -> None:
    """No effect on values."""
    f.need("global")
    f.has("L2::cache_hint")


@instruction("cp.async.bulk.commit_group")
def commit(e: Emitter, f: Form) -> None:
    e.line(f"w.launch.bulk.commit(w, {e.lanes()}, {e.here})")


@instruction("cp.async.bulk.wait_group", results=0)
def wait(e: Emitter, f: Form) -> None:
    read_only = f.has("read")
    operand: Operand = f.operand(0)
    if not isinstance(operand, Immediate):
        raise f.error("the number of groups must be a constant")
    e.line(f"w.launch.bulk.wait(w, {int(operand.value)}, {read_only}, {e.lanes()}, {e.here})")
