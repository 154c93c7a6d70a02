"""Attributes: records to MLIR and back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

from tileir import ir
from tileir.bytecode import enums
from tileir.bytecode.constants import (
    bits_from_float,
    bytes_from_elements,
    elements_from_bytes,
    float_from_bits,
)
from tileir.bytecode.fields import (
    BOOL,
    BOOL_ARRAY,
    CONSTANT,
    I32_ARRAY,
    STRING,
    SYMBOL,
    U63,
    UNIT,
    Encoding,
    Enum,
    is_utf8,
)
from tileir.bytecode.mlir_types import TypeExporter, TypeImporter
from tileir.bytecode.records import File, Record
from tileir.bytecode.stream import malformed
from tileir.bytecode.tags import ATTRIBUTES, FLOAT_WIDTHS, HINTS, INTEGER_WIDTHS, Tagged, TaggedList
from tileir.dialects import cuda_tile
from tileir.dialects._native import Handle, function, unwrap_attribute, wrap_attribute
from tileir.errors import BytecodeError, VerificationError

_ENUM_CLASSES = {
    enums.SIGNEDNESS: cuda_tile.Signedness,
    enums.OVERFLOW: cuda_tile.IntegerOverflow,
    enums.ROUNDING: cuda_tile.RoundingMode,
    enums.PREDICATE: cuda_tile.ComparisonPredicate,
    enums.COMPARISON_ORDERING: cuda_tile.ComparisonOrdering,
    enums.ATOMIC_MODE: cuda_tile.AtomicRMWMode,
    enums.SCOPE: cuda_tile.MemoryScope,
    enums.ORDERING: cuda_tile.MemoryOrdering,
    enums.VISIBILITY: cuda_tile.SymbolVisibility,
    enums.MULTIMEM_REDUCTION: cuda_tile.MultimemReduction,
}

_CONSTANT_BYTES_PER_FILE_BYTE = 8
_SMALL_CONSTANTS = 1 << 26


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _NamedAttribute(ctypes.Structure):
    _fields_ = [("name", Handle), ("attribute", Handle)]


_num_elements = function("mlirDictionaryAttrGetNumElements", ctypes.c_ssize_t, Handle)
_element = function("mlirDictionaryAttrGetElement", _NamedAttribute, Handle, ctypes.c_ssize_t)
_identifier_text = function("mlirIdentifierStr", _Text, Handle)


def identifier_bytes(identifier: Handle) -> bytes:
    """The text of an identifier. Where it is not UTF-8, MLIR's bindings abort."""
    text = _identifier_text(identifier)
    return ctypes.string_at(text.data, text.size)


def named_attributes(dictionary: ir.Attribute) -> Iterator[tuple[bytes, ir.Attribute]]:
    """The entries of a dictionary."""
    handle = unwrap_attribute(dictionary)
    for position in range(_num_elements(handle)):
        entry = _element(handle, position)
        yield identifier_bytes(entry.name), wrap_attribute(entry.attribute)


class AttributeImporter:
    """Makes MLIR attributes of the values that records hold."""

    def __init__(self, file: File, types: TypeImporter, size: int):
        """`size` is that of the file in bytes."""
        self._file = file
        self._types = types
        self._enums: dict[tuple[enums.Enumeration, int], ir.Attribute] = {}
        self._constants: dict[tuple[int, int], ir.Attribute] = {}
        # One constant under many types takes memory for each: limit the sum.
        self._constant_budget = max(_SMALL_CONSTANTS, _CONSTANT_BYTES_PER_FILE_BYTE * size)

    def value(self, encoding: Encoding, value: Any) -> ir.Attribute:
        """The attribute for a value of an encoding other than `CONSTANT`, which needs a type."""
        if isinstance(encoding, Enum):
            return self.enum(encoding.enumeration, value)
        if isinstance(encoding, Tagged):
            return self.tagged(value)
        if isinstance(encoding, TaggedList):
            return ir.ArrayAttr.get([self.tagged(item) for item in value])
        if encoding is UNIT:
            return ir.UnitAttr.get()
        if encoding is U63:
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
        if encoding is BOOL:
            return ir.BoolAttr.get(value)
        if encoding is STRING:
            return self.string(value)
        if encoding is SYMBOL:
            return ir.FlatSymbolRefAttr.get(self._file.text(value))
        if encoding is I32_ARRAY:
            return ir.DenseI32ArrayAttr.get(value)
        if encoding is BOOL_ARRAY:
            return ir.DenseBoolArrayAttr.get(value)
        assert encoding is HINTS
        return self.hints(value)

    def enum(self, enumeration: enums.Enumeration, value: int) -> ir.Attribute:
        key = enumeration, value
        attribute = self._enums.get(key)
        if attribute is None:
            member = _ENUM_CLASSES[enumeration](value)
            attribute = self._enums[key] = cuda_tile.enum_attribute(member)
        return attribute

    def string(self, index: int) -> ir.Attribute:
        return ir.StringAttr.get(self._file.strings[index])  # pyright: ignore[reportArgumentType]

    def constant(self, index: int, type: int, offset: int) -> ir.Attribute:
        """Constant `index` of the table as elements of type `type` of the table."""
        attribute = self._constants.get((index, type))
        if attribute is None:
            data = self._file.constants[index]
            self._constant_budget -= len(data)
            if self._constant_budget < 0:
                raise malformed("constants are used under too many types", offset)
            try:
                attribute = elements_from_bytes(data, self._types[type])
            except ValueError as error:
                raise malformed(f"constant {index}: {error}", offset) from None
            self._constants[index, type] = attribute
        return attribute

    def hints(self, entries: dict[int, Record]) -> ir.Attribute:
        return cuda_tile.hints_from_dictionary(self._dictionary(entries))

    def _dictionary(self, entries: dict[int, Record]) -> ir.Attribute:
        items = entries.items()
        return ir.DictAttr.get({self._file.text(k): self.tagged(v) for k, v in items})

    def tagged(self, record: Record) -> ir.Attribute:
        try:
            return self._tagged(record)
        except (ValueError, VerificationError) as error:
            reason = error.reason if isinstance(error, VerificationError) else str(error)
            raise malformed(reason, record.offset) from None

    def _tagged(self, record: Record) -> ir.Attribute:
        fields = record.fields
        match record.spec.name:
            case "integer":
                type, bits = fields["value"]
                width = INTEGER_WIDTHS[self._file.types[type].spec.name]
                signed = bits - (1 << width) if bits >> (width - 1) else bits
                return ir.IntegerAttr.get(self._types[type], signed)
            case "float":
                type, bits = fields["value"]
                return float_from_bits(bits, self._types[type])
            case "bool":
                return ir.BoolAttr.get(fields["value"])
            case "type":
                return ir.TypeAttr.get(self._types[fields["type"]])
            case "string":
                return self.string(fields["string"])
            case "array":
                return ir.ArrayAttr.get([self.tagged(item) for item in fields["items"]])
            case "dense_elements":
                return self.constant(fields["constant"], fields["type"], record.offset)
            case "div_by":
                every, along = fields.get("every"), fields.get("along")
                return cuda_tile.DivBy(fields["divisor"], every, along).attribute()
            case "same_elements":
                return cuda_tile.SameElements(fields["values"]).attribute()
            case "dictionary":
                return self._dictionary(fields["entries"])
            case "optimization_hints":
                return self.hints(fields["entries"])
        bounds = fields.get("lower_bound"), fields.get("upper_bound")
        return cuda_tile.Bounded(*bounds).attribute()


class AttributeExporter:
    """Makes record values of MLIR attributes, and fills the tables of strings and constants."""

    def __init__(self, file: File, types: TypeExporter):
        self._file = file
        self._types = types
        self._strings: dict[bytes, int] = {}
        self._constants: dict[bytes, int] = {}

    def value(self, encoding: Encoding, attribute: Any) -> Any:
        """What `encoding` writes for an attribute of an operation."""
        if isinstance(encoding, Enum):
            return int(cuda_tile.enum_value(attribute))
        if isinstance(encoding, Tagged):
            return self.tagged(attribute)
        if isinstance(encoding, TaggedList):
            return tuple(self.tagged(item, encoding.item.kinds) for item in attribute)
        if encoding is UNIT:
            return True
        if encoding is U63 or encoding is BOOL:
            return attribute.value
        if encoding is STRING or encoding is SYMBOL:
            return self.string(attribute)
        if encoding is CONSTANT:
            return self.constant(attribute)
        if encoding is I32_ARRAY or encoding is BOOL_ARRAY:
            return tuple(attribute)
        assert encoding is HINTS
        return self.hints(attribute)

    def string(self, text: bytes | str | ir.Attribute) -> int:
        if isinstance(text, ir.StringAttr):
            text = text.value_bytes
        elif isinstance(text, ir.FlatSymbolRefAttr):
            text = text.value
        if isinstance(text, str):
            text = text.encode()
        assert isinstance(text, bytes)
        index = self._strings.get(text)
        if index is None:
            index = self._strings[text] = len(self._file.strings)
            self._file.strings.append(text)
        return index

    def constant(self, elements: ir.Attribute) -> int:
        data = bytes_from_elements(elements)
        index = self._constants.get(data)
        if index is None:
            index = self._constants[data] = len(self._file.constants)
            self._file.constants.append(data)
        return index

    def hints(self, attribute: ir.Attribute) -> dict[int, Record]:
        return self._dictionary(cuda_tile.hints_dictionary(attribute))

    def _dictionary(self, dictionary: Any) -> dict[int, Record]:
        entries: dict[int, Record] = {}
        for name, attribute in named_attributes(dictionary):
            if not is_utf8(name):
                raise BytecodeError(f"name {name} in a dictionary is not UTF-8")
            key = self.string(name)  # before the strings of the value
            entries[key] = self.tagged(attribute)
        return entries

    def tagged(self, attribute: ir.Attribute, kinds: tuple[str, ...] = ()) -> Record:
        """An i1 is an integer where `kinds` has integers, as among identities, otherwise a bool."""
        if isinstance(attribute, ir.BoolAttr) and "integer" in kinds:
            name, fields = "integer", self._integer(attribute)
        else:
            name, fields = self._tagged(attribute)
        present = {key: value for key, value in fields.items() if value is not None}
        return Record(ATTRIBUTES.by_name[name], present)

    def _tagged(self, attribute: Any) -> tuple[str, dict[str, Any]]:
        match attribute:
            case ir.BoolAttr():
                return "bool", {"value": attribute.value}
            case ir.IntegerAttr() if str(attribute.type) in INTEGER_WIDTHS:
                return "integer", self._integer(attribute)
            case ir.FloatAttr() if str(attribute.type) in FLOAT_WIDTHS:
                bits = bits_from_float(attribute)
                return "float", {"value": (self._types.index(attribute.type), bits)}
            case ir.TypeAttr():
                return "type", {"type": self._types.index(attribute.value)}
            case ir.StringAttr():
                return "string", {"string": self.string(attribute)}
            case ir.ArrayAttr():
                return "array", {"items": tuple(self.tagged(item) for item in attribute)}
            case ir.DictAttr():
                return "dictionary", {"entries": self._dictionary(attribute)}
            case ir.DenseElementsAttr() if isinstance(attribute.type, cuda_tile.TileType):
                type = self._types.index(attribute.type)
                return "dense_elements", {"type": type, "constant": self.constant(attribute)}
        return self._predicate_or_hints(attribute)

    def _integer(self, attribute: Any) -> dict[str, Any]:
        width = INTEGER_WIDTHS[str(attribute.type)]
        bits = attribute.value & (1 << width) - 1
        return {"value": (self._types.index(attribute.type), bits)}

    def _predicate_or_hints(self, attribute: ir.Attribute) -> tuple[str, dict[str, Any]]:
        try:
            predicate = cuda_tile.assume_predicate(attribute)
        except ValueError:
            return "optimization_hints", {"entries": self._hints_or_refuse(attribute)}
        match predicate:
            case cuda_tile.DivBy(divisor, every, along):
                return "div_by", {"divisor": divisor, "every": every, "along": along}
            case cuda_tile.Bounded(lower, upper):
                return "bounded", {"lower_bound": lower, "upper_bound": upper}
        return "same_elements", {"values": predicate.block}

    def _hints_or_refuse(self, attribute: ir.Attribute) -> dict[int, Record]:
        try:
            return self.hints(attribute)
        except ValueError:
            raise BytecodeError(f"attribute {attribute} has no place in Tile IR bytecode") from None
