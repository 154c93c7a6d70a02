"""Searches that run elsewhere: futures, a local Dask cluster, and what looks like Ray."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tuned_kernels

import tileir
import tileir.lang as ct
from tileir import trace
from tileir.tuner import task as task_module
from tileir.tuner.executors import tasks_of
from tileir.tuner.recipe import describe_words
from tileir.tuner.result import Limits
from tileir.tuner.task import Outcome, Task, describe_place, run_task

TILES = [64, -1, 128]


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEIR_BACKEND", "interp")
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def here() -> ct.tune.TuningResult[Any]:
    """What a search in this process finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEIR_BACKEND", "interp")
        return tuned_kernels.search(TILES)


def check(found: ct.tune.TuningResult[Any], here: ct.tune.TuningResult[Any]) -> None:
    """The same configurations with the same estimates, and the same failure."""
    times = [(one.config, one.mean_us) for one in found.successes]
    assert times == [(one.config, one.mean_us) for one in here.successes]
    assert [one.config for one in found.failures] == [-1]


def task(**more: Any) -> Task:
    x, y = tuned_kernels.arrays()
    module = b"cuda_tile.module @m { entry @k(%p: tile<ptr<f32>>) { return } }"
    made = Task(module, "sm_90a", 3, "estimate", (1, 1, 1), describe_words([x]), Limits(), 60.0)
    return replace(made, **more)


# ---- tasks ---------------------------------------------------------------------------------------


def test_tasks_go_by_content() -> None:
    sent = pickle.dumps((run_task, task()))
    assert b"tuned_kernels" not in sent and b"__main__" not in sent
    function, argument = pickle.loads(sent)
    outcome = pickle.loads(pickle.dumps(function(argument)))
    assert outcome.error is None and outcome.mean_us > 0 and outcome.samples == 1
    assert outcome.device == "estimate for sm_90a"


def test_errors_come_back() -> None:
    outcome = run_task(task(module=b"nonsense"))
    assert outcome.error == "ParseError" and "nonsense" in outcome.reason
    outcome = run_task(task(compile_seconds=1e-3, target="sm_80"))
    assert outcome.error == "CompileTimeout"


def test_another_version() -> None:
    outcome = run_task(task(version="0.0.1"))
    assert outcome.error == "TileError"
    assert "0.0.1 where the search runs\n  install one version everywhere" in outcome.reason


def test_programs_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with trace.recording() as recorder:
        first = run_task(task(opt_level=2))
        second = run_task(task(opt_level=2))
    assert first == second
    assert [event.name for event in recorder.events].count("convert-tile-gpu") == 1


def test_a_place_without_a_gpu() -> None:
    place = describe_place("sm_80")
    assert (place.device, place.target, place.how) == ("estimate for sm_80", "sm_80", "estimate")


# ---- concurrent.futures --------------------------------------------------------------------------


def test_threads(here: ct.tune.TuningResult[Any]) -> None:
    with ThreadPoolExecutor(2) as pool, trace.recording() as recorder:
        check(tuned_kernels.search(TILES, executor=pool), here)
    # What threads did is not counted twice, as their own and as what came back.
    assert [event.name for event in recorder.events].count("convert-tile-gpu") == 2


def test_slices_of_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_module, "this_process", lambda: "another machine 1")
    with ThreadPoolExecutor(2) as pool:
        packed = [
            pool.submit(run_task, task(traced_by="here 1", opt_level=level)) for level in (0, 1)
        ]
        for future in packed:
            events = (future.result().events or {})["events"]
            names = [name for name, *_ in events]
            assert names.count("convert-tile-gpu") <= 1 and names.count("LLVM") == 1


@pytest.mark.slow
def test_processes(here: ct.tune.TuningResult[Any]) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as pool:
        check(tuned_kernels.search(TILES, executor=pool), here)


class Dying(Executor):
    """An executor whose workers die, but for the first task."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.count += 1
        future: Future[Any] = Future()
        if self.count <= 2:
            future.set_result(function(*args))
        else:
            future.set_exception(BrokenPipeError("worker 3 is gone"))
        return future


def test_workers_that_die() -> None:
    result = tuned_kernels.search([64, 128, 256], executor=Dying())
    assert len(result.successes) == 1
    assert {tuple(one)[1:] for one in result.failures} == {(BrokenPipeError, "worker 3 is gone")}


def test_an_executor_that_cannot_run_us() -> None:
    class Empty(Dying):
        def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(ModuleNotFoundError("No module named 'tileir'"))
            return future

    with pytest.raises(ct.tune.TuningError, match="cannot run tileir: ModuleNotFoundError"):
        tuned_kernels.search([64], executor=Empty())


def test_devices_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = iter(["A100", "H200"])

    def run(one: Task) -> Outcome:
        return Outcome(next(devices), 5.0, 0.1, 10)

    monkeypatch.setattr("tileir.tuner.executors.run_task", run)
    place = replace(describe_place("sm_90a"), device="H200")
    monkeypatch.setattr("tileir.tuner.executors.describe_place", lambda target: place)
    with ThreadPoolExecutor(1) as pool:
        result = tuned_kernels.search([64, 128], executor=pool)
    assert [one.config for one in result.successes] == [128]
    assert result.failures[0].reason == "measured on A100, the search is for H200"


def test_few_are_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tileir.tuner.executors._IN_FLIGHT", 2)
    monkeypatch.setattr("tileir.tuner.executors.run_task", lambda one: Outcome("", 1.0, 0.0, 1))
    monkeypatch.setattr("tileir.tuner.executors.describe_place",
                        lambda target: replace(describe_place("sm_90a"), device=""))  # fmt: skip

    class Watched(ThreadPoolExecutor):
        most = flying = 0

        def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.flying += 1
            self.most = max(self.most, self.flying)
            future = super().submit(function, *args, **kwargs)
            future.add_done_callback(lambda _: setattr(self, "flying", self.flying - 1))
            return future

    with Watched(1) as pool:
        assert len(tuned_kernels.search([16, 32, 64, 128, 256], executor=pool).successes) == 5
        assert pool.most <= 2


# ---- Dask ----------------------------------------------------------------------------------------


@pytest.fixture
def dask_client(request: pytest.FixtureRequest) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=request.param, dashboard_address=None,
        silence_logs=50,
    )  # fmt: skip
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize(
    "dask_client", [False, pytest.param(True, marks=pytest.mark.slow)], indirect=True
)
def test_dask(dask_client: Any, here: ct.tune.TuningResult[Any]) -> None:
    check(tuned_kernels.search(TILES, executor=dask_client), here)
    # To measure again is no question that the scheduler may answer itself.
    tasks = tasks_of(dask_client)
    first, second = (tasks.submit(os.getpid.__class__, print) for _ in range(2))
    assert first.key != second.key
    with pytest.raises(tileir.TileError, match=r"pass a client of it: distributed.Client\(cluster"):
        tuned_kernels.search([64], executor=dask_client.cluster)


@pytest.mark.parametrize("dask_client", [False], indirect=True)
def test_an_autotuned_kernel_on_dask(dask_client: Any) -> None:
    tuned = ct.autotune([{"TILE": 64}, {"TILE": 128}], executor=dask_client)(tuned_kernels.scale)
    x, y = tuned_kernels.arrays()
    ct.launch(None, lambda c: (tuned_kernels.N // c.TILE,), tuned, (x, y, 3.0))
    assert (y == 3 * x).all()
    (result,) = tuned.results.values()
    assert len(result.successes) == 2 and result.unit == "us (est.)"


# ---- Ray -----------------------------------------------------------------------------------------


class Reference:
    def __init__(self, run: Any):
        self.run = run


class FakeRay:
    """The part of Ray's interface that we use, with its manners: functions are made remote, calls
    give references, everything is pickled on the way."""

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []
        self.cancelled: list[Reference] = []

    def remote(self, *args: Any, **options: Any) -> Any:
        if options:
            self.options.append(options)
            return self.remote
        packed = pickle.dumps(args[0])

        def call(argument: Any) -> Reference:
            sent = pickle.dumps(argument)
            return Reference(lambda: pickle.dumps(pickle.loads(packed)(pickle.loads(sent))))

        return SimpleNamespace(remote=call)

    def wait(self, references: list[Reference], num_returns: int) -> Any:
        assert num_returns == 1
        return references[-1:], references[:-1]

    def get(self, reference: Reference) -> Any:
        return pickle.loads(reference.run())

    def cancel(self, reference: Reference, force: bool) -> None:
        self.cancelled.append(reference)


def test_ray(here: ct.tune.TuningResult[Any]) -> None:
    ray = FakeRay()
    found = tuned_kernels.search(TILES, executor=ray, executor_options={"num_gpus": 1})
    check(found, here)
    assert ray.options == [{"num_gpus": 1}] * 2  # the question where we are, and the tasks


def test_what_flies_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay()

    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(ray, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tuned_kernels.search([64, 128], executor=ray)
    assert len(ray.cancelled) == 2


def test_what_is_no_executor() -> None:
    with pytest.raises(tileir.TileError, match="a dict is no executor\n  pass an Executor of"):
        tuned_kernels.search([64], executor={})
    assert task_module.run_task is run_task
