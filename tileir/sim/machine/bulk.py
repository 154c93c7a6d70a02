"""Bulk copies: cp.async.bulk and cp.reduce.async.bulk, one thread moving many bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .asynchronous import Operation, slots_of
from .cohort import Array

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch


class Run(NamedTuple):
    """Bytes one behind the other, from `offset` of a storage on."""

    storage: Any
    offset: int


class Reduction(NamedTuple):
    """What a reducing copy does to elements of `dtype`: `function(old, new)`."""

    function: Callable[[Array, Array], Array]
    dtype: np.dtype[Any]


class BulkCopy(Operation):
    """`size` bytes from one place to one or several.

    `mbarriers`, bytes in the memory of all slots, are told of the bytes at the target with the
    same index; without them a bulk group is waited for.
    """

    def __init__(
        self,
        launch: Launch,
        site: Instruction,
        thread: int,
        source: Run,
        targets: list[Run],
        size: int,
        mbarriers: list[int],
        reduction: Reduction | None = None,
    ):
        runs = [source, *targets]
        touched = [
            slot for run in runs for slot in slots_of(launch, run.storage, np.array([run.offset]))
        ]
        super().__init__(site, np.array([thread]), tuple(dict.fromkeys(touched)))
        self.kind = "bulk" if reduction is None else "bulk.reduce"
        self.source, self.targets, self.size = source, targets, size
        self.mbarriers = mbarriers
        self.reduction = reduction
        self._data: Array = np.empty(0, np.uint8)

    def _read(self, launch: Launch) -> None:
        start = np.array([self.source.offset])
        self.report(launch, "read", self.source.storage, start, self.size)
        flat, lead = self.source.storage.typed(np.dtype(np.uint8))
        first = self.source.offset - lead
        self._data = flat[first : first + self.size].copy()

    def _write(self, launch: Launch) -> None:
        for index, target in enumerate(self.targets):
            kind = "write" if self.reduction is None else "reduce"
            self.report(launch, kind, target.storage, np.array([target.offset]), self.size)
            flat, lead = target.storage.typed(np.dtype(np.uint8))
            first = target.offset - lead
            place = flat[first : first + self.size]
            if self.reduction is None:
                place[...] = self._data
            else:
                dtype = self.reduction.dtype
                typed = place.view(dtype)
                typed[...] = self.reduction.function(typed, self._data.view(dtype))
            if self.mbarriers:
                launch.mbarriers.complete_bytes(
                    self.mbarriers[index], self.size, self.site, self.threads, self
                )
