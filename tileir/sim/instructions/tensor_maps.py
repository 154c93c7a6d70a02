"""Tensor maps built by kernels: tensormap.replace, tensormap.cp_fenceproxy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.addressing import Place
from ..machine.cohort import Array, Cohort, Lanes
from ..machine.faults import ThreadFault
from ..machine.memory import Traits, report
from ..machine.tensor_map_format import FIELDS
from ..observer import Fence
from ..ptx.syntax import Immediate
from .bulk import at, each_lane, one_place
from .memory import address_of, space_of, traits

_BYTES = 128
# What takes an index of the dimension before the value.
_INDEXED = {"box_dim", "global_dim", "global_stride", "element_stride"}


@instruction("tensormap.replace", results=0)
def replace(e: Emitter, f: Form) -> None:
    """tensormap.replace.tile.field [map], {index,} value"""
    f.need("tile")
    field = f.need(*FIELDS)
    space = space_of(f, "global", "shared")
    f.need("b1024")
    type_ = f.type("b32", "b64")
    operands = f.operands[1:]
    index = 0
    if field in _INDEXED:
        if not isinstance(operands[0], Immediate):
            raise f.error("the dimension must be a constant")
        index, operands = int(operands[0].value), operands[1:]
        if index >= FIELDS[field][2]:
            raise f.error(f"there is no dimension {index}")
    value = e.read(operands[0], type_)
    arguments = f"{address_of(e, f.operand(0))}, {field!r}, {index}, {value}"
    e.line(f"{e.use(replace_field)}(w, {traits(e, space)}, {arguments}, {e.lanes()})")


def replace_field(
    w: Cohort, how: Traits, address: Array, field: str, index: int, value: Array, lanes: Lanes
) -> None:
    start, size, _ = FIELDS[field]
    for row, lane in each_lane(w, lanes):
        storage, offset = one_place(w, how.space, at(address, row, lane), _BYTES, row, lane)
        _tell(w, "store", how, row, lane, (storage, offset + start + index * size), size)
        flat, lead = storage.typed(np.dtype(np.uint8))
        first = offset - lead + start + index * size
        number = at(value, row, lane) & (1 << 8 * size) - 1
        flat[first : first + size] = np.frombuffer(number.to_bytes(size, "little"), np.uint8)
        w.launch.version += 1


@instruction("tensormap.cp_fenceproxy", stops=True, results=0)
def copy_and_fence(e: Emitter, f: Form) -> None:
    """Copies a map from shared to global memory and releases it to the tensormap proxy."""
    f.need("global")
    f.need("shared::cta")
    f.need("tensormap::generic")
    f.need("release")
    scope = f.need("cta", "cluster", "gpu", "sys")
    f.need("sync")
    f.need("aligned")
    if getattr(f.operand(2), "value", None) != _BYTES:
        raise f.error("the size must be 128")
    e.converge()
    target, source = address_of(e, f.operand(0)), address_of(e, f.operand(1))
    e.line(f"{e.use(copy_map)}(w, {traits(e, 'generic')}, {target}, {source}, {scope!r})")


def copy_map(w: Cohort, how: Traits, target: Array, source: Array, scope: Any) -> None:
    for row in range(len(w.warps)):
        lane = int(w.active[row].argmax())
        origin, start = one_place(w, "shared", at(source, row, lane), _BYTES, row, lane)
        goal, end = one_place(w, "global", at(target, row, lane), _BYTES, row, lane)
        if not getattr(goal, "writeable", True):
            raise ThreadFault(
                f"{goal.name} is written, but is read-only", thread=int(w.threads[row, lane])
            )
        _tell(w, "load", how, row, lane, (origin, start), _BYTES)
        _tell(w, "store", how, row, lane, (goal, end), _BYTES)
        source_bytes, _ = origin.typed(np.dtype(np.uint8))
        target_bytes, lead = goal.typed(np.dtype(np.uint8))
        target_bytes[end - lead : end - lead + _BYTES] = source_bytes[start : start + _BYTES]
    w.launch.version += 1
    if w.launch.watch:
        w.launch.watch.fence(
            Fence("proxy.tensormap", "release", scope, None, how.site, w.warps, w.mask,
                  np.broadcast_to(target, (len(w.warps), 32)))
        )  # fmt: skip


def _tell(
    w: Cohort, kind: Any, how: Traits, row: int, lane: int, where: tuple[Any, int], size: int
) -> None:
    """Tells observers of one lane's access."""
    if not w.launch.watch:
        return
    storage, offset = where
    space = "shared" if storage is w.launch.shared else "global"
    only = np.zeros((len(w.warps), 32), bool)
    only[row, lane] = True
    report(w, kind, how, [Place(space, storage, np.where(only, offset, 0), only)], size)
