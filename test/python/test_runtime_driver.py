"""CudaDriver through the real cuda-bindings, on a stub of the driver library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("cuda.bindings")

PRELUDE = """
import numpy as np
from tileir.errors import LaunchError
from tileir.runtime import Image, KernelInfo, KernelSet, TensorMap, cuda_driver

def kernel(name="record", code=b"\\x7fELF", parameters=("ptr<i32>", "i32"), **fields):
    info = KernelInfo(name, parameters, (128, 1, 1), "sm_90a", **fields)
    return KernelSet([Image(code, [info])])[name]

def error(action):
    try:
        action()
    except LaunchError as found:
        print(found)
"""


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stub as libcuda.so.1."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None, "building the package needs a C compiler anyway"
    folder = tmp_path_factory.mktemp("stub")
    source = Path(__file__).with_name("stub_libcuda.c")
    command = [compiler, "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(source)]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture
def on_stub(stub: Path) -> Callable[..., list[str]]:
    """Runs Python code with the stub as the machine's driver; returns the lines it prints."""

    def run(code: str, **environment: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + code],
            env={**os.environ, "LD_LIBRARY_PATH": str(stub), **environment},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_device(on_stub: Callable[..., list[str]]) -> None:
    (line,) = on_stub("print(cuda_driver().device())")
    assert "name='Stub GPU', capability=(9, 0), multiprocessors=132, context=4660" in line


def test_launch_passes_extents_memory_stream_and_parameters(
    on_stub: Callable[..., list[str]],
) -> None:
    (line,) = on_stub(
        "out = np.zeros(13, np.int32)\n"
        "launchable = kernel(cluster=(2, 1, 1), dynamic_shared_bytes=70000)\n"
        "launchable.launch((4, 5, 6), [out, -42], stream=7)\n"
        "print(out.tolist())\n"
    )
    assert line == "[4, 5, 6, 128, 1, 1, 70000, 7, 1, 2, 1, 1, -42]"


def test_no_attribute_without_clusters(on_stub: Callable[..., list[str]]) -> None:
    (line,) = on_stub(
        "out = np.zeros(13, np.int32)\nkernel().launch(9, [out, 3])\nprint(out.tolist())\n"
    )
    assert line == "[9, 1, 1, 128, 1, 1, 0, 0, 0, 0, 0, 0, 3]"


def test_refused_image_shows_the_drivers_log(on_stub: Callable[..., list[str]]) -> None:
    lines = on_stub(
        "error(lambda: kernel(code=b'bad').launch(1, [np.zeros(13, np.int32), 1]))", LC_ALL="C"
    )
    assert lines[0].startswith("cannot load kernel image: CUDA_ERROR_INVALID_PTX (a stub's error)")
    assert lines[1] == "line 1: this is no PTX"


def test_fault_names_the_kernel(on_stub: Callable[..., list[str]]) -> None:
    lines = on_stub("error(lambda: kernel('fault').launch(1, [np.zeros(13, np.int32), 1]))")
    assert lines == [
        "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (a stub's error); "
        "launched since the last synchronisation: fault"
    ]


def test_out_of_memory(on_stub: Callable[..., list[str]]) -> None:
    lines = on_stub("error(lambda: cuda_driver().allocate(1 << 40))")
    assert lines == ["cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (a stub's error)"]


def test_missing_kernel(on_stub: Callable[..., list[str]]) -> None:
    lines = on_stub("error(lambda: kernel('other', parameters=()).launch(1, []))")
    assert lines == ["cuLibraryGetKernel: CUDA_ERROR_NOT_FOUND (a stub's error)"]


def test_no_device(on_stub: Callable[..., list[str]]) -> None:
    lines = on_stub("error(lambda: cuda_driver().device())", STUB_NO_DEVICE="1")
    assert lines == ["the CUDA driver sees no device"]


def test_tensor_map_is_encoded_by_the_driver(on_stub: Callable[..., list[str]]) -> None:
    (line,) = on_stub(
        "tensor_map = TensorMap('bf16', 4096, (128, 64), (256,), (64, 8), (1, 2), 128, 'nan')\n"
        "encoded = cuda_driver().encode_tensor_map(tensor_map)\n"
        "print(np.frombuffer(encoded, np.uint64).tolist())\n"
    )
    # type BFLOAT16 9, rank, address, dims, stride, box, steps, interleave 0, swizzle 128B 3,
    # promotion 256B 3, fill NaN 1 (numbers of cuda.h)
    assert line == "[9, 2, 4096, 128, 64, 256, 64, 8, 1, 2, 0, 3, 3, 1, 0, 0]"


def test_machine_without_a_device() -> None:
    script = PRELUDE + "error(lambda: kernel().launch(1, [np.zeros(13, np.int32), 1]))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    reason, remedy = done.stdout.splitlines()
    assert reason.startswith(("no CUDA driver was found", "the CUDA driver does not start"))
    assert "backend='interp'" in remedy or "nvidia-smi" in remedy
