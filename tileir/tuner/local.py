"""Compiling on all cores, measuring in this process."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import trace
from ..errors import LaunchError, TileError
from .candidate import Candidate
from .device_words import DeviceWords
from .result import Failure, Limits, Measurement, Samples

if TYPE_CHECKING:
    from ..compiler.parallel import CompilerPool
    from ..runtime.compiled import CompiledKernel
    from .timer import DeviceTimer

T = TypeVar("T")
Result = tuple[Candidate[T], "Measurement[T] | Failure[T]"]


class _Compiling(ABC, Generic[T]):
    """Candidates that are compiled in worker processes, each once."""

    def __init__(self, workers: int | None, timeout: float | None):
        self._workers, self._timeout = workers, timeout
        self._pool: CompilerPool | None = None
        self._made: dict[int, Future[Any]] = {}

    @abstractmethod
    def _submit(self, pool: CompilerPool, candidate: Candidate[T]) -> Future[Any]:
        """Starts compiling a candidate."""

    def compiled(
        self, candidates: Sequence[Candidate[T]]
    ) -> Iterator[tuple[Candidate[T], Any | TileError]]:
        """Candidates as they are compiled, each with what was made or the error."""
        if self._pool is None:
            from ..compiler.parallel import CompilerPool

            self._pool = CompilerPool(self._workers, self._timeout)
        waiting: dict[Future[Any], Candidate[T]] = {}
        for candidate in candidates:
            future = self._made.get(id(candidate))
            if future is None:
                try:
                    future = self._submit(self._pool, candidate)
                except TileError as error:
                    yield candidate, error
                    continue
                self._made[id(candidate)] = future
            waiting[future] = candidate
        for future in as_completed(waiting):
            try:
                made = future.result()
            except TileError as error:
                made = error
            yield waiting[future], made

    def close(self, cancel: bool = False) -> None:
        if self._pool is not None:
            self._pool.close(cancel)
            self._pool = None


class DeviceBackend(_Compiling[T]):
    """Measures on the current device, one launch at a time, on copies of the arrays; on the arrays
    themselves if `in_place`, where they lie on the device."""

    unit = "us"
    is_exact = False

    def __init__(
        self, stream: int, workers: int | None, timeout: float | None, in_place: bool = False
    ):
        from .timer import DeviceTimer

        super().__init__(workers, timeout)
        self._stream = stream
        self._in_place = in_place
        self._timer: DeviceTimer = DeviceTimer(stream)
        self._copies: dict[tuple[Any, ...], DeviceWords] = {}

    def _words(self, candidate: Candidate[T]) -> Sequence[Any]:
        """The words of a launch, arrays on the device. Candidates with the same arrays share
        copies."""
        found = candidate.specialization
        if self._in_place and not any(array.on_host for array in found.arrays):
            return found.words
        arrays = tuple((array.address, array.shape, array.strides) for array in found.arrays)
        numbers = tuple(word for word in found.words if isinstance(word, int | float))
        key = (arrays, numbers)
        if key not in self._copies:
            self._copies[key] = DeviceWords(self._timer.driver, found.words, self._stream)
        return self._copies[key].words

    def _submit(self, pool: CompilerPool, candidate: Candidate[T]) -> Future[CompiledKernel]:
        from ..runtime.compile_ahead import compile_ahead

        signature = candidate.specialization.signature
        return compile_ahead(
            candidate.kernel, signature, candidate.target, candidate.opt_level, pool
        )

    def run(
        self, candidates: Sequence[Candidate[T]], limits: Limits, cutoff: Callable[[], float | None]
    ) -> Iterator[Result[T]]:
        for candidate, made in self.compiled(candidates):
            if isinstance(made, TileError):
                yield candidate, Failure(candidate.config, type(made), str(made))
                continue
            yield candidate, self._measure(candidate, made, limits, cutoff())

    def _measure(
        self,
        candidate: Candidate[T],
        compiled: CompiledKernel,
        limits: Limits,
        cutoff_us: float | None,
    ) -> Measurement[T] | Failure[T]:
        from .timer import DeviceLost

        try:
            with trace.slice("time", "tune", config=candidate.config) as slice:
                start = starter(compiled, candidate.grid, self._words(candidate), self._stream)
                samples, early = self._timer.measure(start, limits, cutoff_us)
                slice.note(mean_us=samples.mean, samples=len(samples.times))
        except DeviceLost as error:
            raise DeviceLost(f"{candidate.config}: {error.reason}", remedy=error.remedy) from None
        except TileError as error:
            return Failure(candidate.config, type(error), str(error))
        return measurement(candidate.config, samples, early)

    def close(self, cancel: bool = False) -> None:
        super().close(cancel)
        with contextlib.suppress(LaunchError):  # a device that was lost
            for copies in self._copies.values():
                copies.close()
            self._timer.close()


def starter(
    kernel: Any, grid: tuple[int, int, int], words: Sequence[Any], stream: int
) -> Callable[[], None]:
    """What queues a launch of a `Kernel`."""
    try:
        return kernel.prepare(grid, words, stream).start
    except LaunchError:
        # It has a workspace, which launches share: each is prepared anew.
        return lambda: kernel.launch(grid, words, stream)


def measurement(config: T, samples: Samples, early: bool) -> Measurement[T]:
    margin = samples.margin if len(samples.times) > 1 else samples.mean
    return Measurement(config, samples.mean, len(samples.times), margin, early)


class EstimateBackend(_Compiling[T]):
    """Estimates on the CPU (`estimate.py`); arrays keep their contents."""

    unit = "us (est.)"
    is_exact = True

    def _submit(self, pool: CompilerPool, candidate: Candidate[T]) -> Future[Any]:
        from ..compiler.parallel import Request

        return pool.submit(Request(candidate.module(), candidate.target, candidate.opt_level))

    def run(
        self, candidates: Sequence[Candidate[T]], limits: Limits, cutoff: Callable[[], float | None]
    ) -> Iterator[Result[T]]:
        for candidate, made in self.compiled(candidates):
            if isinstance(made, TileError):
                yield candidate, Failure(candidate.config, type(made), str(made))
                continue
            yield candidate, self._estimate(candidate, made)

    def _estimate(self, candidate: Candidate[T], program: Any) -> Measurement[T] | Failure[T]:
        from .estimate import estimate
        from .recipe import copied

        try:
            with trace.slice("estimate", "tune", config=candidate.config) as slice:
                words = copied(candidate.specialization.words)
                cost = estimate(program, candidate.grid, words)
                slice.note(us=cost.microseconds)
        except TileError as error:
            return Failure(candidate.config, type(error), str(error))
        return Measurement(candidate.config, cost.microseconds, 1, 0.0)
