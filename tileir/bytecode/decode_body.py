"""The body of a function: operations and their regions."""

from __future__ import annotations

from tileir.bytecode.fields import SYMBOL
from tileir.bytecode.records import Block, File, Op
from tileir.bytecode.schema import BY_OPCODE, TERMINATORS, Arity, Layout, Scheme, layout_of
from tileir.bytecode.stream import Cursor
from tileir.bytecode.tags import VALUE_TYPE, VALUE_TYPES

MAX_REGION_DEPTH = 200


class BodyReader:
    """Reads the operations of one function.

    Values have numbers: parameters first, then block arguments and results as they come. The
    results of an operation are numbered after its regions, and the numbers used in a region are
    given out again after it.
    """

    def __init__(
        self, cursor: Cursor, file: File, locations: tuple[int, ...], global_names: set[bytes]
    ):
        """`locations` are those of the function and of each operation, or empty."""
        self._cursor = cursor
        self._file = file
        self._locations = locations
        self._global_names = global_names
        self.own_location = locations[0] if locations else 0
        self._operations = 0
        self._values = 0

    def body(self, parameters: int) -> list[Op]:
        self._values = parameters
        operations: list[Op] = []
        while self._cursor.remaining:
            self._check_open(operations)
            operations.append(self._operation(0))
        if self._locations and len(self._locations) != self._operations + 1:
            self._cursor.fail(
                f"{len(self._locations)} debug indices for {self._operations} operations "
                "and their function"
            )
        return operations

    def _check_open(self, operations: list[Op]) -> None:
        if operations and operations[-1].spec.name in TERMINATORS:
            self._cursor.fail(f"nothing can follow the {operations[-1].spec.name} of a block")

    def _operation(self, depth: int) -> Op:
        cursor, file = self._cursor, self._file
        start = cursor.offset
        layout = self._layout()
        spec = layout.spec
        self._operations += 1
        location = 0
        if self._operations < len(self._locations):
            location = self._locations[self._operations]
        results = self._results(layout)
        flags = self._flags(layout)
        attributes = {}
        for attribute in layout.attributes:
            if not attribute.has_flag or flags & layout.flags[attribute.name]:
                attributes[attribute.name] = value = attribute.encoding.read(cursor, file)
                if attribute.encoding is SYMBOL and file.strings[value] not in self._global_names:
                    cursor.fail(f"there is no global {file.text(value)!r}", start)
        operands, segments = self._operands(layout, flags)
        if spec.regions and (count := cursor.varint()) != spec.regions:
            cursor.fail(f"{spec.name} has {spec.regions} regions, got {count}")
        regions = [self._region(layout, depth + 1) for _ in range(spec.regions)]
        self._values += len(results)
        return Op(spec, results, attributes, operands, segments, regions, location, start)

    def _layout(self) -> Layout:
        start = self._cursor.offset
        opcode = self._cursor.varint()
        spec = BY_OPCODE.get(opcode)
        if spec is None:
            self._cursor.fail(f"unknown opcode {opcode:#x}", start)
        if self._file.version < spec.since:
            self._cursor.fail(
                f"{spec.name} needs bytecode {spec.since}, this is {self._file.version}", start
            )
        return layout_of(spec, self._file.version)

    def _results(self, layout: Layout) -> list[int]:
        cursor = self._cursor
        start = cursor.offset
        if layout.counted_results:
            count = cursor.count("results")
            if layout.results is not None and count != layout.results:
                cursor.fail(f"{layout.spec.name} has {layout.results} results, got {count}", start)
        else:
            count = layout.results or 0
        return [VALUE_TYPE.read(cursor, self._file) for _ in range(count)]

    def _flags(self, layout: Layout) -> int:
        if not layout.flags:
            return 0
        start = self._cursor.offset
        flags = self._cursor.varint()
        if flags > layout.flag_mask:
            self._cursor.fail(f"unknown flags {flags:#x} of {layout.spec.name}", start)
        return flags

    def _operands(self, layout: Layout, flags: int) -> tuple[list[int], list[int] | None]:
        if layout.scheme is Scheme.FIXED:
            return self._value_list(len(layout.operands)), None
        start = self._cursor.offset
        if layout.scheme is Scheme.COUNTED:
            count = self._cursor.count("operands")
            spec = layout.spec
            most = spec.maximum_operands
            if count < spec.minimum_operands or (most is not None and count > most):
                self._cursor.fail(f"{spec.name} cannot have {count} operands", start)
            return self._value_list(count), None
        operands: list[int] = []
        segments: list[int] = []
        for operand in layout.spec.operands:
            size = 1
            if operand not in layout.operands:
                size = 0
            elif operand.arity is Arity.VARIADIC:
                size = self._cursor.count("operands")
            elif operand.arity is Arity.OPTIONAL:
                size = 1 if flags & layout.flags[operand.name] else 0
            operands += self._value_list(size)
            segments.append(size)
        return operands, segments

    def _value_list(self, count: int) -> list[int]:
        cursor, limit = self._cursor, self._values
        values = []
        for _ in range(count):
            start = cursor.offset
            value = cursor.varint()
            if value >= limit:
                cursor.fail(f"value {value} is not defined here", start)
            values.append(value)
        return values

    def _region(self, layout: Layout, depth: int) -> Block | None:
        """One region. With `_operation` the only recursion: two Python frames a level."""
        cursor, name = self._cursor, layout.spec.name
        start = cursor.offset
        if depth > MAX_REGION_DEPTH:
            cursor.fail(f"regions are nested more than {MAX_REGION_DEPTH} deep", start)
        blocks = cursor.varint()
        if blocks > 1:
            cursor.fail(f"a region of {name} has one block, got {blocks}", start)
        if blocks == 0:
            return None
        values = self._values
        block = Block(list(VALUE_TYPES.read(cursor, self._file)), [])
        self._values += len(block.arguments)
        for _ in range(cursor.count("operations")):
            self._check_open(block.operations)
            block.operations.append(self._operation(depth))
        self._values = values
        return block
