"""MLIR to bytecode."""

from __future__ import annotations

from typing import Any

from tileir import ir
from tileir.bytecode import enums
from tileir.bytecode.encode import encode
from tileir.bytecode.export_ops import OpExporter
from tileir.bytecode.fields import Enum, is_utf8
from tileir.bytecode.mlir_attributes import AttributeExporter
from tileir.bytecode.mlir_locations import EntryLocations, LocationExporter, source_of
from tileir.bytecode.mlir_types import TypeExporter
from tileir.bytecode.records import File, Function, Global, Record
from tileir.bytecode.refusal import check_attributes, check_hints, refuse, require
from tileir.bytecode.tags import ATTRIBUTES
from tileir.bytecode.verification import failure_of
from tileir.bytecode.version import V13_3, Version, parse_version
from tileir.errors import BytecodeError, VerificationError

_EXTENDED = "cuda_tile.extended"


def write_bytecode(module: Any, version: str | Version = "13.3") -> bytes:
    """Tile IR bytecode of a module.

    `module` is a `builtin.module` (an `ir.Module` or its operation) that holds exactly one
    `cuda_tile.module`, or a `cuda_tile.module`. It is verified, and not changed. `version` is
    "13.1" to "13.5". The same module always gives the same bytes.

    `pow` is written as the `fpowf` it is, and `print` as the `print_tko` it is, whose token nobody
    uses. 13.1 has no tokens at its print, so there a `print_tko` must neither take one nor have its
    own used. A producer is dropped below 13.3, the name of the module always.

    Raises `BytecodeError` for what the version, or bytecode at all, cannot hold: newer operations,
    types and attributes, modules marked `cuda_tile.extended`, other dialects; it names the
    operation, its location, and the version that can. Raises `VerificationError` for a module that
    breaks a rule of the dialect.
    """
    wanted = parse_version(version)
    operation = _tile_module(module.operation)
    if (failure := failure_of(operation)) is not None:
        location = None if failure.location is None else source_of(failure.location)
        raise VerificationError(failure.reason, location=location)
    with operation.context:
        return encode(_ModuleExporter(wanted).file(operation))


def _tile_module(operation: ir.Operation) -> ir.Operation:
    if operation.name == "builtin.module":
        inner = [op.operation for op in operation.regions[0].blocks[0]]
        if len(inner) != 1:
            raise BytecodeError(f"bytecode holds one cuda_tile.module, here are {len(inner)}")
        operation = inner[0]
    if operation.name != "cuda_tile.module":
        raise BytecodeError(
            f"{operation.name} has no place in Tile IR bytecode",
            location=source_of(operation.location),
            remedy="pass a cuda_tile.module, or a builtin.module with nothing else in it",
        )
    return operation


class _ModuleExporter:
    def __init__(self, version: Version):
        self._file = File(version)
        self._types = TypeExporter(self._file)
        self._attributes = AttributeExporter(self._file, self._types)
        self._locations = LocationExporter(self._file, self._attributes)

    def file(self, module: ir.Operation) -> File:
        if _EXTENDED in module.attributes:
            refuse(
                module,
                f"marked {_EXTENDED} has no place in Tile IR bytecode, which knows neither tiles "
                "whose dimensions are no powers of two nor inline_ptx and prefetch",
                "keep it as MLIR, or do without these and remove the mark",
            )
        check_attributes(module, ("sym_name", "producer"))
        # Entries first, as their section comes first: tables are then in the order of first use.
        members = [op.operation for op in module.regions[0].blocks[0]]
        for op in sorted(members, key=lambda op: op.name == "cuda_tile.global"):
            try:
                self._global_or_entry(op)
            except BytecodeError as error:
                if error.location is not None:
                    raise
                refuse(op, f"cannot be written: {error.reason}")
        if "producer" in module.attributes and self._file.version >= V13_3:
            self._file.producer = self._attributes.string(module.attributes["producer"])
        return self._file

    def _global_or_entry(self, op: ir.Operation) -> None:
        if not is_utf8(_attribute(op, "sym_name").value_bytes):
            refuse(op, "has a name that is not UTF-8")
        if op.name == "cuda_tile.global":
            self._file.globals.append(self._global(op))
        else:
            self._file.functions.append(self._entry(op))

    def _global(self, op: ir.Operation) -> Global:
        names = ("sym_name", "value", "alignment", "symbol_visibility", "constant")
        check_attributes(op, names)
        name, value, alignment, visibility = (_attribute(op, each) for each in names[:4])
        item = Global(
            name=self._attributes.string(name),
            type=self._types.index(value.type),
            constant=self._attributes.constant(value),
            alignment=alignment.value,
            visibility=self._attributes.value(Enum(enums.VISIBILITY), visibility),
            is_constant="constant" in op.attributes,
        )
        if item.visibility:
            require(op, V13_3, self._file.version, "that is private")
        if item.is_constant:
            require(op, V13_3, self._file.version, "that is constant")
        return item

    def _entry(self, op: ir.Operation) -> Function:
        check_attributes(op, ("sym_name", "function_type", "optimization_hints"))
        type = _attribute(op, "function_type").value
        for parameter in type.inputs:
            self._types.index(parameter)
        name = _attribute(op, "sym_name")
        locations = EntryLocations(self._locations, op, name.value)
        function = Function(
            name=self._attributes.string(name),
            signature=self._types.index(type),
            body=[],
            hints=self._hints(op),
            location=locations.own,
        )
        ops = OpExporter(self._file, self._types, self._attributes, locations)
        function.body = ops.block(op.regions[0].blocks[0]).operations
        return function

    def _hints(self, op: ir.Operation) -> Record | None:
        if "optimization_hints" not in op.attributes:
            return None
        entries = self._attributes.hints(op.attributes["optimization_hints"])
        check_hints(op, entries, self._file)
        spec = ATTRIBUTES.by_name["optimization_hints"]
        return Record(spec, {"entries": entries}) if entries else None


def _attribute(op: ir.Operation, name: str) -> Any:
    """An attribute that the definition of `op` asks for."""
    return op.attributes[name]
