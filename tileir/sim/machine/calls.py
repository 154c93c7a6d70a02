"""Calls, returns and exits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .cohort import STOP, Cohort, Frame, Lanes
from .faults import ThreadFault
from .storage import POISON

if TYPE_CHECKING:
    from ..code.program import Callee

# Deeper than any real program; a recursion without end stops here.
_DEPTH = 256


def leave_kernel(w: Cohort, lanes: Lanes, following: int) -> int:
    """Threads exit; those outside `lanes` go on at block `following`."""
    rest = _rest(w, lanes)
    if rest is not None:
        w.launch.scheduler.add(w.fork(rest, following))
    w.launch.exit(w, lanes)
    return STOP


def leave_function(w: Cohort, lanes: Lanes, following: int) -> int:
    """Threads return to their caller; those outside `lanes` go on at block `following`."""
    if not w.frames:
        return leave_kernel(w, lanes, following)
    rest = _rest(w, lanes)
    if rest is not None and lanes is not None:
        if not lanes.any():
            return following
        returning = w.fork(lanes, w.pc)
        returning.pc = _return(returning)
        w.launch.scheduler.add(w.fork(rest, following))
        w.launch.scheduler.add(returning)
        return STOP
    return _return(w)


def _return(w: Cohort) -> int:
    *callers, caller = w.frames
    w.frames, w.regs, w.frame = tuple(callers), caller.registers, caller.base
    return caller.return_block


def _rest(w: Cohort, lanes: Lanes) -> Any:
    """The active lanes outside `lanes`, None if there are none."""
    if lanes is None or lanes is w.mask:
        return None
    rest = w.active & ~lanes
    return rest if rest.any() else None


def enter_function(
    w: Cohort, callee: Callee, frame_bytes: int, given: list[tuple[int, Any]], lanes: Lanes,
    following: int,
) -> int:  # fmt: skip
    """A call; threads come back to block `following`, those outside `lanes` skip it.

    `frame_bytes` are the caller's; `given` are register arguments by the callee's slot.
    """
    if lanes is not None and not lanes.any():
        return following + 1
    if _rest(w, lanes) is not None:
        raise ThreadFault(
            "a call that only some threads of the cohort make under a predicate",
            "branch around the call instead",
        )
    if len(w.frames) >= _DEPTH:
        raise ThreadFault(f"calls are nested {_DEPTH} deep", thread=int(w.threads[w.active][0]))
    w.frames += (Frame(following, w.regs, w.frame),)
    w.frame += frame_bytes
    w.launch.local.reserve(w.frame + callee.frame_bytes)
    w.regs = poisoned(callee, len(w.warps))
    for slot, value in given:
        w.regs[slot] = value
        w.regs[slot + len(callee.function.registers)] = None
    return callee.entry


def poisoned(callee: Callee, warps: int) -> list[Any]:
    """The registers of a function just entered: ones in every bit of those it may read.

    Behind the registers come a second slot of each for observers, a third for the results of
    wgmma on their way, and the carry flag.
    """
    count = len(callee.function.registers)
    regs: list[Any] = [None] * (3 * count + 1)
    for slot in callee.live:
        if slot < count:
            dtype = callee.homes[slot]
            bits = np.full((warps, 32 * dtype.itemsize), POISON, np.uint8)
            regs[slot] = bits.astype(bool) if dtype == np.bool_ else bits.view(dtype)
            if callee.marked and dtype.itemsize <= 8:
                unsigned = "?" if dtype == np.bool_ else f"u{dtype.itemsize}"
                regs[slot + count] = regs[slot].view(unsigned).copy()
    regs[-1] = np.zeros((warps, 32), bool)
    return regs
