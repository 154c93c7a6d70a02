"""Measuring on a device, of which only memory and clock are made up: its memory is the host's."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tuned_kernels

import tileir.lang as ct
from tileir import trace
from tileir.errors import LaunchError
from tileir.runtime import PointerTable
from tileir.runtime.compiled import CompiledKernel, compile_kernel, forget
from tileir.runtime.device_arrays import DeviceArray
from tileir.signature import ConstantParameter
from tileir.tuner import local
from tileir.tuner.candidate import Candidate, Launches
from tileir.tuner.device_words import DeviceWords
from tileir.tuner.local import DeviceBackend
from tileir.tuner.result import Failure, Limits, Measurement, Samples, TuningError
from tileir.tuner.timer import DeviceLost


class HostMemory:
    """A driver whose device memory is host memory."""

    def __init__(self) -> None:
        self.blocks: dict[int, Any] = {}

    def device(self) -> Any:
        return SimpleNamespace(ordinal=0)

    def allocate(self, size: int) -> int:
        raw = ctypes.create_string_buffer(size + 256)
        start = ctypes.addressof(raw) + -ctypes.addressof(raw) % 256
        self.blocks[start] = raw
        return start

    def free(self, address: int) -> None:
        del self.blocks[address]

    def copy_to_device(self, target: int, source: int, size: int, stream: int) -> None:
        ctypes.memmove(target, source, size)

    def copy_on_device(self, target: int, source: int, size: int, stream: int) -> None:
        ctypes.memmove(target, source, size)

    def synchronize(self, stream: int) -> None:
        pass


def on_device(array: np.ndarray) -> DeviceArray:
    return DeviceArray(array.ctypes.data, array.shape, array.strides, array.itemsize, "i32", 0)


def contents(array: DeviceArray) -> np.ndarray:
    """What lies in an array whose memory is the host's."""
    reach = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True) if s < 0)
    raw: Any = (ctypes.c_uint8 * 65536).from_address(array.address + reach)
    return np.ndarray(array.shape, np.int32, raw, -reach, array.strides)


BASE = np.arange(4096, dtype=np.int32)


@pytest.mark.parametrize("view", [BASE[:100], BASE[5:300:3], BASE[300:5:-2],
                                  BASE.reshape(64, 64).T[3:7, 1:]])  # fmt: skip
@pytest.mark.parametrize("where", [lambda array: array, on_device])
def test_copies_on_the_device(view: np.ndarray, where: Any) -> None:
    driver: Any = HostMemory()
    with DeviceWords(driver, [where(view), 7, PointerTable([where(view)]), 2.5]) as copies:
        array, number, table, factor = copies.words
        assert (number, factor) == (7, 2.5) and isinstance(array, DeviceArray)
        for copy in (array, table.arrays[0]):
            assert (copy.shape, copy.strides, copy.dtype) == (view.shape, view.strides, "i32")
            assert copy.address % 256 == view.ctypes.data % 256
            np.testing.assert_array_equal(contents(copy), view)
        assert len(driver.blocks) == 2
    assert not driver.blocks


class FakeTimer:
    """Says what each kernel takes, by the size of its tile."""

    device = SimpleNamespace(ordinal=0)

    def __init__(self, stream: int = 0):
        self.driver = HostMemory()
        self.measured: list[Any] = []
        self.closed = False

    def measure(self, start: Any, limits: Limits, cutoff_us: float | None) -> Any:
        compiled, _, words = start
        assert isinstance(compiled, CompiledKernel) and compiled.cubin.startswith(b"\x7fELF")
        assert all(isinstance(word, DeviceArray) for word in words[:1])
        constant = compiled.signature.parameters[-1]
        assert isinstance(constant, ConstantParameter)
        tile = constant.value
        self.measured.append((tile, words[0].address))
        if tile == 256:
            raise LaunchError("too many resources requested")
        if tile == 512:
            raise DeviceLost("the kernel broke the device's context")
        return Samples([float(tile)] * 5), False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DeviceBackend[Any]:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("tileir.tuner.timer.DeviceTimer", FakeTimer)
    monkeypatch.setattr(local, "starter", lambda kernel, grid, words, stream: (kernel, grid, words))
    return DeviceBackend(0, None, 60.0)


def candidates(*tiles: int) -> list[Candidate[int]]:
    x, y = tuned_kernels.arrays()
    launches: Launches[int] = Launches(
        kernel=lambda tile: tuned_kernels.scale, grid=lambda tile: (tuned_kernels.N // tile,),
        args=lambda tile: (x, y, 2.0, tile), hints=lambda tile: {}, target="sm_90a",
    )  # fmt: skip
    found = [launches.candidate(tile) for tile in tiles]
    assert all(isinstance(one, Candidate) for one in found)
    return [one for one in found if isinstance(one, Candidate)]


def test_kernels_are_compiled_once_and_found_by_launches(backend: DeviceBackend[int]) -> None:
    chosen = candidates(64, 128)
    found: dict[int, Any] = {}
    with trace.recording() as recorder:
        for _ in range(2):  # the second time is that of the finalists
            found = {c.config: r for c, r in backend.run(chosen, Limits(), lambda: None)}
        forget()  # only the disk knows
        compiled = compile_kernel(tuned_kernels.scale, chosen[0].specialization.signature, "sm_90a")
    assert compiled.from_disk
    assert [event.name for event in recorder.events].count("convert-tile-gpu") == 2
    assert {tile: one.mean_us for tile, one in found.items() if isinstance(one, Measurement)} == {
        64: 64.0, 128: 128.0,
    }  # fmt: skip
    timer: Any = backend._timer
    # All on the same copies, which go at the end.
    assert len({address for _, address in timer.measured}) == 1 and len(timer.measured) == 4
    backend.close()
    assert timer.closed and not timer.driver.blocks


def test_a_failure_and_the_end(backend: DeviceBackend[int]) -> None:
    (failed,) = [found for _, found in backend.run(candidates(256), Limits(), lambda: None)]
    assert isinstance(failed, Failure) and failed.reason == "too many resources requested"
    with pytest.raises(TuningError, match="512: the kernel broke the device's context"):
        list(backend.run(candidates(512), Limits(), lambda: None))
    backend.close(cancel=True)


def test_a_search_on_a_device(monkeypatch: pytest.MonkeyPatch, backend: DeviceBackend[int]) -> None:
    monkeypatch.setattr("tileir.lang.tune.make_backend", lambda *_, **__: (backend, "sm_90a"))
    result = tuned_kernels.search([256, 128, 64])
    assert [one.config for one in result.successes] == [64, 128] and result.unit == "us"
    assert [one.config for one in result.failures] == [256]
    assert isinstance(result, ct.tune.TuningResult)
