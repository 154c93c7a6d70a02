"""Arrays, streams and kernels for tests on the stub of the driver, whose device memory is ours."""

from __future__ import annotations

import ctypes
import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tileir.runtime import Image, KernelInfo
from tileir.runtime.compiled import CompiledKernel
from tileir.runtime.device_arrays import DLPACK_TYPES
from tileir.runtime.dtypes import name_of
from tileir.runtime.metadata import HiddenScalar
from tileir.runtime.specialize import rule_of
from tileir.signature import Signature

STUB_SOURCE = Path(__file__).parents[1] / "stub_libcuda.c"
CUDA = 2


def build_stub(folder: Path) -> None:
    """Puts the stub into a folder as libcuda.so.1."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None, "building the package needs a C compiler anyway"
    command = [compiler, "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(STUB_SOURCE)]
    subprocess.run(command, check=True)


class Stub:
    """What the stub has seen."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._library.stub_log.restype = ctypes.c_char_p

    def lines(self) -> list[str]:
        """The log since the last call."""
        text = self._library.stub_log().decode()
        self._library.stub_clear()
        return text.splitlines()

    def launches(self) -> list[Launch]:
        """The launches since the last call."""
        return [Launch.parse(line) for line in self.lines() if line.startswith("log_")]

    def capture(self, on: bool) -> None:
        self._library.stub_capture(int(on))


@dataclass(frozen=True)
class Launch:
    """A launch as the driver got it."""

    grid: tuple[int, int, int]
    stream: int
    device: int
    cluster: int
    programmatic: bool
    words: tuple[int, ...]

    @classmethod
    def parse(cls, line: str) -> Launch:
        head, _, tail = line.partition("|")
        parts = head.split()
        x, y, z = map(int, parts[2:5])
        return cls(
            (x, y, z), int(parts[6]), int(parts[8]), int(parts[10]), parts[12] == "1",
            tuple(int(word, 16) for word in tail.split()),
        )  # fmt: skip


# ---- arrays --------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("offset", ctypes.c_uint64),
    )


class _Table(ctypes.Structure):
    """DLPackExchangeAPI of dlpack.h."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("from_object", ctypes.c_void_p),
        ("to_object", ctypes.c_void_p),
        ("fill", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
    )


_CODES = {name: code for code, name in DLPACK_TYPES.items()}


def _fill(value: Any, result: Any) -> int:
    tensor = result.contents
    array: np.ndarray = value.array
    tensor.data, tensor.offset = value.address, 0
    tensor.device_type, tensor.device = value.device
    tensor.rank = array.ndim
    tensor.code, tensor.bits = _CODES[value.dtype]
    tensor.lanes = 1
    tensor.shape = ctypes.addressof(value.extents)
    tensor.strides = ctypes.addressof(value.steps)
    return 0


_fill_function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Tensor))(_fill)
_NAME = b"dlpack_exchange_api"


def exchange_capsule(major: int = 1, previous: int | None = None) -> tuple[Any, _Table]:
    """A capsule for `__dlpack_c_exchange_api__`, and the table that it points to."""
    table = _Table(
        major=major, minor=3, previous=previous,
        fill=ctypes.cast(_fill_function, ctypes.c_void_p).value,
    )  # fmt: skip
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(table), _NAME, None), table


_capsule, _table = exchange_capsule()


class DeviceArray:
    """A NumPy array as if it lay on a device, with DLPack's table of C functions."""

    __dlpack_c_exchange_api__ = _capsule

    def __init__(self, array: np.ndarray, device: int = 0, address: int | None = None):
        self.array = array
        self.device = (CUDA, device)
        self.dtype = name_of(array.dtype)
        self.address = array.ctypes.data if address is None else address
        self.extents = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
        self.steps = (ctypes.c_int64 * max(1, array.ndim))(*self.strides)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def __getitem__(self, index: Any) -> DeviceArray:
        """A part of it."""
        return DeviceArray(self.array[index], self.device[1], address=self.address)

    @property
    def words(self) -> tuple[int, ...]:
        return (self.address, *self.shape, *self.strides)


def zeros(*shape: int, dtype: Any = np.float32, device: int = 0) -> DeviceArray:
    """An array on a device whose address is a multiple of 64."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return DeviceArray(raw[start : start + size].view(dtype).reshape(shape), device)


# ---- kernels -------------------------------------------------------------------------------------


@dataclass
class Parameter:
    """A parameter as `tileir.lang` describes it."""

    name: str
    constant: bool = False
    array: Any = None
    scalar: Any = None
    list: Any = None
    items: Any = None
    each: Any = None
    index_bits: int = 32
    default: Any = inspect.Parameter.empty


class FakeKernel:
    """A kernel whose specialisations write a line to the stub's log.

    The last word of a line is the number of the specialisation in `signatures`.
    """

    def __init__(self, *parameters: Parameter | str, **metadata: Any):
        self.name = "fake"
        self.parameters = [Parameter(p) if isinstance(p, str) else p for p in parameters]
        self.signatures: list[Signature] = []
        self.metadata = metadata

    def precompiled(self, signature: Signature, target: str) -> CompiledKernel:
        assert target == "sm_90a"
        self.signatures.append(signature)
        words = signature.words()
        sizes = [_size(word) for word in words]
        metadata = dict(self.metadata)
        hidden = tuple(metadata.pop("hidden", ()))
        number = HiddenScalar(len(self.signatures) - 1)
        name = "log" + "".join(f"_{size}" for size in [*sizes, *(8 for _ in hidden), 4])
        info = KernelInfo(
            name, words, (128, 1, 1), "sm_90a", launch="managed", hidden=(*hidden, number),
            **metadata,
        )  # fmt: skip
        rules = [rule_of(parameter) for parameter in self.parameters]
        return CompiledKernel(Image(b"\x7fELF", [info]), signature, rules)


def _size(word: str) -> int:
    return 8 if word.startswith("ptr") else max(1, int(word[1:]) // 8)


def flat(*arrays: DeviceArray) -> tuple[int, ...]:
    """The words of several arrays, as the log has them: 32-bit but for addresses."""
    return tuple(
        word if index == 0 else word & 0xFFFFFFFF
        for array in arrays
        for index, word in enumerate(array.words)
    )


def run_here(script: Sequence[str], stub: Path, **environment: str) -> None:
    """Runs a Python command with the stub as the machine's driver, away from the checkout, whose
    folder tileir/ is not all of the package."""
    done = subprocess.run(
        [sys.executable, *script],
        env={**os.environ, "LD_LIBRARY_PATH": str(stub), **environment},
        capture_output=True, text=True, timeout=300, cwd=stub,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
