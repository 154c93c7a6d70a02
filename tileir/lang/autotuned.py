"""Kernels that choose their configuration: `@ct.autotune`.

@ct.autotune(
    configs=[ct.Config(TM=128, TN=128, TK=64), ct.Config(TM=64, TN=256, TK=64, occupancy=2)],
    key=("m", "n", "k"),
)
@ct.kernel
def matmul(a, b, c, m, n, k, TM: ct.Constant, TN: ct.Constant, TK: ct.Constant): ...

ct.launch(stream, lambda config: (ct.cdiv(m, config.TM), ct.cdiv(n, config.TN)), matmul,
          (a, b, c, m, n, k))
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import LaunchError, TileError
from ..tuner.candidate import Launches
from ..tuner.engine import Backend
from ..tuner.progress import progress_for
from ..tuner.result import Limits, TuningResult
from ..tuner.winners import find_winner, keep_winner, winner_key
from .errors import TileTypeError, place_of_caller
from .kernel import Hints, Kernel
from .tune import make_backend, run_search

_HINTS = tuple(field.name for field in dataclasses.fields(Hints))


class Config:
    """A configuration: values of constant parameters, and hints (`num_ctas`, `occupancy`,
    `opt_level`, `num_worker_warps`), as attributes."""

    def __init__(self, **values: Any):
        self._values = dict(values)
        for name, value in values.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _HINTS:
            return None
        given = ", ".join(self._values) or "nothing"
        raise AttributeError(f"this configuration has no '{name}'; it has {given}")

    @property
    def constants(self) -> dict[str, Any]:
        """Values of the kernel's constant parameters, by name."""
        return {name: value for name, value in self._values.items() if name not in _HINTS}

    @property
    def hints(self) -> dict[str, Any]:
        """The hints that it gives, by name."""
        return {name: value for name, value in self._values.items() if name in _HINTS}

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._values == other._values

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))


@dataclasses.dataclass(frozen=True)
class Options:
    """How an autotuned kernel searches; see `autotune`."""

    key: tuple[str, ...] | None
    prune: Callable[[Config], str | None] | None
    limits: Limits
    compile_timeout_sec: float | None
    workers: int | None
    executor: Any
    executor_options: Mapping[str, Any] | None
    cache: bool
    quiet: bool


class Autotuned:
    """A kernel with configurations to choose from. Launched as a kernel, without the arguments
    that configurations give; the grid may be a function of the configuration.

    `results` has the searches that this process has made, by what distinguishes calls.
    """

    def __init__(self, kernel: Kernel, configs: Sequence[Config], options: Options):
        self.kernel = kernel
        self.name = kernel.name
        self.configs = tuple(configs)
        self.options = options
        self.results: dict[Any, TuningResult[Config]] = {}
        names = [info.name for info in kernel.parameters]
        self._tuned = _tuned_parameters(kernel, self.configs)
        self._positions = {name: place for place, name in enumerate(names)}
        self.parameters = tuple(info for info in kernel.parameters if info.name not in self._tuned)
        self._constants = {info.name for info in kernel.parameters if info.constant}
        for name in options.key or ():
            if name not in self._positions or name in self._tuned:
                raise TileError(
                    f"key '{name}' is no parameter that calls of {self.name} pass",
                    remedy=f"they pass {', '.join(info.name for info in self.parameters)}",
                )
        self._chosen: dict[Any, tuple[Config, Kernel]] = {}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<autotuned kernel {self.name}, {len(self.configs)} configurations>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.kernel(*args, **kwargs)

    @property
    def _dispatcher(self) -> Autotuned:
        """Where `launch` sends launches of this."""
        return self

    def launch(
        self, kernel: Any, stream: Any, grid: Any, args: Sequence[Any], programmatic: bool
    ) -> bool:
        """A launch with the fastest configuration, after a search if this is the first of its
        kind."""
        from ..runtime.jit import launch
        from ..runtime.specialize import as_arguments

        args = as_arguments(self.name, args)
        config, hinted = self._choice(stream, grid, args)
        launch(stream, _grid(grid, config), hinted, self._whole(args, config), programmatic)
        return True

    def best_config(self, stream: Any, grid: Any, args: Sequence[Any]) -> Config:
        """The configuration of a launch, after a search if that has not been made."""
        return self._choice(stream, grid, args)[0]

    # ---- choosing ----------------------------------------------------------------------------

    def _choice(self, stream: Any, grid: Any, args: Sequence[Any]) -> tuple[Config, Kernel]:
        key = self._key(args)
        chosen = self._chosen.get(key)
        if chosen is None:
            with self._lock:
                chosen = self._chosen.get(key)
                if chosen is None:
                    config = self._search(key, stream, grid, args)
                    chosen = config, self._hinted(config)
                    self._chosen[key] = chosen
        return chosen

    def _key(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """What distinguishes calls: types and shapes of arrays, constants, and of numbers those
        that `key` names; without `key`, of all arrays and constants."""
        if len(args) > len(self.parameters):
            names = ", ".join(info.name for info in self.parameters)
            raise LaunchError(
                f"kernel '{self.name}' takes {len(self.parameters)} arguments, {len(args)} were "
                "given",
                remedy=f"parameters: {names}; configurations give {', '.join(self._tuned)}",
            )
        wanted = self.options.key
        found: list[Any] = []
        for info, value in zip(self.parameters, args, strict=False):
            shape = getattr(value, "shape", None)
            if wanted is not None and info.name not in wanted:
                continue
            if shape is not None:
                found.append((str(value.dtype), tuple(shape)))
            elif wanted is not None or info.name in self._constants:
                found.append(value)
            else:
                found.append(type(value).__name__)
        return tuple(found)

    def _search(self, key: Any, stream: Any, grid: Any, args: Sequence[Any]) -> Config:
        from ..runtime.streams import stream_handle

        options = self.options
        if len(self.configs) == 1:
            return self.configs[0]
        handle = stream_handle(stream)
        _refuse_capture(handle, self.name)
        backend, target = make_backend(
            handle, options.workers, options.compile_timeout_sec, options.executor,
            options.executor_options, in_place=False,
        )  # fmt: skip
        device = _device_of(backend, target)
        on_disk = winner_key(self.kernel, self.configs, key, device) if options.cache else None
        known = find_winner(on_disk, self.configs)
        if known is not None:
            backend.close()
            return known
        result = self._measure(backend, target, handle, grid, args)
        self.results[key] = result
        keep_winner(on_disk, self.kernel, device, result)
        return result.best.config

    def _measure(
        self, backend: Backend, target: str, stream: int, grid: Any, args: Sequence[Any]
    ) -> TuningResult[Config]:
        launches: Launches[Config] = Launches(
            kernel=lambda config: self.kernel,
            grid=lambda config: _grid(grid, config),
            args=lambda config: self._whole(args, config),
            hints=lambda config: config.hints,
            target=target,
            stream=stream,
        )
        options = self.options
        progress = progress_for(self.name, options.quiet)
        with run_search(launches, backend, options.limits, progress, options.prune) as found:
            found.measure(self.configs)
            return found.result()

    def _hinted(self, config: Config) -> Kernel:
        hints = {name: hint for name, hint in config.hints.items() if hint is not None}
        return self.kernel.replace_hints(**hints) if hints else self.kernel

    def _whole(self, args: Sequence[Any], config: Config) -> tuple[Any, ...]:
        """The kernel's arguments: those of the call, and the configuration's between them."""
        given = iter(args)
        whole: list[Any] = []
        constants = config.constants
        for info in self.kernel.parameters:
            if info.name in self._tuned:
                whole.append(constants[info.name])
                continue
            value = next(given, info.default)
            whole.append(value)
        return tuple(whole)


def _tuned_parameters(kernel: Kernel, configs: Sequence[Config]) -> tuple[str, ...]:
    """Names of the parameters that configurations give. Raises TileError where they do not fit."""
    constant = {info.name for info in kernel.parameters if info.constant}
    if not configs:
        raise TileError(f"no configurations of {kernel.name} are given")
    names = tuple(configs[0].constants)
    for config in configs:
        if set(config.constants) != set(names):
            raise TileError(
                f"configurations of {kernel.name} give different parameters: {configs[0]}, {config}"
            )
    for name in names:
        if name not in constant:
            raise TileError(
                f"'{name}' is no constant parameter of {kernel.name}, and no hint",
                remedy=f"constant parameters: {', '.join(sorted(constant)) or 'none'}; hints: "
                f"{', '.join(_HINTS)}",
            )
    return names


def _grid(grid: Any, config: Config) -> Any:
    return grid(config) if callable(grid) else grid


def _device_of(backend: Backend, target: str) -> str:
    """A name for where times are from."""
    place = getattr(backend, "place", None)
    if place is not None:
        return place.device
    if backend.is_exact:
        return f"estimate for {target}"
    from ..runtime.driver import cuda_driver

    return cuda_driver().device().name


def _refuse_capture(stream: int, name: str) -> None:
    from ..runtime.jit import backend as where

    if where() != "cuda":
        return
    from ..runtime.driver import CudaDriver, cuda_driver

    driver = cuda_driver()
    if isinstance(driver, CudaDriver) and driver.is_capturing(stream):
        raise LaunchError(
            f"{name} cannot be tuned while its stream captures a graph",
            remedy="launch it once before the capture",
        )


def autotune(
    configs: Sequence[Config | Mapping[str, Any]],
    key: Sequence[str] | None = None,
    *,
    prune: Callable[[Config], str | None] | None = None,
    single_run_timeout_sec: float | None = None,
    flush_l2: bool = True,
    compile_timeout_sec: float | None = 120.0,
    workers: int | None = None,
    executor: Any = None,
    executor_options: Mapping[str, Any] | None = None,
    cache: bool = True,
    quiet: bool = False,
) -> Callable[[Kernel], Autotuned]:
    """Decorator of a kernel: the first launch of each kind measures configurations, and the
    fastest is used from then on, in later processes too (`cache`).

    `configs`: `Config`s or dictionaries. `key` names parameters: launches with the same shapes of
    these arrays and values of these numbers are of one kind; by default the shapes and types of all
    arrays and the values of constants distinguish. All else is as in `tune.exhaustive_search`.

    Kernels are measured on copies of the arrays, so they may write what they read.
    """
    chosen = [one if isinstance(one, Config) else Config(**one) for one in configs]
    options = Options(
        key=None if key is None else tuple(key),
        prune=prune,
        limits=Limits(single_run_seconds=single_run_timeout_sec, flush_l2=flush_l2),
        compile_timeout_sec=compile_timeout_sec,
        workers=workers,
        executor=executor,
        executor_options=executor_options,
        cache=cache,
        quiet=quiet,
    )

    def decorate(kernel: Kernel) -> Autotuned:
        if not isinstance(kernel, Kernel):
            raise TileTypeError(
                f"@autotune takes a kernel, not {type(kernel).__name__}",
                location=place_of_caller(),
                remedy="write it above @ct.kernel",
            )
        return Autotuned(kernel, chosen, options)

    return decorate
