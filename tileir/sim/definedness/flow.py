"""Which registers of a function may have undefined bits, and what instructions do with them."""

from __future__ import annotations

from collections.abc import Iterable

from ..code import blocks, registry
from ..ptx.syntax import Address, Function, Instruction, Register
from .masks import followed, registers_of
from .rules import results_of

# Between lanes or in matrices: these wait for other lanes first, so masks follow behind them.
EXCHANGES = ("shfl", "vote", "match", "redux", "movmatrix", "mma")
# What must be defined, whatever comes of it.
USES = ("bra", "brx", "call", "bar", "barrier", "mbarrier", "red", "cp", "tensormap", "setmaxnreg",
        "nanosleep", "exit", "ret", "trap", "fence", "membar", "elect", "wgmma")  # fmt: skip
LOADS = ("ld", "ldu", "atom", "ldmatrix")
STORES = ("st", "stmatrix")
NOTHING = ("prefetch", "prefetchu", "discard", "applypriority", "activemask", "pmevent",
           "griddepcontrol", "createpolicy")  # fmt: skip
_PRODUCT = "wgmma.mma_async"
_DEFINED_SPACES = ("global", "const", "local", "param", "param::entry", "param::func")


def is_product(instruction: Instruction) -> bool:
    return instruction.opcode.startswith(_PRODUCT)


def name_of(instruction: Instruction) -> str:
    return instruction.parts[0]


def loads_defined(instruction: Instruction) -> bool:
    """Whether a load is from memory that holds no undefined bits."""
    return any(space in instruction.parts[1:] for space in _DEFINED_SPACES)


def needed(instruction: Instruction) -> list[Register]:
    """The registers that an instruction needs defined: addresses, masks of lanes, ..."""
    name, operands = name_of(instruction), instruction.operands
    chosen = list(operands)
    if is_product(instruction):
        chosen = [one for one in operands[1:] if isinstance(one, Register)]
    elif name in ("shfl", "vote", "match", "redux"):
        chosen = list(operands[-1:])
    elif name in (*LOADS, *STORES):
        chosen = [one for one in operands if isinstance(one, Address)]
        if name == "atom":
            chosen = list(operands[1:])
    elif name in USES:
        if operands and name in ("mbarrier", "elect", "bar", "barrier", "call"):
            chosen = list(operands) if isinstance(operands[0], Address) else list(operands[1:])
            if name in ("bar", "barrier") and "red" not in instruction.parts:
                chosen = list(operands)
    else:
        chosen = []
    found = [register for operand in chosen for register in registers_of(operand)]
    return [register for register in found if followed(register)]


def guard_of(instruction: Instruction) -> list[Register]:
    return [] if instruction.guard is None else registers_of(instruction.guard)


def results(instruction: Instruction, module: str) -> list[Register]:
    """The registers whose masks an instruction sets."""
    rule, _ = registry.find(instruction, module)
    if not rule.results or not instruction.operands or name_of(instruction) in ("st", "stmatrix"):
        return []
    return [one for one in results_of(instruction.operands[0]) if followed(one)]


def sources(instruction: Instruction) -> list[Register]:
    """The registers from which masks spread to the results."""
    operands = instruction.operands if is_product(instruction) else instruction.operands[1:]
    found = [register for operand in operands for register in registers_of(operand)]
    return [register for register in found if followed(register)]


def possibly_undefined(function: Function, module: str, unwritten: Iterable[int]) -> set[int]:
    """The slots of registers that may have undefined bits; `unwritten` are those that may be read
    before they are written."""
    by_slot = {register.slot: register for register in function.registers}
    found = {slot for slot in unwritten if slot in by_slot and followed(by_slot[slot])}
    steps = [one for one in function.body or () if isinstance(one, Instruction)]
    while True:
        before = len(found)
        for instruction in steps:
            if _gives_undefined(instruction, found):
                found.update(one.slot for one in results(instruction, module))
        if len(found) == before:
            return found


def _gives_undefined(instruction: Instruction, found: set[int]) -> bool:
    name = name_of(instruction)
    if name in LOADS:
        return name == "ldmatrix" or not loads_defined(instruction)
    if is_product(instruction):
        return True
    if name in USES or name in NOTHING:
        return False
    spread = [*sources(instruction), *guard_of(instruction)]
    return any(register.slot in found for register in spread)


def unwritten_at_entry(entry: blocks.Block) -> list[int]:
    """Slots that a function may read before it writes them."""
    return blocks.slots(entry.live)
