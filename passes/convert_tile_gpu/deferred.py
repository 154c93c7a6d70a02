"""Registers that are computed late.

An epilogue of several steps on all registers of an accumulator needs as many again, which a thread
does not have. Results that leave by tensor memory accesses are written in slices; what nothing but
such a store sees is computed when its slice is, and loaded one slice ahead, so that registers are
free again slice by slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard, overload

from tileir.compiler.ir_util import has_flag, keyword
from tileir.compiler.tile_types import is_tile_type, tile_of
from tileir.dialects import tile_gpu
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.regrouping import ELEMENTWISE

#: Words of a thread that may be loaded before a loop, for each warp (sets of fewer warps, which
#: take turns, have fewer registers left), and of one load beside others.
_FEW_WORDS, _FEW_BESIDE_OTHERS = 4, 2
#: Operations that give each register of their result from one of each operand, at most.
_REGISTER_BY_REGISTER = (*ELEMENTWISE, "tile_gpu.broadcast", "tile_gpu.reshape")


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

    def __init__(self, num_warps: int) -> None:
        self._num_warps = num_warps
        self._known: dict[Value, bool] = {}

    def computed(self, value: Value) -> bool:
        """Whether only such stores see a tile, in the same block of code, perhaps after operations
        on each register."""
        known = self._known.get(value)
        if known is None:
            uses = list(value.uses)
            known = bool(uses) and all(self._defers(use.owner.operation, value) for use in uses)
            self._known[value] = known
        return known

    def _defers(self, user: Operation, value: Value) -> bool:
        if user.block != value.owner.operation.block:
            return False
        if user.name == "tile_gpu.tma_store":
            return True
        return user.name.startswith(_REGISTER_BY_REGISTER) and self.computed(user.results[0])

    def loaded(self, load: tile_gpu.LoadOp) -> bool:
        """Whether a load may be done as late as that: nothing orders it before a store. (Accesses
        that touch the same memory and are not ordered are a race.)"""
        ordered = has_flag(load, "scope") or keyword(load, "ordering", "weak") != "weak"
        if ordered or not self.computed(load.result):
            return False
        following = list(load.operation.block)
        after = following[following.index(load.operation.opview) + 1 :]
        all_words = sum(_words(op.result) for op in following if self._may_be_late(op))
        few = (
            all_words <= _FEW_WORDS * self._num_warps
            or _words(load.result) <= _FEW_BESIDE_OTHERS * self._num_warps
        )
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
            if value in seen or not is_tile_type(value.type) or not self.computed(value):
                continue
            seen.add(value)
            op = value.owner.opview
            if isinstance(op, tile_gpu.TakeTileOp) or (
                isinstance(op, tile_gpu.LoadOp) and self.loaded(op)
            ):
                words += _words(value)
            else:
                pending += op.operation.operands
        return words


def _words(tile: Value) -> int:
    """32-bit words of a tile that a thread holds."""
    info = tile_of(tile)
    return info.layout.num_registers * info.element_bytes // 4
