"""Reductions and scans."""

from __future__ import annotations

import numpy as np
from mlir import ir

from ..numerics.formats import F64, IntFormat, Number, Tile
from ..numerics.integers import wrap
from ..numerics.rounding import from_float64
from . import access
from .access import Op
from .control_flow import body_of
from .emitter import Emitter, Slot
from .registry import translate, translates

# Operations whose code does not care about the shape of its operands: everything elementwise.
_NOT_ELEMENTWISE = {
    f"cuda_tile.{name}"
    for name in (
        "if",
        "for",
        "loop",
        "reshape",
        "broadcast",
        "permute",
        "cat",
        "extract",
        "insert",
        "reduce",
        "scan",
        "pack",
        "unpack",
        "mmaf",
        "mmai",
        "mmaf_scaled",
        "iota",
        "assert",
    )
}


def _combiner(e: Emitter, op: Op) -> str:
    """Emits the combiner as a local function and returns its name."""
    body = body_of(op.operation.regions[0])
    name = e.fresh("combine")
    undefined = any(e.slot(value).poison for value in op.operands)
    with e.combiner(undefined):
        arguments = [e.new_slot(argument) for argument in body.arguments]
        site = e.site
        e.line(f"def {name}({', '.join(slot.name for slot in arguments)}):")
        with e.indented():
            for inner in body.operations:
                if inner.operation.name == "cuda_tile.yield":
                    values = "".join(f"{e.slot(value).name}, " for value in inner.operands)
                    e.line(f"return ({values})")
                else:
                    translate(e, inner)
        e.site = site
    names = {inner.operation.name for inner in access.nested(op)}
    return f"reductions.one_by_one({name})" if names & _NOT_ELEMENTWISE else name


def _identity(attribute: ir.Attribute, fmt: Number) -> Tile:
    """A typed number as a rank-0 tile."""
    if isinstance(fmt, IntFormat):
        return wrap(np.asarray(ir.IntegerAttr(attribute).value), fmt)[()]
    value = np.asarray(ir.FloatAttr(attribute).value)
    return from_float64(value, fmt)[()]


def _operands(e: Emitter, op: Op) -> tuple[list[Slot], str, str]:
    """(the operands, the combiner, all operands as one tuple)."""
    slots = [e.slot(value) for value in op.operands]
    combine = _combiner(e, op)
    return slots, combine, "(" + "".join(f"{e.full(slot)}, " for slot in slots) + ")"


@translates("reduce")
def _reduce(e: Emitter, op: Op) -> None:
    slots, combine, operands = _operands(e, op)
    axis = access.integer(op, "dim")
    if e.check and len(slots) == 1:
        _check_identity(e, op, slots[0], combine)
    results = [e.new_slot(result) for result in op.results]
    names = "".join(f"{slot.name}, " for slot in results)
    e.line(f"{names} = reductions.reduce({combine}, {operands}, {axis})")
    _poison(e, slots, results, f"m.any({axis})")


def _check_identity(e: Emitter, op: Op, operand: Slot, combine: str) -> None:
    identities = ir.ArrayAttr(op.operation.attributes["identities"])
    identity = _identity(identities[0], operand.number)
    if operand.number is F64 and np.isinf(identity):
        # cuda-tile up to 1.7.0 writes the f64 identity -inf as +inf. Identities take no part in
        # our reductions, so such a program still computes what was meant.
        return
    value, axis = e.constant(identity), access.integer(op, "dim")
    e.line(f"reductions.check_identity({combine}, {e.full(operand)}, {axis}, {value})")


@translates("scan")
def _scan(e: Emitter, op: Op) -> None:
    slots, combine, operands = _operands(e, op)
    axis = access.integer(op, "dim")
    reverse = ir.BoolAttr(op.operation.attributes["reverse"]).value
    results = [e.new_slot(result) for result in op.results]
    names = "".join(f"{slot.name}, " for slot in results)
    e.line(f"{names} = reductions.scan({combine}, {operands}, {axis}, {reverse})")
    _poison(e, slots, results, f"reductions.poison_prefixes(m, {axis}, {reverse})")


def _poison(e: Emitter, slots: list[Slot], results: list[Slot], of_mask: str) -> None:
    """Every result depends on every operand."""
    if not any(result.poison for result in results):
        return
    name = e.fresh("q")
    joined = e.poison_of(*slots)
    e.line(f"{name} = poison.through({joined}, {slots[0].shape}, lambda m: {of_mask})")
    for result in results:
        if result.poison:
            e.line(f"{result.poison} = {name}")
