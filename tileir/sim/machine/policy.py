"""Who runs next, and when asynchronous operations complete.

Seed 0 runs the cohort that is furthest behind, so that warps meet again soon, and completes
asynchronous operations as late as it can, so that what nobody waits for is missed. Any other seed
draws everything at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .cohort import Cohort

# A cohort that has run this many blocks while others could is put behind them.
_PATIENCE = 4096


class InOrder:
    """The policy of seed 0."""

    def __init__(self) -> None:
        self._steps = 0

    def pick(self, ready: dict[Any, Cohort]) -> Any:
        """The key of the cohort to run."""
        if len(ready) == 1:
            return next(iter(ready))
        if self._steps > _PATIENCE:
            # Whoever has been waiting longest: dicts keep the order of insertion.
            self._steps = 0
            return next(iter(ready))
        return min(ready, key=lambda key: key[0])

    def gives_way(self, cohort: Cohort, ready: dict[Any, Cohort]) -> bool:
        """Whether the running cohort makes room for one of `ready`, which is not empty."""
        self._steps += 1
        if self._steps > _PATIENCE:
            return True
        order = cohort.key[0]
        return any(key[0] <= order for key in ready)

    def splits(self, cohort: Cohort) -> Any:
        """Two sets of warps (bool[n]) that go apart, or None."""
        return None

    def completes_at_once(self) -> bool:
        """Whether an asynchronous operation completes as soon as it is issued."""
        return False

    def completes_early(self) -> bool:
        """Whether a pending operation completes before anyone needs it to."""
        return False

    def choose(self, pending: Sequence[Any]) -> int:
        """Which pending operation completes next."""
        return 0


class Random(InOrder):
    """Any other seed: a schedule drawn at random, the same one for the same seed.

    Warps run in any order, but the lanes of one warp meet again as soon as they can, as they do
    on hardware: of the parts of a warp the one that is behind runs.
    """

    def __init__(self, seed: int):
        super().__init__()
        self._random = np.random.default_rng(seed)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, ready: dict[Any, Cohort]) -> Any:
        keys = list(ready)
        key = keys[int(self._random.integers(len(keys)))]
        chosen = ready[key]
        if chosen.mask is None:
            return key
        return min((k for k in keys if _share_warps(ready[k], chosen)), key=lambda k: k[0])

    def gives_way(self, cohort: Cohort, ready: dict[Any, Cohort]) -> bool:
        if self._chance(0.25):
            return True
        if cohort.mask is None:
            return False
        order = cohort.key[0]
        return any(key[0] <= order and _share_warps(other, cohort) for key, other in ready.items())

    def splits(self, cohort: Cohort) -> Any:
        if cohort.rows < 2 or not self._chance(0.1):
            return None
        present = np.asarray(cohort.active.any(axis=1))
        rows = present & (self._random.random(len(present)) < 0.5)
        return (rows, present & ~rows) if rows.any() and (present & ~rows).any() else None

    def completes_at_once(self) -> bool:
        return self._chance(0.3)

    def completes_early(self) -> bool:
        return self._chance(0.1)

    def choose(self, pending: Sequence[Any]) -> int:
        return int(self._random.integers(len(pending)))


def _share_warps(a: Cohort, b: Cohort) -> bool:
    return a is b or bool(np.isin(a.warps, b.warps).any())


def policy_of(seed: int) -> InOrder:
    return Random(seed) if seed else InOrder()
