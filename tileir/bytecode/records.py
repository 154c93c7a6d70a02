"""A bytecode file as plain Python objects, tables and indices as they are in the file.

Decoding gives a `File`, encoding takes one; neither knows MLIR. An index into a table of the file
is an `int`: types, strings and constants count from 0, debug records from 1 (0 is "none").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tileir.bytecode.version import Version

if TYPE_CHECKING:
    from tileir.bytecode.fields import RecordSpec
    from tileir.bytecode.schema import OpSpec


@dataclass(slots=True)
class Record:
    """A tagged entry: a type, an attribute or a piece of debug information.

    `fields` has a value for every field of `spec` that is present; optional ones that are absent
    are left out.
    """

    spec: RecordSpec
    fields: dict[str, Any]
    offset: int = 0


@dataclass(slots=True)
class Block:
    """Arguments, as type indices, and operations."""

    arguments: list[int]
    operations: list[Op]


@dataclass(slots=True)
class Op:
    """One operation.

    `results` are type indices. `operands` are value numbers: parameters, block arguments and
    results share one counter per function. `segments` has the number of operands in each segment
    of a segmented operation. A region without blocks is `None`. `location` is a debug index.
    """

    spec: OpSpec
    results: list[int]
    attributes: dict[str, Any]
    operands: list[int]
    segments: list[int] | None = None
    regions: list[Block | None] = field(default_factory=list)
    location: int = 0
    offset: int = 0


@dataclass(slots=True)
class Function:
    """An entry. `hints` is the optimization_hints attribute or None."""

    name: int
    signature: int
    body: list[Op]
    hints: Record | None = None
    location: int = 0
    offset: int = 0


@dataclass(slots=True)
class Global:
    """A variable of the module: indices of its name, type and value."""

    name: int
    type: int
    constant: int
    alignment: int
    visibility: int = 0
    is_constant: bool = False
    offset: int = 0


@dataclass(slots=True)
class File:
    """All of a file, table by table; the records name each other by index."""

    version: Version
    strings: list[bytes] = field(default_factory=list)
    types: list[Record] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)
    debug: list[Record] = field(default_factory=list)
    globals: list[Global] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    producer: int | None = None

    def text(self, string: int) -> str:
        """A string of the table, for people."""
        return self.strings[string].decode("utf-8", "replace")
