"""Choosing how to slice a kernel: where the loop goes, how many slices, along which dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tileir.compiler.ir_util import defining_op
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.split_tile.accesses import can_slice, tile_of
from tileir.passes.split_tile.conflicts import find_conflict
from tileir.passes.split_tile.cost import cost_of, slowness
from tileir.passes.split_tile.forms import WHOLE, Form, can_be_cut, shape_of, tile_type, words_of
from tileir.passes.split_tile.liveness import live_words
from tileir.passes.split_tile.needs import Needs
from tileir.passes.split_tile.operations import PRODUCTS, STORES, walk_block
from tileir.passes.split_tile.refusal import (
    Refusal,
    cannot_cut,
    conflict,
    find_unrepeatable,
    leaves_scope,
    nothing_stored,
    too_large,
    too_thin,
    whole_tile,
)
from tileir.passes.split_tile.scope import Scope, scopes_of

#: Whether it is too large, its cost, the rank in memory of the sliced dimension.
_Rank = tuple[bool, float, int]

#: Tiles of the size of the budget that may be live at once: the assembler loads late what it can.
_TILES_AT_ONCE = 3


@dataclass(frozen=True)
class Limits:
    """What slices must keep to.

    budget         words that the largest tile, or all accumulators together, may fill
    rows, columns  of the smallest matrix product that slicing may make
    """

    budget: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Plan:
    """How a kernel that needs `words` registers is to be sliced; a partial plan does not make it
    fit yet."""

    scope: Scope
    factor: int
    needs: Needs
    facts: AxisAnalysis
    words: int = 0
    is_partial: bool = False

    @property
    def place(self) -> OpView:
        """The store that decided."""
        return next(iter(self.needs.stores))

    def remark(self, budget: int) -> str:
        return (
            f"{too_large(self.words, budget)}, and are computed in {self.factor} slices, one after "
            "another"
        )


def registers_of(needs: Needs) -> int:
    """Words that the largest tile, or all accumulators together, fill."""
    return max([needs.accumulators(), *(words for _, _, words in needs.tiles())])


def demand_of(needs: Needs, budget: int) -> int:
    """Words to compare with the budget: `registers_of`, or all that is live at once where that is
    too much for 16 warps, whose threads have half the registers of those of 8."""
    largest = registers_of(needs)
    if not budget // 2 < largest <= budget or needs.accumulators():
        return largest
    words: dict[Value, int] = {}
    for value, _, count in needs.tiles():
        words[value] = words.get(value, 0) + count
    live = live_words(needs.entry.regions[0].blocks[0], words)
    return live if live > _TILES_AT_ONCE * budget else largest


def _may_exceed(entry: Operation, budget: int) -> bool:
    """A quick look that spares most kernels the analysis."""
    accumulated = 0
    for op in walk_block(entry.regions[0].blocks[0]):
        words = max((words_of(result.type) for result in op.operation.results), default=0)
        accumulated += words if op.operation.name in PRODUCTS else 0
        if words > budget // 2 or accumulated > budget:
            return True
    return False


def make_plan(entry: Operation, limits: Limits, is_extended: bool) -> Plan | Refusal | None:
    """How to make the tiles of a kernel fit the budget; None if they do."""
    budget = limits.budget
    if not _may_exceed(entry, budget):
        return None
    facts = AxisAnalysis()
    uncut = Needs(entry, None, 1, facts)
    words = demand_of(uncut, budget)
    if words <= budget:
        return None
    least = max(2, -(-registers_of(uncut) // budget))
    if not any(op.operation.name in STORES for op in walk_block(entry.regions[0].blocks[0])):
        return replace(nothing_stored(entry), words=words)
    searches = [_Search(entry, scope, limits, is_extended, facts) for scope in scopes_of(entry)]
    refusals: list[Refusal] = []
    for search in searches:
        found = search.fitting(least)
        if isinstance(found, Plan):
            return replace(found, words=words)
        refusals.append(found)
    for search, refusal in zip(searches, refusals, strict=True):
        found = search.partial(registers_of(uncut), least) if refusal.is_too_short else None
        if found is not None:
            return replace(found, words=words)
    return replace(max(refusals, key=lambda refusal: refusal.weight), words=words)


@dataclass(frozen=True)
class _Search:
    """Plans with the loop over slices in one scope."""

    entry: Operation
    scope: Scope
    limits: Limits
    is_extended: bool
    facts: AxisAnalysis

    def fitting(self, least: int) -> Plan | Refusal:
        """A plan of as few slices as will do, `least` or more."""
        refusal = leaves_scope(self.scope) or find_unrepeatable(self.scope)
        if refusal is not None:
            return refusal
        stores = self._stores()
        for factor in self._factors(stores[0]):
            if factor < least:
                continue
            found = self._plan(factor, stores, self.limits)
            if isinstance(found, Plan):
                return found
            refusal = refusal or found
            if found.is_final:
                break
        return refusal or cannot_cut(stores[0], least)

    def partial(self, words: int, least: int) -> Plan | None:
        """Where no dimension is long enough: a plan of as many slices as there can be, in which no
        large tile stays whole. Its slices are to be split again."""
        stores = self._stores()
        for factor in reversed(self._factors(stores[0])):
            if not 1 < factor < least:
                continue
            found = self._plan(factor, stores, replace(self.limits, budget=-(-words // factor)))
            if isinstance(found, Plan):
                return replace(found, is_partial=True)
        return None

    def _stores(self) -> list[OpView]:
        """The stores inside, the largest first."""
        stores = [op for op in self.scope.operations() if op.operation.name in STORES]
        return sorted(stores, key=lambda op: -tile_type(tile_of(op)).num_elements)

    def _plan(self, factor: int, stores: list[OpView], limits: Limits) -> Plan | Refusal:
        needs = Needs(self.entry, self.scope, factor, self.facts)
        found = _plan_with(needs, stores, limits)
        if isinstance(found, Refusal):
            return found
        return Plan(self.scope, factor, found, self.facts)

    def _factors(self, store: OpView) -> list[int]:
        """Numbers of slices into which a store can be cut."""
        found: set[int] = set()
        for size in shape_of(tile_of(store)):
            found |= {k for k in range(1, math.isqrt(size) + 1) if size % k == 0}
            found |= {size // k for k in found if size % k == 0}
        return sorted(k for k in found if self.is_extended or k & (k - 1) == 0)


def _plan_with(base: Needs, stores: list[OpView], limits: Limits) -> Needs | Refusal:
    """The cheapest way to slice all stores by one factor, or why there is none."""
    tried: list[tuple[_Rank, Needs]] = []
    for form in _forms_of(stores[0], base):
        needs = _sliced(base, stores[0], form)
        for store in stores[1:]:
            needs = _best_form(needs, store, limits.budget)
        tried.append((_rank(needs, limits.budget, slowness(stores[0], form)), needs))
    tried.sort(key=lambda each: each[0])
    refusals: list[Refusal] = []
    for (is_too_large, _, _), needs in tried:
        found = whole_tile(needs, limits.budget) if is_too_large else _objection(needs, limits)
        if found is None:
            return needs
        refusals.append(found)
    if not refusals:
        return cannot_cut(stores[0], base.factor)
    # Tiles that are needed whole do not get smaller with more slices.
    return replace(refusals[0], is_final=all(refusal.is_final for refusal in refusals))


def _rank(needs: Needs, budget: int, slow: int = 0) -> _Rank:
    """What is smaller for a better way of slicing; along slow dimensions, rows stay whole."""
    return demand_of(needs, budget) > budget, cost_of(needs), slow


def _forms_of(store: OpView, needs: Needs) -> list[int]:
    """The dimensions along which a store can be sliced."""
    shape = shape_of(tile_of(store))
    return [
        dim
        for dim in range(len(shape))
        if can_be_cut(shape, dim, needs.factor) and can_slice(store, dim, needs.factor, needs.facts)
    ]


def _sliced(needs: Needs, store: OpView, form: Form) -> Needs:
    new = needs.copy()
    new.add_store(store, form)
    return new


def _best_form(needs: Needs, store: OpView, budget: int) -> Needs:
    """Slices a further store in the way that costs least; kept whole, one slice does all of it."""
    options = [_sliced(needs, store, form) for form in [*_forms_of(store, needs), WHOLE]]
    return min(options, key=lambda option: _rank(option, budget))


def _objection(needs: Needs, limits: Limits) -> Refusal | None:
    assert needs.scope is not None
    found = find_conflict(needs.scope, needs)
    if found is not None:
        return conflict(found)
    for value, forms in needs.forms.items():
        op = defining_op(value)
        if op is None or op.operation.name not in PRODUCTS:
            continue
        for form in forms:
            if form is not None and _is_too_thin(shape_of(value), form, needs.factor, limits):
                return too_thin(op, needs.factor)
    return None


def _is_too_thin(shape: tuple[int, ...], form: int, factor: int, limits: Limits) -> bool:
    smallest = (1,) * (len(shape) - 2) + (limits.rows, limits.columns)
    return shape[form] // factor < min(smallest[form], shape[form])
