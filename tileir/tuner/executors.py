"""Executors: where tasks of a search run.

    concurrent.futures   any Executor, and what looks like one
    Dask                 distributed.Client
    Ray                  the module ray, or a client with remote, get and wait

A task goes to whichever worker is free. On machines with GPUs there should be one worker a GPU
(`CUDA_VISIBLE_DEVICES`; dask-cuda and Ray's `num_gpus` do that).
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from .. import errors as tile_errors
from .. import trace
from ..errors import TileError
from . import timer as _timer_errors
from .candidate import Candidate
from .recipe import describe_words
from .result import Failure, Limits, Measurement, TuningError
from .task import Outcome, Place, Task, describe_place, run_task, this_process

T = TypeVar("T")

#: Tasks that are sent before the first has come back, so that arguments do not pile up.
_IN_FLIGHT = 64


class Tasks(Protocol):
    """Functions that run elsewhere."""

    def submit(self, function: Callable[..., Any], argument: Any) -> Any:
        """Starts `function(argument)`; returns a handle that can be hashed."""
        ...

    def wait(self, handles: Sequence[Any]) -> Any:
        """One of the handles, whose function has ended."""
        ...

    def result(self, handle: Any) -> Any:
        """What the function returned. Raises what it raised, or what befell its worker."""
        ...

    def cancel(self, handles: Sequence[Any]) -> None:
        """Gives up functions, as far as that is possible."""
        ...


class FutureTasks:
    """An executor of `concurrent.futures`."""

    def __init__(self, executor: Any, options: Mapping[str, Any]):
        self._executor, self._options = executor, options

    def submit(self, function: Callable[..., Any], argument: Any) -> Any:
        return self._executor.submit(function, argument, **self._options)

    def wait(self, handles: Sequence[Any]) -> Any:
        first = concurrent.futures.FIRST_COMPLETED
        return next(iter(concurrent.futures.wait(handles, return_when=first).done))

    def result(self, handle: Any) -> Any:
        return handle.result()

    def cancel(self, handles: Sequence[Any]) -> None:
        for handle in handles:
            handle.cancel()


class DaskTasks(FutureTasks):
    """A client of Dask distributed."""

    def submit(self, function: Callable[..., Any], argument: Any) -> Any:
        # Not pure: to measure again is to measure again.
        return self._executor.submit(function, argument, pure=False, **self._options)

    def wait(self, handles: Sequence[Any]) -> Any:
        from distributed import wait

        ended: Any = wait(list(handles), return_when="FIRST_COMPLETED")
        return next(iter(ended.done))

    def cancel(self, handles: Sequence[Any]) -> None:
        self._executor.cancel(list(handles))


class RayTasks:
    """Ray: the module, or a client with the same functions."""

    def __init__(self, ray: Any, options: Mapping[str, Any]):
        self._ray, self._options = ray, options
        self._functions: dict[Callable[..., Any], Any] = {}

    def submit(self, function: Callable[..., Any], argument: Any) -> Any:
        if function not in self._functions:
            remote = self._ray.remote
            decorator = remote(**self._options) if self._options else remote
            self._functions[function] = decorator(function)
        return self._functions[function].remote(argument)

    def wait(self, handles: Sequence[Any]) -> Any:
        ready, _ = self._ray.wait(list(handles), num_returns=1)
        return ready[0]

    def result(self, handle: Any) -> Any:
        return self._ray.get(handle)

    def cancel(self, handles: Sequence[Any]) -> None:
        for handle in handles:
            self._ray.cancel(handle, force=False)


def tasks_of(executor: Any, options: Mapping[str, Any] | None = None) -> Tasks:
    """The interface to an executor; `options` go with each submission (Dask: `resources`, Ray:
    `num_gpus`). Raises TileError for what is none."""
    options = options or {}
    package = type(executor).__module__.partition(".")[0]
    if package == "distributed" and hasattr(executor, "submit"):
        return DaskTasks(executor, options)
    if all(hasattr(executor, name) for name in ("remote", "get", "wait")):
        return RayTasks(executor, options)
    if hasattr(executor, "submit"):
        return FutureTasks(executor, options)
    remedy = "pass an Executor of concurrent.futures, a distributed.Client, or the module ray"
    if package == "distributed":
        remedy = "pass a client of it: distributed.Client(cluster)"
    raise TileError(f"a {type(executor).__name__} is no executor", remedy=remedy)


class ExecutorBackend:
    """Sends candidates to an executor, which compiles and measures them."""

    is_exact: bool
    unit: str

    def __init__(self, tasks: Tasks, place: Place, compile_seconds: float | None):
        self._tasks = tasks
        self.place = place
        self.is_exact = place.how == "estimate"
        self.unit = "us (est.)" if self.is_exact else "us"
        self._compile_seconds = compile_seconds

    def run(
        self, candidates: Sequence[Candidate[T]], limits: Limits, cutoff: Callable[[], float | None]
    ) -> Iterator[tuple[Candidate[T], Measurement[T] | Failure[T]]]:
        left = iter(candidates)
        flying: dict[Any, Candidate[T]] = {}
        try:
            while True:
                while len(flying) < _IN_FLIGHT and (candidate := next(left, None)) is not None:
                    try:
                        task = self._task(candidate, limits, cutoff())
                    except TileError as error:
                        yield candidate, Failure(candidate.config, type(error), str(error))
                        continue
                    flying[self._tasks.submit(run_task, task)] = candidate
                if not flying:
                    return
                handle = self._tasks.wait(list(flying))
                candidate = flying.pop(handle)
                yield candidate, self._result(handle, candidate)
        finally:
            if flying:
                self._tasks.cancel(list(flying))

    def _task(self, candidate: Candidate[T], limits: Limits, cutoff_us: float | None) -> Task:
        return Task(
            candidate.module(), candidate.target, candidate.opt_level, self.place.how,
            candidate.grid, describe_words(candidate.specialization.words), limits,
            self._compile_seconds, cutoff_us, traced_by=this_process() if trace.is_on() else None,
        )  # fmt: skip

    def _result(self, handle: Any, candidate: Candidate[T]) -> Measurement[T] | Failure[T]:
        config = candidate.config
        try:
            outcome: Outcome = self._tasks.result(handle)
        except Exception as error:  # of the user's executor: a worker that died, say
            return Failure(config, type(error), str(error) or repr(error))
        if outcome.events:
            with trace.facts(kernel=candidate.kernel.name, config=str(config)):
                trace.merge(outcome.events)
        if outcome.error is not None:
            return Failure(config, _error_class(outcome.error), outcome.reason)
        if outcome.device != self.place.device:
            reason = f"measured on {outcome.device}, the search is for {self.place.device}"
            return Failure(config, TuningError, reason)
        return Measurement(
            config, outcome.mean_us, outcome.samples, outcome.margin_us, outcome.stopped_early
        )

    def close(self, cancel: bool = False) -> None:
        """Executors belong to whoever made them."""


def _error_class(name: str) -> type[BaseException]:
    """The class of an error by name; TileError for one that is not known here."""
    for module in (tile_errors, _timer_errors):
        found = getattr(module, name, None)
        if isinstance(found, type):
            return found
    return MemoryError if name == "MemoryError" else TileError


def place_of(tasks: Tasks, target: str) -> Place:
    """What the workers of an executor have: one of them is asked. Raises TuningError if that
    fails."""
    try:
        return tasks.result(tasks.submit(describe_place, target))
    except Exception as error:  # of the user's executor
        raise TuningError(
            f"the executor cannot run tileir: {type(error).__name__}: {error}",
            remedy="install tileir where its workers run",
        ) from error
