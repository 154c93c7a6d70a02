"""Building the body of one kernel; see `builder.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from tileir.bytecode.fields import BOOL_ARRAY, STRING, SYMBOL, Enum
from tileir.bytecode.records import Block, Function, Op
from tileir.bytecode.schema import BY_NAME, Arity, Attribute, OpSpec
from tileir.bytecode.tags import HINTS
from tileir.bytecode.version import Version
from tileir.errors import BytecodeError

if TYPE_CHECKING:
    from tileir.bytecode.builder import FileBuilder, Source, Type


@dataclass(frozen=True, eq=False)
class Value:
    """A parameter, an argument of a region or a result of an operation."""

    number: int
    type: Type


@dataclass(frozen=True)
class Region:
    """The types of the arguments of a region, and the function that builds it from them."""

    arguments: Sequence[Type]
    build: Callable[..., None]


class EntryBuilder:
    """Appends operations to a kernel. `location` is that of the operations to come."""

    def __init__(
        self,
        file: FileBuilder,
        function: Function,
        name: str,
        parameters: Sequence[Type],
        location: Source | None,
    ):
        self.location = location
        self._file = file
        self._name = name
        self._scope: list[Value] = []  # by number
        self._operations = function.body
        self._subprogram = 0 if location is None else self._describe(location)
        function.location = self._debug_index()
        self.parameters = self._define(parameters)

    # ---- operations --------------------------------------------------------------------------

    def emit(
        self,
        name: str,
        /,
        *operands: Value | Sequence[Value] | None,
        results: Iterable[Type] = (),
        regions: Iterable[Region | None] = (),
        **parts: Any,
    ) -> tuple[Value, ...]:
        """Appends an operation and returns its results.

        Operands may stand in order or, as attributes, by name: a sequence for a variadic one,
        None for an absent one. Attributes: the case of an enumeration as a string, hints as for
        `entry`, a `Record` of `attribute` or `number` where there are several kinds. What is left
        out has its default. Raises `BytecodeError` at the current location.
        """
        spec = BY_NAME.get(name) or self._fail(f"there is no operation '{name}'")
        self._require(name, spec.since)
        parts.update(zip((operand.name for operand in spec.operands), operands, strict=False))
        self._check_parts(spec, parts, len(operands))
        types = tuple(results)
        values, segments = self._operands(spec, parts)
        op = Op(
            spec=spec,
            results=[type.index for type in types],
            attributes=self._attributes(spec, parts, segments),
            operands=values,
            segments=segments if spec.segmented else None,
            location=self._debug_index(),
        )
        self._operations.append(op)
        op.regions = [None if region is None else self._region(region) for region in regions]
        return self._define(types)

    def value(
        self, name: str, result: Type, /, *operands: Value | Sequence[Value] | None, **parts: Any
    ) -> Value:
        """The only result of an operation."""
        return self.emit(name, *operands, results=[result], **parts)[0]

    def constant(self, type: Type, values: Any) -> Value:
        """A tile of constants: one number for all elements, or an array of them."""
        return self.value("constant", type, value=self._file.constant(type.element, values))

    # ---- parts of an operation ---------------------------------------------------------------

    def _check_parts(self, spec: OpSpec, parts: Mapping[str, Any], positional: int) -> None:
        known = [operand.name for operand in spec.operands]
        if positional > len(known):
            self._fail(f"{spec.name} has {len(known)} operands, {positional} are given")
        known += [attribute.name for attribute in spec.attributes]
        for name in parts:
            if name not in known:
                names = ", ".join(known) or "nothing"
                self._fail(f"{spec.name} has no '{name}'", f"{spec.name} has {names}")

    def _operands(self, spec: OpSpec, parts: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """Numbers of all operands, and how many each operand of the table stands for."""
        numbers: list[int] = []
        segments: list[int] = []
        for operand in spec.operands:
            given = parts.get(operand.name)
            values = given if isinstance(given, (list, tuple)) else (given,)
            if given is None:
                values = ()
            if operand.arity is Arity.ONE and len(values) != 1:
                self._fail(f"{spec.name} needs one value for '{operand.name}', got {len(values)}")
            if values:
                self._require(f"{spec.name} with {operand.name}", operand.since)
            numbers += [self._number(spec, operand.name, value) for value in values]
            segments.append(len(values))
        return numbers, segments

    def _number(self, spec: OpSpec, operand: str, value: Any) -> int:
        if not isinstance(value, Value):
            self._fail(f"{spec.name}: '{operand}' must be a value, not {type(value).__name__}")
        in_scope = value.number < len(self._scope) and self._scope[value.number] is value
        if not in_scope:
            self._fail(
                f"{spec.name}: '{operand}' is a value of another kernel or of a region that has "
                "ended",
                "results of the operation that has the region carry values out of it",
            )
        return value.number

    def _attributes(
        self, spec: OpSpec, parts: Mapping[str, Any], segments: list[int]
    ) -> dict[str, Any]:
        stored: dict[str, Any] = {}
        for attribute in spec.attributes:
            value = parts.get(attribute.name)
            if value is None or value is False and attribute.has_flag:
                if not attribute.has_flag and attribute.since <= self._file.version:
                    stored[attribute.name] = self._default(spec, attribute, segments)
                continue
            self._require(f"{spec.name} with {attribute.name}", attribute.since)
            stored[attribute.name] = self._attribute(spec, attribute, value)
        return stored

    def _default(self, spec: OpSpec, attribute: Attribute, segments: list[int]) -> Any:
        encoding = attribute.encoding
        if isinstance(encoding, Enum) and attribute.default is not None:
            return encoding.enumeration.value(attribute.default)
        if encoding is BOOL_ARRAY:
            index = [operand.name for operand in spec.operands].index("index")
            return (False,) * segments[index]
        choices = f": {', '.join(encoding.enumeration.cases)}" if isinstance(encoding, Enum) else ""
        self._fail(f"{spec.name} needs '{attribute.name}'{choices}")

    def _attribute(self, spec: OpSpec, attribute: Attribute, value: Any) -> Any:
        encoding = attribute.encoding
        if encoding is STRING or encoding is SYMBOL:
            return self._file.string(value)
        if encoding is HINTS:
            return self._file.hints(value)
        if not isinstance(encoding, Enum):
            return tuple(value) if isinstance(value, Sequence) else value
        enumeration = encoding.enumeration
        if value not in enumeration.cases:
            self._fail(
                f"{spec.name}: '{attribute.name}' cannot be {value!r}",
                f"choose one of {', '.join(enumeration.cases)}",
            )
        number = enumeration.value(value)
        self._require(f"{spec.name} with {value}", enumeration.available_since(number))
        return number

    # ---- regions and values ------------------------------------------------------------------

    def _region(self, region: Region) -> Block:
        outer, first = self._operations, len(self._scope)
        block = Block([type.index for type in region.arguments], [])
        self._operations = block.operations
        region.build(*self._define(region.arguments))
        self._operations = outer
        del self._scope[first:]
        return block

    def _define(self, types: Iterable[Type]) -> tuple[Value, ...]:
        first = len(self._scope)
        self._scope += [Value(number, type) for number, type in enumerate(types, first)]
        return tuple(self._scope[first:])

    # ---- locations and errors ----------------------------------------------------------------

    def _describe(self, location: Source) -> int:
        """The subprogram that the locations of the kernel lie in."""
        directory, base = os.path.split(location.filename)
        file = self._file.debug("file", name=base, directory=directory)
        return self._file.debug(
            "subprogram",
            file=file,
            line=location.line,
            name=self._name,
            linkage_name=self._name,
            compile_unit=self._file.debug("compile_unit", file=file),
            scope_line=location.line,
        )

    def _debug_index(self) -> int:
        if self.location is None or not self._subprogram:
            return 0
        filename, line, column = self.location
        return self._file.debug(
            "loc", scope=self._subprogram, filename=filename, line=line, column=column
        )

    def _require(self, what: str, since: Version) -> None:
        if self._file.version < since:
            self._fail(f"{what} needs bytecode {since} or newer, this is {self._file.version}")

    def _fail(self, reason: str, remedy: str | None = None) -> NoReturn:
        location = None if self.location is None else str(self.location)
        raise BytecodeError(reason, location=location, remedy=remedy)
