"""Basic blocks and the registers that live between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...errors import UnsupportedError
from ..ptx.syntax import (
    Address,
    Arguments,
    Function,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    Variable,
    Vector,
)
from . import registry
from .registry import Rule


@dataclass(slots=True, eq=False)
class Step:
    """An instruction with the rule that translates it."""

    instruction: Instruction
    rule: Rule
    modifiers: list[str]
    reads: list[Register] = field(default_factory=list)
    writes: list[Register] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Block:
    """Steps that run one after another; `successors` are indices of blocks of the function.

    `live` is the set of slots whose values are needed from the block's start on, as a bit set.
    """

    steps: list[Step] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)
    live: int = 0


def cut(function: Function, module: str) -> tuple[list[Block], dict[str, int]]:
    """The function's basic blocks, and the block that each label stands for."""
    blocks = [Block()]
    labels: dict[str, int] = {}
    for statement in function.body or ():
        if isinstance(statement, Label):
            if blocks[-1].steps:
                blocks.append(Block())
            labels[statement.name] = len(blocks) - 1
            continue
        rule, modifiers = registry.find(statement, module)
        if rule.stops and blocks[-1].steps:
            blocks.append(Block())
        blocks[-1].steps.append(_step(statement, rule, modifiers))
        if rule.ends:
            completion = registry.completion(rule)
            if completion is not None:
                blocks.append(Block([_step(statement, completion, modifiers)]))
            blocks.append(Block())
    for index, block in enumerate(blocks):
        block.successors = list(_successors(function, block, index, labels, module))
    _find_live(blocks)
    return blocks, labels


def _step(instruction: Instruction, rule: Rule, modifiers: list[str]) -> Step:
    reads, writes = reads_and_writes(instruction, rule)
    return Step(instruction, rule, modifiers, reads, writes)


def _successors(
    function: Function, block: Block, index: int, labels: dict[str, int], module: str
) -> Iterator[int]:
    last = block.steps[-1].instruction if block.steps else None
    name = last.parts[0] if last else ""
    if last is not None and name in ("bra", "brx"):
        targets = [o for o in last.operands if isinstance(o, Label)]
        if name == "brx":
            targets = list(function.targets.get(targets[0].name, ()))
        for target in targets:
            if target.name not in labels:
                raise UnsupportedError(
                    f"'{last.text}' leads to no place in the code",
                    location=f"{module}:{last.line}",
                )
            yield labels[target.name]
        if last.guard is None:
            return
    elif last is not None and name in ("ret", "exit", "trap") and last.guard is None:
        return
    yield index + 1


def reads_and_writes(instruction: Instruction, rule: Rule) -> tuple[list[Register], list[Register]]:
    """The registers that an instruction reads and writes.

    What a guard may leave alone counts as read.
    """
    operands = instruction.operands
    writes: list[Register] = []
    if instruction.parts[0] == "call":
        if operands and isinstance(operands[0], Arguments) and len(operands) > 1:
            writes = list(_registers(operands[0]))
            operands = operands[1:]
    elif rule.results and operands and not isinstance(operands[0], Address):
        writes = list(_registers(operands[0]))
        operands = operands[0 if rule.updates else 1 :]
    reads = [register for operand in operands for register in _registers(operand)]
    if instruction.guard is not None:
        reads += _registers(instruction.guard)
        reads += writes  # what the guard leaves alone
    return reads, writes


def _registers(operand: Operand) -> Iterator[Register]:
    if isinstance(operand, Register):
        yield operand
    elif isinstance(operand, Negated):
        yield operand.register
    elif isinstance(operand, (Vector, Arguments)):
        for element in operand.elements:
            yield from _registers(element)
    elif isinstance(operand, Pair):
        yield from _registers(operand.first)
        yield from _registers(operand.second)
    elif isinstance(operand, Address):
        yield from _registers(operand.base)
        for element in operand.coordinates:
            yield from _registers(element)


def symbols(function: Function) -> Iterator[Variable | Function]:
    """The variables and functions that a function names."""
    for statement in function.body or ():
        if isinstance(statement, Instruction):
            for operand in statement.operands:
                yield from _symbols(operand)


def _symbols(operand: Operand) -> Iterator[Variable | Function]:
    if isinstance(operand, Symbol):
        yield operand.target
    elif isinstance(operand, (Vector, Arguments)):
        for element in operand.elements:
            yield from _symbols(element)
    elif isinstance(operand, Address):
        yield from _symbols(operand.base)


def _find_live(blocks: list[Block]) -> None:
    """Fills in `live`, backwards until nothing changes."""
    needs, kills = [], []
    for block in blocks:
        need = kill = 0
        for step in block.steps:
            for register in step.reads:
                need |= (1 << register.slot) & ~kill
            for register in step.writes:
                kill |= 1 << register.slot
        needs.append(need)
        kills.append(kill)
    changed = True
    while changed:
        changed = False
        for index in range(len(blocks) - 1, -1, -1):
            block, out = blocks[index], 0
            for successor in block.successors:
                if successor < len(blocks):
                    out |= blocks[successor].live
            live = needs[index] | (out & ~kills[index])
            if live != block.live:
                block.live, changed = live, True


def slots(live: int) -> list[int]:
    """A bit set as a list of slots."""
    found = []
    while live:
        low = live & -live
        found.append(low.bit_length() - 1)
        live ^= low
    return found
