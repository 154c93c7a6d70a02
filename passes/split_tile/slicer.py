"""Rewriting a kernel by a plan: the operations of its scope move into a loop over slices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from tileir.compiler.ir_util import defining_op
from tileir.ir import Block, InsertionPoint, Operation, OpView, Type, Value
from tileir.passes.analysis.token_order import is_token
from tileir.passes.split_tile import rules
from tileir.passes.split_tile.access_builder import AccessBuilder
from tileir.passes.split_tile.builder import TileBuilder
from tileir.passes.split_tile.forms import WHOLE, Form, shape_of, sliced_type, tile_type
from tileir.passes.split_tile.operations import (
    CONTROL_FLOW,
    LOADS,
    STORES,
    TERMINATORS,
    captured,
    short,
    walk_block,
)
from tileir.passes.split_tile.plan import Plan
from tileir.passes.walk import blocks_of

#: A carried value or a result of control flow, in one of its forms.
Slot = tuple[int, Form]


class Slicer:
    """Builds the loop over slices; `number` is the slice that it computes (i32)."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.factor = plan.factor
        self.needs = plan.needs
        self.terminator = list(plan.scope.block)[-1]
        location = next(iter(plan.needs.stores)).location
        self.builder = TileBuilder(InsertionPoint(self.terminator), location)
        self.accesses = AccessBuilder(self)
        self._front = InsertionPoint(self.terminator)
        self.number: Value
        self._values: dict[tuple[Value, Form], Value] = {}
        self._continues: list[list[Slot]] = []
        self._breaks: list[list[Slot]] = []

    def get(self, value: Value, form: Form) -> Value:
        """What `value` became, in one of the forms that are needed."""
        known = self._values.get((value, form))
        if known is None:
            assert form is None and self.plan.scope.is_given(value), f"{value} has no form {form}"
            return value
        return known

    @contextlib.contextmanager
    def in_front(self, wanted: bool = True) -> Iterator[None]:
        """Builds in front of the loop over slices, if `wanted`."""
        saved = self.builder.point
        if wanted:
            self.builder.point = self._front
        try:
            yield
        finally:
            self.builder.point = saved

    # ---- the loop over slices ----------------------------------------------------------------

    def run(self) -> None:
        b = self.builder
        leaving = [v for v in self.terminator.operation.operands if self._is_made_inside(v)]
        bounds = [b.integer(0), self.accesses.slice_count(), b.integer(1)]
        start = [b.token() for _ in leaving]
        types = [token.type for token in start]
        loop = b.create("cuda_tile.for", [*bounds, *start], types, regions=1)
        body = b.block(loop.regions[0], [bounds[0].type, *types])
        self.number = body.arguments[0]
        self._front = InsertionPoint(loop)
        with b.at(body):
            self._make_given_slices()
            for op in self.plan.scope.inside:
                self._emit(op)
            # Whoever waits for a token waits for all slices.
            ends = [
                b.join([self.get(token, WHOLE), before])
                for token, before in zip(leaving, list(body.arguments)[1:], strict=True)
            ]
            b.create("cuda_tile.continue", ends)
        self._replace(dict(zip(leaving, loop.results, strict=True)))

    def _is_made_inside(self, value: Value) -> bool:
        return is_token(value) and not self.plan.scope.is_given(value)

    def _replace(self, tokens: dict[Value, Value]) -> None:
        for i, operand in enumerate(self.terminator.operation.operands):
            if operand in tokens:
                self.terminator.operation.operands[i] = tokens[operand]
        for op in reversed(self.plan.scope.inside):
            op.operation.erase()

    def _make_given_slices(self) -> None:
        """Slices of values that are there before the loop."""
        for value in list(self.needs.forms):
            if self.plan.scope.is_given(value):
                for form in self._forms([value]):
                    if form is not None:
                        self._make_given_slice(value, form)

    def _make_given_slice(self, value: Value, dim: int) -> None:
        if (value, dim) in self._values:
            return
        op = defining_op(value)
        if (value, dim) in self.needs.extracted or op is None:
            self._extract(value, dim)
            return
        forms = rules.operand_forms(op, dim, self.factor) or []
        for operand, form in zip(op.operation.operands, forms, strict=True):
            if form is not None and self.plan.scope.is_given(operand):
                self._make_given_slice(operand, form)
        self.builder.location = op.location
        self._record(op.operation.results, dim, rules.build(self, op, dim))

    def _record(self, results: Iterable[Value], form: Form, values: Sequence[Value]) -> None:
        for result, value in zip(results, values, strict=True):
            self._values[result, form] = value

    def _extract(self, value: Value, dim: int) -> None:
        """Slice s of a whole value: the s-th part along `dim`."""
        b = self.builder
        whole = self.get(value, WHOLE)
        zero = b.integer(0)
        indices = [self.number if d == dim else zero for d in range(len(shape_of(value)))]
        type_ = sliced_type(tile_type(value), dim, self.factor)
        self._values[value, dim] = b.op("cuda_tile.extract", [whole, *indices], type_)

    # ---- operations --------------------------------------------------------------------------

    def _emit(self, op: OpView) -> None:
        """Builds the forms of the results of `op` that are needed, and its effects."""
        self.builder.location = op.location
        name = op.operation.name
        if name in STORES:
            if op in self.needs.stores:
                token = self.accesses.store(op, self.needs.stores[op])
                self._values[op.operation.results[0], WHOLE] = token
        elif name in LOADS:
            self._emit_load(op)
        elif name in CONTROL_FLOW:
            self._emit_control_flow(op)
        elif name in TERMINATORS:
            self._emit_terminator(op)
        else:
            self._emit_pure(op)

    def _forms(self, values: Iterable[Value]) -> list[Form]:
        """The forms in which any of `values` is needed, whole first."""
        needed: set[Form] = set().union(*(self.needs.needed(value) for value in values))
        return sorted(needed, key=_order)

    def _emit_pure(self, op: OpView) -> None:
        results = list(op.operation.results)
        for form in self._forms(results):
            if form is None:
                operands = [self.get(v, WHOLE) for v in op.operation.operands]
                new = self.builder.clone(op, operands, [r.type for r in results])
                self.map_captured(op, new)
                self._record(results, WHOLE, list(new.results))
            elif (results[0], form) in self.needs.extracted:
                self._extract(results[0], form)
            else:
                self._record(results, form, rules.build(self, op, form))

    def _emit_load(self, op: OpView) -> None:
        tile, token = op.operation.results
        tokens: list[Value] = []
        for form in self._forms([tile]):
            if form is not None and (tile, form) in self.needs.extracted:
                self._extract(tile, form)
                continue
            self._values[tile, form], after = self.accesses.load(op, form)
            tokens.append(after)
        if WHOLE in self.needs.needed(token):
            before = [self.get(v, WHOLE) for v in op.operation.operands if is_token(v)]
            self._values[token, WHOLE] = self.builder.join(tokens or before)

    def map_captured(self, op: OpView, new: Operation) -> None:
        """Makes the regions of a copy of `op` use what the values from outside became."""
        changed = {v: self.get(v, WHOLE) for v in captured(op)}
        for block in blocks_of(new.opview) if changed else ():
            for inner in walk_block(block):
                for i, operand in enumerate(inner.operation.operands):
                    if operand in changed:
                        inner.operation.operands[i] = changed[operand]

    # ---- control flow ------------------------------------------------------------------------

    def _emit_control_flow(self, op: OpView) -> None:
        if not self.needs.is_live(op):
            return
        {"for": self._emit_for, "loop": self._emit_loop, "if": self._emit_if}[short(op)](op)

    def _slots(self, *lists: Sequence[Value]) -> list[Slot]:
        """The carried values, given as arguments and results, in their forms."""
        slots: list[Slot] = []
        for i, same in enumerate(zip(*lists, strict=True)):
            slots += [(i, form) for form in self._forms(same)]
        return slots

    def _take(self, values: Sequence[Value], slots: Sequence[Slot]) -> list[Value]:
        return [self.get(values[i], form) for i, form in slots]

    def _types(self, values: Sequence[Value], slots: Sequence[Slot]) -> list[Type]:
        return [_type_of(values[i], form, self.factor) for i, form in slots]

    def _bind(self, old: Sequence[Value], slots: Sequence[Slot], new: Iterable[Value]) -> None:
        for (i, form), value in zip(slots, new, strict=True):
            self._values[old[i], form] = value

    def _emit_for(self, op: OpView) -> None:
        b, old = self.builder, op.operation.regions[0].blocks[0]
        operands, results = list(op.operation.operands), list(op.operation.results)
        arguments = list(old.arguments)[1:]
        slots = self._slots(arguments, results)
        bounds = [self.get(v, WHOLE) for v in operands[:3]]
        start = self._take(operands[3:], slots)
        kept = ("unsignedCmp",) if "unsignedCmp" in op.operation.attributes else ()
        attributes = {name: op.operation.attributes[name] for name in kept}
        types = [value.type for value in start]
        new = b.create("cuda_tile.for", [*bounds, *start], types, attributes, regions=1)
        body = b.block(new.regions[0], [bounds[0].type, *types])
        self._values[old.arguments[0], WHOLE] = body.arguments[0]
        self._bind(arguments, slots, list(body.arguments)[1:])
        self._continues.append(slots)
        self._emit_block(old, body)
        self._continues.pop()
        self._bind(results, slots, new.results)

    def _emit_loop(self, op: OpView) -> None:
        b, old = self.builder, op.operation.regions[0].blocks[0]
        arguments, results = list(old.arguments), list(op.operation.results)
        carried, leaving = self._slots(arguments), self._slots(results)
        start = self._take(list(op.operation.operands), carried)
        new = b.create("cuda_tile.loop", start, self._types(results, leaving), regions=1)
        body = b.block(new.regions[0], [value.type for value in start])
        self._bind(arguments, carried, body.arguments)
        self._continues.append(carried)
        self._breaks.append(leaving)
        self._emit_block(old, body)
        self._continues.pop()
        self._breaks.pop()
        self._bind(results, leaving, new.results)

    def _emit_if(self, op: OpView) -> None:
        b, results = self.builder, list(op.operation.results)
        slots = self._slots(results)
        condition = self.get(op.operation.operands[0], WHOLE)
        new = b.create("cuda_tile.if", [condition], self._types(results, slots), regions=2)
        for region, old in zip(new.regions, op.operation.regions, strict=True):
            for block in old.blocks:
                self._emit_block(block, b.block(region), slots)
        self._bind(results, slots, new.results)

    def _emit_block(self, old: Block, new: Block, yields: Sequence[Slot] = ()) -> None:
        with self.builder.at(new):
            for op in old:
                if short(op) == "yield":
                    values = self._take(list(op.operation.operands), yields)
                    self.builder.location = op.location
                    self.builder.create("cuda_tile.yield", values)
                else:
                    self._emit(op)

    def _emit_terminator(self, op: OpView) -> None:
        slots = self._breaks[-1] if short(op) == "break" else self._continues[-1]
        self.builder.create(op.operation.name, self._take(list(op.operation.operands), slots))


def _order(form: Form) -> int:
    """The whole first."""
    return -1 if form is None else form


def _type_of(value: Value, form: Form, factor: int) -> Type:
    return value.type if is_token(value) else sliced_type(tile_type(value), form, factor)
