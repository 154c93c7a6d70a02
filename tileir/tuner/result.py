"""What a search finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..errors import TileError

T = TypeVar("T")


class TuningError(TileError):
    """A search in which no configuration works, or that cannot go on."""


@dataclass(frozen=True)
class Measurement(Generic[T]):
    """A configuration that works: mean time of a launch in microseconds, and half the width of the
    interval in which it lies with 95 % confidence.

    `stopped_early` says that it was given up for being slower than another for sure.
    """

    config: T
    mean_us: float
    num_samples: int
    error_margin_us: float
    stopped_early: bool = False


@dataclass(frozen=True)
class Failure(Generic[T]):
    """A configuration that does not work, and why: the error's class and what it says."""

    config: T
    error: type[BaseException]
    reason: str

    def __iter__(self) -> Any:
        """(config, error, reason), as in a tuple."""
        return iter((self.config, self.error, self.reason))


@dataclass(frozen=True)
class TuningResult(Generic[T]):
    """A search: what works, the fastest first; what does not; what was not tried, since `prune`
    said so, or (`untried`, a number) since the budget was used up.

    `unit` says what times are: measured on a device, or estimated.
    """

    successes: Sequence[Measurement[T]]
    failures: Sequence[Failure[T]] = ()
    skipped: Sequence[Failure[T]] = ()
    untried: int = 0
    unit: str = "us"
    seconds: float = 0.0

    @property
    def best(self) -> Measurement[T]:
        """The fastest."""
        return self.successes[0]

    def summary(self, most: int = 10) -> str:
        """The fastest as a table, and how the others ended."""
        lines = [f"{'':>4}  {self.unit:>10}  {'+-':>8}  samples  configuration"]
        for place, one in enumerate(self.successes[:most], 1):
            mark = " (stopped early)" if one.stopped_early else ""
            lines.append(
                f"{place:>4}  {one.mean_us:10.3f}  {one.error_margin_us:8.3f}  "
                f"{one.num_samples:>7}  {one.config}{mark}"
            )
        if len(self.successes) > most:
            lines.append(f"      and {len(self.successes) - most} slower ones")
        for title, ones in (("failed", self.failures), ("not tried", self.skipped)):
            for config, error, reason in ones[:most]:
                first = reason.partition("\n")[0]
                lines.append(f"{title}: {config}: {error.__name__}: {first}")
            if len(ones) > most:
                lines.append(f"{title}: {len(ones) - most} more")
        if self.untried:
            lines.append(f"not tried: {self.untried} more combinations, beyond the budget")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


@dataclass
class Samples:
    """Times of launches in microseconds."""

    times: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return math.fsum(self.times) / len(self.times)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % confidence interval of the mean (normal distribution)."""
        n = len(self.times)
        if n < 2:
            return math.inf
        mean = self.mean
        variance = math.fsum((time - mean) ** 2 for time in self.times) / (n - 1)
        return 1.96 * math.sqrt(variance / n)


@dataclass(frozen=True)
class Limits:
    """How a configuration is measured.

    After `warmups` launches come batches of `batch`, until the margin is below `relative` of the
    mean or below `absolute_us`, or there are `most` samples, or `seconds` have passed. A launch
    that takes longer than `single_run_seconds` is a failure.
    """

    warmups: int = 3
    batch: int = 5
    most: int = 1000
    seconds: float = 5.0
    relative: float = 0.01
    absolute_us: float = 0.5
    single_run_seconds: float | None = None
    flush_l2: bool = True

    def is_enough(self, samples: Samples) -> bool:
        if len(samples.times) >= self.most:
            return True
        return samples.margin <= max(self.relative * samples.mean, self.absolute_us)
