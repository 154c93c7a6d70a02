"""Running kernels: from a module, a grid and arguments to what was printed."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from traceback import walk_tb
from typing import Any, NoReturn

import numpy as np
from mlir import ir

from ..entries import choose_entry
from ..errors import ExecutionError, LaunchError, ResourceError
from ..runtime.launch import normalize_grid
from .arguments import bind
from .block import Block, CheckedBlock, Run
from .codegen import access
from .codegen.access import Op
from .codegen.entry import Code, generate
from .faults import Fault
from .memory import AddressSpace
from .numerics.formats import Tile, pointer_tile
from .races import RaceChecker


def run(
    module: ir.Module,
    kernel: str | None = None,
    grid: int | Sequence[int] = (1, 1, 1),
    args: Sequence[Any] = (),
    *,
    check: bool = True,
) -> list[str]:
    """Runs `kernel` (it may be left out if there is only one) on a grid of tile blocks.

    `args` are the entry's parameters in order: NumPy arrays for pointers, written in place, and
    numbers for scalars. With `check`, undefined behaviour is an `ExecutionError` with the
    location of the operation; a failed `assert` always is.

    Returns the lines that the kernel printed. Raises `LaunchError` for wrong arguments.
    """
    return Interpreter(module, check=check).run(kernel, grid, args)


class Interpreter:
    """A module made ready to run, like a module loaded on a device.

    Kernels are translated when they first run. Globals keep their values from run to run.
    """

    def __init__(self, module: ir.Module, *, check: bool = True):
        self.check = check
        self._module = module
        self._entries: dict[str, Op] = {}
        self._globals: dict[str, tuple[Tile, Op]] = {}
        self._code: dict[str, Code] = {}
        for op in _contents(module):
            name = op.operation.name
            if name == "cuda_tile.entry":
                self._entries[access.string(op, "sym_name")] = op
            elif name == "cuda_tile.global":
                self._globals[access.string(op, "sym_name")] = (_initial_bytes(op), op)

    @property
    def kernels(self) -> list[str]:
        return list(self._entries)

    def source(self, kernel: str | None = None) -> str:
        """The Python code that runs a kernel."""
        return self._translated(choose_entry(self._module, kernel)).source

    def run(
        self,
        kernel: str | None = None,
        grid: int | Sequence[int] = (1, 1, 1),
        args: Sequence[Any] = (),
    ) -> list[str]:
        """One launch; see `run`."""
        name = choose_entry(self._module, kernel)
        extents = normalize_grid(grid)
        space = AddressSpace()
        launch = Run(space, extents)
        launch.globals = self._map_globals(space)
        arguments = self._bind(space, name, args)
        code = self._translated(name)
        if self.check:
            launch.races = RaceChecker(code.locations.__getitem__, lambda n: _name(n, extents))
        with np.errstate(all="ignore"):
            _Execution(code, launch, extents).run(arguments)
        return _lines(launch.printed)

    def _bind(self, space: AddressSpace, name: str, args: Sequence[Any]) -> list[Tile]:
        entry = self._entries[name]
        try:
            return bind(space, entry, args)
        except LaunchError as error:
            raise LaunchError(
                error.reason, location=access.place(entry), remedy=error.remedy
            ) from None

    def _translated(self, name: str) -> Code:
        if name not in self._code:
            self._code[name] = generate(self._entries[name], check=self.check)
        return self._code[name]

    def _map_globals(self, space: AddressSpace) -> dict[str, Tile]:
        addresses: dict[str, Tile] = {}
        for name, (data, op) in self._globals.items():
            alignment = access.integer(op, "alignment")
            buffer = space.allocate(data, f"global @{name}", alignment)
            buffer.writeable = not access.flag(op, "constant")
            addresses[name] = pointer_tile(buffer.base)
        return addresses


class _Execution:
    """One launch of translated code."""

    def __init__(self, code: Code, launch: Run, extents: tuple[int, int, int]):
        self._code = code
        self._run = launch
        self._extents = extents

    def run(self, arguments: list[Tile]) -> None:
        try:
            self._run_all(arguments)
        except MemoryError as error:
            location = self._location(self._line(error))
            raise ResourceError("out of memory", location=location) from None

    def _run_all(self, arguments: list[Tile]) -> None:
        try:
            block_function = self._code.launch(self._run, *arguments)
        except Fault as fault:
            self._report(fault, None)
        if self._code.suspends:
            self._run_in_turns(block_function)
            return
        for block in self._blocks():
            try:
                block_function(block)
            except Fault as fault:
                self._report(fault, block.number)

    def _blocks(self) -> Iterator[Block]:
        x, y, z = self._extents
        make = Block if self._run.races is None else CheckedBlock
        for number, (k, j, i) in enumerate(itertools.product(range(z), range(y), range(x))):
            yield make(self._run, number, (i, j, k))

    def _run_in_turns(self, block_function: Callable[[Block], Iterator[bool]]) -> None:
        """Blocks that may wait for each other take turns.

        A block yields at the end of a round of a loop, True if the round changed neither memory
        nor its own state. It then need not run again before memory changes; if that holds for
        all blocks, none ever will.
        """
        live = deque((block, block_function(block), -1) for block in self._blocks())
        waiting = 0
        while live:
            block, steps, stuck_at = live.popleft()
            if stuck_at == self._run.version:
                live.append((block, steps, stuck_at))
                waiting += 1
                if waiting >= len(live):
                    self._deadlock([(b, s) for b, s, _ in live])
                continue
            waiting = 0
            try:
                stuck = next(steps)
            except StopIteration:
                continue
            except Fault as fault:
                self._report(fault, block.number)
            live.append((block, steps, self._run.version if stuck else -1))

    def _deadlock(self, live: list[tuple[Block, Any]]) -> NoReturn:
        block, steps = live[0]
        location = self._location(steps.gi_frame.f_lineno)
        names = [_name(b.number, self._extents) for b, _ in live[:4]]
        more = ", ..." if len(live) > 4 else ""
        raise self._with_output(
            ExecutionError(
                f"deadlock: no tile block can go on; {len(live)} wait in loops that change "
                f"nothing (tile blocks {', '.join(names)}{more})",
                location=location,
                remedy="a loop that waits needs another tile block to change what it reads",
            )
        )

    def _report(self, fault: Fault, block: int | None) -> NoReturn:
        location, reason = self._location(self._line(fault)), fault.reason
        if fault.site is not None:
            origin = self._code.locations[fault.site]
            if origin != location:
                reason = f"{reason} (used at {location})"
            location = origin
        if block is not None:
            reason = f"{reason}, in tile block {_name(block, self._extents)}"
        raise self._with_output(
            ExecutionError(reason, location=location, remedy=fault.remedy)
        ) from None

    def _line(self, error: BaseException) -> int:
        """The innermost line of generated code that an exception came through."""
        line = 1
        for frame, number in walk_tb(error.__traceback__):
            if frame.f_code.co_filename == self._code.filename:
                line = number
        return line

    def _location(self, line: int) -> str:
        return self._code.locations[self._code.site_of_line[line]]

    def _with_output(self, error: ExecutionError) -> ExecutionError:
        lines = _lines(self._run.printed)
        if lines:
            error.add_note("\n".join(["printed before the error:", *lines[-20:]]))
        return error


def _contents(module: ir.Module) -> list[Op]:
    """The operations of all cuda_tile modules inside."""
    found: list[Op] = []
    for op in module.body.operations:
        if op.operation.name == "cuda_tile.module":
            found += op.operation.regions[0].blocks[0].operations
    return found


def _initial_bytes(op: Op) -> Tile:
    values = np.ascontiguousarray(access.global_values(op))
    return values.reshape(-1).view(np.uint8).copy()


def _name(number: int, extents: tuple[int, int, int]) -> str:
    x, y, _ = extents
    return f"({number % x}, {number // x % y}, {number // (x * y)})"


def _lines(printed: list[str]) -> list[str]:
    text = "".join(printed)
    return text.removesuffix("\n").split("\n") if text else []
