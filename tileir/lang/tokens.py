"""Tokens: every memory operation waits for what it must come after, and for nothing else.

Arrays are taken not to share memory with each other.  For each array two tokens are kept: loads
wait for the last store, stores for everything that was done to the array.  Atomics count as
stores.  What was acquired from other blocks comes before all that follows, and a release waits
for all that was done.  Loops and branches pass on only tokens that something waits for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tileir.ir import InsertionPoint, Operation, Type, Value

from .builder import Builder
from .memory_order import (
    ACQUIRED,
    EVERYTHING,
    Access,
    Effect,
    Event,
    Jump,
    Key,
    Nested,
    Role,
    all_accesses,
)

Keys = set[Key]


def order(builder: Builder, events: Sequence[Event], root: Value) -> None:
    """Sets the tokens of all accesses; `root` is the token that they were made with."""
    accesses = list(all_accesses(events))
    names = frozenset().union(*(access.names for access in accesses)) - EVERYTHING
    for access in accesses:
        if access.names & EVERYTHING:
            access.names = names | EVERYTHING
    if all(access.effect is Effect.LOAD and not access.acquire for access in accesses):
        return
    _find_independent_stores(events)
    acquires = any(access.acquire for access in accesses)
    _Liveness(names | EVERYTHING, acquires).region(events, set(), set(), set())
    _Tokens(builder, root).region(events, {}, _Ends())


def _all(names: Iterable[str]) -> Keys:
    return {Key(name, Role.ALL) for name in names}


def _stores(names: Iterable[str]) -> Keys:
    return {Key(name, Role.STORES) for name in names}


def _defined(nested: Nested) -> Keys:
    """Tokens that change somewhere in an operation."""
    found: Keys = set()
    for access in nested.accesses():
        found |= _all(access.names)
        if access.effect is not Effect.LOAD:
            found |= _stores(access.names)
        if access.acquire:
            found.add(ACQUIRED)
    return found


# Stores of different rounds of a loop that go to different places.


def _find_independent_stores(events: Sequence[Event]) -> None:
    """Marks the store of a `for` whose index is the loop's and that alone touches its array."""
    for event in events:
        if not isinstance(event, Nested):
            continue
        for region in event.regions:
            _find_independent_stores(region)
        if event.op.name == "cuda_tile.for":
            _mark_independent(event)


def _mark_independent(loop: Nested) -> None:
    index = loop.op.regions[0].blocks[0].arguments[0]
    body = loop.regions[0]
    everything = list(loop.accesses())
    for access in body:
        if not isinstance(access, Access) or access.effect is not Effect.STORE:
            continue
        if access.release or not any(position == index for position in access.indices):
            continue
        others = (other for other in everything if other is not access)
        if not any(other.names & access.names for other in others):
            access.independent = True
            loop.at_entry |= _all(access.names)


# Which tokens are needed where.


@dataclass
class _Liveness:
    """Walks backwards; fills in `Access.live`, `Nested.live_top` and `Nested.live_out`."""

    names: frozenset[str]
    acquires: bool

    def region(
        self, events: Sequence[Event], after: Keys, after_break: Keys, after_continue: Keys
    ) -> Keys:
        """What is needed at the beginning of a block; `after` is what is needed behind `yield`."""
        live: Keys = set()
        for event in reversed(events):
            if isinstance(event, Access):
                live = self._access(event, live)
            elif isinstance(event, Nested):
                live = self._nested(event, live, after_break, after_continue)
            else:
                assert event.op is not None
                ends = {
                    "cuda_tile.yield": after,
                    "cuda_tile.break": after_break,
                    "cuda_tile.continue": after_continue,
                }
                live = set(ends.get(event.op.name, ()))
        return live

    def _access(self, access: Access, live: Keys) -> Keys:
        access.live = set(live)
        all_, stores = _all(access.names), _stores(access.names)
        needed = set(live)
        if access.acquire:
            needed.discard(ACQUIRED)
        if access.effect is Effect.LOAD:
            needed |= stores
        elif access.independent:
            if needed & (all_ | stores):
                needed |= all_
            needed -= stores
        else:
            needed -= stores
            needed |= all_
        if access.release:
            needed |= _all(self.names)
        if self.acquires:
            needed.add(ACQUIRED)
        return needed

    def _nested(self, nested: Nested, out: Keys, after_break: Keys, after_continue: Keys) -> Keys:
        nested.live_out = set(out)
        if nested.op.name == "cuda_tile.if":
            needed: Keys = set()
            for region in nested.regions:
                needed |= self.region(region, out, after_break, after_continue)
            return needed
        top = set(out) if nested.op.name == "cuda_tile.for" else set()
        while True:
            wider = top | self.region(nested.regions[0], set(), out, top)
            if wider == top:
                break
            top = wider
        nested.live_top = top
        return top | nested.at_entry


# Setting them.

Map = dict[Key, Value]


@dataclass(frozen=True)
class _Ends:
    """The tokens that terminators pass on; `at_entry` are those before the innermost loop."""

    yields: tuple[Key, ...] = ()
    breaks: tuple[Key, ...] = ()
    continues: tuple[Key, ...] = ()
    at_entry: Map | None = None


@dataclass
class _Tokens:
    """Walks forwards with the tokens that stand for what has happened."""

    builder: Builder
    root: Value

    def region(self, events: Sequence[Event], tokens: Map, ends: _Ends) -> None:
        for event in events:
            if isinstance(event, Access):
                self._access(event, tokens, ends)
            elif isinstance(event, Nested):
                self._nested(event, tokens, ends)
            else:
                self._jump(event, tokens, ends)

    def _access(self, access: Access, tokens: Map, ends: _Ends) -> None:
        source = tokens
        if access.independent:
            assert ends.at_entry is not None
            source = ends.at_entry
        role = Role.STORES if access.effect is Effect.LOAD else Role.ALL
        before = [source.get(Key(name, role), self.root) for name in sorted(access.names)]
        before.append(tokens.get(ACQUIRED, self.root))
        if access.release:
            before += [token for key, token in tokens.items() if key.role is Role.ALL]
        waited = self._join(before, InsertionPoint(access.op))
        if waited != self.root:
            access.op.operands[access.token_operand] = waited
        result = access.op.results[len(access.op.results) - 1]
        if access.effect is Effect.LOAD or access.independent:
            self._add(access, tokens, waited, result)
        else:
            for key in _all(access.names) | _stores(access.names):
                tokens[key] = result
        if access.acquire:
            tokens[ACQUIRED] = result

    def _add(self, access: Access, tokens: Map, waited: Value, result: Value) -> None:
        """Adds an access to what has been done to its arrays."""
        joined: list[tuple[Value, Value]] = []
        for name in sorted(access.names):
            key, stores = Key(name, Role.ALL), Key(name, Role.STORES)
            if key not in access.live and (not access.independent or stores not in access.live):
                continue
            old = tokens.get(key, self.root)
            # What the access waited for is behind its token already.
            new = next((new for known, new in joined if known == old), None)
            if new is None:
                new = (
                    result
                    if old == waited
                    else self._join([old, result], InsertionPoint.after(access.op))
                )
                joined.append((old, new))
            tokens[key] = new
            if access.independent:
                tokens[stores] = new

    def _join(self, tokens: Iterable[Value], point: InsertionPoint) -> Value:
        """A token that comes after all of `tokens`."""
        different: list[Value] = []
        for token in tokens:
            if token != self.root and all(token != other for other in different):
                different.append(token)
        if not different:
            return self.root
        if len(different) == 1:
            return different[0]
        builder = self.builder
        before = builder.enter_at(point)
        joined = builder.value("cuda_tile.join_tokens", builder.types.token, different)
        builder.leave(before)
        return joined

    def _values(self, tokens: Map, keys: Sequence[Key]) -> list[Value]:
        return [tokens.get(key, self.root) for key in keys]

    def _jump(self, jump: Jump, tokens: Map, ends: _Ends) -> None:
        assert jump.op is not None
        keys = {
            "cuda_tile.yield": ends.yields,
            "cuda_tile.break": ends.breaks,
            "cuda_tile.continue": ends.continues,
        }.get(jump.op.name, ())
        if keys:
            jump.op = _rebuild(jump.op, self._values(tokens, keys), [])

    def _nested(self, nested: Nested, tokens: Map, ends: _Ends) -> None:
        defined = _defined(nested)
        out = tuple(sorted(nested.live_out & defined, key=_sort_key))
        if nested.op.name == "cuda_tile.if":
            inner = replace(ends, yields=out)
            for region in nested.regions:
                self.region(region, dict(tokens), inner)
            self._replace(nested, [], out, tokens)
            return
        carried = tuple(sorted(nested.live_top & defined, key=_sort_key))
        is_for = nested.op.name == "cuda_tile.for"
        results = carried if is_for else out
        block = nested.op.regions[0].blocks[0]
        inside = dict(tokens)
        for key in carried:
            inside[key] = block.add_argument(self.builder.types.token, nested.op.location)
        initial = self._values(tokens, carried)
        inner = _Ends(breaks=results, continues=carried, at_entry=dict(tokens))
        self.region(nested.regions[0], inside, inner)
        self._replace(nested, initial, results, tokens)

    def _replace(
        self, nested: Nested, initial: list[Value], results: Sequence[Key], tokens: Map
    ) -> None:
        """Gives an operation more operands and results that are tokens."""
        if not initial and not results:
            return
        count = len(nested.op.results)
        nested.op = _rebuild(nested.op, initial, [self.builder.types.token] * len(results))
        for offset, key in enumerate(results):
            tokens[key] = nested.op.results[count + offset]


def _sort_key(key: Key) -> tuple[str, int]:
    return key.name, key.role.value


def _rebuild(op: Operation, operands: Sequence[Value], results: Sequence[Type]) -> Operation:
    """The same operation with more operands and results, in its place."""
    new = Operation.create(
        op.name,
        [*(result.type for result in op.results), *results],
        [*op.operands, *operands],
        {name: op.attributes[name] for name in op.attributes},
        regions=len(op.regions),
        loc=op.location,
        ip=InsertionPoint(op),
    )
    for old_region, new_region in zip(op.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(new_region)
    for index, result in enumerate(op.results):
        result.replace_all_uses_with(new.results[index])
    op.erase()
    return new
