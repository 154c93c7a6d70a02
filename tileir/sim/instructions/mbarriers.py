"""mbarrier.* and cp.async.mbarrier.arrive."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.addressing import locate
from ..machine.asynchronous import Operation
from ..machine.cohort import STOP, Array, Cohort, Lanes
from ..machine.mbarriers import groups
from ..ptx.syntax import Operand, Register, Sink
from ..ptx.types import PRED, U32, U64
from .memory import address_of, poll, space_of


def _space(f: Form) -> str:
    return space_of(f, "shared")


@instruction("mbarrier.init", results=0)
def init(e: Emitter, f: Form) -> None:
    space = _space(f)
    f.type("b64")
    address, count = address_of(e, f.operand(0)), e.read(f.operand(1), U32)
    call = f"{e.use(initialise)}(w, {space!r}, {address}, {count}, {e.here}, {e.lanes()})"
    e.line(call)


def initialise(
    w: Cohort, space: str, address: Array, count: Array, site: Any, lanes: Lanes
) -> None:
    counts = np.broadcast_to(count, (len(w.warps), 32))
    for offset, group in _objects(w, space, address, lanes):
        w.launch.mbarriers.init(offset, int(counts[group][0]), site, w.threads[group])


def _objects(w: Cohort, space: str, address: Array, lanes: Lanes) -> Any:
    for place in locate(w, space, address, 8, lanes):
        active = w.active if place.active is None else place.active
        yield from groups(place.offset, active)


@instruction("mbarrier.inval")
def invalidate(e: Emitter, f: Form) -> None:
    space = _space(f)
    f.type("b64")
    address = address_of(e, f.operand(0))
    e.line(f"{e.use(end_life)}(w, {space!r}, {address}, {e.here}, {e.lanes()})")


def end_life(w: Cohort, space: str, address: Array, site: Any, lanes: Lanes) -> None:
    for offset, group in _objects(w, space, address, lanes):
        w.launch.mbarriers.invalidate(offset, site, w.threads[group])


@instruction("mbarrier.arrive", "mbarrier.arrive_drop")
def arrive(e: Emitter, f: Form) -> None:
    """mbarrier.arrive{.expect_tx}{.noComplete} state, [a]{, count}; state may be missing or _."""
    expects = f.has("expect_tx")
    f.has("noComplete")
    order = f.one_of("release", "relaxed") or "release"
    scope = f.one_of("cta", "cluster") or "cta"
    space = _space(f)
    f.type("b64")
    operands = list(f.operands)
    result: Operand = Sink()
    if isinstance(operands[0], (Register, Sink)):
        result = operands.pop(0)
    address = address_of(e, operands[0])
    count = e.read(operands[1], U32) if len(operands) > 1 else "1"
    drop = f.name == "mbarrier.arrive_drop"
    call = e.call(
        arrived, repr(space), address, count, expects, drop, repr(order), repr(scope), e.here,
        e.lanes(),
    )  # fmt: skip
    e.write(result, call, U64)


def arrived(
    w: Cohort,
    space: str,
    address: Array,
    count: Any,
    expects: bool,
    drop: bool,
    order: str,
    scope: str,
    site: Any,
    lanes: Lanes,
) -> Array:
    """Tokens of the phases in which the arrivals count, uint64[n, 32]."""
    shape = (len(w.warps), 32)
    counts = np.broadcast_to(np.asarray(count, np.int64), shape)
    tokens = np.zeros(shape, np.uint64)
    table = w.launch.mbarriers
    for offset, group in _objects(w, space, address, lanes):
        if expects:
            for lane in np.argwhere(group):
                only = np.zeros(shape, bool)
                only[tuple(lane)] = True
                threads = w.threads[only]
                table.expect(offset, int(counts[only][0]), site, threads, scope)
                tokens[only] = table.arrive(offset, 1, site, threads, order, scope, drop=drop)
            continue
        pending = table.at(offset, site, int(w.threads[group][0])).pending
        total = int(counts[group].sum())
        if total <= pending:
            tokens[group] = table.arrive(
                offset, total, site, w.threads[group], order, scope, drop=drop
            )
            continue
        for row, lane in np.argwhere(group):  # a phase ends in between
            threads = w.threads[row : row + 1, lane]
            tokens[row, lane] = table.arrive(
                offset, int(counts[row, lane]), site, threads, order, scope, drop=drop
            )
    return tokens


@instruction("mbarrier.expect_tx", "mbarrier.complete_tx", results=0)
def move_bytes(e: Emitter, f: Form) -> None:
    f.has("relaxed")
    f.one_of("cta", "cluster")
    space = _space(f)
    f.type("b64")
    address, count = address_of(e, f.operand(0)), e.read(f.operand(1), U32)
    expects = f.name == "mbarrier.expect_tx"
    arguments = f"{space!r}, {address}, {count}, {expects}, {e.here}, {e.lanes()}"
    e.line(f"{e.use(count_bytes)}(w, {arguments})")


def count_bytes(
    w: Cohort, space: str, address: Array, count: Array, expects: bool, site: Any, lanes: Lanes
) -> None:
    counts = np.broadcast_to(count, (len(w.warps), 32))
    table = w.launch.mbarriers
    for offset, group in _objects(w, space, address, lanes):
        total, threads = int(counts[group].sum()), w.threads[group]
        if expects:
            table.expect(offset, total, site, threads)
        else:
            table.complete_bytes(offset, total, site, threads)


@instruction("mbarrier.test_wait", "mbarrier.try_wait", stops=True)
def test_phase(e: Emitter, f: Form) -> None:
    """try_wait waits until the phase is complete; test_wait looks once."""
    by_parity = f.has("parity")
    order = f.one_of("acquire", "relaxed") or "acquire"
    scope = f.one_of("cta", "cluster") or "cta"
    space = _space(f)
    f.type("b64")
    waits = f.name == "mbarrier.try_wait"
    f.count(3, 4)  # a hint for how long to wait means nothing here
    address = address_of(e, f.operand(1))
    phase = e.read(f.operand(2), U32 if by_parity else U64)
    if not waits:
        poll(e, address, phase)
    arguments = (
        f"{space!r}, {address}, {phase}, {by_parity}, {waits}, {order!r}, {scope!r}, {e.here}, "
        f"{e.lanes()}, {e.this_block}"
    )
    done = e.temporary(f"{e.use(tested)}(w, {arguments})")
    e.line(f"if {done} is None: return {STOP}")
    e.array_seen()
    e.write(f.operand(0), done, PRED)


def tested(
    w: Cohort,
    space: str,
    address: Array,
    phase: Array,
    by_parity: bool,
    waits: bool,
    order: str,
    scope: str,
    site: Any,
    lanes: Lanes,
    block: int,
) -> Array | None:
    """Whether the phases are complete; None if lanes must wait for theirs."""
    table = w.launch.mbarriers
    done, offsets = table.test(w, address, phase, lanes, site, by_parity, space)
    active = w.chosen(lanes)
    if not waits or done[active].all():
        table.waited(w, offsets, done & active, site, order, scope)
        return done
    ready = done | (w.active & ~active)
    if (ready & w.active).any():
        w.launch.scheduler.add(w.fork(ready & w.active, block))
    stuck = w.active & ~ready
    waiting = w.fork(stuck, block)
    rows = np.searchsorted(w.warps, waiting.warps)
    table.suspend(waiting, offsets[rows])
    return None


@instruction("mbarrier.pending_count")
def pending_count(e: Emitter, f: Form) -> None:
    f.type("b64")
    token, mask = e.read(f.operand(1), U64), e.constant(np.uint64((1 << 20) - 1))
    e.write(f.operand(0), f"({token} & {mask}).astype(u32)", U32)


# --- arrivals of cp.async ------------------------------------------------------------------------


@instruction("cp.async.mbarrier.arrive")
def arrive_after_copies(e: Emitter, f: Form) -> None:
    """Arrives once the thread's copies so far are done; without .noinc this arrival is extra."""
    extra = not f.has("noinc")
    space = _space(f)
    f.type("b64")
    address = address_of(e, f.operand(0))
    e.line(f"{e.use(arrive_later)}(w, {space!r}, {address}, {extra}, {e.here}, {e.lanes()})")


def arrive_later(
    w: Cohort, space: str, address: Array, extra: bool, site: Any, lanes: Lanes
) -> None:
    launch = w.launch
    for offset, group in _objects(w, space, address, lanes):
        threads = w.threads[group]
        if extra:
            launch.mbarriers.at(offset, site, int(threads[0])).pending += len(threads)
        launch.issue(LateArrival(site, threads, offset, offset // launch.shared.stride))


class LateArrival(Operation):
    """Arrivals that wait for the copies of their threads."""

    kind = "cp.async.mbarrier.arrive"

    def __init__(self, site: Any, threads: Array, offset: int, slot: int):
        super().__init__(site, threads, (slot,))
        self.mbarrier = offset

    def _read(self, launch: Any) -> None:
        """The copies come first."""
        mine = np.zeros(launch.live.size, bool)
        mine[self.threads] = True
        launch.copies.complete(lambda copy: mine[copy.threads])

    def _write(self, launch: Any) -> None:
        launch.mbarriers.arrive(
            self.mbarrier, len(self.threads), self.site, self.threads, "release", "cta",
            operation=self,
        )  # fmt: skip
