"""Which forms of which values the sliced kernel computes: backwards from what it must do."""

from __future__ import annotations

from collections.abc import Iterator

from tileir.compiler.ir_util import block_of, defining_op
from tileir.dialects.cuda_tile import TileType
from tileir.ir import Block, Operation, OpView, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.analysis.token_order import is_token, terminators
from tileir.passes.split_tile import accesses, rules
from tileir.passes.split_tile.forms import WHOLE, Form, packed_words_of, words_of
from tileir.passes.split_tile.operations import (
    CONTROL_FLOW,
    EFFECTS,
    LOADS,
    PRODUCTS,
    STORES,
    captured,
    origin,
    parent_op,
    short,
    walk_block,
)
from tileir.passes.split_tile.scope import Scope
from tileir.passes.walk import blocks_of

_BOUNDS_OF_FOR = 3
#: The operand of a matrix product that it adds to.
ACCUMULATOR = 2


class Needs:
    """The forms of values that a kernel needs, given how its stores are sliced.

    forms      the forms in which each value is computed
    reasons    for each of them, the operation that asked first, and the form that it is computed in
    extracted  slices that are taken out of the whole value
    """

    def __init__(self, entry: Operation, scope: Scope | None, factor: int, facts: AxisAnalysis):
        self.entry = entry
        self.scope = scope
        self.factor = factor
        self.facts = facts
        self.forms: dict[Value, set[Form]] = {}
        self.reasons: dict[tuple[Value, Form], tuple[OpView, Form]] = {}
        self.extracted: set[tuple[Value, int]] = set()
        self.stores: dict[OpView, Form] = {}
        self._live: set[OpView] = set()
        self._pending: list[tuple[Value, Form]] = []
        self._add_effects()

    def copy(self) -> Needs:
        """An independent copy, to try a store on."""
        new = object.__new__(Needs)
        new.__dict__.update(self.__dict__)
        new.forms = {value: set(forms) for value, forms in self.forms.items()}
        new.reasons, new.extracted = dict(self.reasons), set(self.extracted)
        new.stores, new._live, new._pending = dict(self.stores), set(self._live), []
        return new

    def add_store(self, store: OpView, form: Form) -> None:
        """Slices a store inside the scope along `form`, or keeps it whole."""
        self.stores[store] = form
        self._require_operands(store, form, accesses.operand_forms(store, form))
        self._settle()

    def needed(self, value: Value) -> set[Form]:
        return self.forms.get(value, set())

    def is_live(self, op: OpView) -> bool:
        """Whether an operation runs at all."""
        return op in self._live

    # ---- roots -------------------------------------------------------------------------------

    def _add_effects(self) -> None:
        """What must happen anyway: effects, but for the stores that are to be sliced."""
        inside = set(self.scope.operations()) if self.scope else set()
        for op in walk_block(self.entry.regions[0].blocks[0]):
            name = op.operation.name
            if name in STORES and op in inside:
                continue
            if name in EFFECTS - LOADS or name == "cuda_tile.return":
                self._require_operands(op, WHOLE, [WHOLE] * len(op.operation.operands))
        if self.scope is not None:
            # Tokens that leave the scope are ordered after all slices.
            end = list(self.scope.block)[-1]
            for token in filter(is_token, end.operation.operands):
                self._require(token, WHOLE, end, WHOLE)
        self._settle()

    def _require_operands(self, op: OpView, form: Form, forms: list[Form]) -> None:
        self._enliven(op)
        for value, wanted in zip(op.operation.operands, forms, strict=True):
            self._require(value, wanted, op, form)

    def _enliven(self, op: OpView) -> None:
        """Marks an operation as one that runs: so does the control flow around it."""
        walk: OpView | None = op
        while walk is not None and walk not in self._live and walk.operation != self.entry:
            self._live.add(walk)
            self._require_control(walk)
            walk = parent_op(walk)

    def _require_control(self, op: OpView) -> None:
        """What decides how often the regions of `op` run: bounds, conditions, jumps."""
        name = short(op)
        count = {"for": _BOUNDS_OF_FOR, "if": 1}.get(name, 0)
        for value in list(op.operation.operands)[:count]:
            self._require(value, WHOLE, op, WHOLE)
        if name in ("for", "loop"):
            for block in blocks_of(op):
                for jump in (*terminators(block, "cuda_tile.continue"), *_breaks(block)):
                    self._enliven(jump)

    # ---- propagation -------------------------------------------------------------------------

    def _require(self, value: Value, form: Form, op: OpView, form_of_op: Form) -> None:
        forms = self.forms.setdefault(value, set())
        if form not in forms:
            forms.add(form)
            self.reasons[value, form] = (op, form_of_op)
            self._pending.append((value, form))

    def _settle(self) -> None:
        while self._pending:
            value, form = self._pending.pop()
            op = defining_op(value)
            if form is not None and self._must_be_extracted(value, op):
                self._extract(value, form)
            elif op is None:
                self._visit_argument(value, form)
            elif op.operation.name in CONTROL_FLOW:
                self._visit_leaving(op, list(op.operation.results).index(value), form)
            else:
                self._visit_result(op, value, form)

    def _must_be_extracted(self, value: Value, op: OpView | None) -> bool:
        """Values from in front of the loop over slices are computed anew for each slice if they
        are pure; results of loads and control flow stay as they are."""
        assert self.scope is not None
        if not self.scope.is_given(value):
            return False
        return op is None or op.operation.name in LOADS | CONTROL_FLOW

    def _extract(self, value: Value, form: int) -> None:
        self.extracted.add((value, form))
        self._require(value, WHOLE, origin(value), form)

    def _visit_argument(self, value: Value, form: Form) -> None:
        block, op = block_of(value), origin(value)
        name = short(op)
        index = list(block.arguments).index(value) - (1 if name == "for" else 0)
        if name in ("for", "loop") and index >= 0:
            self._visit_carried(op, block, index, form)

    def _visit_carried(self, op: OpView, block: Block, index: int, form: Form) -> None:
        """A carried value has the same forms at the start and at the end of every round."""
        self._enliven(op)
        skipped = _BOUNDS_OF_FOR if short(op) == "for" else 0
        self._require(list(op.operation.operands)[skipped + index], form, op, form)
        for jump in terminators(block, "cuda_tile.continue"):
            self._require(jump.operation.operands[index], form, op, form)

    def _visit_leaving(self, op: OpView, index: int, form: Form) -> None:
        self._enliven(op)
        for block in blocks_of(op):
            if short(op) == "for":
                self._visit_carried(op, block, index, form)
                continue
            name = "cuda_tile.break" if short(op) == "loop" else "cuda_tile.yield"
            for jump in terminators(block, name):
                self._require(jump.operation.operands[index], form, op, form)

    def _visit_result(self, op: OpView, value: Value, form: Form) -> None:
        self._enliven(op)
        operands = list(op.operation.operands)
        if is_token(value):
            for operand in operands:
                if is_token(operand):
                    self._require(operand, WHOLE, op, WHOLE)
            return
        wanted = self._operand_forms(op, form)
        if wanted is None:
            assert form is not None
            self._extract(value, form)
            return
        for operand, operand_form in zip(operands, wanted, strict=True):
            self._require(operand, operand_form, op, form)
        for operand in captured(op):
            self._require(operand, WHOLE, op, form)

    def _operand_forms(self, op: OpView, form: Form) -> list[Form] | None:
        """The forms of the operands of which the result can be made, None for none."""
        if form is None:
            return [WHOLE] * len(op.operation.operands)
        assert self.scope is not None
        if op.operation.name in LOADS:
            can_slice = accesses.can_slice(op, form, self.factor, self.facts)
            return accesses.operand_forms(op, form) if can_slice else None
        return rules.operand_forms(op, form, self.factor)

    # ---- what it takes -----------------------------------------------------------------------

    def tiles(self) -> Iterator[tuple[Value, Form, int]]:
        """Every tile that is computed, its form, and the registers (words) that it fills."""
        for value, forms in self.forms.items():
            if not isinstance(value.type, TileType) or value.type.rank == 0:
                continue
            to_multiply = _is_loaded(value) and _is_only_multiplied(value)
            words = packed_words_of(value.type) if to_multiply else words_of(value.type)
            for form in forms:
                yield value, form, words if form is None else words // self.factor

    def accumulators(self) -> int:
        """Words of all accumulators of matrix products; products that add to one another share
        theirs."""
        total = 0
        for value, forms in self.forms.items():
            op = defining_op(value)
            if op is None or op.operation.name not in PRODUCTS or _is_added_to(value):
                continue
            words = words_of(value.type)
            total += sum(words if form is None else words // self.factor for form in forms)
        return total


_MOVES = {"cuda_tile.reshape", "cuda_tile.permute"}


def _is_loaded(value: Value) -> bool:
    op = defining_op(value)
    while op is not None and op.operation.name in _MOVES:
        op = defining_op(op.operation.operands[0])
    return op is not None and op.operation.name == "cuda_tile.load_view_tko"


def _is_only_multiplied(value: Value) -> bool:
    """Whether all uses are as left or right operands of products, which lie in shared memory."""
    uses = list(value.uses)
    return bool(uses) and all(
        use.owner.name in PRODUCTS
        and use.operand_number != ACCUMULATOR
        or use.owner.name in _MOVES
        and _is_only_multiplied(use.owner.results[0])
        for use in uses
    )


def _is_added_to(value: Value) -> bool:
    """Whether another product accumulates on top of `value`."""
    uses = [use for use in value.uses if use.owner.name in PRODUCTS]
    return any(use.operand_number == ACCUMULATOR for use in uses)


def _breaks(block: Block) -> list[OpView]:
    """The `break`s of a `loop` with this body; those of a `for` inside it are none of its own."""
    return terminators(block, "cuda_tile.break")
