"""Barriers of blocks and clusters, fences, and small instructions about the schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.cohort import STOP, Array, Cohort, Lanes
from ..machine.faults import ThreadFault
from ..observer import Fence
from ..ptx.syntax import Immediate, Operand
from ..ptx.types import PRED, U32
from .memory import address_of

# bar is barrier.cta.aligned by its old name.
_SYNC = ("bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync")
_ARRIVE = ("bar.arrive", "bar.cta.arrive", "barrier.arrive", "barrier.cta.arrive")
_REDUCE = ("bar.red", "bar.cta.red", "barrier.red", "barrier.cta.red")


def _numbers(e: Emitter, operands: tuple[Operand, ...]) -> str:
    """Number and count of a barrier as arguments; None for a missing count."""
    number = _uniform(e, operands[0])
    count = _uniform(e, operands[1]) if len(operands) > 1 else "None"
    return f"{number}, {count}"


def _uniform(e: Emitter, operand: Operand) -> str:
    if isinstance(operand, Immediate):
        return str(operand.value)
    return e.read(operand, U32)


def _per_warp(w: Cohort, value: Any) -> Array | None:
    """An operand that is the same in all lanes of a warp, int64[n]."""
    if value is None:
        return None
    if isinstance(value, int):
        return np.full(len(w.warps), value, np.int64)
    if w.mask is None:
        return value[:, 0].astype(np.int64)
    first = w.mask.argmax(axis=1)
    return value[np.arange(len(w.warps)), first].astype(np.int64)


@instruction(*_SYNC, stops=True, ends=True, results=0)
def synchronise(e: Emitter, f: Form) -> None:
    f.has("aligned")
    e.converge()
    _refuse_guard(e, f)
    call = f"{e.use(meet)}(w, {_numbers(e, f.operands)}, {e.here}, {e.next_block})"
    e.line(f"return {call}")


def _refuse_guard(e: Emitter, f: Form) -> None:
    """A guard that is false skips the instruction for whole warps."""
    if e.guard is None:
        return
    e.line(f"if {e.use(skipped)}(w, {e.guard}, {e.this_block}, {e.next_block}): return {STOP}")


def skipped(w: Cohort, guard: Array, block: int, following: int) -> bool:
    """Sends on the warps for which the guard is false; whether the cohort has been split."""
    lanes = w.lanes(guard)
    if lanes is None or np.count_nonzero(lanes) == w.count:
        return False
    if lanes.any():
        partly = lanes.any(axis=1) & (lanes != w.active).any(axis=1)
        if partly.any():
            raise ThreadFault(
                "the predicate of an .aligned instruction differs within a warp",
                thread=int(w.threads[partly][0, 0]),
            )
        w.part(lanes, block, following)
        return True
    w.pc = following
    w.launch.scheduler.add(w)
    return True


def meet(w: Cohort, number: Any, count: Any, site: Any, following: int) -> int:
    """bar.sync"""
    numbers, counts = _per_warp(w, number), _per_warp(w, count)
    assert numbers is not None
    barriers = w.launch.barriers
    return following if barriers.arrive(w, numbers, counts, site, following, waits=True) else STOP


@instruction(*_ARRIVE, stops=True, ends=True, results=0)
def arrive(e: Emitter, f: Form) -> None:
    f.has("aligned")
    e.converge()
    _refuse_guard(e, f)
    e.line(f"{e.use(arrive_only)}(w, {_numbers(e, f.operands)}, {e.here}, {e.next_block})")
    e.line(f"return {e.next_block}")


def arrive_only(w: Cohort, number: Any, count: Any, site: Any, following: int) -> None:
    numbers, counts = _per_warp(w, number), _per_warp(w, count)
    assert numbers is not None
    w.launch.barriers.arrive(w, numbers, counts, site, following, waits=False)


@instruction(*_REDUCE, stops=True, ends=True)
def reduce(e: Emitter, f: Form) -> None:
    """bar.red.popc.u32 d, number, count, p; bar.red.and.pred p, number, count, q."""
    f.need("popc", "and", "or")
    f.type("u32", "pred")
    f.has("aligned")
    *numbers, predicate = f.operands[1:]
    vote = e.read(predicate, PRED)
    e.converge()
    _refuse_guard(e, f)
    arguments = f"{_numbers(e, tuple(numbers))}, {vote}, {e.here}, {e.next_block}"
    e.line(f"return {e.use(meet_and_vote)}(w, {arguments})")


def meet_and_vote(
    w: Cohort, number: Any, count: Any, vote: Array, site: Any, following: int
) -> int:
    numbers, counts = _per_warp(w, number), _per_warp(w, count)
    assert numbers is not None
    held = np.broadcast_to(vote, (len(w.warps), 32))
    barriers = w.launch.barriers
    done = barriers.arrive(w, numbers, counts, site, following, waits=True, vote=held)
    return following if done else STOP


@instruction(*(f"{name}!" for name in _REDUCE))
def take_outcome(e: Emitter, f: Form) -> None:
    operation = f.need("popc", "and", "or")
    type_ = f.type("u32", "pred")
    f.has("aligned")
    number = _uniform(e, f.operand(1))
    e.write(f.operand(0), e.call(outcome, number, repr(operation)), type_)


def outcome(w: Cohort, number: Any, operation: str) -> Array:
    """What bar.red found: how many threads, whether all, whether any."""
    numbers = _per_warp(w, number)
    held, count = w.launch.barriers.outcome[w.slots, numbers].T
    value = {"popc": held.astype(np.uint32), "and": held == count, "or": held > 0}[operation]
    return np.repeat(value[:, None], 32, axis=1)


# --- clusters ------------------------------------------------------------------------------------


@instruction("barrier.cluster.arrive", stops=True)
def cluster_arrive(e: Emitter, f: Form) -> None:
    order = f.one_of("release", "relaxed") or "release"
    f.has("aligned")
    e.converge()
    e.line(f"w.launch.cluster_barrier.arrive(w, {order!r}, {e.here})")


@instruction("barrier.cluster.wait", stops=True, ends=True)
def cluster_wait(e: Emitter, f: Form) -> None:
    f.has("acquire")
    f.has("aligned")
    e.converge()
    wait = f"w.launch.cluster_barrier.wait(w, {e.here}, {e.next_block})"
    e.line(f"return {e.next_block} if {wait} else {STOP}")


# --- fences --------------------------------------------------------------------------------------

_MEMBAR_SCOPES = {"cta": "cta", "gl": "gpu", "sys": "sys"}


@instruction("membar", "fence")
def fence(e: Emitter, f: Form) -> None:
    """All fences keep program order here; observers are told."""
    space: str | None = None
    address = "None"
    if f.has("proxy"):
        kind, order, scope, space, address = _proxy_fence(e, f)
    elif f.has("mbarrier_init"):
        kind, order, scope = "mbarrier_init", f.need("release"), f.need("cluster")
    elif f.name == "membar":
        kind, order, scope = "thread", "sc", _MEMBAR_SCOPES[f.need("cta", "gl", "sys")]
    else:
        kind = "thread"
        order = f.one_of("sc", "acq_rel", "acquire", "release") or "acq_rel"
        restriction = f.rest_starting("sync_restrict")
        space = restriction.partition("::")[2] if restriction else None
        scope = f.need("cta", "cluster", "gpu", "sys")
    lanes = e.lanes()
    arguments = f"{kind!r}, {order!r}, {scope!r}, {space!r}, {e.here}, {address}, {lanes}"
    e.line(f"if w.launch.watch: {e.use(report_fence)}(w, {arguments})")


def _proxy_fence(e: Emitter, f: Form) -> tuple[str, str, str | None, str | None, str]:
    kind = f.rest_starting("async", "alias", "tensormap")
    if kind is None:
        raise f.error("unknown proxy")
    order = f.one_of("acquire", "release") or "acq_rel"
    restriction = f.rest_starting("sync_restrict")
    scope = f.one_of("cta", "cluster", "gpu", "sys")
    space = f.one_of("global", "shared::cta", "shared::cluster")
    if restriction and space is None:
        space = restriction.removeprefix("sync_restrict::")
    address = "None"
    if f.operands and kind.startswith("tensormap"):
        address = address_of(e, f.operand(0))
    return f"proxy.{kind.partition('::')[0]}", order, scope, space, address


def report_fence(
    w: Cohort, kind: str, order: Any, scope: Any, space: Any, site: Any, address: Any, lanes: Lanes
) -> None:
    watch = w.launch.watch
    assert watch is not None
    watch.fence(Fence(kind, order, scope, space, site, w.warps, lanes, address))


# --- the schedule --------------------------------------------------------------------------------


@instruction("nanosleep", ends=True, results=0)
def sleep(e: Emitter, f: Form) -> None:
    f.type("u32")
    e.line(f"w.launch.scheduler.yield_to_others(w, {e.next_block})")
    e.line(f"return {STOP}")


@instruction("setmaxnreg", stops=True, results=0)
def set_register_count(e: Emitter, f: Form) -> None:
    f.need("inc", "dec")
    f.need("sync")
    f.need("aligned")
    f.type("u32")
    e.converge()
    count = getattr(f.operand(0), "value", None)
    if not isinstance(count, int) or not 24 <= count <= 256 or count % 8:
        raise f.error("the count must be a multiple of 8 from 24 to 256")


@instruction("griddepcontrol", "pmevent")
def without_effect(e: Emitter, f: Form) -> None:
    """One launch runs at a time, so other grids have always finished."""
    f.one_of("launch_dependents", "wait", "mask")
