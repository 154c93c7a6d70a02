"""The translation of a kernel and of all functions that it calls."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import LaunchError
from ..machine.addressing import CODE_WINDOW, SHARED_BASE
from ..machine.calls import poisoned
from ..observer import Observer
from ..ptx.syntax import Function, Instruction, Module, Variable
from . import blocks as basic
from .emitter import Emitter
from .form import Form
from .homes import choose_homes

_NUMBERS = itertools.count()

BASE_NAMESPACE: dict[str, Any] = {
    "np": np,
    "where": np.where,
    "bool_": np.dtype(np.bool_),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
}


class Callee:
    """A translated function as its callers see it: `entry` is its first block.

    `marked` says whether second slots of registers start out as ones, see `Observer`.
    """

    def __init__(self, function: Function, entry: int, module: str, marked: bool):
        self.function = function
        self.entry = entry
        self.homes = choose_homes(function)
        self.blocks, self.labels = basic.cut(function, module)
        self.frame_bytes = _lay_out_frame(function)
        self.live: list[int] = []
        self.marked = marked


class Code:
    """A kernel as Python functions, one a basic block, numbered through all functions.

    `functions[b](cohort, registers)` runs block b; `live[b]` lists the slots that it, or what
    follows, may read; `executed[b]` counts the warps that ran it. `local_bytes` is what the
    entry's local variables need of each thread's local memory.
    """

    def __init__(self, module: Module, kernel: str, instruments: list[Observer]):
        from .. import instructions  # noqa: F401  registers the translations

        self.module = module
        self.entry = module.functions[kernel]
        self.functions: list[Callable[[Any, list[Any]], int]] = []
        self.live: list[list[int]] = []
        self.executed: list[int] = []
        self.source = ""
        self.filename = f"<simulator {next(_NUMBERS)}: {kernel}>"
        self.shared_layout = SharedLayout()
        self._instruments = instruments
        self._sites: list[Instruction | None] = [None]
        self._block_sites: list[list[Instruction]] = []
        self._callees: dict[str, Callee] = {}
        self._lines: list[str] = ["# one line, so that line numbers count from 1"]
        self._namespace: dict[str, Any] = dict(BASE_NAMESPACE)
        self._untranslated: list[Callee] = []
        self.parameter_offsets, self.parameter_bytes = lay_out(
            [p for p in self.entry.parameters if isinstance(p, Variable)]
        )
        self._lay_out_shared(kernel)
        self.entry_block = self.callee(kernel).entry
        while self._untranslated:
            self._translate(self._untranslated.pop())
        self.local_bytes = self._callees[kernel].frame_bytes
        self.source = "\n".join(self._lines)
        exec(compile(self.source, self.filename, "exec"), self._namespace)
        self.functions = [self._namespace[f"b{number}"] for number in range(len(self.live))]
        self._callees[kernel].live = self.live[self.entry_block]

    # --- what the machine asks for ---------------------------------------------------------------

    def fresh_registers(self, warps: int) -> list[Any]:
        """The entry's registers before anything is written: ones in every bit where it counts."""
        return poisoned(self._callees[self.entry.name], warps)

    @property
    def sites(self) -> list[Instruction]:
        """All instructions."""
        return [site for sites in self._block_sites for site in sites]

    def site_of_line(self, line: int) -> Instruction | None:
        """The instruction that a line of the generated code belongs to."""
        return self._sites[line - 1] if line <= len(self._sites) else None

    def site_of_block(self, block: int) -> Instruction:
        """The first instruction of a block."""
        return self._block_sites[block][0]

    def counts(self) -> Counter[Instruction]:
        """How often each instruction was executed, in warps."""
        found: Counter[Instruction] = Counter()
        for executed, sites in zip(self.executed, self._block_sites, strict=True):
            for site in sites:
                found[site] += executed
        return found

    # --- translation -----------------------------------------------------------------------------

    def callee(self, name: str) -> Callee:
        """A function of the module that is, or will be, translated."""
        if name not in self._callees:
            function = self.module.functions[name]
            assert function.body is not None
            marked = any(one.marks_unwritten for one in self._instruments)
            found = Callee(function, len(self.live), self.module.name, marked)
            self.live += [[] for _ in found.blocks]
            self._block_sites += [[] for _ in found.blocks]
            self.executed += [0] * len(found.blocks)
            self._callees[name] = found
            self._untranslated.append(found)
        return self._callees[name]

    def _translate(self, callee: Callee) -> None:
        function, blocks, labels = callee.function, callee.blocks, callee.labels
        e = Emitter(self, callee, self._namespace)
        e.block_of = {name: callee.entry + block for name, block in labels.items()}
        for index, block in enumerate(blocks):
            number = callee.entry + index
            e.begin_block(number, number + 1)
            sites = self._block_sites[number]
            for step in block.steps:
                sites.append(step.instruction)
                self._translate_step(e, step)
            if not block.steps or not block.steps[-1].rule.ends:
                last = index + 1 == len(blocks)
                e.line(e.leave_here() if last else f"return {number + 1}")
            self.live[number] = basic.slots(block.live)
            if not sites:
                sites += self._block_sites[number - 1][-1:]
        count = len(function.registers)
        more = sorted(e.hidden) + [3 * count] * e.uses_carry
        for number in range(callee.entry, callee.entry + len(blocks)):
            shadows = [slot + count for slot in self.live[number]] if self._instruments else []
            self.live[number] += [*shadows, *more]
        for text, site in e.lines:
            self._lines.append(text)
            self._sites.append(e.sites[site] if site >= 0 else None)
        callee.live = self.live[callee.entry]

    def _translate_step(self, e: Emitter, step: basic.Step) -> None:
        instruction = step.instruction
        e.begin(instruction)
        form = Form(instruction, step.rule.name, step.modifiers, self.module.name)
        for instrument in self._instruments:
            instrument.emit_before(e, instruction)
        try:
            step.rule.translate(e, form)
        except (KeyError, IndexError, TypeError, AssertionError) as error:
            raise form.error(f"malformed operands ({error})") from error
        form.finish()
        if not step.rule.ends:
            for instrument in self._instruments:
                instrument.emit_after(e, instruction)

    # --- addresses -------------------------------------------------------------------------------

    def _lay_out_shared(self, kernel: str) -> None:
        """Places for the shared variables that the kernel, or what it calls, uses."""
        used: dict[int, Variable] = {}
        seen: set[str] = set()
        todo = [self.module.functions[kernel]]
        while todo:
            function = todo.pop()
            seen.add(function.name)
            for target in basic.symbols(function):
                if isinstance(target, Function):
                    if target.name not in seen and target.body is not None:
                        todo.append(target)
                elif target.space == "shared" and target.count is not None:
                    used[id(target)] = target
        self.shared_layout.add_static(list(used.values()))

    def place_of(self, target: Variable | Function) -> tuple[str, int]:
        """How a variable or function is addressed: ("shared", address), ("local", offset in the
        frame), ("param", offset), or ("launch", 0) where only the launch knows."""
        if isinstance(target, Function):
            number = list(self.module.functions).index(target.name)
            return "code", CODE_WINDOW + 16 * number
        if target.space == "shared":
            return "shared", SHARED_BASE + self.shared_layout.offset(target)
        if target.space in ("global", "const"):
            return "launch", 0
        if target in self.entry.parameters:
            return "param", self.parameter_offsets[target.name, id(target)]
        return "local", target.address


class SharedLayout:
    """Shared variables in the order of their first use; `extern` ones begin behind all others."""

    def __init__(self) -> None:
        self._offsets: dict[int, int] = {}
        self.static_bytes = 0
        self.has_dynamic = False

    def add_static(self, variables: list[Variable]) -> None:
        for variable in sorted(variables, key=lambda v: -v.alignment):
            self.static_bytes = _aligned(self.static_bytes, variable.alignment)
            self._offsets[id(variable)] = self.static_bytes
            self.static_bytes += variable.size

    def offset(self, variable: Variable) -> int:
        if variable.count is None:
            self.has_dynamic = True
            return self.dynamic_start(variable.alignment)
        if id(variable) not in self._offsets:
            self.add_static([variable])
        return self._offsets[id(variable)]

    def dynamic_start(self, alignment: int = 16) -> int:
        return _aligned(self.static_bytes, max(alignment, 16))


def lay_out(variables: list[Variable]) -> tuple[dict[tuple[str, int], int], int]:
    """Offsets of variables one behind the other, and the bytes they take."""
    offsets: dict[tuple[str, int], int] = {}
    size = 0
    for variable in variables:
        size = _aligned(size, variable.alignment)
        offsets[variable.name, id(variable)] = size
        size += variable.size
    return offsets, size


def _lay_out_frame(function: Function) -> int:
    """Gives local variables, and the parameters of calls, their places in the frame."""
    variables = [v for v in function.variables if v.space in ("local", "param")]
    if not function.is_entry:
        variables += [
            v for v in (*function.parameters, *function.results) if isinstance(v, Variable)
        ]
    offsets, size = lay_out(variables)
    for variable in variables:
        variable.address = offsets[variable.name, id(variable)]
    return _aligned(size, 16)


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def choose_kernel(module: Module, kernel: str | None) -> str:
    """`kernel`, or the module's only entry."""
    entries = [name for name in module.entries if module.functions[name].body is not None]
    if kernel is None and len(entries) == 1:
        return entries[0]
    if kernel in entries:
        assert kernel is not None
        return kernel
    found = f"kernels: {', '.join(entries)}" if entries else "the module has no .entry"
    what = "the module has several kernels" if kernel is None else f"there is no kernel '{kernel}'"
    raise LaunchError(what, remedy=found)
