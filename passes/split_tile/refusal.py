"""Why a kernel is left as it is, in words for the person who wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.ir_util import int_attr, keyword
from tileir.dialects.cuda_tile import TileType
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.token_order import is_token
from tileir.passes.split_tile.conflicts import Conflict
from tileir.passes.split_tile.forms import WHOLE, Form
from tileir.passes.split_tile.needs import Needs
from tileir.passes.split_tile.operations import (
    CONTROL_FLOW,
    LOADS,
    STORES,
    UNREPEATABLE,
    origin,
    short,
    walk_block,
)
from tileir.passes.split_tile.scope import Scope, leaves

_SMALLER = "give the kernel smaller tiles and a larger grid"


@dataclass(frozen=True)
class Refusal:
    """The operation that stands in the way, the reason and the remedy.

    Of the refusals of several scopes, that of the largest weight is told. `words` is what the
    kernel needs. A final refusal holds for any larger number of slices, too; `is_too_short` says
    that only the lengths of dimensions are in the way.
    """

    place: OpView | Operation
    reason: str
    remedy: str = _SMALLER
    weight: int = 1
    words: int = 0
    is_final: bool = False
    is_too_short: bool = False

    def remark(self, budget: int) -> str:
        return f"{too_large(self.words, budget)}, and are not split: {self.reason}; {self.remedy}"


def too_large(words: int, budget: int) -> str:
    room = f"a block has {budget} for its largest tile"
    return f"the tiles of this kernel take {words} registers ({room})"


def find_unrepeatable(scope: Scope) -> Refusal | None:
    """An operation inside the scope that must not run once for each slice."""
    for op in scope.operations():
        if op.operation.name in UNREPEATABLE:
            return _would_run_again(op, "")
        if op.operation.name in LOADS | STORES:
            ordering = keyword(op, "memory_ordering_semantics", "weak")
            if ordering != "weak":
                return _would_run_again(op, f"{ordering} ")
    return None


def _would_run_again(op: OpView, kind: str) -> Refusal:
    return Refusal(op, f"this {kind}'{short(op)}' would run once for each slice", weight=2)


def leaves_scope(scope: Scope) -> Refusal | None:
    """Control or a value that would leave the loop over slices before its end."""
    for op in scope.inside:
        jump = leaves(op)
        if jump is not None:
            return Refusal(jump, f"'{short(jump)}' would leave before all slices are done")
    terminator = list(scope.block)[-1]
    for value in terminator.operation.operands:
        if not scope.is_given(value) and not is_token(value):
            reason = f"a value computed beside its stores leaves '{_owner_name(scope)}'"
            return Refusal(terminator, reason, weight=0)
    return None


def _owner_name(scope: Scope) -> str:
    return scope.block.owner.operation.name.removeprefix("cuda_tile.")


def nothing_stored(entry: Operation) -> Refusal:
    for op in walk_block(entry.regions[0].blocks[0]):
        if op.operation.name in UNREPEATABLE:
            return _would_run_again(op, "")
    return Refusal(entry, "it stores no tile whose slices could be computed one by one")


def cannot_cut(store: OpView, factor: int) -> Refusal:
    reason = f"no dimension of the tile stored here can be cut into {factor} slices"
    return Refusal(store, reason, is_too_short=True)


def too_thin(product: OpView, factor: int) -> Refusal:
    reason = f"a matrix product in {factor} slices is smaller than one matrix instruction"
    return Refusal(product, reason)


def conflict(found: Conflict) -> Refusal:
    """Token-ordered accesses that may touch the same memory in different slices."""
    names = f"'{short(found.first)}' and '{short(found.second)}'"
    if found.first == found.second:
        names = f"rounds of '{short(found.first)}'"
    return Refusal(
        found.second,
        f"a token orders {names}, and one slice of the first may touch what another slice of the "
        "second does",
        "leave the token out if they never touch the same memory, or access the same tile of one "
        f"view in both; otherwise {_SMALLER}",
        weight=2,
    )


def whole_tile(needs: Needs, budget: int) -> Refusal:
    """The largest tile that slicing leaves as it is, and who needs it whole."""
    value, form, words = max(needs.tiles(), key=lambda tile: tile[2])
    if form is not None:
        return Refusal(
            origin(value), f"in {needs.factor} slices, {_text(value)} is still too large"
        )
    user, whole = _who_needs(needs, value)
    reason = f"{_describe(user)} needs the whole of {_text(whole)}"
    return Refusal(user, reason, is_final=words > budget)


def _text(value: Value) -> str:
    return str(value.type).replace("!cuda_tile.", "")


def _who_needs(needs: Needs, value: Value) -> tuple[OpView, Value]:
    """Follows a whole tile to the operation that computes something smaller from it, or stores."""
    seen: set[Value] = set()
    while True:
        seen.add(value)
        user, form = needs.reasons[value, WHOLE]
        further = [r for r in user.operation.results if _is_whole(needs, r, form)]
        if not further or further[0] in seen or user.operation.name in CONTROL_FLOW:
            return user, value
        if short(user) == "reduce":
            return user, value
        value = further[0]


def _is_whole(needs: Needs, result: Value, form: Form) -> bool:
    is_tile = isinstance(result.type, TileType)
    return form is None and is_tile and (result, WHOLE) in needs.reasons


def _describe(op: OpView) -> str:
    name = short(op)
    if name in ("reduce", "scan"):
        return f"'{name}' along dimension {int_attr(op, 'dim')}"
    return f"this '{name}'"
