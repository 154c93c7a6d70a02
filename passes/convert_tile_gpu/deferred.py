"""Registers that are computed late.

An epilogue of several steps on all registers of an accumulator needs as many again, which a thread
does not have. Results that leave by tensor memory accesses are written in slices; what nothing but
such a store sees is computed when its slice is, and loaded a little ahead, so that registers are
free again slice by slice.

The exception, where warps take turns, is what takes in a tile from the stages of a ring: the sooner
it is read, the sooner the producer can go on, and its sum with an accumulator needs no more
registers than that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard, overload

from tileir.compiler.ir_util import defining_op, has_flag, keyword
from tileir.compiler.tile_types import is_tile_type, tile_of
from tileir.dialects import tile_gpu
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.regrouping import ELEMENTWISE

#: Words of a thread that may be loaded before a loop, for each warp (sets of fewer warps, which
#: take turns, have fewer registers left), and of one load beside others.
_FEW_WORDS, _FEW_BESIDE_OTHERS = 4, 2
#: Operations that give each register of their result from one of each operand, at most.
_REGISTER_BY_REGISTER = (
    *ELEMENTWISE, "tile_gpu.broadcast", "tile_gpu.permute", "tile_gpu.reshape",
)  # fmt: skip


class Deferred(Sequence[Value]):
    """`count` registers, each computed when it is first asked for. `prepare` starts what takes long
    for one of them; by default that is to compute it."""

    def __init__(
        self,
        count: int,
        compute: Callable[[int], Value],
        prepare: Callable[[int], object] | None = None,
    ):
        self._compute, self._prepare = compute, prepare
        self._known: list[Value | None] = [None] * count
        self._prepared: set[int] = set()

    def __len__(self) -> int:
        return len(self._known)

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> list[Value]: ...
    def __getitem__(self, index: int | slice) -> Value | list[Value]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        value = self._known[index]
        if value is None:
            value = self._known[index] = self._compute(index)
        return value

    def prepare(self, index: int) -> None:
        if index in self._prepared or self._known[index] is not None:
            return
        self._prepared.add(index)
        if self._prepare is None:
            self[index]
        else:
            self._prepare(index)


def prepare(registers: Sequence[Value], index: int) -> None:
    """Starts what takes long for a register, if that is still to be computed."""
    if isinstance(registers, Deferred):
        registers.prepare(index)


class WhenStored:
    """What may wait until a store by tensor memory accesses asks for it."""

    def __init__(self, num_warps: int, take_turns: bool) -> None:
        #: `take_turns`: whether other warps multiply meanwhile, which want the ring's stages.
        self._num_warps, self._take_turns = num_warps, take_turns
        self._stores: dict[Value, frozenset[Operation]] = {}
        self._joined: dict[Value, bool] = {}

    def computed(self, value: Value) -> bool:
        """Whether only such stores see a tile, in the same block of code, perhaps after operations
        on each register, and it should wait for them."""
        return self._only_stored(value) and not self._joins(value)

    def takes_in(self, value: Value) -> bool:
        """Whether only such stores see a tile, but it takes in a tile from the stages of a ring,
        and should not wait."""
        return self._only_stored(value) and self._joins(value)

    def _only_stored(self, value: Value) -> bool:
        return bool(self._stores_of(value))

    def _stores_of(self, value: Value) -> frozenset[Operation]:
        """The stores that see a tile, if nothing else does; none otherwise."""
        known = self._stores.get(value)
        if known is None:
            each = [self._stores_by(use.owner.operation, value) for use in value.uses]
            known = frozenset().union(*each) if all(each) else frozenset()
            self._stores[value] = known
        return known

    def _stores_by(self, user: Operation, value: Value) -> frozenset[Operation]:
        if user.block != value.owner.operation.block:
            return frozenset()
        if user.name == "tile_gpu.tma_store":
            return frozenset([user])
        if user.name.startswith(_REGISTER_BY_REGISTER):
            return self._stores_of(user.results[0])
        return frozenset()

    def _joins(self, value: Value) -> bool:
        """Whether an operation joins a tile from the stages of a ring to accumulators that nothing
        else needs, and whatever else it needs is at hand."""
        known = self._joined.get(value)
        if known is None:
            known = self._joined[value] = self._take_turns and self._is_join(value)
        return known

    def _is_join(self, value: Value) -> bool:
        op = defining_op(value)
        if op is None or not op.operation.name.startswith(ELEMENTWISE):
            return False
        if tile_of(value).element_bytes == 1:  # takes a register an element, too
            return False
        taken = [tile for tile in _tiles(op) if _is_taken(tile)]
        others = [tile for tile in _tiles(op) if tile not in taken]
        return len(taken) == 1 and self._free_as_many(value, others)

    def _free_as_many(self, result: Value, tiles: Sequence[Value]) -> bool:
        """Whether `result` can be computed from `tiles` without a register more: one of them is as
        large, and goes."""
        goes = [_is_used_once(tile) and _words(tile) >= _words(result) for tile in tiles]
        return any(goes) and all(map(self._is_at_hand, tiles))

    def _is_at_hand(self, tile: Value) -> bool:
        """Whether a tile is in registers, follows from a row that is, or takes a tile's place."""
        op = defining_op(tile)
        if self._joins(tile):
            return _is_used_once(tile)
        if isinstance(op, tile_gpu.LoadOp):
            return not self.loaded(op)
        if op is None or not op.operation.name.startswith(_REGISTER_BY_REGISTER):
            return not isinstance(op, tile_gpu.TakeTileOp)
        if op.operation.name.startswith(ELEMENTWISE) and not tile_of(tile).is_row:
            return self._free_as_many(tile, _tiles(op))
        return all(map(self._is_at_hand, _tiles(op)))

    def loaded(self, load: tile_gpu.LoadOp) -> bool:
        """Whether a load may be done as late as that: nothing orders it before a store. (Accesses
        that touch the same memory and are not ordered are a race.)"""
        ordered = has_flag(load, "scope") or keyword(load, "ordering", "weak") != "weak"
        if ordered or not self.computed(load.result):
            return False
        following = list(load.operation.block)
        after = following[following.index(load.operation.opview) + 1 :]
        all_words = sum(_words(op.result) for op in following if self._may_be_late(op))
        # What is taken in at once needs its rows no longer, however many stores there are.
        stores = 1 if self._take_turns else len(self._stores_of(load.result))
        share = self._num_warps // stores
        few = all_words <= _FEW_WORDS * share or _words(load.result) <= _FEW_BESIDE_OTHERS * share
        if few and any(op.operation.regions for op in after):
            return False
        return not any(isinstance(op, tile_gpu.BarrierOp) for op in after)

    def _may_be_late(self, op: OpView) -> TypeGuard[tile_gpu.LoadOp]:
        return isinstance(op, tile_gpu.LoadOp) and self.computed(op.result)

    def words_loaded_for(self, stored: Value) -> int:
        """Words of a thread that are loaded as late as that, for a tile that such a store takes."""
        words, pending, seen = 0, [stored], set()
        while pending:
            value = pending.pop()
            if value in seen or not self.computed(value):
                continue
            seen.add(value)
            op = value.owner.opview
            if isinstance(op, tile_gpu.TakeTileOp) or (
                isinstance(op, tile_gpu.LoadOp) and self.loaded(op)
            ):
                words += _words(value)
            else:
                pending += _tiles(op)
        return words


def _tiles(op: OpView) -> list[Value]:
    return [operand for operand in op.operation.operands if is_tile_type(operand.type)]


def _is_taken(tile: Value) -> bool:
    """Whether a tile comes from the stages of a ring, perhaps converted, for one operation only."""
    op = defining_op(tile)
    if op is None or not _is_used_once(tile):
        return False
    if isinstance(op, tile_gpu.TakeTileOp):
        return True
    operands = list(op.operation.operands)
    return (
        op.operation.name.startswith(ELEMENTWISE) and len(operands) == 1 and _is_taken(operands[0])
    )


def _is_used_once(value: Value) -> bool:
    return len(list(value.uses)) == 1


def _words(tile: Value) -> int:
    """32-bit words of a tile that a thread holds."""
    op = defining_op(tile)
    if isinstance(op, tile_gpu.BroadcastOp):
        return _words(op.operation.operands[0])
    info = tile_of(tile)
    return info.layout.num_registers * info.element_bytes // 4
