"""Tokens, pointer loads and stores, atomics, scratch and global memory."""

from __future__ import annotations

from mlir import ir

from .. import races, tiles
from ..atomics import OPERATIONS, compare_and_swap
from . import access
from .access import Op
from .emitter import Emitter, Slot
from .registry import translates


def ordering(op: Op) -> tuple[str | None, bool, bool]:
    """(scope, None if weak; whether it acquires; whether it releases)."""
    order = access.keyword(op, "memory_ordering_semantics", "weak")
    scope = None if order == "weak" else access.keyword(op, "memory_scope", "sys")
    return scope, order in ("acquire", "acq_rel"), order in ("release", "acq_rel")


def token_of(e: Emitter, op: Op) -> str:
    """The token that an operation waits for, in the generated code."""
    e.constant(races.START, "START")
    token = getattr(op, "token", None)
    return "START" if token is None else e.slot(token).name


@translates("make_token")
def _make_token(e: Emitter, op: Op) -> None:
    e.constant(races.START, "START")
    e.bind(op.results[0], Slot("START", None, (), (), None, True))


@translates("join_tokens")
def _join_tokens(e: Emitter, op: Op) -> None:
    result = e.new_slot(op.results[0])
    if e.check:
        e.constant(races.join, "join_tokens")
        names = ", ".join(e.slot(token).name for token in op.operands)
        e.line(f"{result.name} = join_tokens({names})")


@translates("gdc_launch_dependents_tko", "gdc_wait_tko", "memory_fence_alias_tko")
def _pass_token(e: Emitter, op: Op) -> None:
    """One kernel runs at a time and memory has one mapping, so only the token goes on."""
    result = e.new_slot(op.results[0])
    if e.check:
        e.line(f"{result.name} = {token_of(e, op)}")


def _mask(e: Emitter, op: Op, *, writes: bool = True) -> str:
    """The mask. Whether an undefined lane is written is undefined; if it is only read, its
    result is."""
    if op.mask is None:
        return "None"
    slot = e.slot(op.mask)
    if writes:
        e.demand(slot, "a mask")
    return e.full(slot)


def _address(e: Emitter, slot: Slot, mask: str) -> str:
    """The pointers; undefined ones are an error where they are used."""
    if slot.poison:
        e.line(f"poison.demand({slot.poison}, 'an address', {mask})")
    return e.full(slot)


@translates("load_ptr_tko")
def _load(e: Emitter, op: Op) -> None:
    source = e.slot(op.source)
    fmt = source.pointee
    mask = _mask(e, op, writes=False)
    address = _address(e, source, mask)
    padding = None if op.padding_value is None else e.slot(op.padding_value)
    fill = e.constant(tiles.undefined(fmt)) if padding is None else padding.name
    result, token = e.new_slot(op.results[0]), e.new_slot(op.results[1])
    arguments = f"{address}, {mask}, {fill}, {e.format_name(fmt)}"
    if not e.check:
        e.line(f"{result.name} = t.load({arguments})")
        return
    scope, acquires, _ = ordering(op)
    tail = f"{e.site}, {token_of(e, op)}, {scope!r}, {acquires}"
    fresh = result.poison or "_"
    e.line(f"{result.name}, {fresh}, {token.name} = t.load_checked({arguments}, {tail})")
    if result.poison and op.mask is not None:
        _masked_poison(e, result.poison, mask, e.slot(op.mask), padding)


def _masked_poison(
    e: Emitter, result: str, mask: str, mask_slot: Slot, padding: Slot | None
) -> None:
    """Undefined elements of a masked load: the other lanes without padding, or with padding that
    is undefined itself, and lanes whose mask is."""
    if padding is None:
        why = "the mask is false and there is no padding value"
        e.line(f"{result} = poison.join({result}, poison.make(~{mask}, {e.site}, {why!r}))")
    elif padding.poison:
        e.line(f"{result} = poison.select({mask}, None, {result}, {padding.poison})")
    if mask_slot.poison:
        e.line(f"{result} = poison.join({result}, {mask_slot.poison})")


@translates("store_ptr_tko")
def _store(e: Emitter, op: Op) -> None:
    target, value = e.slot(op.destination), e.slot(op.value)
    fmt = target.pointee
    mask = _mask(e, op)
    address = _address(e, target, mask)
    token = e.new_slot(op.results[0])
    arguments = f"{address}, {mask}, {e.full(value)}, {e.format_name(fmt)}"
    if not e.check:
        e.line(f"t.store({arguments})")
        return
    scope, _, releases = ordering(op)
    tail = f"{value.poison}, {e.site}, {token_of(e, op)}, {scope!r}, {releases}"
    e.line(f"{token.name} = t.store_checked({arguments}, {tail})")


def _update(e: Emitter, op: Op, operation: str, operands: list[Slot], masked_off: str) -> Slot:
    pointers = e.slot(op.pointers)
    fmt = pointers.pointee
    mask = _mask(e, op)
    address = _address(e, pointers, mask)
    result, token = e.new_slot(op.results[0]), e.new_slot(op.results[1])
    values = "(" + "".join(f"{e.full(slot)}, " for slot in operands) + ")"
    head = f"{address}, {mask}, {masked_off}, {operation}, {values}, {e.format_name(fmt)}"
    if not e.check:
        e.line(f"{result.name} = t.update({head})")
        return result
    scope, acquires, releases = ordering(op)
    undefined = e.poison_of(*operands)
    tail = f"{undefined}, {e.site}, {token_of(e, op)}, {scope!r}, {acquires}, {releases}"
    e.line(f"{result.name}, {token.name} = t.update_checked({head}, {tail})")
    if result.poison:
        e.line(f"{result.poison} = None")
    return result


@translates("atomic_rmw_tko")
def _atomic_update(e: Emitter, op: Op) -> None:
    mode = access.keyword(op, "mode")
    value = e.slot(op.arg)
    e.constant(OPERATIONS[mode], f"atomic_{mode}")
    masked_off = e.constant(tiles.undefined(e.slot(op.pointers).pointee))
    result = _update(e, op, f"atomic_{mode}", [value], f"expand({masked_off}, {value.shape})")
    if result.poison and op.mask is not None:
        mask = e.full(e.slot(op.mask))
        why = "the mask of the atomic is false"
        e.line(f"{result.poison} = poison.make(~{mask}, {e.site}, {why!r})")


@translates("atomic_cas_tko")
def _compare_and_swap(e: Emitter, op: Op) -> None:
    expected, value = e.slot(op.cmp), e.slot(op.val)
    e.constant(compare_and_swap, "compare_and_swap")
    result = _update(e, op, "compare_and_swap", [expected, value], e.full(expected))
    if result.poison and op.mask is not None and expected.poison:
        mask = e.full(e.slot(op.mask))
        e.line(f"{result.poison} = poison.select({mask}, None, None, {expected.poison})")


@translates("alloca")
def _alloca(e: Emitter, op: Op) -> None:
    result = e.new_slot(op.results[0])
    count, alignment = access.integer(op, "num_elem"), access.integer(op, "alignment")
    arguments = f"{count}, {alignment}, {access.flag(op, 'global')}"
    e.line(f"{result.name} = t.allocate({arguments}, {e.format_name(result.pointee)})")


@translates("get_global")
def _get_global(e: Emitter, op: Op) -> None:
    name = ir.FlatSymbolRefAttr(op.operation.attributes["name"]).value
    result = e.new_slot(op.results[0], invariant=True)
    with e.hoisted(True):
        e.line(f"{result.name} = run.globals[{name!r}]")


@translates("prefetch")
def _prefetch(e: Emitter, op: Op) -> None:
    """A hint, which changes nothing here."""
