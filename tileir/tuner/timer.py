"""Times of launches on a GPU.

Each launch lies between two events of its own, behind a write of twice the second-level cache: the
caches are cold, and the device is busy with that write while the host queues the launch, so the
host's time does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..errors import LaunchError, TileError
from ..runtime.driver import cuda_driver
from .result import Limits, Samples, TuningError

#: Seconds beyond its limit that a launch gets before the device is given up.
_GRACE = 30.0
_POLL = 50e-6


class RunTimeout(TileError):
    """A launch that takes longer than is allowed."""


class DeviceLost(TuningError):
    """A launch after which the device does nothing any more."""


class DeviceTimer:
    """Measures launches on one stream of the current device."""

    def __init__(self, stream: int = 0, driver: Any = None):
        self.driver: Any = driver or cuda_driver()
        self._cu, self._stream = self.driver.bindings, stream
        self.device = self.driver.device()
        self._flush_bytes = 2 * self._l2_bytes()
        self._flush = self.driver.allocate(self._flush_bytes)
        self._events: list[tuple[Any, Any]] = []

    def close(self) -> None:
        """Gives back memory and events."""
        for pair in self._events:
            for event in pair:
                self._cu.cuEventDestroy(event)
        self._events.clear()
        self.driver.free(self._flush)

    def measure(
        self, start: Callable[[], None], limits: Limits, cutoff_us: float | None
    ) -> tuple[Samples, bool]:
        """Samples of the launch that `start` queues, and whether it was stopped early: since it is
        slower than `cutoff_us` for sure. Raises LaunchError, RunTimeout, DeviceLost."""
        try:
            return self._measure(start, limits, cutoff_us)
        except LaunchError as error:
            self._check_alive(error)
            raise

    def _measure(
        self, start: Callable[[], None], limits: Limits, cutoff_us: float | None
    ) -> tuple[Samples, bool]:
        begin = time.monotonic()
        first = self._batch(start, 1, limits)[0]
        for _ in range(limits.warmups - 1):
            if time.monotonic() - begin < limits.seconds:
                self._batch(start, 1, limits)
        samples = Samples()
        # A launch that takes long is measured a few times only.
        batch = max(1, min(limits.batch, int(limits.seconds * 1e6 / max(first, 1.0) / 2)))
        while True:
            samples.times += self._batch(start, batch, limits)
            if limits.is_enough(samples) or time.monotonic() - begin > limits.seconds:
                return samples, False
            if cutoff_us is not None and samples.mean - samples.margin > cutoff_us:
                return samples, True

    def _batch(self, start: Callable[[], None], count: int, limits: Limits) -> list[float]:
        """Microseconds of `count` launches."""
        for before, after in self._pairs(count):
            if limits.flush_l2:
                self.driver.zero(self._flush, self._flush_bytes, self._stream)
            self._call(self._cu.cuEventRecord, before, self._stream)
            start()
            self._call(self._cu.cuEventRecord, after, self._stream)
        patience = limits.single_run_seconds
        self._wait(self._events[count - 1][1], None if patience is None else patience * count)
        return [
            self._call(self._cu.cuEventElapsedTime, before, after) * 1e3
            for before, after in self._pairs(count)
        ]

    def _pairs(self, count: int) -> list[tuple[Any, Any]]:
        while len(self._events) < count:
            self._events.append(
                (self._call(self._cu.cuEventCreate, 0), self._call(self._cu.cuEventCreate, 0))
            )
        return self._events[:count]

    def _wait(self, event: Any, patience: float | None) -> None:
        begin = time.monotonic()
        done = self._cu.CUresult.CUDA_SUCCESS
        while True:
            status = self._cu.cuEventQuery(event)[0]
            waited = time.monotonic() - begin
            if status == done and (patience is None or waited <= patience):
                return
            if status == done:
                raise RunTimeout(f"one run takes longer than {patience:g} s")
            if status != self._cu.CUresult.CUDA_ERROR_NOT_READY:
                self._call(self._cu.cuEventQuery, event)
            if patience is not None and waited > patience + _GRACE:
                raise DeviceLost(
                    f"a launch does not end: it has run for {waited:.0f} s",
                    remedy="leave this configuration out, or measure in other processes "
                    "(executor=...)",
                )
            time.sleep(_POLL)

    def _check_alive(self, error: LaunchError) -> None:
        """Raises DeviceLost if the device does nothing after an error."""
        if not self.driver.is_alive(self._stream):
            raise DeviceLost(
                f"the kernel broke the device's context: {error.reason}",
                remedy="leave this configuration out, or measure in other processes (executor=...)",
            ) from None

    def _l2_bytes(self) -> int:
        name = self._cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        return max(1 << 20, self._call(self._cu.cuDeviceGetAttribute, name, self.device.ordinal))

    def _call(self, function: Any, *args: Any) -> Any:
        status, *results = function(*args)
        if status != self._cu.CUresult.CUDA_SUCCESS:
            raise self.driver.error(function.__name__, int(status))
        return results[0] if results else None
