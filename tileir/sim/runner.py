"""Running kernels: from PTX, a grid and arguments to what was printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import Any, NoReturn

import numpy as np

from ..errors import ExecutionError, LaunchError, ResourceError
from ..interp.memory import AddressSpace
from ..runtime.launch import normalize_grid
from .arguments import bind
from .checks import make_checks
from .code.program import Code, choose_kernel
from .machine.faults import Fault
from .machine.launch import Launch
from .machine.specials import Extents
from .module_memory import ModuleMemory
from .observer import Observer, attach
from .ptx import Instruction, Module, parse

_MOST_WARPS = 2048
_SHARED_LIMIT = 227 * 1024
_THREADS_LIMIT = 1024


@dataclass(frozen=True)
class Result:
    """What a run left behind, besides the arrays it wrote.

    `printed` are the lines that the kernel printed; `executed` says how often each instruction
    was executed, counted in warps.
    """

    printed: list[str]
    executed: Counter[Instruction] = field(repr=False)

    def count(self, opcode: str) -> int:
        """Executions, in warps, of instructions whose opcode starts with `opcode`."""
        return sum(n for site, n in self.executed.items() if site.opcode.startswith(opcode))


def run(
    ptx: str | Module,
    kernel: str | None = None,
    grid: int | Sequence[int] = (1, 1, 1),
    block: int | Sequence[int] | None = None,
    args: Sequence[Any] = (),
    *,
    cluster: int | Sequence[int] | None = None,
    shared: int = 0,
    resident: int | None = None,
    seed: int = 0,
    memory: Sequence[np.ndarray] = (),
    checks: bool | Iterable[str] = True,
    observers: Sequence[Observer] = (),
    name: str = "ptx",
) -> Result:
    """Runs a kernel of PTX text; it may be left out if there is only one.

    `block` and `cluster` default to what .reqntid and .reqnctapercluster say; `shared` is dynamic
    shared memory in bytes. `args` are the kernel's parameters in order: NumPy arrays for pointers,
    written in place, numbers for scalars, a `PointerTable`, a `TensorMap` (whose base is the host
    address of an array among the arguments or in `memory`) or what `tensor_map` makes.

    At most `resident` blocks are live at once (default: all, up to 2048 warps). `seed` chooses the
    schedule: 0 runs warps in step and completes asynchronous operations as late as possible, any
    other number draws both at random. `checks` chooses what is reported besides (`sim.checks`),
    all by default. `name` stands for the PTX in messages.

    Raises `ParseError`, `UnsupportedError` (an instruction, with its line), `LaunchError` (wrong
    arguments), `ExecutionError` (what goes wrong while it runs).
    """
    simulator = Simulator(ptx, checks=checks, observers=observers, name=name)
    return simulator.run(
        kernel, grid, block, args, cluster=cluster, shared=shared, resident=resident, seed=seed,
        memory=memory,
    )  # fmt: skip


class Simulator:
    """A module ready to run, like a module loaded on a device.

    Kernels are translated when they first run. Variables of the module keep their values from
    run to run.
    """

    def __init__(
        self,
        ptx: str | Module,
        *,
        checks: bool | Iterable[str] = True,
        observers: Sequence[Observer] = (),
        name: str = "ptx",
    ):
        self.module = ptx if isinstance(ptx, Module) else parse(ptx, name)
        self._watch = attach((*observers, *make_checks(checks)))
        self._code: dict[str, Code] = {}
        self._memory = ModuleMemory(self.module)

    @property
    def kernels(self) -> list[str]:
        return self.module.entries

    def source(self, kernel: str | None = None) -> str:
        """The Python code that runs a kernel."""
        return self._translated(choose_kernel(self.module, kernel)).source

    def run(
        self,
        kernel: str | None = None,
        grid: int | Sequence[int] = (1, 1, 1),
        block: int | Sequence[int] | None = None,
        args: Sequence[Any] = (),
        *,
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        resident: int | None = None,
        seed: int = 0,
        memory: Sequence[np.ndarray] = (),
    ) -> Result:
        """One launch; see `run`."""
        chosen = choose_kernel(self.module, kernel)
        code = self._translated(chosen)
        shape = _Shape(code, grid, block, cluster)
        space = AddressSpace()
        symbols = self._memory.map_into(space)
        parameters = bind(space, code, args, memory)
        limit = resident or max(1, _MOST_WARPS // -(-shape.threads // 32))
        code.executed[:] = [0] * len(code.executed)
        launch = Launch(
            code, space, parameters, symbols, shape.grid, shape.block, shape.cluster,
            _shared_bytes(code, shared), shared, limit, seed, self._watch,
        )  # fmt: skip
        with np.errstate(all="ignore"):
            _execute(launch, code)
        return Result(lines(launch.printed), code.counts())

    def _translated(self, kernel: str) -> Code:
        if kernel not in self._code:
            instruments = self._watch.instruments if self._watch else []
            self._code[kernel] = Code(self.module, kernel, instruments)
        return self._code[kernel]


class _Shape:
    """Grid, block and cluster of a launch, checked."""

    def __init__(
        self,
        code: Code,
        grid: int | Sequence[int],
        block: int | Sequence[int] | None,
        cluster: int | Sequence[int] | None,
    ):
        directives = code.entry.directives
        name = code.entry.name
        self.grid = normalize_grid(grid)
        self.block = _extents(block, directives.get("reqntid"), "block", name)
        wanted = (1, 1, 1) if cluster is None else cluster
        required = directives.get("reqnctapercluster")
        self.cluster = _extents(cluster if required else wanted, required, "cluster", name)
        self.threads = int(np.prod(self.block))
        limit = int(np.prod(directives.get("maxntid", (_THREADS_LIMIT,))))
        if self.threads > min(limit, _THREADS_LIMIT):
            raise LaunchError(f"kernel '{name}': {self.threads} threads a block, at most {limit}")
        for axis, blocks, size in zip("xyz", self.grid, self.cluster, strict=True):
            if blocks % size:
                raise LaunchError(
                    f"kernel '{name}': grid {axis} of {blocks} blocks is not a multiple of the "
                    f"cluster's {size}"
                )


def _extents(
    given: int | Sequence[int] | None, required: tuple[int, ...] | None, what: str, kernel: str
) -> Extents:
    if given is None and required is None:
        raise LaunchError(
            f"kernel '{kernel}' does not say how many threads a block has",
            remedy=f"pass `{what}`",
        )
    wanted = given if given is not None else required
    assert wanted is not None
    extents = (wanted,) if isinstance(wanted, int) else tuple(int(extent) for extent in wanted)
    padded = (*extents, 1, 1)[:3]
    if not 1 <= len(extents) <= 3 or any(extent < 1 for extent in padded):
        raise LaunchError(f"{what} {extents}: expected one to three positive extents")
    fixed = (*(required or ()), 1, 1)[:3]
    if given is not None and required and padded != fixed:
        raise LaunchError(f"{what} {padded} given, but kernel '{kernel}' requires {fixed}")
    return (padded[0], padded[1], padded[2])


def _shared_bytes(code: Code, dynamic: int) -> int:
    layout = code.shared_layout
    total = layout.dynamic_start() + dynamic if dynamic else layout.static_bytes
    if total > _SHARED_LIMIT:
        raise ResourceError(
            f"kernel '{code.entry.name}' needs {total} bytes of shared memory, a block has at "
            f"most {_SHARED_LIMIT}"
        )
    return total


# --- errors --------------------------------------------------------------------------------------


def _execute(launch: Launch, code: Code) -> None:
    try:
        launch.run()
    except Fault as fault:
        _report(launch, code, fault)
    except MemoryError as error:
        raise ResourceError("out of memory", location=_place(code, _site(code, error))) from None


def _report(launch: Launch, code: Code, fault: Fault) -> NoReturn:
    site = getattr(fault, "at", None) or _site(code, fault)
    reason = fault.reason
    if site is not None:
        reason = f"{reason}, at PTX line {site.line}: `{_shortened(site.text)}`"
    thread = getattr(fault, "thread", None)
    if thread is not None:
        reason = f"{reason}, {launch.thread_name(thread)}"
    error = ExecutionError(reason, location=_place(code, site), remedy=fault.remedy)
    printed = lines(launch.printed)
    if printed:
        error.add_note("\n".join(["printed before the error:", *printed[-20:]]))
    raise error from None


def _shortened(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:97]}..."


def _site(code: Code, error: BaseException) -> Instruction | None:
    """The instruction whose code an exception came through."""
    found = None
    for frame, number in walk_tb(error.__traceback__):
        if frame.f_code.co_filename == code.filename:
            found = code.site_of_line(number)
    return found


def _place(code: Code, site: Instruction | None) -> str | None:
    if site is None:
        return None
    return site.location or f"{code.module.name}:{site.line}"


def lines(printed: list[str]) -> list[str]:
    text = "".join(printed)
    return text.removesuffix("\n").split("\n") if text else []
