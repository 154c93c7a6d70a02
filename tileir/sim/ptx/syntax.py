"""What PTX text means: modules, functions, variables, instructions, operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .types import Type

# --- operands ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Register:
    """A virtual register; `slot` is its place in the register file of its function."""

    name: str
    slot: int
    type: Type


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as %tid.x."""

    name: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number. `value` is an int, or a float; the bits of 0f and 0d literals are kept exactly."""

    value: int | float
    bits: int | None = None
    width: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable or function, plus `offset` bytes."""

    target: Variable | Function
    offset: int = 0
    generic: bool = False


@dataclass(slots=True)
class Label:
    """A place in the code; names are unique in a function once it is parsed."""

    name: str


@dataclass(frozen=True, slots=True)
class Vector:
    """{a, b, c, d}"""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """[base + offset], or [base, {coordinates}] and more for tensors."""

    base: Operand
    offset: int = 0
    coordinates: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """a|b, two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Negated:
    """!p"""

    register: Register


@dataclass(frozen=True, slots=True)
class Sink:
    """_, a result that nobody wants."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """(a, b), the lists of a call."""

    elements: tuple[Operand, ...]


Operand = (
    Register
    | Special
    | Immediate
    | Symbol
    | Label
    | Vector
    | Address
    | Pair
    | Negated
    | Sink
    | Arguments
)


# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """One instruction; `opcode` is the word with all its modifiers.

    `line` counts the lines of the PTX from 1; `place` is the place in the source program that .loc
    names, if any: the number of a file in `files`, line, column.
    """

    opcode: str
    operands: tuple[Operand, ...]
    guard: Register | Negated | None
    line: int
    place: tuple[int, int, int] | None
    files: Mapping[int, str] = field(repr=False)
    span: tuple[int, int] = field(repr=False)
    source: str = field(repr=False)

    @property
    def location(self) -> str | None:
        """The place in the source program in words."""
        if self.place is None:
            return None
        file, line, column = self.place
        return f"{self.files.get(file, f'file {file}')}:{line}:{column}"

    @property
    def parts(self) -> list[str]:
        return self.opcode.split(".")

    @property
    def text(self) -> str:
        """The instruction as written, on one line."""
        start, end = self.span
        return " ".join(self.source[start:end].split())


Statement = Instruction | Label


@dataclass(slots=True, eq=False)
class Variable:
    """A variable of a state space; `address` is filled in by whoever lays out that space.

    `count` is the number of elements, None for `extern` arrays without a size. `values` are the
    initial ones: numbers, or `Symbol`s for addresses.
    """

    name: str
    space: str
    type: Type
    count: int | None
    alignment: int
    values: tuple[Any, ...] = ()
    is_array: bool = False
    linkage: str = ""
    address: int = 0

    @property
    def size(self) -> int:
        return 0 if self.count is None else self.count * self.type.bytes


@dataclass(slots=True, eq=False)
class Function:
    """An entry or a function. `body` is None for a declaration.

    `directives` are those of performance tuning: reqntid, reqnctapercluster, maxnreg, ...
    """

    name: str
    is_entry: bool
    parameters: list[Variable | Register] = field(default_factory=list)
    results: list[Variable | Register] = field(default_factory=list)
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    body: list[Statement] | None = None
    variables: list[Variable] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    targets: dict[str, tuple[Label, ...]] = field(default_factory=dict)
    line: int = 0


@dataclass(slots=True, eq=False)
class Module:
    """A PTX module. `name` stands for its text in messages."""

    name: str
    text: str
    version: str = ""
    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)

    @property
    def entries(self) -> list[str]:
        return [name for name, function in self.functions.items() if function.is_entry]
