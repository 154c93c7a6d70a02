"""Kernels: the decorator, its hints, and tracing one specialisation to a module."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ..errors import TileError
from .annotations import ParameterInfo, parameters_of
from .errors import TileSyntaxError, TileTypeError, TileValueError, place_of, place_of_caller
from .signature import Signature

if TYPE_CHECKING:
    from mlir import ir

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class ByTarget(Generic[T]):
    """A hint that differs between architectures: `ByTarget(sm_90=2, sm_100=4, default=1)`."""

    def __init__(self, *, default: T | None = None, **by_target: T):
        for name in by_target:
            if not (name.startswith("sm_") and name[3:].isdigit()):
                raise TileValueError(
                    f"'{name}' is no architecture",
                    location=place_of_caller(),
                    remedy="write sm_90, sm_100, ...",
                )
        self.default = default
        self.by_target = by_target

    def items(self) -> dict[str, T]:
        """The values that are given, by architecture or `default`."""
        default = {} if self.default is None else {"default": self.default}
        return {**default, **self.by_target}

    def __repr__(self) -> str:
        return f"ByTarget({', '.join(f'{name}={value!r}' for name, value in self.items().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByTarget) and self.items() == other.items()

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.items().items())))


Hint = int | ByTarget[int] | None

_ALLOWED = {
    "num_ctas": (1, 2, 4, 8, 16),
    "occupancy": tuple(range(1, 33)),
    "opt_level": (0, 1, 2, 3),
    "num_worker_warps": (1, 2, 4, 8, 16, 32),
}
#: Names of hints in the IR.
_IR_NAMES = {
    "num_ctas": "num_cta_in_cga",
    "occupancy": "occupancy",
    "num_worker_warps": "num_worker_warps_per_cta",
}


@dataclass(frozen=True)
class Hints:
    """What the author of a kernel asks of the compiler; None leaves the choice to it.

    `num_ctas` are the thread blocks that work on one tile block, a power of two up to 16;
    `occupancy` the tile blocks that are to run on a multiprocessor at once, up to 32; `opt_level`
    0 to 3; `num_worker_warps` the warps that compute, a power of two up to 32.
    """

    num_ctas: Hint = None
    occupancy: Hint = None
    opt_level: Hint = 3
    num_worker_warps: Hint = None

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            given = getattr(self, name)
            for value in given.items().values() if isinstance(given, ByTarget) else [given]:
                if value is not None and (type(value) is not int or value not in allowed):
                    known = f"{allowed[0]} to {allowed[-1]}"
                    if len(allowed) != allowed[-1] - allowed[0] + 1:
                        known = ", ".join(map(str, allowed))
                    raise TileValueError(
                        f"the hint {name} must be one of {known}, not {value!r}",
                        location=place_of_caller(),
                        remedy="leave it out to have the compiler choose",
                    )

    def by_architecture(self) -> dict[str, dict[str, int]]:
        """The hints that go into the IR, by architecture (`sm_90`) or `default`."""
        found: dict[str, dict[str, int]] = {}
        for name, ir_name in _IR_NAMES.items():
            given = getattr(self, name)
            values = given.items() if isinstance(given, ByTarget) else {"default": given}
            for architecture, value in values.items():
                if value is not None:
                    found.setdefault(architecture, {})[ir_name] = value
        return found

    def level(self, architecture: str) -> int:
        """The optimisation level for an architecture (`sm_90`)."""
        if isinstance(self.opt_level, ByTarget):
            values = self.opt_level.items()
            return values.get(architecture, values.get("default", 3))
        return 3 if self.opt_level is None else self.opt_level


def _with_hints(hints: Hints, changes: dict[str, Any]) -> Hints:
    """The hints with changes, whose names the user gives."""
    for name in changes:
        if name not in _ALLOWED:
            raise TileTypeError(
                f"there is no hint '{name}'",
                location=place_of_caller(),
                remedy=f"the hints are {', '.join(_ALLOWED)}",
            )
    return dataclasses.replace(hints, **changes)


class Kernel:
    """A kernel: a Python function that each block of a grid executes.

    Made by `@kernel`; it cannot be called, `launch(stream, grid, kernel, args)` runs it.
    """

    def __init__(self, function: FunctionType, hints: Hints):
        if not isinstance(function, FunctionType):
            raise TileTypeError(
                f"@kernel takes a Python function, not {type(function).__name__}",
                location=place_of_caller(),
                remedy="write it above the `def` of a function",
            )
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise TileSyntaxError(
                f"the kernel '{function.__name__}' is async",
                location=place_of(function),
                remedy="write `def`: launches return when the kernel is queued",
            )
        self.function = function
        self.hints = hints
        self.name = function.__name__
        self.parameters: tuple[ParameterInfo, ...] = parameters_of(function)
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<kernel {self.function.__qualname__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TileError(
            f"the kernel '{self.name}' cannot be called",
            remedy=f"launch it: launch(stream, grid, {self.name}, args); a function that kernels "
            "share needs no @kernel",
        )

    def replace_hints(self, **hints: Any) -> Kernel:
        """The same kernel with other hints: `num_ctas`, `occupancy`, `opt_level`,
        `num_worker_warps`."""
        return Kernel(self.function, _with_hints(self.hints, hints))

    def trace(
        self,
        signature: Signature,
        target: str = "sm_90a",
        *,
        symbol: str | None = None,
        breakpoints: bool = False,
    ) -> ir.Module:
        """The kernel as a module of `cuda_tile` with one entry, called `symbol` or as the kernel.
        `breakpoints`: whether `breakpoint()` in it stops the interpreter.

        The entry's parameters are `signature.words()`.  Raises `TileError`s that point at the
        line of the kernel which is wrong.
        """
        from .trace import trace

        entries = [(symbol or self.name, signature)]
        return trace(self, entries, target, breakpoints=breakpoints)

    @property
    def source(self) -> str:
        """All that determines what the kernel does beside its arguments: the text of its
        function and of those it calls, and the values of the names they use from outside."""
        from .content import content_of

        return content_of(self.function)


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *,
    num_ctas: Hint = None,
    occupancy: Hint = None,
    opt_level: Hint = 3,
    num_worker_warps: Hint = None,
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Any = None, /, **hints: Any) -> Any:
    """Decorator: makes a function a kernel, `@kernel` or `@kernel(occupancy=2)`.

    See `Hints` for what the arguments mean; each may be a `ByTarget`.
    """
    given = _with_hints(Hints(), hints)
    if function is None:
        return lambda decorated: Kernel(decorated, given)
    return Kernel(function, given)


@overload
def function(function: F, /) -> F: ...
@overload
def function(*, host: bool = False, tile: bool = True) -> Callable[[F], F]: ...
def function(function: Any = None, /, *, host: bool = False, tile: bool = True) -> Any:
    """Decorator: states that kernels may call a function. Functions without it may be called
    just so.

    `host` says that the host may call it, too, `tile=False` that kernels must not.
    """

    def mark(decorated: Any) -> Any:
        decorated.__dict__["_tile_function"] = tile
        return decorated

    return mark if function is None else mark(function)
