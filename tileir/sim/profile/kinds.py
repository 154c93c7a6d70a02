"""Kinds of instructions, and the work of matrix instructions."""

from __future__ import annotations

import re

from ..ptx.syntax import Instruction
from ..ptx.types import TYPES

_BY_NAME = {
    "bra": "control", "brx": "control", "call": "control", "ret": "control", "exit": "control",
    "trap": "control", "bar": "barriers", "barrier": "barriers", "mbarrier": "barriers",
    "fence": "fences", "membar": "fences", "shfl": "between lanes", "vote": "between lanes",
    "match": "between lanes", "redux": "between lanes", "elect": "between lanes",
    "activemask": "between lanes", "movmatrix": "between lanes", "mma": "tensor cores",
    "wgmma": "tensor cores", "cvt": "conversions", "cvta": "moves", "mov": "moves",
    "selp": "moves", "setp": "comparisons", "set": "comparisons", "slct": "moves",
    "ldmatrix": "shared memory", "stmatrix": "shared memory", "cp": "asynchronous copies",
    "prmt": "integers", "nanosleep": "control", "setmaxnreg": "control",
}  # fmt: skip
_SPACES = ("global", "shared", "local", "const", "param")
_MEMORY = ("ld", "ldu", "st", "atom", "red")
_FUNCTIONS = ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh")
_MMA = re.compile(r"\.m(\d+)n(\d+)k(\d+)")


def kind_of(instruction: Instruction) -> str:
    """What an instruction is counted as."""
    parts = instruction.parts
    name = parts[0]
    if name == "bar" and parts[1:2] == ["warp"]:
        return "between lanes"
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _MEMORY:
        spaces = [part.partition("::")[0] for part in parts[1:]]
        found = next((space for space in _SPACES if space in spaces), "generic")
        return f"{found} memory"
    if name in _FUNCTIONS:
        return "special functions"
    types = [TYPES[part] for part in parts if part in TYPES]
    if types and types[0].is_float:
        return "floats"
    if types and types[0].bits == 1:
        return "predicates"
    return "integers"


def matrix_work(instruction: Instruction) -> int:
    """Multiplications and additions of one warp: 2 m n k, a quarter of that for wgmma."""
    match = _MMA.search(instruction.opcode)
    if match is None:
        return 0
    m, n, k = map(int, match.groups())
    return 2 * m * n * k // (4 if instruction.parts[0] == "wgmma" else 1)
