"""Timing on a device whose launches take as long as the test says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tileir.errors import LaunchError
from tileir.tuner import timer as timer_module
from tileir.tuner.result import Limits
from tileir.tuner.timer import DeviceLost, DeviceTimer, RunTimeout

L2_BYTES = 50 << 20


class FakeDriver:
    """A device with a clock in microseconds; the n-th launch takes `times[n]`.

    An event is ready after `polls` questions; `broken` is what launches end in.
    """

    def __init__(self, times: Iterator[float], polls: int = 0):
        self.times, self.polls = times, polls
        self.clock = 0.0
        self.log: list[str] = []
        self.broken: LaunchError | None = None
        self.is_lost = False
        statuses = SimpleNamespace(CUDA_SUCCESS=0, CUDA_ERROR_NOT_READY=600)
        self.bindings = SimpleNamespace(
            CUresult=statuses,
            CUdevice_attribute=SimpleNamespace(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE=38),
            cuDeviceGetAttribute=lambda name, device: (0, L2_BYTES),
            cuEventCreate=lambda flags: (0, {"at": 0.0, "asked": 0}),
            cuEventRecord=self._record,
            cuEventQuery=self._query,
            cuEventElapsedTime=lambda a, b: (0, (b["at"] - a["at"]) / 1e3),
            cuEventDestroy=lambda event: (0,),
        )

    def device(self) -> Any:
        return SimpleNamespace(ordinal=0)

    def allocate(self, size: int) -> int:
        self.log.append(f"allocate {size >> 20} MiB")
        return 4096

    def free(self, address: int) -> None:
        self.log.append("free")

    def zero(self, address: int, size: int, stream: int) -> None:
        self.log.append("flush")
        self.clock += 30.0

    def is_alive(self, stream: int) -> bool:
        return not self.is_lost

    def launch(self) -> None:
        if self.broken:
            raise self.broken
        self.log.append("launch")
        self.clock += next(self.times)

    def _record(self, event: Any, stream: int) -> tuple[int]:
        event.update(at=self.clock, asked=0)
        return (0,)

    def _query(self, event: Any) -> tuple[int]:
        event["asked"] += 1
        return (0 if event["asked"] > self.polls else 600,)


@pytest.fixture
def fast_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Makes each look at the host's clock find it further on."""

    def step(seconds: float) -> None:
        ticks = itertools.count()
        clock = SimpleNamespace(monotonic=lambda: next(ticks) * seconds, sleep=lambda _: None)
        monkeypatch.setattr(timer_module, "time", clock)

    return step


def test_each_launch_is_timed_behind_a_flush() -> None:
    driver = FakeDriver(itertools.repeat(12.0))
    timer = DeviceTimer(driver=driver)
    samples, early = timer.measure(driver.launch, Limits(warmups=3, batch=5), None)
    assert samples.times == pytest.approx([12.0] * 5) and not early
    timer.close()
    assert driver.log == ["allocate 100 MiB", *["flush", "launch"] * 8, "free"]


def test_without_a_flush() -> None:
    driver = FakeDriver(itertools.repeat(12.0))
    DeviceTimer(driver=driver).measure(driver.launch, Limits(flush_l2=False), None)
    assert "flush" not in driver.log


def test_noise_is_measured_until_the_mean_is_known() -> None:
    driver = FakeDriver(itertools.cycle([100.0, 108.0, 104.0, 92.0, 96.0]))
    samples, _ = DeviceTimer(driver=driver).measure(driver.launch, Limits(), None)
    # Standard deviation 5.7, so about (1.96 * 5.7) ** 2 samples for one microsecond.
    assert 90 <= len(samples.times) <= 180
    assert samples.mean == pytest.approx(100.0, abs=1)
    assert samples.margin <= 0.01 * samples.mean


def test_no_more_than_the_most() -> None:
    driver = FakeDriver(itertools.cycle([1.0, 1000.0]))
    samples, _ = DeviceTimer(driver=driver).measure(driver.launch, Limits(most=40), None)
    assert len(samples.times) == 40


def test_the_slow_are_given_up_once_it_is_sure() -> None:
    driver = FakeDriver(itertools.cycle([200.0, 260.0]))
    samples, early = DeviceTimer(driver=driver).measure(driver.launch, Limits(), 150.0)
    assert early and len(samples.times) == 5
    # Not while it could be noise.
    driver = FakeDriver(itertools.cycle([200.0, 260.0]))
    samples, early = DeviceTimer(driver=driver).measure(driver.launch, Limits(most=30), 225.0)
    assert not early and len(samples.times) == 30


def test_long_launches_are_measured_few_times() -> None:
    driver = FakeDriver(itertools.repeat(2e6))
    samples, _ = DeviceTimer(driver=driver).measure(driver.launch, Limits(seconds=5), None)
    assert len(samples.times) <= 2


def test_a_launch_that_takes_too_long(fast_clock: Callable[[float], None]) -> None:
    driver = FakeDriver(itertools.repeat(1.0), polls=20)
    fast_clock(0.5)
    with pytest.raises(RunTimeout, match="one run takes longer than 2 s"):
        DeviceTimer(driver=driver).measure(driver.launch, Limits(single_run_seconds=2.0), None)


def test_a_launch_that_never_ends(fast_clock: Callable[[float], None]) -> None:
    driver = FakeDriver(itertools.repeat(1.0), polls=1 << 30)
    fast_clock(1.0)
    with pytest.raises(DeviceLost, match="a launch does not end: it has run for"):
        DeviceTimer(driver=driver).measure(driver.launch, Limits(single_run_seconds=2.0), None)


def test_an_error_of_one_launch_and_one_of_the_device() -> None:
    driver = FakeDriver(itertools.repeat(1.0))
    timer = DeviceTimer(driver=driver)
    driver.broken = LaunchError("grid is too large")
    with pytest.raises(LaunchError, match="grid is too large"):
        timer.measure(driver.launch, Limits(), None)
    driver.broken, driver.is_lost = LaunchError("illegal address"), True
    with pytest.raises(DeviceLost, match="broke the device's context: illegal address"):
        timer.measure(driver.launch, Limits(), None)
