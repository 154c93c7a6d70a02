"""Loops, branches and the ends of regions.

Control flow becomes Python's: `for` a for loop, `loop` a `while True`, and `continue`, `break` and
`return` the statements of the same names. Loop-carried values live in the variables of the region's
arguments, so `continue` assigns those, and the results of a `for` are what they hold at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from mlir import ir

from ..numerics import integers
from ..numerics.formats import IntFormat
from . import access
from .access import Op
from .emitter import Emitter, Slot
from .registry import translate, translates

_RANGE_LIMIT = 1 << 20


def induction(low: Any, high: Any, step: Any, fmt: IntFormat, signed: bool) -> Iterable[Any]:
    """The values of an induction variable, as rank-0 tiles.

    They are counted without a width, so a last step beyond the type's range just ends the loop.
    """
    first, last, pace = (int(integers.read(np.asarray(x), fmt, signed)) for x in (low, high, step))
    if pace <= 0:
        return ()
    values = range(first, last, pace)
    if len(values) > _RANGE_LIMIT:
        return (integers.wrap(np.asarray(v), fmt)[()] for v in values)
    return integers.wrap(np.arange(first, last, pace), fmt)


def body_of(region: ir.Region) -> ir.Block:
    return region.blocks[0]


def translate_block(e: Emitter, block: ir.Block) -> None:
    """The operations of a block; scratch memory allocated in it is freed at its end."""
    operations = list(block.operations)
    if not any(op.operation.name == "cuda_tile.alloca" for op in operations):
        for op in operations:
            translate(e, op)
        return
    mark = e.fresh("m")
    e.line(f"{mark} = t.scratch_mark()")
    e.line("try:")
    with e.indented():
        for op in operations:
            translate(e, op)
    e.line("finally:")
    with e.indented():
        e.line(f"t.release({mark})")


def assign(e: Emitter, targets: Sequence[Slot], values: Sequence[ir.Value]) -> None:
    """One simultaneous assignment of values, and of their poison, to variables."""
    left, right = [], []
    for target, value in zip(targets, values, strict=True):
        slot = e.slot(value)
        if access.is_token(value.type):
            if e.check:
                left.append(target.name)
                right.append(slot.name)
            continue
        left.append(target.name)
        right.append(e.full(slot))
        if target.poison:
            left.append(target.poison)
            right.append(slot.poison or "None")
    if left:
        e.line(f"{', '.join(left)} = {', '.join(right)}")


def _carried(e: Emitter, arguments: Sequence[ir.Value], initial: Sequence[ir.Value]) -> list[Slot]:
    """Slots of region arguments, set to their initial values."""
    slots = [e.new_slot(argument) for argument in arguments]
    assign(e, slots, initial)
    return slots


def _waits(op: Op) -> bool:
    """Whether a `for` may be left early, so that it may be waiting for another block."""
    names = [inner.operation.name for inner in access.nested(op)]
    return "cuda_tile.return" in names and any("_tko" in name for name in names)


@translates("for")
def _for(e: Emitter, op: Op) -> None:
    bounds = [e.slot(value) for value in (op.lower_bound, op.upper_bound, op.step)]
    fmt = bounds[0].number
    assert isinstance(fmt, IntFormat)
    for slot in bounds:
        e.demand(slot, "the bounds of a loop")
    body = body_of(op.operation.regions[0])
    signed = not access.flag(op, "unsignedCmp")
    e.constant(induction, "induction")
    if e.check:
        step = f"integers.read({bounds[2].name}, {e.format_name(fmt)}, {signed})"
        if (access.known_integer(op.step) or 0) <= 0:
            e.line(f"checks.step(int({step}))")
    carried = _carried(e, list(body.arguments)[1:], op.init_values)
    counter = e.new_slot(body.arguments[0])
    limits = ", ".join(slot.name for slot in bounds)
    site = e.site
    e.line(f"for {counter.name} in induction({limits}, {e.format_name(fmt)}, {signed}):")
    waits = _waits(op) and not e.in_combiner
    with e.indented(), e.in_loop(carried, "if t.tired(): yield False" if waits else None):
        translate_block(e, body)
    e.site = site
    for result, slot in zip(op.results, carried, strict=True):
        e.alias(result, slot)


@translates("loop")
def _loop(e: Emitter, op: Op) -> None:
    body = body_of(op.operation.regions[0])
    carried = _carried(e, list(body.arguments), op.init_values)
    results = [e.new_slot(result) for result in op.results]
    # Tokens grow with every access and say nothing about progress.
    watched = "".join(f", {slot.name}" for slot in carried if slot.fmt is not None)
    mark = e.fresh("m")
    pause = f"if (s := t.stuck({mark}{watched})) or t.tired(): yield s"
    waits = not e.in_combiner
    site = e.site
    e.line("while True:")
    with e.indented(), e.in_loop(carried, pause if waits else None, results):
        if waits:
            e.line(f"{mark} = t.mark({watched[2:]})")
        translate_block(e, body)
    e.site = site


@translates("if")
def _if(e: Emitter, op: Op) -> None:
    condition = e.slot(op.condition)
    e.demand(condition, "a branch")
    results = [e.new_slot(result) for result in op.results]
    then, *otherwise = op.operation.regions
    site = e.site
    e.line(f"if {condition.name}:")
    with e.indented(), e.in_branch(results):
        translate_block(e, body_of(then))
    if otherwise and len(otherwise[0].blocks):
        e.site = site
        e.line("else:")
        with e.indented(), e.in_branch(results):
            translate_block(e, body_of(otherwise[0]))


@translates("yield")
def _yield(e: Emitter, op: Op) -> None:
    assign(e, e.branch_results, op.operands)


@translates("continue")
def _continue(e: Emitter, op: Op) -> None:
    frame = e.loops[-1]
    assign(e, frame.carried, op.operands)
    if frame.pause:
        e.suspends = True
        e.site = frame.site
        e.line(frame.pause)
    e.line("continue")


@translates("break")
def _break(e: Emitter, op: Op) -> None:
    assign(e, e.loops[-1].results, op.operands)
    e.line("break")


@translates("return")
def _return(e: Emitter, op: Op) -> None:
    e.line("return")
