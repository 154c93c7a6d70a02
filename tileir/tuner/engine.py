"""A search: candidates are compiled and measured, slow ones given up early, failures kept."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from .. import trace
from .candidate import Candidate, Launches
from .progress import Progress
from .result import Failure, Limits, Measurement, TuningError, TuningResult

T = TypeVar("T")

#: Configurations that are measured as precisely as the limits say.
_FINALISTS = 5
#: Samples with which all others are measured.
_QUICK_SAMPLES = 25
#: Slower than the best by this factor, for sure: given up.
_CUTOFF = 1.25


class Backend(Protocol):
    """Compiles and measures candidates.

    `unit` says what times are; `is_exact`, that to measure again would change nothing.
    """

    unit: str
    is_exact: bool

    def run(
        self,
        candidates: Sequence[Candidate[Any]],
        limits: Limits,
        cutoff: Callable[[], float | None],
    ) -> Iterator[tuple[Candidate[Any], Measurement[Any] | Failure[Any]]]:
        """Each candidate with its result, in any order. `cutoff` is the time in microseconds
        beyond which a candidate need not be measured on."""
        ...

    def close(self, cancel: bool = False) -> None:
        """Gives back what was taken; with `cancel`, ends what still runs."""
        ...


class Search(Generic[T]):
    """Measures configurations, a few or all at a time, and remembers what it found."""

    def __init__(
        self,
        launches: Launches[T],
        backend: Backend,
        limits: Limits,
        progress: Progress,
        prune: Callable[[T], str | None] | None = None,
    ):
        self._launches = launches
        self._backend = backend
        self._limits = limits
        self._progress = progress
        self._prune = prune
        self._candidates: dict[int, Candidate[T]] = {}
        self._successes: dict[int, Measurement[T]] = {}
        self.failures: list[Failure[T]] = []
        self.skipped: list[Failure[T]] = []
        self._start = time.monotonic()

    def measure(self, configs: Sequence[T]) -> list[Measurement[T] | None]:
        """Measures configurations: for each its time, None where it does not work."""
        self._progress.expect(len(configs))
        by_number: dict[int, Candidate[T]] = {}
        first = len(self._candidates)
        numbers: list[int | None] = []
        for config in configs:
            candidate = self._candidate(config)
            numbers.append(None if candidate is None else first + len(by_number))
            if candidate is not None:
                by_number[first + len(by_number)] = candidate
        self._candidates |= by_number
        quick = dataclasses.replace(
            self._limits, most=min(self._limits.most, _QUICK_SAMPLES),
            seconds=self._limits.seconds / 4,
        )  # fmt: skip
        self._run(by_number, self._limits if self._backend.is_exact else quick)
        return [None if number is None else self._successes.get(number) for number in numbers]

    def result(self, untried: int = 0) -> TuningResult[T]:
        """What was found, the fastest measured again with care. Raises TuningError if nothing
        works."""
        if not self._successes:
            raise TuningError(_nothing_works(self.failures, self.skipped))
        if not self._backend.is_exact:
            finalists = self._fastest()[:_FINALISTS]
            self._progress.refine(len(finalists))
            self._run({number: self._candidates[number] for number in finalists}, self._limits)
        return TuningResult(
            [self._successes[number] for number in self._fastest()], self.failures, self.skipped,
            untried, self._backend.unit, time.monotonic() - self._start,
        )  # fmt: skip

    def skip(self, config: T, reason: str) -> None:
        """Notes that a configuration is not tried."""
        self.skipped.append(Failure(config, TuningError, reason))

    def _candidate(self, config: T) -> Candidate[T] | None:
        reason = self._prune(config) if self._prune else None
        if reason is not None:
            self.skip(config, reason)
            self._progress.done(None)
            return None
        candidate = self._launches.candidate(config)
        if isinstance(candidate, Failure):
            self._fail(candidate)
            return None
        return candidate

    def _run(self, candidates: dict[int, Candidate[T]], limits: Limits) -> None:
        numbers = {id(candidate): number for number, candidate in candidates.items()}
        with trace.slice("measure", "tune", candidates=len(candidates)):
            for candidate, found in self._backend.run(
                list(candidates.values()), limits, self._cutoff
            ):
                number = numbers[id(candidate)]
                if isinstance(found, Failure):
                    self._successes.pop(number, None)
                    self._fail(found)
                else:
                    self._successes[number] = found
                    self._progress.done(self._successes[self._fastest()[0]])

    def _fail(self, failure: Failure[T]) -> None:
        self.failures.append(failure)
        self._progress.failed(failure)

    def _cutoff(self) -> float | None:
        if not self._successes:
            return None
        return _CUTOFF * min(one.mean_us for one in self._successes.values())

    def _fastest(self) -> list[int]:
        # By place where times are equal, so that a search gives the same result again.
        return sorted(self._successes, key=lambda number: (self._successes[number].mean_us, number))


def _nothing_works(failures: Sequence[Failure[Any]], skipped: Sequence[Failure[Any]]) -> str:
    if not failures and not skipped:
        return "there is no configuration to try"
    lines = [f"none of {len(failures) + len(skipped)} configurations works:"]
    for config, error, reason in [*failures, *skipped][:5]:
        lines.append(f"  {config}: {error.__name__}: {reason.partition(chr(10))[0]}")
    return "\n".join(lines)
