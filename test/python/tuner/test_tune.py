"""Searches and autotuned kernels on the CPU, where times are estimated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tuned_kernels
from tuned_kernels import N, add_one, arrays, scale

import tileir
import tileir.lang as ct
from tileir import trace
from tileir.errors import CompileTimeout, LaunchError
from tileir.lang.autotuned import Autotuned
from tileir.lang.errors import TileValueError
from tileir.runtime.disk_cache import disk_cache

CONFIGS = [ct.Config(TILE=64), ct.Config(TILE=128, occupancy=2)]


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEIR_BACKEND", "interp")
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))


def blocks(config: Any) -> tuple[int]:
    return (ct.cdiv(N, config.TILE),)


# ---- searches ------------------------------------------------------------------------------------


def test_a_search_keeps_what_fails() -> None:
    def grid(tile: int) -> Any:
        return (0,) if tile == 256 else (N // max(1, abs(tile)),)

    x, y = arrays()
    result = ct.tune.exhaustive_search(
        [64, -1, 256, 128], None, grid, scale, lambda tile: (x, y, 2.0, tile),
        lambda tile: {"occupancy": 99 if tile == 128 else None},
    )  # fmt: skip
    assert [one.config for one in result.successes] == [64]
    assert result.best.mean_us > 0 and result.unit == "us (est.)"
    failed = {config: (error, reason) for config, error, reason in result.failures}
    assert set(failed) == {-1, 256, 128}
    assert issubclass(failed[-1][0], tileir.TileError) and "test" in failed[-1][1]
    assert failed[256] == (LaunchError, "grid x is 0, expected 1 to 2147483647")
    assert failed[128][0] is TileValueError and "occupancy must be one of 1 to 32" in failed[128][1]
    assert not y.any()  # measured on copies


def test_estimates_are_the_same_again() -> None:
    first, second = tuned_kernels.search([64, 512]), tuned_kernels.search([64, 512])
    # But for where the copies of the arrays lie: sectors that are touched.
    for one, other in zip(first.successes, second.successes, strict=True):
        assert one.config == other.config
        assert one.mean_us == pytest.approx(other.mean_us, rel=0.02)


def test_a_compilation_that_takes_too_long() -> None:
    with pytest.raises(ct.tune.TuningError, match="64: CompileTimeout: <bytes>: compiling took"):
        tuned_kernels.search([64], compile_timeout_sec=1e-3)
    assert issubclass(CompileTimeout, tileir.TileError)


def test_pruned_configurations_are_not_compiled() -> None:
    with trace.recording() as recorder:
        result = tuned_kernels.search([64, 512], prune=lambda n: "too large" if n > 100 else None)
    assert [tuple(one)[::2] for one in result.skipped] == [(512, "too large")]
    assert [event.name for event in recorder.events].count("ptxas") <= 1
    estimates = [event for event in recorder.events if event.name == "estimate"]
    assert [event.facts["config"] for event in estimates] == [64]


def test_a_search_of_choices() -> None:
    x, y = arrays()
    result = ct.tune.search(
        {"TILE": (64, 128), "warps": (4,)}, None, lambda c: (N // c["TILE"],), scale,
        lambda c: (x, y, 2.0, c["TILE"]), lambda c: {"num_worker_warps": c["warps"]},
    )  # fmt: skip
    assert len(result.successes) == 2 and result.untried == 0
    assert set(result.best.config) == {"TILE", "warps"}
    with pytest.raises(tileir.TileError, match="a budget of at least one"):
        ct.tune.search({}, None, lambda c: 1, scale, lambda c: (), budget=0)


def test_a_kernel_for_each_configuration() -> None:
    x, y = arrays()
    result = ct.tune.exhaustive_search(
        [(scale, 64), (scale.replace_hints(occupancy=2), 64)], None, lambda c: (N // c[1],),
        lambda c: c[0], lambda c: (x, y, 2.0, c[1]),
    )  # fmt: skip
    assert len(result.successes) == 2


def test_product() -> None:
    assert ct.tune.product(TM=(64, 128), occupancy=(None, 2)) == [
        {"TM": 64, "occupancy": None}, {"TM": 64, "occupancy": 2},
        {"TM": 128, "occupancy": None}, {"TM": 128, "occupancy": 2},
    ]  # fmt: skip


# ---- autotuned kernels ---------------------------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Notes each search."""
    searches: list[Any] = []
    measure = Autotuned._measure

    def noted(self: Autotuned, *args: Any) -> Any:
        result = measure(self, *args)
        searches.append(result)
        return result

    monkeypatch.setattr(Autotuned, "_measure", noted)
    return searches


def test_the_first_launch_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = counted(monkeypatch)
    tuned = ct.autotune(CONFIGS)(scale)
    x, y = arrays()
    for factor in (2.0, 3.0):
        ct.launch(None, blocks, tuned, (x, y, factor))
        np.testing.assert_array_equal(y, x * factor)
    assert len(searches) == 1 and len(searches[0].successes) == 2
    assert tuned.best_config(None, blocks, (x, y, 2.0)) == searches[0].best.config
    assert list(tuned.results.values()) == searches


def test_arrays_are_as_one_launch_leaves_them() -> None:
    tuned = ct.autotune([{"TILE": 64}, {"TILE": 256}])(add_one)
    x = np.zeros(N, np.int32)
    ct.launch(None, blocks, tuned, (x, N))
    assert (x == 1).all()


def test_what_distinguishes_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = counted(monkeypatch)
    tuned = ct.autotune(CONFIGS)(add_one)
    a, b = np.zeros(N, np.int32), np.zeros(2 * N, np.int32)
    for array, n in ((a, 1), (a, 2), (b, 1), (a.astype(np.float32), 1)):
        ct.launch(None, lambda c, array=array: (len(array) // c.TILE,), tuned, (array, n))
    assert len(searches) == 3  # numbers do not, shapes and types do
    by_number = ct.autotune(CONFIGS, key=("n",), cache=False)(add_one)
    for array, n in ((a, 1), (b, 1), (a, 2)):
        ct.launch(None, lambda c, array=array: (len(array) // c.TILE,), by_number, (array, n))
    assert len(searches) == 5


def test_winners_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = counted(monkeypatch)
    x, y = arrays()
    for _ in range(2):
        ct.launch(None, blocks, ct.autotune(CONFIGS)(scale), (x, y, 2.0))
    assert len(searches) == 1
    cache = disk_cache()
    assert cache is not None
    (stored,) = [one for one in cache.entries() if one.entry.kind == "tuning"]
    assert stored.entry.facts["title"].startswith("scale on estimate for sm_90a: Config(TILE=")
    # Other configurations, another kernel, another compiler: another search.
    ct.launch(None, blocks, ct.autotune([*CONFIGS, ct.Config(TILE=32)])(scale), (x, y, 2.0))
    hinted = scale.replace_hints(num_worker_warps=4)
    ct.launch(None, blocks, ct.autotune(CONFIGS)(hinted), (x, y, 2.0))
    monkeypatch.setattr("tileir.tuner.winners.compiler_identity", lambda: "another")
    ct.launch(None, blocks, ct.autotune(CONFIGS)(scale), (x, y, 2.0))
    assert len(searches) == 4


def test_a_winner_that_is_no_choice_any_more_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = counted(monkeypatch)
    x, y = arrays()
    monkeypatch.setattr("tileir.lang.autotuned.winner_key", lambda *_: "0" * 64)
    for configs in ([ct.Config(TILE=64), ct.Config(TILE=32)], CONFIGS[1:] * 2):
        ct.launch(None, blocks, ct.autotune(configs)(scale), (x, y, 2.0))
    assert len(searches) == 2


def test_winners_of_other_processes(tmp_path: Path) -> None:
    """A second process launches without compiling anything for a search."""
    script = (
        "import tuned_kernels, tileir.lang as ct\nfrom tileir import trace\n"
        "tuned = ct.autotune([{'TILE': 64}, {'TILE': 128}])(tuned_kernels.scale)\n"
        "x, y = tuned_kernels.arrays()\n"
        "with trace.recording() as recorder:\n"
        "    ct.launch(None, lambda c: (1024 // c.TILE,), tuned, (x, y, 2.0))\n"
        "assert (y == 2 * x).all()\n"
        "print([event.name for event in recorder.events].count('estimate'))\n"
    )
    for count in ("2", "0"):
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        assert done.stdout.strip() == count, done.stderr


def test_one_configuration_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = counted(monkeypatch)
    x, y = arrays()
    ct.launch(None, (N // 64,), ct.autotune(CONFIGS[:1])(scale), (x, y, 2.0))
    np.testing.assert_array_equal(y, 2 * x)
    assert not searches


def test_configurations() -> None:
    config = ct.Config(TILE=64, occupancy=2)
    assert (config.TILE, config.occupancy, config.num_ctas) == (64, 2, None)
    assert config.constants == {"TILE": 64} and config.hints == {"occupancy": 2}
    assert repr(config) == "Config(TILE=64, occupancy=2)"
    assert config == ct.Config(TILE=64, occupancy=2) != ct.Config(TILE=64)
    assert len({config, ct.Config(TILE=64, occupancy=2)}) == 1
    with pytest.raises(AttributeError, match="has no 'TM'; it has TILE, occupancy"):
        _ = config.TM


@pytest.mark.parametrize(
    ("configs", "key", "message"),
    [
        ([], None, "no configurations of scale are given"),
        ([{"TILE": 1}, {"occupancy": 1}], None, "configurations of scale give different param"),
        ([{"tile": 1}], None, "'tile' is no constant parameter of scale, and no hint\n  constant "
         "parameters: TILE; hints: num_ctas, occupancy, opt_level, num_worker_warps"),
        ([{"factor": 1}], None, "'factor' is no constant parameter of scale"),
        ([{"TILE": 1}], ("n",), "key 'n' is no parameter that calls of scale pass\n  they pass "
         "x, y, factor"),
        ([{"TILE": 1}], ("TILE",), "key 'TILE' is no parameter that calls of scale pass"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_kernel(configs: Any, key: Any, message: str) -> None:
    with pytest.raises(tileir.TileError) as caught:
        ct.autotune(configs, key)(scale)
    assert str(caught.value).startswith(message)


def test_wrong_uses() -> None:
    with pytest.raises(tileir.TileError, match="@autotune takes a kernel, not function"):
        ct.autotune(CONFIGS)(blocks)  # type: ignore[arg-type]
    tuned = ct.autotune(CONFIGS)(scale)
    with pytest.raises(LaunchError, match="takes 3 arguments, 4 were given"):
        ct.launch(None, blocks, tuned, (*arrays(), 2.0, 64))
    with pytest.raises(tileir.TileError, match="the kernel 'scale' cannot be called"):
        tuned()
    x, y = arrays()
    with pytest.raises(ct.tune.TuningError, match="none of 2 configurations works"):
        ct.launch(None, lambda c: (0,), tuned, (x, y, 2.0))
