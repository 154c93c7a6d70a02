"""Exchanges within a warp: shuffles, votes, match, reductions, elect."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.cohort import STOP, Array, Cohort
from ..machine.faults import ThreadFault, first_lane
from ..ptx.syntax import Immediate, Operand, Pair, Register, Sink
from ..ptx.types import PRED, U32, Type, bits_type

_LANE = np.arange(32)
_BIT = np.uint32(1) << np.arange(32, dtype=np.uint32)
_ALL = 0xFFFFFFFF


def _wait_for_members(e: Emitter, members: Operand) -> str:
    """The members' masks; emits the wait of lanes that are early.

    Where no lane is missing and the mask is the usual one, nothing needs to be looked at.
    """
    value = e.read(members, U32)
    if isinstance(members, Immediate) and int(members.value) & _ALL == _ALL:
        e.line(f"if w.mask is not None and not {e.use(gather_members)}(w, {value}, "
               f"{e.this_block}): return {STOP}")  # fmt: skip
    else:
        e.line(f"if not {e.use(gather_members)}(w, {value}, {e.this_block}): return {STOP}")
    return value


def gather_members(w: Cohort, members: Array, block: int) -> bool:
    """Whether all lanes that the masks name are here (or have exited); otherwise lanes wait."""
    w.pc = block
    wanted = np.broadcast_to(members, (len(w.warps), 32))
    active = w.active
    named = wanted & _BIT != 0
    if (active & ~named).any():
        lane = first_lane(w.threads, active & ~named)
        raise ThreadFault("a thread is not in the member mask of its own instruction", thread=lane)
    present = (active * _BIT).sum(axis=1, dtype=np.uint64)[:, None]
    alive = (w.launch.live[w.warps] * _BIT).sum(axis=1, dtype=np.uint64)[:, None]
    missing = (wanted & alive & ~present) != 0
    waits = (missing & active).any(axis=1)
    if not waits.any():
        return True
    w.launch.scheduler.await_lanes(w, waits)
    return False


def _tell(e: Emitter, members: str) -> None:
    e.line(f"if w.launch.watch: {e.use(report_members)}(w, {e.here}, {members})")


def report_members(w: Cohort, site: Any, members: Array) -> None:
    wanted = np.broadcast_to(members, (len(w.warps), 32)) & _BIT[:, None].T != 0
    w.launch.watch.warp_synced(site, w.warps, w.active & wanted)  # type: ignore[union-attr]


# --- shuffles ------------------------------------------------------------------------------------


@instruction("shfl.sync", stops=True)
def shuffle(e: Emitter, f: Form) -> None:
    mode = f.need("up", "down", "bfly", "idx")
    type_ = f.type("b32")
    f.count(5)
    result = f.operand(0)
    register = result.first if isinstance(result, Pair) else result
    members = _wait_for_members(e, f.operand(4))
    _tell(e, members)
    if isinstance(register, Register) and e.home(register).itemsize == 4:
        type_ = Type("b32", "b", 32, e.home(register))
    value, (lane, clamp) = e.read(f.operand(1), type_), f.operands[2:4]
    if isinstance(f.operand(1), Immediate):
        value = f"w.fill({value})"
    if isinstance(lane, Immediate) and isinstance(clamp, Immediate) and register is result:
        source, _ = source_lanes(mode, lane.value, clamp.value)
        index = e.object(source, f"lanes_{mode}_{lane.value}")
        e.write(register, f"{value}[:, {index}]", type_)
        return
    moved, valid = e.fresh(), e.fresh()
    amounts = f"{e.read(lane, U32)}, {e.read(clamp, U32)}"
    e.line(f"{moved}, {valid} = {e.use(shuffled)}(w, {mode!r}, {value}, {amounts})")
    if not isinstance(register, Sink):
        e.write(register, moved, type_)
    if isinstance(result, Pair):
        e.write(result.second, valid, PRED)


def source_lanes(mode: str, lane: Any, clamp: Any) -> tuple[Array, Array]:
    """(the lane that each lane reads, whether it lies in range); out of range it is the own one.

    `clamp` holds a bound in bits 4..0 and the segment mask in bits 12..8.
    """
    lane, clamp = np.asarray(lane, np.int64), np.asarray(clamp, np.int64)
    bound, segment = clamp & 31, clamp >> 8 & 31
    low = _LANE & segment
    high = low | (bound & ~segment)
    amount = lane & 31
    if mode == "up":
        source = _LANE - amount
        valid = source >= high
    elif mode == "down":
        source = _LANE + amount
        valid = source <= high
    elif mode == "bfly":
        source = _LANE ^ amount
        valid = source <= high
    else:
        source = low | (amount & ~segment)
        valid = source <= high
    return np.where(valid, source, _LANE), valid


def shuffled(w: Cohort, mode: str, value: Array, lane: Array, clamp: Array) -> tuple[Array, Array]:
    shape = (len(w.warps), 32)
    source, valid = source_lanes(mode, lane, clamp)
    source, valid = np.broadcast_to(source, shape), np.broadcast_to(valid, shape)
    return np.take_along_axis(np.broadcast_to(value, shape), source, axis=1), valid


# --- votes ---------------------------------------------------------------------------------------


@instruction("vote.sync", stops=True)
def vote(e: Emitter, f: Form) -> None:
    mode = f.need("all", "any", "uni", "ballot")
    type_ = f.type("pred", "b32")
    members = _wait_for_members(e, f.operand(2))
    _tell(e, members)
    call = e.call(voted, repr(mode), e.read(f.operand(1), PRED), members)
    e.write(f.operand(0), call, PRED if type_ is PRED else U32)


def voted(w: Cohort, mode: str, predicate: Array, members: Array) -> Array:
    shape = (len(w.warps), 32)
    named = (np.broadcast_to(members, shape) & _BIT != 0) & w.active
    holds = np.broadcast_to(predicate, shape) & named
    if mode == "ballot":
        return _spread((holds * _BIT).sum(axis=1, dtype=np.uint32))
    any_, all_ = holds.any(axis=1), (holds == named).all(axis=1)
    return _spread({"any": any_, "all": all_, "uni": all_ | ~any_}[mode])


def _spread(x: Array) -> Array:
    """One value a warp in all its lanes."""
    return np.repeat(x[:, None], 32, axis=1)


@instruction("activemask", stops=True)
def active_mask(e: Emitter, f: Form) -> None:
    f.type("b32")
    e.write(f.operand(0), e.call(active_bits), U32)


def active_bits(w: Cohort) -> Array:
    return _spread((w.active * _BIT).sum(axis=1, dtype=np.uint32))


@instruction("elect.sync", stops=True)
def elect(e: Emitter, f: Form) -> None:
    """elect.sync d|p, membermask: the lowest member is elected."""
    result = f.operand(0)
    if not isinstance(result, Pair):
        raise f.error("expected d|p")
    members = _wait_for_members(e, f.operand(1))
    leader, elected = e.fresh(), e.fresh()
    e.line(f"{leader}, {elected} = {e.use(elected_lanes)}(w, {members})")
    e.array_seen()
    if not isinstance(result.first, Sink):
        e.write(result.first, leader, U32)
    e.write(result.second, elected, PRED)


def elected_lanes(w: Cohort, members: Array) -> tuple[Array, Array]:
    named = (np.broadcast_to(members, (len(w.warps), 32)) & _BIT != 0) & w.active
    leader = named.argmax(axis=1)
    return _spread(leader.astype(np.uint32)), leader[:, None] == _LANE


# --- match and reductions ------------------------------------------------------------------------


@instruction("match.any.sync", "match.all.sync", stops=True)
def match(e: Emitter, f: Form) -> None:
    type_ = bits_type(f.type("b32", "b64").bits)
    members = _wait_for_members(e, f.operand(2))
    _tell(e, members)
    mask, same = e.fresh(), e.fresh()
    everywhere = f.name == "match.all.sync"
    value = e.read(f.operand(1), type_)
    e.line(f"{mask}, {same} = {e.use(matched)}(w, {value}, {members}, {everywhere})")
    e.array_seen()
    result = f.operand(0)
    first = result.first if isinstance(result, Pair) else result
    if not isinstance(first, Sink):
        e.write(first, mask, U32)
    if isinstance(result, Pair):
        e.write(result.second, same, PRED)


def matched(w: Cohort, value: Array, members: Array, everywhere: bool) -> tuple[Array, Array]:
    """(the lanes with the same value; with `everywhere` all members, or none, and which)"""
    shape = (len(w.warps), 32)
    value = np.broadcast_to(value, shape)
    named = (np.broadcast_to(members, shape) & _BIT != 0) & w.active
    equal = (value[:, :, None] == value[:, None, :]) & named[:, None, :]
    mask = (equal * _BIT).sum(axis=2, dtype=np.uint32)
    if not everywhere:
        return mask, np.ones(shape, bool)
    whole = mask == (named * _BIT).sum(axis=1, dtype=np.uint32)[:, None]
    return np.where(whole, mask, np.uint32(0)), whole


@instruction("redux.sync", stops=True)
def reduce_across(e: Emitter, f: Form) -> None:
    operation = f.need("add", "min", "max", "and", "or", "xor")
    magnitude, propagate = f.has("abs"), f.has("NaN")
    type_ = f.type("u32", "s32", "b32", "f32")
    members = _wait_for_members(e, f.operand(2))
    _tell(e, members)
    value = e.read(f.operand(1), type_)
    if magnitude:
        value = f"np.abs({value})"
    e.write(f.operand(0), e.call(reduced, repr(operation), value, members, propagate), type_)


_REDUCTIONS: dict[str, Any] = {
    "add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


_EXTREMES = (np.maximum, np.minimum)


def reduced(w: Cohort, operation: str, value: Array, members: Array, propagate: bool) -> Array:
    """Over the members that are here; groups with different masks apart."""
    shape = (len(w.warps), 32)
    value = np.broadcast_to(value, shape)
    members = np.broadcast_to(members, shape)
    function = _REDUCTIONS.get(operation)
    if function is None:
        pair = (np.fmax, np.fmin) if value.dtype.kind == "f" and not propagate else _EXTREMES
        function = pair[operation == "min"]
    out = np.zeros(shape, value.dtype)
    for row in range(shape[0]):
        for mask in np.unique(members[row][w.active[row]]):
            lanes = (mask & _BIT != 0) & w.active[row]
            out[row, lanes] = function.reduce(value[row, lanes], dtype=value.dtype)
    return out


@instruction("bar.warp.sync", stops=True, results=0)
def synchronise_warp(e: Emitter, f: Form) -> None:
    members = _wait_for_members(e, f.operand(0))
    _tell(e, members)
