"""atom and red: atomic updates of global and shared memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine import memory
from ..machine.cohort import Array
from ..ptx.syntax import Operand, Sink, Vector
from ..ptx.types import TYPES, Type, bits_type
from .memory import address_of, poll, scope_of, space_of, take_cache_hints, traits

_OPERATIONS = ("and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max")


def _exchange(old: Array, value: Array) -> Array:
    return value


def _compare_and_swap(old: Array, expected: Array, value: Array) -> Array:
    return np.where(old == expected, value, old)


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "cas": _compare_and_swap,
    "exch": _exchange,
    "add": np.add,
    "inc": _increment,
    "dec": _decrement,
    "min": np.minimum,
    "max": np.maximum,
}


@instruction("atom", stops=True)
def atomic(e: Emitter, f: Form) -> None:
    _update(e, f, wants_result=True)


@instruction("red", results=0)
def reduce(e: Emitter, f: Form) -> None:
    _update(e, f, wants_result=False)


def _update(e: Emitter, f: Form, *, wants_result: bool) -> None:
    order = f.one_of("relaxed", "acquire", "release", "acq_rel") or "relaxed"
    scope, space = scope_of(f) or "gpu", space_of(f)
    operation = f.need(*_OPERATIONS)
    f.has("noftz")
    take_cache_hints(f)
    vector = f.one_of("v2", "v4", "v8")
    type_ = f.type()
    operands = list(f.operands)
    result = operands.pop(0) if wants_result else Sink()
    address = address_of(e, operands.pop(0))
    sources = operands[: 2 if operation == "cas" else 1]
    count = int(vector[1:]) if vector else 1
    rows = [_elements(e, f, source, count) for source in sources]
    if wants_result:
        poll(e, address, *(e.read(one, type_) for row in rows for one in row))
    element, call = _call(e, type_, operation, rows, traits(e, space, order, scope), address,
                          wants_result)  # fmt: skip
    if not wants_result:
        e.line(call)
        return
    targets = result.elements if isinstance(result, Vector) else (result,)
    olds = e.temporary(call)
    per = type_.lanes
    for k, target in enumerate(targets):
        if isinstance(target, Sink):
            continue
        if per > 1:
            pair = f"np.stack(({olds}[{per * k}], {olds}[{per * k + 1}]), axis=-1)"
            value = f"{pair}.view({e.dtype_name(type_.dtype)})[..., 0]"
            e.write(target, value, type_)
        else:
            e.write(target, f"{olds}[{k}]", element)


def _elements(e: Emitter, f: Form, source: Operand, count: int) -> tuple[Operand, ...]:
    found = source.elements if isinstance(source, Vector) else (source,)
    if len(found) != count:
        raise f.error(f"expected {count} values, found {len(found)}")
    return found


def _call(
    e: Emitter,
    type_: Type,
    operation: str,
    rows: list[tuple[Operand, ...]],
    name: str,
    address: str,
    wants_result: bool,
) -> tuple[Type, str]:
    """(the type of what is updated, the call that does it); pairs are two elements each."""
    element = TYPES[type_.element] if type_.lanes > 1 else type_
    if operation in ("cas", "exch", "and", "or", "xor") and element.is_float:
        element = bits_type(element.bits)
    tuples = []
    for column in zip(*rows, strict=True):
        if type_.lanes == 1:
            tuples.append(f"({', '.join(e.read(one, element) for one in column)},)")
            continue
        for place in range(type_.lanes):
            halves = [
                f"w.fill({e.read(one, type_)})" if not hasattr(one, "slot") else e.read(one, type_)
                for one in column
            ]
            view = f".view({e.dtype_name(element.dtype)})[:, {place}::{type_.lanes}]"
            tuples.append(f"({', '.join(half + view for half in halves)},)")
    function = e.object(FUNCTIONS[operation], f"atomic_{operation}")
    arguments = (
        f"{name}, {address}, {function}, ({', '.join(tuples)},), {e.dtype_name(element.dtype)}, "
        f"{e.lanes()}, {wants_result}"
    )
    return element, e.call(memory.update, arguments)
