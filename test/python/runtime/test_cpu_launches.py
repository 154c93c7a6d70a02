"""Launching kernels of the language without a GPU."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from jit_kernels import add, scale

import tileir.lang as ct
from tileir.errors import ExecutionError, LaunchError
from tileir.lang.kernel import Kernel
from tileir.runtime import jit
from tileir.runtime.jit import launch


def fresh(kernel: Kernel) -> Kernel:
    """The kernel as nobody has launched it."""
    return kernel.replace_hints()


@pytest.fixture(params=["interp", "sim"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TILEIR_BACKEND", request.param)
    return request.param


@pytest.mark.parametrize("dtype", [np.float32, np.int16, ml_dtypes.bfloat16])
def test_numpy_arrays(backend: str, dtype: Any) -> None:
    a, b = np.arange(300).astype(dtype), np.arange(300)[::-1].astype(dtype)
    out = np.zeros_like(a)
    kernel = fresh(add)
    launch(None, (3,), kernel, (a, b, out, 128))
    np.testing.assert_array_equal(out, a + b)
    wide = np.zeros((300, 2), dtype)
    launch(None, (3,), kernel, (a, b, wide[:, 1], 128))  # another specialisation
    np.testing.assert_array_equal(wide[:, 1], a + b)
    np.testing.assert_array_equal(wide[:, 0], 0)


def test_scalars(backend: str) -> None:
    a = np.arange(64, dtype=np.float32)
    out = np.zeros_like(a)
    for factor in (2.5, np.float64(2.5)):
        launch(None, 1, fresh(scale), (a, out, factor, 64))
        np.testing.assert_array_equal(out, a * np.float32(2.5))


@ct.kernel
def keep(out: Any, value: ct.ScalarInt64) -> None:
    ct.scatter(out, 0, value)


@ct.kernel
def keep_narrow(out: Any, value: Any) -> None:
    ct.scatter(out, 0, value)


def test_wide_integers(backend: str) -> None:
    out = np.zeros(1, np.int64)
    for value in (np.int64(2**40), np.uint32(0xDEADBEEF), -(2**40)):
        launch(None, 1, fresh(keep), (out, value))
        assert out[0] == value
        with pytest.raises(LaunchError) as caught:
            launch(None, 1, fresh(keep_narrow), (out, value))
        assert str(caught.value) == (
            f"kernel 'keep_narrow', parameter 'value': {value} does not fit int32\n  integers of "
            "Python and NumPy are int32 unless annotated: value: ct.ScalarInt64"
        )
    launch(None, 1, fresh(keep_narrow), (out, np.int64(-3)))
    assert out[0] == -3


def test_tensors_of_pytorch(backend: str) -> None:
    torch = pytest.importorskip("torch")
    kernel = fresh(add)
    for dtype in (torch.float32, torch.bfloat16):
        a = torch.arange(100, dtype=dtype)
        out = torch.zeros_like(a)
        launch(None, 1, kernel, (a, a.clone().requires_grad_(), out, 128))
        assert torch.equal(out, a + a)


def test_the_same_array_twice(backend: str) -> None:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    kernel = fresh(add)
    launch(None, 2, kernel, (x, y, x, 64))
    np.testing.assert_array_equal(x, np.arange(1, 101))
    launch(None, 2, kernel, (x, x, x, 64))
    np.testing.assert_array_equal(x, 2 * np.arange(1, 101))


def test_arrays_that_overlap_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_BACKEND", "interp")
    x = np.zeros(101, np.float32)
    with pytest.raises(ExecutionError, match="race: .*\n.*not to overlap unless they begin at one"):
        launch(None, 1, fresh(add), (x[:100], np.ones(100, np.float32), x[1:], 128))


@pytest.mark.parametrize("args", [None, 5, "a", {"a": 1}, np.zeros(4, np.float32)], ids=str)
def test_arguments_are_a_tuple(backend: str, args: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        launch(None, 1, fresh(scale), args)
    assert str(caught.value) == (
        f"kernel 'scale': arguments are a tuple, not {type(args).__name__}\n"
        "  launch(stream, grid, scale, (a, b, c)); of one argument, (a,)"
    )


def test_tensors_without_memory(backend: str) -> None:
    torch = pytest.importorskip("torch")
    a = np.zeros(4, np.float32)
    with pytest.raises(LaunchError, match="parameter 'b': this Tensor cannot be passed: .*meta"):
        launch(None, 1, fresh(add), (a, torch.zeros(4, device="meta"), a, 4))


@pytest.mark.parametrize("kind", ["numpy", "list", "dlpack"])
def test_negative_strides(backend: str, kind: str) -> None:
    base = np.zeros(100, np.float32)
    reversed_ = Exported(base[::-1]) if kind == "dlpack" else base[::-1]
    args = ([base, reversed_], base, base, 128) if kind == "list" else (reversed_, base, base, 128)
    with pytest.raises(LaunchError, match="parameter 'a': stride -1 of dimension 0 is negative"):
        launch(None, 1, fresh(add), args)
    launch(None, 1, fresh(add), (np.broadcast_to(base[:1], 100), base, base.copy(), 128))


class Exported:
    """An array that only exports DLPack."""

    def __init__(self, array: np.ndarray):
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


def test_the_interpreter_is_the_default_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEIR_BACKEND", raising=False)
    monkeypatch.setattr(jit, "_has_gpu", lambda: False)
    assert jit.backend() == "interp"
    monkeypatch.setattr(jit, "_has_gpu", lambda: True)
    assert jit.backend() == "cuda"


def test_unknown_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_BACKEND", "gpu")
    with pytest.raises(LaunchError, match="TILEIR_BACKEND is 'gpu'\n  it can be cuda, interp, sim"):
        launch(None, 1, fresh(add), ())


class OnDevice:
    """An array on a GPU."""

    __cuda_array_interface__ = {
        "shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3,
    }  # fmt: skip


def test_arrays_on_a_gpu_are_not_for_the_cpu(backend: str) -> None:
    a = np.zeros(4, np.float32)
    with pytest.raises(LaunchError) as caught:
        launch(None, 1, fresh(add), (a, OnDevice(), a, 4))
    assert str(caught.value) == (
        "kernel 'add', parameter 'b': the array lies on a GPU, the kernel runs on the CPU "
        f"(TILEIR_BACKEND={backend})\n  TILEIR_BACKEND=cuda, or pass an array in host memory"
    )


def test_errors_name_the_parameter(backend: str) -> None:
    a = np.zeros(4, np.float32)
    kernel = fresh(add)
    with pytest.raises(LaunchError, match="kernel 'add' takes 4 arguments, 3 were given"):
        launch(None, 1, kernel, (a, a, a))
    with pytest.raises(LaunchError, match="parameter 'a': kernels have no elements of type <U1"):
        launch(None, 1, kernel, (np.array(["x"]), a, a, 4))
    with pytest.raises(LaunchError, match="strides of .* bytes are not multiples"):
        odd = np.ndarray((2,), np.float32, bytearray(16), strides=(6,))
        launch(None, 1, kernel, (odd, a, a, 4))
    with pytest.raises(LaunchError, match="grid x is 0"):
        launch(None, 0, kernel, (a, a, a, 4))
