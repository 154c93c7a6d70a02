"""The CUDA driver, as far as a launch needs it.

`Driver` is the interface; `CudaDriver` implements it with cuda-bindings, which is imported when
the first driver is made.  Everything above this file works with any `Driver`.

Addresses, streams, libraries and functions are plain integers or opaque handles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from ..errors import LaunchError
from . import launcher
from .tensor_map import TensorMap


@dataclass(frozen=True)
class Device:
    """The device of the current context; `context` tells contexts of one device apart."""

    ordinal: int
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    context: int


@dataclass(frozen=True)
class LaunchConfig:
    """Extents of a launch: blocks, threads per block, blocks per cluster, dynamic shared bytes."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_shared_bytes: int


class Driver(Protocol):
    """What a launch needs from a driver; every method may raise `LaunchError`."""

    def device(self) -> Device:
        """The current device; makes the first device's primary context current if none is."""
        ...

    def current(self, context: int) -> AbstractContextManager[Device]:
        """Makes a context current for a while."""
        ...

    def is_capturing(self, stream: int) -> bool:
        """Whether what is put on `stream` goes into a graph."""
        ...

    def allocate(self, size: int) -> int: ...

    def free(self, address: int) -> None: ...

    def allocate_on(self, size: int, stream: int) -> int:
        """Memory that is valid for work put on `stream` after this call."""
        ...

    def free_on(self, address: int, stream: int) -> None:
        """Gives the memory back once the work now on `stream` is done."""
        ...

    def copy_to_device(self, target: int, source: int, size: int, stream: int) -> None: ...

    def copy_to_host(self, target: int, source: int, size: int, stream: int) -> None: ...

    def zero(self, address: int, size: int, stream: int) -> None: ...

    def synchronize(self, stream: int) -> None: ...

    def load(self, image: bytes, what: str) -> Any:
        """Loads a cubin or PTX text; `what` names it in errors."""
        ...

    def function(self, library: Any, name: str, config: LaunchConfig) -> Any:
        """The kernel `name`, ready for launches with `config`'s shared memory and clusters."""
        ...

    def launch(
        self, function: Any, name: str, config: LaunchConfig, parameters: int, stream: int
    ) -> None:
        """Starts the kernel; `parameters` is the host address of an array of pointers."""
        ...

    def encode_tensor_map(self, tensor_map: TensorMap) -> bytes:
        """The 128 bytes that the hardware reads."""
        ...


@cache
def cuda_driver() -> Driver:
    """The machine's driver; `LaunchError` says what is missing if there is none."""
    return CudaDriver()


_LOG_BYTES = 16384
_PORTABLE_CLUSTER = 8


class CudaDriver:
    """`Driver` on cuda-bindings.

    Errors of a running kernel surface at some later call; `_recent` keeps the names of what was
    launched since the last synchronisation, for the message.
    """

    def __init__(self) -> None:
        try:
            driver: Any = import_module("cuda.bindings.driver")
        except ImportError as error:
            raise LaunchError(
                "cuda-bindings is not installed, so kernels cannot be launched",
                remedy="pip install cuda-bindings",
            ) from error
        self._cu = driver
        self._recent: deque[str] = deque(maxlen=8)
        self._devices: dict[int, Device] = {}
        self._primary: dict[int, int] = {}
        try:
            status = driver.cuInit(0)[0]
        except Exception as error:  # cuda-bindings raises several types if libcuda is missing
            raise LaunchError(
                "no CUDA driver was found",
                remedy="kernels run on the CPU with backend='interp'; launching needs an NVIDIA "
                "GPU and its driver (libcuda)",
            ) from error
        if status != driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(
                f"the CUDA driver does not start: {status.name}",
                remedy="check with nvidia-smi that a device is present and the driver works",
            )

    def _call(self, function: Callable[..., tuple[Any, ...]], *args: Any) -> Any:
        """Calls the driver; its single result, a tuple of several, or None."""
        status, *results = function(*args)
        if status != self._cu.CUresult.CUDA_SUCCESS:
            raise self._error(function.__name__, status)
        if len(results) > 1:
            return tuple(results)
        return results[0] if results else None

    def _error(self, call: str, status: Any, detail: str = "") -> LaunchError:
        text = self._cu.cuGetErrorString(status)[1]
        reason = f"{call}: {status.name} ({text.decode() if text else 'unknown error'})"
        recent = [*self._recent, *launcher.recent()]
        if recent:
            reason += f"; launched since the last synchronisation: {', '.join(recent)}"
        return LaunchError(f"{reason}\n{detail}" if detail else reason)

    def device(self) -> Device:
        cu = self._cu
        context = int(self._call(cu.cuCtxGetCurrent))
        if not context:
            if self._call(cu.cuDeviceGetCount) == 0:
                raise LaunchError("the CUDA driver sees no device")
            context = self.primary_context(0)
            self._call(cu.cuCtxSetCurrent, context)
        if context not in self._devices:
            self._devices[context] = self._describe_device(context)
        return self._devices[context]

    def _describe_device(self, context: int) -> Device:
        cu = self._cu
        device = self._call(cu.cuCtxGetDevice)

        def attribute(name: str) -> int:
            code = getattr(cu.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
            return self._call(cu.cuDeviceGetAttribute, code, device)

        name = self._call(cu.cuDeviceGetName, 128, device)
        return Device(
            ordinal=int(device),
            name=name.split(b"\0")[0].decode(),
            capability=(
                attribute("COMPUTE_CAPABILITY_MAJOR"),
                attribute("COMPUTE_CAPABILITY_MINOR"),
            ),
            multiprocessors=attribute("MULTIPROCESSOR_COUNT"),
            context=context,
        )

    def stream_context(self, stream: int) -> int:
        """The context that a stream belongs to."""
        return int(self._call(self._cu.cuStreamGetCtx, stream))

    def primary_context(self, ordinal: int) -> int:
        """The context of a device that CUDA's runtime uses, and PyTorch; kept from now on."""
        if ordinal not in self._primary:
            device = self._call(self._cu.cuDeviceGet, ordinal)
            self._primary[ordinal] = int(self._call(self._cu.cuDevicePrimaryCtxRetain, device))
        return self._primary[ordinal]

    @contextmanager
    def current(self, context: int) -> Iterator[Device]:
        """Makes a context current for a while."""
        self._call(self._cu.cuCtxPushCurrent, context)
        try:
            yield self.device()
        finally:
            self._call(self._cu.cuCtxPopCurrent)

    def is_capturing(self, stream: int) -> bool:
        """Whether what is put on a stream goes into a graph."""
        status = self._call(self._cu.cuStreamIsCapturing, stream)
        return status != self._cu.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE

    @contextmanager
    def aside_from_capture(self) -> Iterator[None]:
        """Lets this thread load code and allocate memory while it captures a graph."""
        cu = self._cu
        relaxed = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        before = self._call(cu.cuThreadExchangeStreamCaptureMode, relaxed)
        try:
            yield
        finally:
            self._call(cu.cuThreadExchangeStreamCaptureMode, before)

    def is_alive(self, stream: int) -> bool:
        """Whether the current context still works; waits for the stream."""
        return self._cu.cuStreamSynchronize(stream)[0] == self._cu.CUresult.CUDA_SUCCESS

    @property
    def bindings(self) -> Any:
        """The module cuda.bindings.driver."""
        return self._cu

    def synchronize_context(self) -> None:
        """Waits for all work of the current context."""
        self._call(self._cu.cuCtxSynchronize)
        self._recent.clear()
        launcher.forget_recent()

    def copy_aside(self, target: int, data: bytes) -> None:
        """Copies to the device on a stream of its own, and waits for that."""
        cu = self._cu
        stream = self._call(cu.cuStreamCreate, cu.CUstream_flags.CU_STREAM_NON_BLOCKING)
        try:
            self._call(cu.cuMemcpyHtoDAsync, target, data, len(data), stream)
            self._call(cu.cuStreamSynchronize, stream)
        finally:
            self._call(cu.cuStreamDestroy, stream)

    def error(self, call: str, status: int) -> LaunchError:
        """The error for a status that `call` gave."""
        return self._error(call, self._cu.CUresult(status))

    def allocate(self, size: int) -> int:
        return int(self._call(self._cu.cuMemAlloc, size))

    def free(self, address: int) -> None:
        self._call(self._cu.cuMemFree, address)

    def allocate_on(self, size: int, stream: int) -> int:
        return int(self._call(self._cu.cuMemAllocAsync, size, stream))

    def free_on(self, address: int, stream: int) -> None:
        self._call(self._cu.cuMemFreeAsync, address, stream)

    def copy_to_device(self, target: int, source: int, size: int, stream: int) -> None:
        self._call(self._cu.cuMemcpyHtoDAsync, target, source, size, stream)

    def copy_to_host(self, target: int, source: int, size: int, stream: int) -> None:
        self._call(self._cu.cuMemcpyDtoHAsync, target, source, size, stream)

    def copy_on_device(self, target: int, source: int, size: int, stream: int) -> None:
        """Copies from one place in device memory to another."""
        self._call(self._cu.cuMemcpyDtoDAsync, target, source, size, stream)

    def zero(self, address: int, size: int, stream: int) -> None:
        self._call(self._cu.cuMemsetD8Async, address, 0, size, stream)

    def synchronize(self, stream: int) -> None:
        self._call(self._cu.cuStreamSynchronize, stream)
        self._recent.clear()
        launcher.forget_recent()

    def load(self, image: bytes, what: str) -> Any:
        cu = self._cu
        log = bytearray(_LOG_BYTES)
        options = [
            cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
            cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        status, library = cu.cuLibraryLoadData(
            image, options, [log, _LOG_BYTES], len(options), [], [], 0
        )
        if status != cu.CUresult.CUDA_SUCCESS:
            detail = bytes(log).split(b"\0")[0].decode(errors="replace").strip()
            raise self._error(f"cannot load {what}", status, detail)
        return library

    def function(self, library: Any, name: str, config: LaunchConfig) -> Any:
        cu = self._cu
        kernel = self._call(cu.cuLibraryGetKernel, library, name.encode())
        function = self._call(cu.cuKernelGetFunction, kernel)
        attributes = cu.CUfunction_attribute
        if config.dynamic_shared_bytes:
            code = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call(cu.cuFuncSetAttribute, function, code, config.dynamic_shared_bytes)
        x, y, z = config.cluster
        if x * y * z > _PORTABLE_CLUSTER:
            code = attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            self._call(cu.cuFuncSetAttribute, function, code, 1)
        return function

    def launch(
        self, function: Any, name: str, config: LaunchConfig, parameters: int, stream: int
    ) -> None:
        cu = self._cu
        launch = cu.CUlaunchConfig()
        launch.gridDimX, launch.gridDimY, launch.gridDimZ = config.grid
        launch.blockDimX, launch.blockDimY, launch.blockDimZ = config.block
        launch.sharedMemBytes = config.dynamic_shared_bytes
        launch.hStream = cu.CUstream(stream)
        if config.cluster != (1, 1, 1):
            attribute = cu.CUlaunchAttribute()
            attribute.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            cluster = attribute.value.clusterDim
            cluster.x, cluster.y, cluster.z = config.cluster
            launch.attrs = [attribute]
            launch.numAttrs = 1
        self._recent.append(name)
        self._call(cu.cuLaunchKernelEx, launch, function, parameters, 0)

    def encode_tensor_map(self, tensor_map: TensorMap) -> bytes:
        from .tensor_map_encoding import encode

        return encode(self._cu, tensor_map, self._call)
