"""The native launcher, where it is built: the extension module `_launcher` (native/)."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from ..errors import LaunchError
from .forms import form_of

_DRIVER = "libcuda.so.1"


@cache
def native() -> ModuleType | None:
    """The extension module; None in a checkout that was not built, and on interpreters without
    CPython's stable ABI."""
    try:
        from . import _launcher  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError:
        return None
    _launcher.use_forms(form_of)
    return _launcher


@cache
def ready() -> ModuleType | None:
    """The launcher with the driver's functions found; None where it is not built.

    Raises LaunchError if the driver lacks a function.
    """
    module = native()
    if module is not None:
        missing = module.load(_DRIVER)
        if missing is not None:
            raise LaunchError(
                f"the CUDA driver has no {missing}", remedy="use a driver for CUDA 12.0 or newer"
            )
    return module


def recent() -> list[str]:
    """Names of the kernels launched last."""
    module = native()
    return module.recent() if module is not None else []


def forget_recent() -> None:
    """Has `recent` begin anew: they have run."""
    module = native()
    if module is not None:
        module.forget_recent()
