"""Registers of wgmma: what threads must not touch while products are on their way.

Accumulators may be neither read nor written before the product's group has been waited for, except
by products of the same shape on the same accumulators; matrices A in registers may not be written.
Behind a thread's own use of these registers there must be a wgmma.fence before the next product
that uses them, and so in front of the first product of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..code import blocks, registry
from ..machine.faults import ThreadFault
from ..observer import Fence, Observer
from ..order.names import site as place
from ..ptx.syntax import Function, Instruction, Register, Vector

if TYPE_CHECKING:
    from ..code.emitter import Emitter
    from ..machine.cohort import Array, Cohort, Lanes
    from ..machine.launch import Launch

_PRODUCT = "wgmma.mma_async"
_FENCE = "wgmma.fence in front of the product"
_WAIT = "wgmma.wait_group, for a group that the product has been committed to, comes first"


class Registers(Observer):
    """State by warp and register of interest: those that products name.

    `_touched` int32[warps, registers] is the site, counted from 1, that used a register since the
    warp's last wgmma.fence; warps that are not `_fenced` have had none. `_accumulates` and `_reads`
    are the group of the last product that has the register among its accumulators or in A;
    `_product` is which accumulators those were, `_users` the site of that product.
    """

    instruments = True

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._names: list[str] = []
        self._functions: set[str] = set()
        self._sites: list[Instruction] = []
        self._shapes: dict[Any, int] = {}

    # --- translation -----------------------------------------------------------------------------

    def emit_before(self, e: Emitter, instruction: Instruction) -> None:
        if e.function.name not in self._functions:
            self._functions.add(e.function.name)
            self._find_products(e.function)
        if not self._numbers:
            return
        product = instruction.opcode.startswith(_PRODUCT)
        rule, _ = registry.find(instruction, e.module)
        reads, writes = blocks.reads_and_writes(instruction, rule)
        if instruction.guard is not None:
            reads = [one for one in reads if one not in writes]
        read, written = (self._chosen(e.function, some) for some in (reads, writes))
        if not read and not written:
            return
        self._sites.append(instruction)
        number = len(self._sites)
        if product:
            accumulators, a = _operands(instruction)
            shape = self._shapes.setdefault((instruction.parts[4], accumulators), len(self._shapes))
            slots = np.array(self._chosen(e.function, accumulators))
            others = np.array(self._chosen(e.function, a), np.int64)
            name = e.object((slots, others, shape, number), f"product_{number}")
            e.line(f"{e.object(self.issue, 'check_product')}(w, {name})")
            return
        arrays = e.object((np.array(read, np.int64), np.array(written, np.int64)), "registers")
        e.line(f"{e.object(self.touch, 'check_registers')}(w, {arrays}, {number}, {e.lanes()})")

    def _find_products(self, function: Function) -> None:
        for statement in function.body or ():
            if isinstance(statement, Instruction) and statement.opcode.startswith(_PRODUCT):
                for register in (one for some in _operands(statement) for one in some):
                    if (function.name, register.slot) not in self._numbers:
                        self._numbers[function.name, register.slot] = len(self._names)
                        self._names.append(register.name)

    def _chosen(self, function: Function, registers: Any) -> list[int]:
        keys = ((function.name, register.slot) for register in registers)
        return [self._numbers[key] for key in keys if key in self._numbers]

    # --- the run ---------------------------------------------------------------------------------

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        shape = (len(launch.live), len(self._names))
        self._touched = np.zeros(shape, np.int32)
        self._accumulates = np.zeros(shape, np.int32)
        self._reads = np.zeros(shape, np.int32)
        self._product = np.zeros(shape, np.int32)
        self._users = np.zeros(shape, np.int32)
        self._fenced = np.zeros(len(launch.live), bool)
        self._group = np.ones(len(launch.live), np.int32)  # the one that products join now
        self._done = np.zeros(len(launch.live), np.int32)

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        per_block = self._launch.warps_per_block
        warps = slice(slot * per_block, (slot + 1) * per_block)
        for table in (self._touched, self._accumulates, self._reads, self._done, self._fenced):
            table[warps] = 0
        self._group[warps] = 1

    def fence(self, fence: Fence) -> None:
        if fence.kind == "wgmma":
            self._touched[fence.warps] = 0
            self._fenced[fence.warps] = True

    def group_committed(
        self, kind: str, site: Instruction, warps: Array, active: Array | None
    ) -> None:
        if kind == "wgmma":
            self._group[warps] += 1

    def group_waited(
        self, kind: str, allowed: int, read_only: bool, site: Instruction, warps: Array,
        active: Array | None,
    ) -> None:  # fmt: skip
        if kind == "wgmma":
            self._done[warps] = np.maximum(self._done[warps], self._group[warps] - 1 - allowed)

    def touch(self, w: Cohort, registers: tuple[Array, Array], number: int, lanes: Lanes) -> None:
        """Any other instruction reads and writes registers."""
        read, written = registers
        warps = w.warps
        if lanes is not None:
            warps = warps[lanes.any(axis=1)]
            if not len(warps):
                return
        if w.in_flight or (self._group[warps] - 1 > self._done[warps]).any():
            self._must_be_done(warps, read, self._accumulates, "read", "accumulates into it")
            self._must_be_done(warps, written, self._accumulates, "written", "accumulates into it")
            self._must_be_done(warps, written, self._reads, "written", "reads it")
        for some in registers:
            self._touched[warps[:, None], some] = number

    def _must_be_done(
        self, warps: Array, registers: Array, groups: Array, how: str, use: str
    ) -> None:
        busy = groups[warps[:, None], registers] > self._done[warps][:, None]
        if busy.any():
            row, column = np.argwhere(busy)[0]
            register, warp = int(registers[column]), int(warps[row])
            user = place(self._sites[int(self._users[warp, register]) - 1])
            raise ThreadFault(
                f"{self._names[register]} is {how} while a wgmma that {use} is in flight, from "
                f"{user}", _WAIT, thread=warp * 32,
            )  # fmt: skip

    def issue(self, w: Cohort, product: tuple[Array, Array, int, int]) -> None:
        """A product begins to use its registers."""
        accumulators, a, shape, number = product
        warps = w.warps[:, None]
        if not self._fenced[w.warps].all():
            raise ThreadFault(
                "no wgmma.fence has come before this product", _FENCE, thread=int(w.warps[0]) * 32
            )
        for some in (accumulators, a):
            wrong = self._touched[warps, some]
            if wrong.any():
                row, column = np.argwhere(wrong)[0]
                self._unfenced(int(w.warps[row]), int(some[column]), int(wrong[row, column]))
        done = self._done[w.warps][:, None]
        other = self._product[warps, accumulators] != shape
        if (other & (self._accumulates[warps, accumulators] > done)).any():
            raise ThreadFault(
                "accumulators of a wgmma in flight are used by one of another shape, or with "
                "other registers", _WAIT, thread=int(w.warps[0]) * 32,
            )  # fmt: skip
        self._must_be_done(w.warps, a, self._accumulates, "read as A", "accumulates into it")
        self._must_be_done(w.warps, accumulators, self._reads, "accumulated into", "reads it")
        group = self._group[w.warps][:, None]
        self._accumulates[warps, accumulators] = group
        self._product[warps, accumulators] = shape
        self._reads[warps, a] = group
        for some in (accumulators, a):
            self._users[warps, some] = number

    def _unfenced(self, warp: int, register: int, user: int) -> NoReturn:
        raise ThreadFault(
            f"{self._names[register]} has been used at {place(self._sites[user - 1])}, and no "
            "wgmma.fence has come since", _FENCE, thread=warp * 32,
        )  # fmt: skip


def _operands(instruction: Instruction) -> tuple[tuple[Register, ...], tuple[Register, ...]]:
    """The accumulators, and A if it is in registers."""
    found = []
    for operand in instruction.operands[:2]:
        elements = operand.elements if isinstance(operand, Vector) else ()
        found.append(tuple(one for one in elements if isinstance(one, Register)))
    return found[0], found[1]
