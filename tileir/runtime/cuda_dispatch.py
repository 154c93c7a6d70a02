"""Launching kernels of the language on GPUs: what the native launcher leaves to Python.

`Dispatch` owns a native dispatcher, which handles launches of known specialisations by itself and
calls back: `miss` for a new specialisation, `slow` for arguments that are not for it, `fail` for
errors, and for streams, contexts, constants and tables that it has not met.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from .. import trace
from ..errors import LaunchError
from ..signature import ConstantParameter
from . import launcher
from .array_view import ArrayView, view
from .compiled import CompiledKernel, compile_kernel
from .device_arrays import DLPACK_TYPES, DeviceArray
from .device_memory import Tables, Workspaces
from .driver import CudaDriver, Device, cuda_driver
from .dtypes import element
from .launch import normalize_grid
from .native_plan import describe, explain
from .specialize import (
    Specialization,
    as_arguments,
    native_rule,
    plain_constant,
    rule_of,
    specialize,
    with_defaults,
)
from .streams import handle_attribute, stream_handle
from .targets import native_target

#: The driver's numbers for default streams, which belong to whichever context is current.
_DEFAULT_STREAMS = range(3)
_ANY_DEVICE = -1


@cache
def _driver() -> CudaDriver:
    driver = cuda_driver()
    assert isinstance(driver, CudaDriver)
    return driver


@cache
def _tables() -> Tables:
    return Tables(_driver())


@cache
def _workspaces() -> Workspaces:
    return Workspaces(_driver())


class Dispatch:
    """Launches one kernel on GPUs."""

    def __init__(self, kernel: Any):
        self.kernel = kernel
        self.rules = tuple(rule_of(info) for info in kernel.parameters)
        self._driver = _driver()
        self._lock = threading.RLock()
        self._plans: dict[tuple[Any, int], Any] = {}
        self._infos: dict[int, Any] = {}
        self._constants: dict[ConstantParameter, int] = {}
        native = launcher.ready()
        self.native: Any = None
        if native is not None:
            self.native = native.Dispatcher(kernel, self, list(map(native_rule, self.rules)))

    def launch(
        self, kernel: Any, stream: Any, grid: Any, args: Sequence[Any], programmatic: bool
    ) -> bool:
        """The launch without the native launcher."""
        if kernel is not self.kernel:
            return False
        self._launch_flat(stream_handle(stream), grid, args)
        return True

    # ---- called by the native dispatcher -------------------------------------------------------

    def slow(self, stream: Any, grid: Any, args: Any, programmatic: Any) -> None:
        """A launch that is not for the native dispatcher: arrays in host memory or without
        elements, errors."""
        args = as_arguments(self.kernel.name, args)
        whole = with_defaults(self.kernel.name, self.rules, args)
        extents = normalize_grid(grid)
        if len(whole) != len(args) or not _is_plain_grid(grid):
            self.native.launch(self.kernel, stream, extents, whole, programmatic)
        else:
            self._launch_flat(stream_handle(stream), extents, whole)

    def miss(self, stream: int, context: int, args: Sequence[Any]) -> Any:
        """The native plan for a new specialisation on a context."""
        with (
            self._lock,
            self._driver.aside_from_capture(),
            self._driver.current(context) as device,
        ):
            found = self._specialize(args, stream)
            compiled = self._compiled(found, device)
            # The plan depends on the context, and several keys may share one.
            key = (id(compiled), context)
            if key not in self._plans:
                self._plans[key] = self._plan(compiled, device)
            return self._plans[key]

    def fail(self, plan: Any, grid: Any, words: list[int], status: int) -> None:
        """Raises the error for a launch that did not happen."""
        compiled, device = self._infos[id(plan)]
        if status:
            raise self._driver.error(f"cuLaunchKernelEx of '{compiled.name}'", status)
        raise explain(compiled.info, grid, words, device.multiprocessors)

    def stream(self, stream: Any) -> tuple[int, str | None]:
        """The handle of a stream, and the attribute that holds it."""
        return stream_handle(stream), handle_attribute(stream)

    def context(self, stream: int, ordinal: int) -> tuple[int, int, int]:
        """Context, device and multiprocessors for a launch on a stream with arrays on a device."""
        device = self._place(stream, ordinal)
        return device.context, device.ordinal, device.multiprocessors

    def intern(self, value: Any) -> int | None:
        """A number for a constant; None for what cannot be one."""
        constant = ConstantParameter(plain_constant(value))
        try:
            return self._constants.setdefault(constant, len(self._constants))
        except TypeError:  # not hashable
            return None

    def stage(self, context: int, stream: int, data: bytes) -> int:
        return _tables().address(context, stream, data)

    # ---- specialisations -----------------------------------------------------------------------

    def _specialize(self, args: Sequence[Any], stream: int) -> Specialization:
        return specialize(
            self.kernel.name, self.rules, args, lambda value, name: _view(value, name, stream)
        )

    def _compiled(self, found: Specialization, device: Device) -> CompiledKernel:
        return compile_kernel(self.kernel, found.signature, native_target(device.capability))

    def _plan(self, compiled: CompiledKernel, device: Device) -> Any:
        info = compiled.info
        with trace.slice("load", "launch", kernel=info.name):
            function = compiled.loader.function(compiled.image, info, device)
        native = launcher.ready()
        assert native is not None, "only the native dispatcher asks for plans"
        plan = native.Plan(
            *describe(info, int(function), self._driver.bindings, _workspaces().address)
        )
        # Keeps the code loaded, too.
        self._infos[id(plan)] = (compiled, device)
        return plan

    def _launch_flat(self, stream: int, grid: Any, args: Sequence[Any]) -> None:
        """A launch on words: arrays in host memory are copied to the device and back."""
        found = self._specialize(with_defaults(self.kernel.name, self.rules, args), stream)
        ordinal = self._common_device(found.arrays)
        device = self._place(stream, ordinal)
        with self._lock, self._driver.aside_from_capture():
            compiled = self._compiled(found, device)
        with self._driver.current(device.context):
            compiled.launch(grid, found.words, stream)

    def _common_device(self, arrays: Sequence[ArrayView]) -> int:
        known = {array.device for array in arrays if array.device is not None}
        if len(known) > 1:
            raise LaunchError(
                f"kernel '{self.kernel.name}': its arrays lie on devices "
                f"{', '.join(map(str, sorted(known)))}",
                remedy="move them to one device",
            )
        return known.pop() if known else _ANY_DEVICE

    def _place(self, stream: int, ordinal: int) -> Device:
        """The device of a launch, with the context to use."""
        driver = self._driver
        if stream not in _DEFAULT_STREAMS:
            with driver.current(driver.stream_context(stream)) as device:
                if ordinal not in (_ANY_DEVICE, device.ordinal):
                    raise LaunchError(
                        f"kernel '{self.kernel.name}': the arrays lie on device {ordinal}, the "
                        f"stream belongs to device {device.ordinal}",
                        remedy="launch on a stream of the arrays' device",
                    )
                return device
        device = driver.device()
        if ordinal in (_ANY_DEVICE, device.ordinal):
            return device
        with driver.current(driver.primary_context(ordinal)) as other:
            return other


def _view(value: Any, name: str, stream: int) -> ArrayView | None:
    """An argument as an array: the native launcher makes no copies and waits for nothing."""
    native = launcher.native()
    found = native.array(value, stream) if native is not None else None
    if found is None:
        return view(value, name, stream)
    address, shape, strides, code, bits, lanes, device = found
    dtype = DLPACK_TYPES.get((code, bits)) if lanes == 1 else None
    if dtype is None:
        return view(value, name, stream)  # says what is wrong
    size = element(dtype).bytes
    number = None if device == _ANY_DEVICE else device
    passed = DeviceArray(
        address, shape, tuple(stride * size for stride in strides), size, dtype, number, keep=value
    )
    return ArrayView(passed, dtype, size, address, shape, strides, on_host=False, device=number)


def _is_plain_grid(grid: Any) -> bool:
    """Whether the native dispatcher reads a grid."""
    extents = grid if isinstance(grid, tuple) else (grid,)
    return all(type(extent) is int for extent in extents)
