"""Searches on a backend that knows the times beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tileir.errors import ResourceError, TileError
from tileir.tuner.candidate import Candidate
from tileir.tuner.engine import Search
from tileir.tuner.progress import Progress, ProgressBar, progress_for
from tileir.tuner.result import Failure, Limits, Measurement, Samples, TuningError, TuningResult
from tileir.tuner.space import Space, walk


class KnownTimes:
    """A backend: `time(config)` is a time in microseconds or an error."""

    unit = "us"

    def __init__(self, time: Callable[[Any], float | TileError], is_exact: bool = False):
        self.time, self.is_exact = time, is_exact
        self.asked: list[tuple[Any, int, float | None]] = []

    def run(
        self,
        candidates: Sequence[Candidate[Any]],
        limits: Limits,
        cutoff: Callable[[], float | None],
    ) -> Iterator[tuple[Candidate[Any], Measurement[Any] | Failure[Any]]]:
        for candidate in reversed(candidates):  # any order will do
            self.asked.append((candidate.config, limits.most, cutoff()))
            found = self.time(candidate.config)
            if isinstance(found, TileError):
                yield candidate, Failure(candidate.config, type(found), str(found))
            else:
                yield candidate, Measurement(candidate.config, found, limits.most, 0.1)

    def close(self, cancel: bool = False) -> None:
        pass


class AnyLaunch:
    """Launches that are right for every configuration but "bad"."""

    def candidate(self, config: Any) -> Any:
        if config == "bad":
            return Failure(config, TileError, "no grid")
        nothing: Any = None
        return Candidate(config, nothing, (1, 1, 1), nothing, "sm_90a")


def search(backend: KnownTimes, **more: Any) -> Search[Any]:
    launches: Any = AnyLaunch()
    return Search(launches, backend, Limits(), Progress(), **more)


def test_the_fastest_is_first_and_measured_again() -> None:
    backend = KnownTimes(lambda config: float(config))
    found = search(backend)
    found.measure(range(20, 0, -1))
    result = found.result()
    assert [one.config for one in result.successes] == list(range(1, 21))
    assert result.best.mean_us == 1.0 and result.best.num_samples == 1000
    assert result.successes[7].num_samples == 25
    assert len(backend.asked) == 25
    assert {config for config, most, _ in backend.asked if most == 1000} == {1, 2, 3, 4, 5}


def test_exact_times_are_taken_once() -> None:
    backend = KnownTimes(lambda config: float(config), is_exact=True)
    found = search(backend)
    found.measure([2, 1])
    assert found.result().best.config == 1 and len(backend.asked) == 2


def test_the_cutoff_follows_the_best() -> None:
    backend = KnownTimes(lambda config: float(config))
    search(backend).measure([1, 8, 4])
    assert backend.asked == [(4, 25, None), (8, 25, 5.0), (1, 25, 5.0)]


def test_equal_times_keep_the_order_of_the_configurations() -> None:
    found = search(KnownTimes(lambda config: 3.0))
    found.measure(["b", "a", "c"])
    assert [one.config for one in found.result().successes] == ["b", "a", "c"]


def test_nothing_is_dropped_silently() -> None:
    def time(config: Any) -> float | TileError:
        return ResourceError("too much shared memory") if config == "large" else 1.0

    found = search(KnownTimes(time), prune=lambda c: "too slow" if c == "tiny" else None)
    assert found.measure(["large", "bad", "tiny", "good"])[:3] == [None, None, None]
    result = found.result()
    assert [one.config for one in result.successes] == ["good"]
    assert sorted(tuple(one) for one in result.failures) == [
        ("bad", TileError, "no grid"), ("large", ResourceError, "too much shared memory"),
    ]  # fmt: skip
    assert [(one.config, one.reason) for one in result.skipped] == [("tiny", "too slow")]
    text = str(result)
    assert "failed: large: ResourceError: too much shared memory" in text
    assert "not tried: tiny: TuningError: too slow" in text


def test_a_finalist_that_fails_later_is_a_failure() -> None:
    times = {"a": [1.0, ResourceError("gone")], "b": [2.0, 2.5]}
    found = search(KnownTimes(lambda config: times[config].pop(0)))
    found.measure(["a", "b"])
    result = found.result()
    assert result.best.config == "b" and result.best.mean_us == 2.5
    assert [one.config for one in result.failures] == ["a"]


def test_nothing_works() -> None:
    found = search(KnownTimes(lambda config: ResourceError(f"no room for {config}\nat all")))
    found.measure([1, 2])
    with pytest.raises(TuningError) as caught:
        found.result()
    lines = str(caught.value).splitlines()
    assert lines[0] == "none of 2 configurations works:"
    assert sorted(lines[1:]) == [
        "  1: ResourceError: no room for 1", "  2: ResourceError: no room for 2",
    ]  # fmt: skip
    with pytest.raises(TuningError, match="there is no configuration to try"):
        search(KnownTimes(lambda config: 1.0)).result()


def test_progress_counts() -> None:
    progress = Progress()
    launches: Any = AnyLaunch()
    backend = KnownTimes(lambda config: ResourceError("no") if config == 3 else float(config))
    found = Search(launches, backend, Limits(), progress, lambda c: "no" if c == 9 else None)
    found.measure([1, 2, 3, "bad", 9])
    assert (progress.total, progress.finished, progress.failures) == (5, 5, 2)
    found.result()
    assert (progress.total, progress.finished) == (7, 7)


def test_the_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    assert type(progress_for("k", quiet=False)) is Progress  # nobody looks
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    monkeypatch.setenv("COLUMNS", "120")
    with ProgressBar("matmul") as bar:
        bar.expect(3)
        bar.done(Measurement("64x64", 12.5, 5, 0.1))
        bar.failed(Failure("1x1", TileError, "too small"))
        bar._bar.refresh()
    shown = capsys.readouterr().err
    assert "matmul: measuring" in shown and "1 failed" in shown and "best 12.50: 64x64" in shown


# ---- samples -------------------------------------------------------------------------------------


def test_margin_of_known_samples() -> None:
    # Standard deviation 1 over 4 samples: 1.96 / 2.
    samples = Samples([10.0, 10.0, 11.0, 11.0])
    assert samples.mean == 10.5
    assert samples.margin == pytest.approx(1.96 * math.sqrt(1 / 3) / 2)
    assert Samples([3.0]).margin == math.inf


def test_when_it_is_enough() -> None:
    limits = Limits(most=100, relative=0.01, absolute_us=0.5)
    assert limits.is_enough(Samples([100.0] * 5))
    assert not limits.is_enough(Samples([90.0, 110.0] * 5))
    assert limits.is_enough(Samples([90.0, 110.0] * 50))  # the most
    assert limits.is_enough(Samples([3.0, 3.4] * 3))  # half a microsecond
    assert not replace(limits, absolute_us=0.01).is_enough(Samples([3.0, 3.4] * 3))


# ---- spaces --------------------------------------------------------------------------------------


def valley(**best: int) -> Callable[[dict[str, int]], float]:
    """Times with one lowest point; a step in any direction costs a tenth more."""
    return lambda config: (
        10
        * math.prod(
            1.1 ** abs(math.log2(config[name]) - math.log2(value)) for name, value in best.items()
        )
    )


POWERS = tuple(2**n for n in range(4, 12))


@pytest.mark.parametrize("seed", range(5))
def test_the_walk_finds_the_lowest_point_of_a_valley(seed: int) -> None:
    space = Space({"TM": POWERS, "TN": POWERS, "TK": POWERS, "W": (1, 2, 4, 8)})
    assert space.size == 2048
    time = valley(TM=128, TN=256, TK=64, W=4)
    tried: list[Any] = []

    def measure(points: Sequence[Any]) -> list[Measurement[Any] | None]:
        tried.extend(points)
        return [Measurement(point, time(space.config(point)), 1, 0.0) for point in points]

    left = walk(space, measure, budget=150, seed=seed)
    assert len(tried) == len(set(tried)) <= 150 and left == 2048 - len(tried)
    best = min(tried, key=lambda point: time(space.config(point)))
    assert space.config(best) == {"TM": 128, "TN": 256, "TK": 64, "W": 4}


def test_a_small_space_is_measured_whole() -> None:
    space = Space({"a": (1, 2), "b": "xyz"})
    tried: list[Any] = []

    def measure(points: Sequence[Any]) -> list[None]:
        tried.extend(points)
        return [None] * len(points)

    assert walk(space, measure, budget=6, seed=0) == 0
    assert [space.config(point) for point in tried] == [
        {"a": a, "b": b} for a in (1, 2) for b in "xyz"
    ]


def test_a_walk_ends_where_nothing_works() -> None:
    space = Space({"a": range(100), "b": range(100)})
    tried: set[Any] = set()

    def measure(points: Sequence[Any]) -> list[None]:
        tried.update(points)
        return [None] * len(points)

    walk(space, measure, budget=40, seed=0)
    assert 30 <= len(tried) <= 40


def test_a_walk_is_repeatable() -> None:
    space = Space({"a": range(50), "b": range(50)})

    def tried(seed: int) -> list[Any]:
        found: list[Any] = []

        def measure(points: Sequence[Any]) -> list[Measurement[Any] | None]:
            found.extend(points)
            return [Measurement(p, 1.0 + abs(p[0] - 30) + abs(p[1] - 7), 1, 0.0) for p in points]

        walk(space, measure, budget=60, seed=seed)
        return found

    assert tried(1) == tried(1) and tried(1) != tried(2)
    assert min(abs(a - 30) + abs(b - 7) for a, b in tried(1)) <= 6


def test_a_sample_is_spread_evenly() -> None:
    space = Space({"a": range(8), "b": range(4)})
    points = space.spread(16, seed=3)
    assert {a for a, _ in points} == set(range(8)) and {b for _, b in points} == set(range(4))


def test_summary_of_many() -> None:
    result = TuningResult([Measurement(n, n + 1.0, 5, 0.1, n > 3) for n in range(12)], untried=7)
    lines = str(result).splitlines()
    assert len(lines) == 13 and lines[-2].strip() == "and 2 slower ones"
    assert lines[-1] == "not tried: 7 more combinations, beyond the budget"
    assert lines[5].endswith("4 (stopped early)")
