"""Searching for the fastest configuration of a kernel.

    result = ct.tune.exhaustive_search(
        [64, 128, 256], stream, lambda tile: (ct.cdiv(n, tile),), add,
        lambda tile: (a, b, out, tile),
    )
    result.best.config, result.best.mean_us

Kernels are compiled on all cores at once. With a GPU each is timed with CUDA events, the
second-level cache flushed before each launch; without one, times are estimated from what the
simulator counts (`tileir.tuner.estimate`), which is an order of configurations and no time. What
fails or takes too long is in `result.failures`, with the reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ..errors import TileError
from ..tuner.candidate import Launches
from ..tuner.engine import Backend, Search
from ..tuner.progress import Progress, progress_for
from ..tuner.result import Failure, Limits, Measurement, TuningError, TuningResult
from ..tuner.space import Space, walk

__all__ = [
    "Failure",
    "Measurement",
    "TuningError",
    "TuningResult",
    "exhaustive_search",
    "product",
    "search",
]

T = TypeVar("T")


def exhaustive_search(
    search_space: Sequence[T],
    stream: Any,
    grid_fn: Callable[[T], Any],
    kernel: Any | Callable[[T], Any],
    args_fn: Callable[[T], Sequence[Any]],
    hints_fn: Callable[[T], Mapping[str, Any]] | None = None,
    *,
    quiet: bool = False,
    single_run_timeout_sec: float | None = None,
    flush_l2: bool = True,
    compile_timeout_sec: float | None = 120.0,
    prune: Callable[[T], str | None] | None = None,
    workers: int | None = None,
    executor: Any = None,
    executor_options: Mapping[str, Any] | None = None,
) -> TuningResult[T]:
    """Compiles and measures every configuration of a sequence.

    For a configuration, `grid_fn` gives the grid, `args_fn` the arguments and `hints_fn` hints
    (`occupancy`, `num_ctas`, ...; None leaves one as it is). `kernel` is a kernel, or a function
    that gives one. `prune` gives a reason not to try a configuration, or None.

    `compile_timeout_sec` and `single_run_timeout_sec` limit one compilation and one launch.
    `workers` is how many are compiled at once (all cores). `executor` compiles and measures
    elsewhere: an Executor of concurrent.futures, a Dask client, or the module ray;
    `executor_options` go with each submission. Kernels and arguments are sent by content; of large
    arrays of floats only type, shape, strides and alignment, with random elements.

    Raises TuningError if no configuration works, or the device is lost.
    """
    configs = list(search_space)
    with _search(
        stream, grid_fn, kernel, args_fn, hints_fn, quiet, single_run_timeout_sec, flush_l2,
        compile_timeout_sec, prune, workers, executor, executor_options,
    ) as found:  # fmt: skip
        found.measure(configs)
        return found.result()


def search(
    choices: Mapping[str, Sequence[Any]],
    stream: Any,
    grid_fn: Callable[[dict[str, Any]], Any],
    kernel: Any | Callable[[dict[str, Any]], Any],
    args_fn: Callable[[dict[str, Any]], Sequence[Any]],
    hints_fn: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    *,
    budget: int = 64,
    seed: int = 0,
    quiet: bool = False,
    single_run_timeout_sec: float | None = None,
    flush_l2: bool = True,
    compile_timeout_sec: float | None = 120.0,
    prune: Callable[[dict[str, Any]], str | None] | None = None,
    workers: int | None = None,
    executor: Any = None,
    executor_options: Mapping[str, Any] | None = None,
) -> TuningResult[dict[str, Any]]:
    """Measures at most `budget` combinations of choices, such as `{"TM": (64, 128, 256), ...}`.

    If there are more, a sample that is spread over all of them is measured, then the neighbours of
    the fastest, and theirs, as long as that finds faster ones. The same `seed` takes the same
    sample. `result.untried` says how many combinations were left out. All else is as in
    `exhaustive_search`; a configuration is a dictionary.
    """
    if budget < 1:
        raise TileError(f"a search needs a budget of at least one measurement, not {budget}")
    space = Space(choices)
    with _search(
        stream, grid_fn, kernel, args_fn, hints_fn, quiet, single_run_timeout_sec, flush_l2,
        compile_timeout_sec, prune, workers, executor, executor_options,
    ) as found:  # fmt: skip
        untried = walk(
            space,
            lambda points: found.measure([space.config(point) for point in points]),
            budget,
            seed,
        )
        return found.result(untried)


def product(**choices: Sequence[Any]) -> list[dict[str, Any]]:
    """All combinations of choices: `product(TM=(64, 128), occupancy=(1, 2))`."""
    return [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]


@contextmanager
def _search(
    stream: Any,
    grid_fn: Callable[[T], Any],
    kernel: Any | Callable[[T], Any],
    args_fn: Callable[[T], Sequence[Any]],
    hints_fn: Callable[[T], Mapping[str, Any]] | None,
    quiet: bool,
    single_run_timeout_sec: float | None,
    flush_l2: bool,
    compile_timeout_sec: float | None,
    prune: Callable[[T], str | None] | None,
    workers: int | None,
    executor: Any,
    executor_options: Mapping[str, Any] | None,
) -> Iterator[Search[T]]:
    handle = _handle(stream)
    backend, target = make_backend(
        handle, workers, compile_timeout_sec, executor, executor_options, in_place=True
    )
    is_kernel = hasattr(kernel, "replace_hints")
    launches = Launches(
        kernel=(lambda config: kernel) if is_kernel else kernel,
        grid=grid_fn,
        args=args_fn,
        hints=hints_fn or (lambda config: {}),
        target=target,
        stream=handle,
    )
    limits = Limits(single_run_seconds=single_run_timeout_sec, flush_l2=flush_l2)
    title = getattr(kernel, "name", "tuning")
    with run_search(launches, backend, limits, progress_for(title, quiet), prune) as found:
        yield found


@contextmanager
def run_search(
    launches: Launches[T],
    backend: Backend,
    limits: Limits,
    progress: Progress,
    prune: Callable[[T], str | None] | None = None,
) -> Iterator[Search[T]]:
    """A search on a backend, which is closed at the end; at an error, what still runs is ended."""
    try:
        with progress:
            yield Search(launches, backend, limits, progress, prune)
    except BaseException:
        backend.close(cancel=True)
        raise
    backend.close()


def make_backend(
    stream: int,
    workers: int | None,
    compile_timeout_sec: float | None,
    executor: Any,
    executor_options: Mapping[str, Any] | None,
    in_place: bool,
) -> tuple[Backend, str]:
    """Where candidates are compiled and measured, and the target that they are compiled for."""
    from ..runtime.jit import backend as where

    if executor is not None:
        from ..tuner.executors import ExecutorBackend, place_of, tasks_of

        tasks = tasks_of(executor, executor_options)
        place = place_of(tasks, _cpu_target())
        return ExecutorBackend(tasks, place, compile_timeout_sec), place.target
    if where() == "cuda":
        from ..runtime.driver import cuda_driver
        from ..runtime.targets import native_target
        from ..tuner.local import DeviceBackend

        target = native_target(cuda_driver().device().capability)
        return DeviceBackend(stream, workers, compile_timeout_sec, in_place), target
    from ..tuner.local import EstimateBackend

    return EstimateBackend(workers, compile_timeout_sec), _cpu_target()


def _cpu_target() -> str:
    import os

    return os.environ.get("TILEIR_TARGET") or "sm_90a"


def _handle(stream: Any) -> int:
    from ..runtime.streams import stream_handle

    return stream_handle(stream)
