"""Uninitialised values: bits that nobody wrote must not decide what a kernel does.

They may move through registers, shared memory and matrices, each row and column for itself, but
must not reach a store to global memory, an address, a branch or a barrier. Local memory and the
registers that a function is called with count as initialised.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..code.emitter import Emitter
from ..definedness import flow, matrices
from ..definedness.masks import Array, Operands, Step, fitted, kept, mask_dtype
from ..definedness.rules import RULES, Rule, everything
from ..definedness.shared import SharedMasks
from ..instructions.matrices import transposed_matrix
from ..instructions.wgmma import Product
from ..machine.bulk import BulkCopy
from ..machine.cohort import Cohort
from ..machine.faults import ThreadFault
from ..machine.storage import SharedMemory, describe
from ..machine.tensor import TensorStore
from ..numerics import fragments
from ..observer import Access, AsyncAccess, Observer
from ..order.names import site as place
from ..ptx.syntax import Instruction, Register, Vector
from ..ptx.types import TYPES

if TYPE_CHECKING:
    from ..machine.launch import Launch

_REMEDY = "every register and every byte of shared memory must be written before it counts"


class Uninitialised(Observer):
    """Masks of registers lie in their second slots, those of shared memory in `_shared`."""

    instruments = True
    marks_unwritten = True

    def __init__(self) -> None:
        self._possible: dict[str, set[int]] = {}
        self._followed: set[int] = set()  # loads and stores, by the id of their site
        self._recent: list[Access] = []
        self._product: Product | None = None
        # Rows of A and columns of B with undefined elements, of the product being issued, by warp.
        self._lines: dict[int, dict[str, Array]] = {}
        self._moving: dict[Any, Array] = {}
        self._first_load: Instruction | None = None

    # --- translation -----------------------------------------------------------------------------

    def emit_before(self, e: Emitter, instruction: Instruction) -> None:
        if e.function.name not in self._possible:
            unwritten = flow.unwritten_at_entry(e.callee.blocks[0])
            found = flow.possibly_undefined(e.function, e.module, unwritten)
            self._possible[e.function.name] = found
        name = flow.name_of(instruction)
        needed = [*flow.needed(instruction)]
        pure = name not in (*flow.USES, *flow.LOADS, *flow.STORES, *flow.NOTHING)
        if not pure or name in flow.EXCHANGES:
            needed += flow.guard_of(instruction)
        risky = self._risky(e, needed)
        if risky:
            call = functools.partial(self._must_be_defined, _step(e, instruction), risky)
            e.line(f"if not ({_all_defined(e, risky)}): {_name(e, call, 'defined')}(w, R)")
        if name in (*flow.LOADS, *flow.STORES):
            self._followed.add(id(instruction))
        if pure and name not in flow.EXCHANGES:
            self._spread(e, instruction, RULES.get(name, everything))

    def emit_after(self, e: Emitter, instruction: Instruction) -> None:
        name = flow.name_of(instruction)
        if name in flow.LOADS and (name == "ldmatrix" or not flow.loads_defined(instruction)):
            load = self._load_matrices if name == "ldmatrix" else self._load
            call = functools.partial(load, _step(e, instruction))
            e.line(f"{_name(e, call, 'loaded')}(w, R)")
        elif name in flow.LOADS:
            self._forget(e, flow.results(instruction, e.module))
        elif name in flow.STORES:
            store = self._store if name == "st" else self._store_matrices
            call = functools.partial(store, _step(e, instruction))
            e.line(f"{_name(e, call, 'stored')}(w, R)")
        elif flow.is_product(instruction):
            call = functools.partial(self._multiply, _step(e, instruction))
            e.line(f"{_name(e, call, 'multiplied')}(w, R)")
        elif name == "mma":
            self._spread(e, instruction, matrices.multiply)
        elif name in flow.EXCHANGES:
            self._spread(e, instruction, RULES[name])
        elif name in flow.USES:
            self._forget(e, flow.results(instruction, e.module))

    def _risky(self, e: Emitter, registers: list[Register]) -> list[Register]:
        possible = self._possible[e.function.name]
        return [one for one in dict.fromkeys(registers) if one.slot in possible]

    def _spread(self, e: Emitter, instruction: Instruction, rule: Rule) -> None:
        """Emits the masks of an instruction's results."""
        results = self._risky(e, flow.results(instruction, e.module))
        if not results:
            return
        spread = [*flow.sources(instruction), *flow.guard_of(instruction)]
        if instruction.guard is not None:
            spread += results
        risky = self._risky(e, spread)
        nothing = "".join(f"{e.shadow(one)} = " for one in results) + "None"
        if not risky:
            e.line(nothing)
            return
        call = functools.partial(_spread_masks, _step(e, instruction), rule)
        e.line(f"if {_all_defined(e, risky)}: {nothing}")
        e.line(f"else: {_name(e, call, 'spread')}(w, R)")

    def _forget(self, e: Emitter, results: list[Register]) -> None:
        """What an instruction gives is defined."""
        for one in self._risky(e, results):
            old = e.shadow(one)
            if e.guard is None:
                e.line(f"{old} = None")
            else:
                zero = e.constant(mask_dtype(one.type.bits).type(0))
                e.line(f"if {old} is not None: {old} = where({e.guard}, {zero}, {old})")

    # --- the run ---------------------------------------------------------------------------------

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        self._shared = SharedMasks(launch.shared)
        self._recent.clear()
        self._lines.clear()
        self._first_load = None

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        self._shared.reset(slot)

    def access(self, access: Access) -> None:
        if access.kind == "store":
            if access.space == "shared":
                offset = access.offset if access.active is None else access.offset[access.active]
                self._shared.clear(offset.ravel(), access.size)
            if id(access.site) in self._followed:
                self._recent.append(access)
        elif access.space == "shared" and id(access.site) in self._followed:
            self._recent.append(access)

    def _taken(self) -> list[Access]:
        taken, self._recent = self._recent, []
        return taken

    def _must_be_defined(
        self, step: Step, risky: list[Register], w: Cohort, regs: list[Any]
    ) -> None:
        guards = {one.slot for one in flow.guard_of(step.instruction)}
        for register in sorted(risky, key=lambda one: one.slot not in guards):
            mask = regs[register.slot + step.distance]
            if mask is None:
                continue
            lanes = w.active if register.slot in guards else _lanes(w, regs, step.instruction)
            wrong = (mask != 0) & lanes
            if wrong.any():
                self._fail(w, wrong, register.name, _use(step.instruction, register))

    def _fail(self, w: Cohort, wrong: Array, what: str, use: str) -> None:
        origin = "it was never written"
        if self._first_load is not None:
            origin = "it was never written, or comes from shared memory that was not: such bytes "
            origin += f"were first loaded at {place(self._first_load)}"
        thread = int(w.threads.ravel()[int(wrong.ravel().argmax())])
        raise ThreadFault(
            f"an uninitialised value, {what}, {use}; {origin}", _REMEDY, thread=thread
        )

    # --- loads and stores ------------------------------------------------------------------------

    def _load(self, step: Step, w: Cohort, regs: list[Any]) -> None:
        taken = [one for one in self._taken() if one.space == "shared"]
        instruction = step.instruction
        type_ = next(TYPES[part] for part in instruction.parts if part in TYPES)
        elements = _elements(instruction.operands[0])
        for number, register in enumerate(elements):
            if register is None:
                continue
            bits = register.type.bits
            mask = np.zeros((len(w.warps), 32), mask_dtype(8 * type_.bytes))
            for access in taken:
                found = self._shared.load(access, number, mask.dtype)
                mask = mask if found is None else mask | found
            if mask.any() and self._first_load is None:
                self._first_load = instruction
            self._set(w, regs, step, register, fitted(mask, bits, type_.signed))

    def _set(self, w: Cohort, regs: list[Any], step: Step, register: Register, mask: Array) -> None:
        """Sets a mask, under the instruction's guard."""
        slot = register.slot + step.distance
        if step.instruction.guard is not None and regs[slot] is not None:
            mask = np.where(_lanes(w, regs, step.instruction), mask, regs[slot])
        regs[slot] = kept(mask)

    def _store(self, step: Step, w: Cohort, regs: list[Any]) -> None:
        taken = self._taken()
        instruction = step.instruction
        type_ = next(TYPES[part] for part in instruction.parts if part in TYPES)
        for number, register in enumerate(_elements(instruction.operands[1])):
            mask = None if register is None else regs[register.slot + step.distance]
            if mask is None or register is None:
                continue
            cut = fitted(mask, 8 * type_.bytes)
            for access in taken:
                self._stored(w, access, number, cut, register)

    def _stored(
        self, w: Cohort, access: Access, number: int, mask: Array, register: Register
    ) -> None:
        if access.space == "shared":
            self._shared.store(access, number, mask)
        elif access.space == "global":
            active = w.active if access.active is None else access.active
            wrong = (mask != 0) & active
            if wrong.any():
                self._fail(w, wrong, register.name, "is stored to global memory")

    def _load_matrices(self, step: Step, w: Cohort, regs: list[Any]) -> None:
        registers = [one for one in _elements(step.instruction.operands[0]) if one is not None]
        (access,) = self._taken()
        masks = self._shared.load_rows(access, len(registers))
        if masks.any() and self._first_load is None:
            self._first_load = step.instruction
        for number, register in enumerate(registers):
            mask = masks[:, number]
            if "trans" in step.instruction.parts:
                mask = transposed_matrix(w, mask)
            regs[register.slot + step.distance] = kept(mask)

    def _store_matrices(self, step: Step, w: Cohort, regs: list[Any]) -> None:
        taken = self._taken()
        o = Operands(w, regs, step)
        given = [o.mask_of(one) for one in _elements(step.instruction.operands[1]) if one]
        if taken and any(mask.any() for mask in given):
            if "trans" in step.instruction.parts:
                given = [transposed_matrix(w, mask) for mask in given]
            self._shared.store_rows(taken[0], np.stack(given, axis=1))

    # --- products --------------------------------------------------------------------------------

    def async_issued(self, operation: Any) -> None:
        if operation.kind == "wgmma":
            self._product = operation.product

    def _multiply(self, step: Step, w: Cohort, regs: list[Any]) -> None:
        operands = step.instruction.operands
        accumulators = [one for one in _elements(operands[0]) if one is not None]
        slots = [one.slot + step.distance for one in accumulators]
        a = (
            [one for one in _elements(operands[1]) if one]
            if isinstance(operands[1], Vector)
            else []
        )
        lines, self._lines = self._lines, {}
        sources = [*slots, *(one.slot + step.distance for one in a)]
        if not lines and all(regs[slot] is None for slot in sources):
            return
        product = self._product
        assert product is not None
        o = Operands(w, regs, step)
        spoiled = np.zeros((len(w.warps), 16, product.n), bool)
        if a:
            bits = TYPES[product.a_type].bits
            parts = matrices.elements([o.mask_of(one) for one in a], bits)
            spoiled |= np.asarray(fragments.matrix_a(parts, 16).any(axis=2))[:, :, None]
        for row, warp in enumerate(w.warps.tolist()):
            found = lines.get(warp, {})
            if "a" in found:
                quarter = 16 * (warp % self._launch.warps_per_block % 4)
                spoiled[row] |= found["a"][quarter : quarter + 16, None]
            if "b" in found:
                spoiled[row] |= found["b"]
        keep = o.value(3, 1)
        before = [np.where(keep, o.mask_of(one), np.uint32(0)) for one in accumulators]
        for slot, mask in zip(slots, matrices.accumulators(product, spoiled, before), strict=True):
            regs[slot] = kept(mask)

    # --- asynchronous operations -----------------------------------------------------------------

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        if not isinstance(access.storage, SharedMemory):
            return
        if access.kind == "read":
            found = self._shared.bytes_at(access.offset, access.size)
            if found.any():
                self._read(operation, access, found)
            return
        moving = self._moving.pop(operation, None)
        self._shared.clear(access.offset, access.size)
        if moving is not None:
            start = int(access.offset[0])
            self._shared.data[start : start + access.size] = moving

    def _read(self, operation: Any, access: AsyncAccess, found: Array) -> None:
        """An operation reads undefined bytes, uint8[runs, size]."""
        if operation.kind == "wgmma":
            assert access.which is not None
            lines = matrices.undefined_lines(operation.product, access.which, found)
            for warp in operation.warps.tolist():
                self._lines.setdefault(warp, {})[access.which] = lines
            return
        if isinstance(operation, TensorStore):
            box = operation.box
            flat = found.reshape(-1)[: box.bytes].reshape(*box.offset.shape, box.itemsize)
            if not (flat.any(axis=2) & box.inside).any():
                return
        elif _copies_within(operation):
            self._moving[operation] = found.reshape(-1)
            return
        wrong = found.any(axis=1)
        byte = int(access.offset[int(wrong.argmax())])
        raise ThreadFault(
            f"{describe(access.storage, byte, self._launch.slot_name)} and further bytes go to "
            "global memory, but nobody has written them", _REMEDY,
            thread=int(operation.threads[0]), at=operation.site,
        )  # fmt: skip


def _copies_within(operation: Any) -> bool:
    """Whether bytes go from shared to shared memory as they are."""
    if not isinstance(operation, BulkCopy) or operation.reduction is not None:
        return False
    return any(isinstance(target.storage, SharedMemory) for target in operation.targets)


# --- helpers -------------------------------------------------------------------------------------


def _step(e: Emitter, instruction: Instruction) -> Step:
    return Step(
        instruction,
        tuple(flow.results(instruction, e.module)),
        len(e.function.registers),
    )


def _name(e: Emitter, call: Any, prefix: str) -> str:
    return e.object(call, f"{prefix}_{e.site}")


def _all_defined(e: Emitter, registers: list[Register]) -> str:
    return " and ".join(f"{e.shadow(one)} is None" for one in registers)


def _elements(operand: Any) -> list[Register | None]:
    """The registers of a vector or a single one, None for anything else."""
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    return [one if isinstance(one, Register) and one.type.bits <= 64 else None for one in elements]


def _lanes(w: Cohort, regs: list[Any], instruction: Instruction) -> Array:
    """bool[n, 32], the lanes for which an instruction's guard holds."""
    guard = instruction.guard
    if guard is None:
        return w.active
    found = regs[guard.slot] if isinstance(guard, Register) else ~regs[guard.register.slot]
    return w.active & found


def _spread_masks(step: Step, rule: Rule, w: Cohort, regs: list[Any]) -> None:
    o = Operands(w, regs, step)
    masks = rule(o)
    instruction = step.instruction
    for register, mask in zip(step.results, masks, strict=True):
        slot = register.slot + step.distance
        if instruction.guard is not None:
            old = o.mask_of(register)
            mask = np.where(_lanes(w, regs, instruction), mask, old)
            undefined = o.mask_of(instruction.guard)
            ones = ~mask_dtype(register.type.bits).type(0)
            mask = np.where(undefined, ones, mask) if undefined.any() else mask
        regs[slot] = kept(mask)


def _use(instruction: Instruction, register: Register) -> str:
    if any(one.slot == register.slot for one in flow.guard_of(instruction)):
        return "decides whether this instruction is executed"
    name = flow.name_of(instruction)
    if name in (*flow.LOADS, *flow.STORES, "red"):
        return "is part of an address, or goes to an atomic update"
    return "is used by this instruction"
