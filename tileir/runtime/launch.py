"""Launching one kernel: grid, hidden parameters, parameter block, results."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import LaunchError
from .arguments import Arguments
from .device_memory import Workspaces
from .driver import Device, Driver, LaunchConfig
from .expressions import Environment, evaluate
from .metadata import HiddenParameter, HiddenScalar, KernelInfo, Workspace
from .streams import stream_handle
from .tensor_map import BYTES, ZEROS, TensorMapRecipe

_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_TENSOR_MAP_ALIGNMENT = 64
#: The workspace that kernels do not write.
_ZEROS_SLOT = -1


def normalize_grid(grid: int | Sequence[int]) -> tuple[int, int, int]:
    """A grid given as `x`, `(x,)`, `(x, y)` or `(x, y, z)`, checked."""
    try:
        extents = tuple(map(operator.index, grid if isinstance(grid, Iterable) else (grid,)))
    except TypeError:
        raise LaunchError(
            f"a grid is one to three whole numbers, not {grid!r}",
            remedy="-(-n // tile) divides and rounds up, as tileir.lang.cdiv(n, tile) does",
        ) from None
    if not 1 <= len(extents) <= 3:
        raise LaunchError(f"a grid has one to three extents, found {len(extents)}")
    padded = (*extents, 1, 1)[:3]
    for axis, extent, limit in zip("xyz", padded, _GRID_LIMITS, strict=True):
        if not 1 <= extent <= limit:
            raise LaunchError(f"grid {axis} is {extent}, expected 1 to {limit}")
    return (padded[0], padded[1], padded[2])


def launch_kernel(
    driver: Driver,
    device: Device,
    function: Any,
    info: KernelInfo,
    grid: int | Sequence[int],
    args: Sequence[Any],
    stream: Any,
    workspaces: Workspaces,
) -> None:
    """Starts `function` on `stream`; waits for it only if NumPy arrays must be copied back."""
    handle = stream_handle(stream)
    program_grid = normalize_grid(grid)
    arguments = Arguments(driver, info.parameters, args, handle, device)
    try:
        launch = PreparedLaunch(
            driver, device, function, info, program_grid, arguments, handle, workspaces
        )
        launch.start()
        if arguments.has_host_arrays:
            arguments.copy_back()
    except BaseException:
        arguments.release(quiet=True)
        raise
    arguments.release()


def prepare_launch(
    driver: Driver,
    device: Device,
    function: Any,
    info: KernelInfo,
    grid: int | Sequence[int],
    args: Sequence[Any],
    stream: Any,
    workspaces: Workspaces,
) -> PreparedLaunch:
    """A launch that can be started many times; its arrays must lie on the device."""
    if any(isinstance(one, Workspace) for one in info.hidden):
        raise LaunchError(
            f"kernel '{info.name}' has a workspace, which launches share: it cannot be prepared",
            remedy="use launch()",
        )
    handle = stream_handle(stream)
    program_grid = normalize_grid(grid)
    arguments = Arguments(driver, info.parameters, args, handle, device)
    if arguments.has_host_arrays:
        arguments.release()
        raise LaunchError(
            f"kernel '{info.name}': arrays of a prepared launch must lie on the device",
            remedy="copy them there, or use launch()",
        )
    return PreparedLaunch(
        driver, device, function, info, program_grid, arguments, handle, workspaces
    )


class PreparedLaunch:
    """Grid and parameters of a launch, evaluated once: `start()` does nothing but call the driver.

    It keeps the arrays alive; those must not move.
    """

    def __init__(
        self,
        driver: Driver,
        device: Device,
        function: Any,
        info: KernelInfo,
        grid: tuple[int, int, int],
        arguments: Arguments,
        stream: int,
        workspaces: Workspaces,
    ):
        environment = Environment(
            [word.value for word in arguments.words], grid, device.multiprocessors
        )
        hidden = [
            _hidden_word(driver, device, one, slot, environment, stream, workspaces)
            for slot, one in enumerate(info.hidden)
        ]
        self.config = launch_config(info, environment)
        self._parameters = ParameterBlock(
            [(word.data, len(word.data)) for word in arguments.words] + hidden
        )
        self._driver, self._function, self._name = driver, function, info.name
        self._arguments, self._stream = arguments, stream

    def start(self) -> None:
        """Queues the kernel on the stream it was prepared for."""
        self._driver.launch(
            self._function, self._name, self.config, self._parameters.address, self._stream
        )


def launch_config(info: KernelInfo, environment: Environment) -> LaunchConfig:
    """The extents to launch: the program's grid, or what the kernel's recipes make of it."""
    x, y, z = (evaluate(extent, environment) for extent in info.grid)
    grid = normalize_grid((x, y, z))
    x, y, z = (evaluate(extent, environment) for extent in info.cluster)
    for axis, blocks, count in zip("xyz", grid, (x, y, z), strict=True):
        if count < 1 or blocks % count:
            raise LaunchError(
                f"kernel '{info.name}': grid {axis} of {blocks} blocks is not a multiple of the "
                f"cluster's {count}"
            )
    return LaunchConfig(grid, info.block, (x, y, z), info.dynamic_shared_bytes)


def _hidden_word(
    driver: Driver,
    device: Device,
    hidden: HiddenParameter,
    slot: int,
    environment: Environment,
    stream: int,
    workspaces: Workspaces,
) -> tuple[bytes, int]:
    """Bytes and alignment of one hidden parameter."""
    if isinstance(hidden, TensorMapRecipe):

        def zeros() -> int:
            return _zeroed(driver, device, _ZEROS_SLOT, ZEROS, stream, workspaces)

        encoded = driver.encode_tensor_map(hidden.instantiate(environment, zeros))
        if len(encoded) != BYTES:
            raise LaunchError(f"an encoded tensor map has {len(encoded)} bytes, expected {BYTES}")
        return encoded, _TENSOR_MAP_ALIGNMENT
    if isinstance(hidden, HiddenScalar):
        value = evaluate(hidden.value, environment)
        return (value % (1 << 32)).to_bytes(4, "little"), 4
    assert isinstance(hidden, Workspace)
    size = max(1, evaluate(hidden.bytes, environment))
    if hidden.zeroed:
        block = _zeroed(driver, device, slot, size, stream, workspaces)
    else:
        block = workspaces.address(device.context, stream, slot, size)
    return block.to_bytes(8, "little"), 8


def _zeroed(
    driver: Driver, device: Device, slot: int, size: int, stream: int, workspaces: Workspaces
) -> int:
    """The address of a workspace of zeros."""
    block = workspaces.address(device.context, stream, slot, size)
    driver.zero(block, size, stream)
    return block


class ParameterBlock:
    """Kernel parameters in host memory: each value aligned, and an array of pointers to them.

    The driver copies the values during the launch call, so the block need not outlive it.
    """

    def __init__(self, parameters: Sequence[tuple[bytes, int]]):
        offsets, size = [], 0
        for data, alignment in parameters:
            size += -size % alignment
            offsets.append(size)
            size += len(data)
        self._memory = ctypes.create_string_buffer(size + _TENSOR_MAP_ALIGNMENT)
        raw = ctypes.addressof(self._memory)
        base = raw + -raw % _TENSOR_MAP_ALIGNMENT
        for offset, (data, _) in zip(offsets, parameters, strict=True):
            ctypes.memmove(base + offset, data, len(data))
        # The driver wants a valid array also for kernels without parameters.
        pointers = [base + offset for offset in offsets] or [0]
        self._pointers = (ctypes.c_void_p * len(pointers))(*pointers)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._pointers)
