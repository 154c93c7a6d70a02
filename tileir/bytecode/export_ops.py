"""Operations: MLIR to records."""

from __future__ import annotations

from typing import Any

from tileir import ir
from tileir.bytecode import enums
from tileir.bytecode.decode_body import MAX_REGION_DEPTH
from tileir.bytecode.fields import BOOL_ARRAY, Enum
from tileir.bytecode.mlir_attributes import AttributeExporter
from tileir.bytecode.mlir_locations import EntryLocations
from tileir.bytecode.mlir_types import TypeExporter
from tileir.bytecode.records import Block, File, Op
from tileir.bytecode.refusal import check_attributes, check_hints, refuse, require
from tileir.bytecode.schema import BY_NAME, Attribute, OpSpec
from tileir.bytecode.tags import HINTS
from tileir.bytecode.version import V13_2, V13_4
from tileir.dialects import cuda_tile
from tileir.errors import BytecodeError

_PREFIX = "cuda_tile."
_SEGMENTS = "operandSegmentSizes"
_OLD_NAMES = {"print": "print_tko", "pow": "fpowf"}
_LOOPS = ("cuda_tile.for", "cuda_tile.loop")
_PRINT = BY_NAME["print_tko"]


class OpExporter:
    """Exports the operations of one entry."""

    def __init__(
        self,
        file: File,
        types: TypeExporter,
        attributes: AttributeExporter,
        locations: EntryLocations,
    ):
        self._file = file
        self._types = types
        self._attributes = attributes
        self._locations = locations
        self._numbers: dict[ir.Value, int] = {}
        self._next = 0

    def block(self, block: ir.Block, depth: int = 0) -> Block:
        """With `_operation` the only recursion: two Python frames for each level of regions."""
        arguments = list(block.arguments)
        self._number(arguments)
        exported = Block([self._types.index(argument.type) for argument in arguments], [])
        for op in block:
            exported.operations.append(self._operation(op.operation, depth))
        return exported

    def _number(self, values: list[Any]) -> None:
        for value in values:
            self._numbers[value] = self._next
            self._next += 1

    def _operation(self, op: ir.Operation, depth: int) -> Op:
        spec = self._spec(op)
        location = self._locations[op.location]
        try:
            record = self._record(op, spec)
        except BytecodeError as error:
            if error.location is not None:
                raise
            refuse(op, f"cannot be written: {error.reason}")
        record.location = location
        if spec.regions and depth >= MAX_REGION_DEPTH:
            refuse(op, f"is nested in more than {MAX_REGION_DEPTH} regions")
        first = self._next
        for region in op.regions:
            blocks = list(region)
            record.regions.append(self.block(blocks[0], depth + 1) if blocks else None)
            self._next = first
        self._number_results(op, record)
        return record

    def _spec(self, op: ir.Operation) -> OpSpec:
        name = op.name.removeprefix(_PREFIX)
        spec = BY_NAME.get(_OLD_NAMES.get(name, name))
        if spec is None or not op.name.startswith(_PREFIX):
            refuse(op, "has no place in Tile IR bytecode", "lower to cuda_tile operations first")
        require(op, spec.since, self._file.version)
        return spec

    def _record(self, op: ir.Operation, spec: OpSpec) -> Op:
        results = [self._types.index(result.type) for result in op.results]
        if spec is _PRINT:
            results = self._print_results(op)
        segments = None
        if spec.segmented:
            segments = list(ir.DenseI32ArrayAttr(op.attributes[_SEGMENTS]))
        attributes = self._op_attributes(op, spec, segments)
        operands = [self._numbers[value] for value in op.operands]
        record = Op(spec, results, attributes, operands, segments)
        self._check_combinations(op, record)
        return record

    def _print_results(self, op: ir.Operation) -> list[int]:
        """Types of the results that `print` or `print_tko` has in this version."""
        if self._file.version >= V13_2:
            return [self._types.index(cuda_tile.TokenType.get())]
        uses_tokens = any(list(result.uses) for result in op.results) or any(
            isinstance(operand.type, cuda_tile.TokenType) for operand in op.operands
        )
        if uses_tokens:
            require(op, V13_2, self._file.version, "with tokens")
        return []

    def _number_results(self, op: ir.Operation, record: Op) -> None:
        if len(op.results) == len(record.results):
            self._number(list(op.results))
        else:  # the token of a print that only one side has
            self._next += len(record.results)

    def _op_attributes(
        self, op: ir.Operation, spec: OpSpec, segments: list[int] | None
    ) -> dict[str, Any]:
        known = {attribute.name for attribute in spec.attributes}
        check_attributes(op, known | {_SEGMENTS} if spec.segmented else known)
        version = self._file.version
        attributes: dict[str, Any] = {}
        for attribute in spec.attributes:
            value = self._attribute(op, spec, attribute, segments)
            if value is None:
                continue
            self._check_value(op, attribute, value)
            if version >= attribute.since:
                attributes[attribute.name] = value
            elif not self._is_default(attribute, value):
                require(op, attribute.since, version, f"with {attribute.name}")
        return attributes

    def _attribute(
        self, op: ir.Operation, spec: OpSpec, attribute: Attribute, segments: list[int] | None
    ) -> Any:
        """The value to store, None for an optional attribute that is absent."""
        encoding = attribute.encoding
        if attribute.name in op.attributes:
            value = self._attributes.value(encoding, op.attributes[attribute.name])
            return None if encoding is HINTS and not value else value
        if attribute.has_flag:
            return None
        if encoding is BOOL_ARRAY and segments is not None:
            names = [operand.name for operand in spec.operands]
            return (False,) * segments[names.index("index")]
        assert isinstance(encoding, Enum)
        return encoding.enumeration.value(attribute.default)

    def _check_value(self, op: ir.Operation, attribute: Attribute, value: Any) -> None:
        encoding = attribute.encoding
        if isinstance(encoding, Enum):
            case = encoding.enumeration.cases[value]
            since = encoding.enumeration.available_since(value)
            require(op, since, self._file.version, f"with {attribute.name} {case}")
        elif encoding is HINTS:
            check_hints(op, value, self._file)

    @staticmethod
    def _is_default(attribute: Attribute, value: Any) -> bool:
        """Whether `value` is what readers assume if a version does not have the attribute."""
        encoding = attribute.encoding
        if isinstance(encoding, Enum):
            return encoding.enumeration.cases[value] == attribute.default
        return encoding is BOOL_ARRAY and not any(value)

    def _check_combinations(self, op: ir.Operation, record: Op) -> None:
        """What older tools reject although they know its parts."""
        version, name = self._file.version, record.spec.name
        if name == "ftof" and version < V13_4:
            mode = enums.ROUNDING.cases[record.attributes["rounding_mode"]]
            target = str(cuda_tile.TileType(op.results[0].type).element_type)
            to_scale = target == "f8E8M0FNU" and mode in ("zero", "positive_inf")
            if mode != "nearest_even" and not to_scale:
                require(op, V13_4, version, f"to {target} with rounding_mode {mode}")
        if name == "return" and op.parent and op.parent.name in _LOOPS:
            require(op, V13_4, version, "directly in a loop")
