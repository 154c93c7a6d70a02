"""cp.async: small copies from global to shared memory, in groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.addressing import Place, locate
from ..machine.cohort import Array, Cohort, Lanes
from ..machine.faults import ThreadFault, first_lane
from ..ptx.syntax import Immediate, Register
from ..ptx.types import PRED, U32
from .memory import address_of


@instruction("cp.async", results=0)
def copy(e: Emitter, f: Form) -> None:
    """cp.async.{ca,cg}.shared.global [to], [from], size{, source size | ignore}{, policy}."""
    level = f.need("ca", "cg")
    f.need("shared", "shared::cta")
    f.need("global")
    hinted = False
    while (hint := f.rest_starting("L2::")) is not None:
        hinted = hinted or hint == "L2::cache_hint"
    operands = list(f.operands[2:])
    if hinted:
        operands.pop()
    size = operands[0].value if isinstance(operands[0], Immediate) else None
    if size not in ((16,) if level == "cg" else (4, 8, 16)):
        raise f.error(f"cannot copy {size} bytes")
    wanted = str(size)
    if len(operands) > 1:
        extra = operands[1]
        if isinstance(extra, Register) and extra.type is PRED:
            wanted = f"where({e.read(extra, PRED)}, 0, {size})"
        else:
            wanted = e.read(extra, U32)
    target, source = address_of(e, f.operand(0)), address_of(e, f.operand(1))
    arguments = f"{target}, {source}, {size}, {wanted}, {e.here}, {e.lanes()}"
    e.line(f"{e.use(issue_copies)}(w, {arguments})")


def issue_copies(
    w: Cohort, target: Array, source: Array, size: int, wanted: Any, site: Any, lanes: Lanes
) -> None:
    """`wanted` bytes come from the source, zeros fill up to `size`."""
    shape = (len(w.warps), 32)
    counts = np.broadcast_to(np.asarray(wanted, np.int64), shape)
    active = w.chosen(lanes)
    if (active & ((counts > size) | (counts < 0))).any():
        wrong = active & (counts > size)
        raise ThreadFault(
            f"cp.async of {int(counts[wrong][0])} bytes out of {size}",
            thread=first_lane(w.threads, wrong),
        )
    targets = locate(w, "shared", target, size, lanes)
    sources = locate(w, "global", source, size, active & (counts == size))
    for place in locate(w, "global", source, 1, active & (counts > 0) & (counts < size)):
        _check_source(w, place, counts, size)
        sources.append(place)
    w.launch.copies.issue(w, sources, targets, counts, size, site)


def _check_source(w: Cohort, place: Place, counts: Array, size: int) -> None:
    """Only the bytes that are read must be there; the address is aligned to the whole size."""
    active = w.active if place.active is None else place.active
    outside = active & (place.offset + counts > place.storage.size)
    if outside.any():
        at = int(place.offset[outside][0])
        raise ThreadFault(
            f"out of bounds: {int(counts[outside][0])} bytes at byte {at} of "
            f"{place.storage.name}, which holds {place.storage.size}",
            thread=first_lane(w.threads, outside),
        )
    odd = active & ((place.offset + (place.storage.base & 255)) % size != 0)
    if odd.any():
        raise ThreadFault(
            f"misaligned address: byte {int(place.offset[odd][0])} of {place.storage.name} for a "
            f"copy of {size} bytes",
            thread=first_lane(w.threads, odd),
        )


@instruction("cp.async.commit_group")
def commit(e: Emitter, f: Form) -> None:
    e.line(f"w.launch.copies.commit(w, {e.lanes()}, {e.here})")


@instruction("cp.async.wait_group", "cp.async.wait_all", results=0)
def wait(e: Emitter, f: Form) -> None:
    allowed = -1
    if f.name == "cp.async.wait_group":
        operand = f.operand(0)
        if not isinstance(operand, Immediate):
            raise f.error("the number of groups must be a constant")
        allowed = int(operand.value)
    e.line(f"w.launch.copies.wait(w, {allowed}, {e.lanes()}, {e.here})")
