"""Types: records to MLIR and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tileir import ir
from tileir.bytecode.fields import needed_version
from tileir.bytecode.records import File, Record
from tileir.bytecode.stream import malformed
from tileir.bytecode.tags import INTEGER_WIDTHS, TYPES
from tileir.dialects import cuda_tile
from tileir.errors import BytecodeError, VerificationError

_SIMPLE: dict[str, Callable[[], ir.Type]] = {
    "f16": ir.F16Type.get,
    "bf16": ir.BF16Type.get,
    "f32": ir.F32Type.get,
    "tf32": ir.FloatTF32Type.get,
    "f64": ir.F64Type.get,
    "f8E4M3FN": ir.Float8E4M3FNType.get,
    "f8E5M2": ir.Float8E5M2Type.get,
    "f8E8M0FNU": ir.Float8E8M0FNUType.get,
    "f4E2M1FN": ir.Float4E2M1FNType.get,
    "fnv8E5M3FNU": cuda_tile.F8E5M3FNUType.get,
    "token": cuda_tile.TokenType.get,
}


class TypeImporter:
    """The MLIR types of a file's type table, made when they are first asked for."""

    def __init__(self, file: File):
        self._file = file
        self._types: list[ir.Type | None] = [None] * len(file.types)

    def __getitem__(self, index: int) -> Any:
        type = self._types[index]
        if type is None:
            record = self._file.types[index]
            try:
                type = self._make(record)
            except VerificationError as error:
                raise malformed(error.reason, record.offset) from None
            self._types[index] = type
        return type

    def _make(self, record: Record) -> ir.Type:
        name, fields = record.spec.name, record.fields
        padding = fields.get("padding")
        match name:
            case "tile":
                return cuda_tile.TileType.get(fields["shape"], self[fields["element"]])
            case "ptr":
                return cuda_tile.PtrType.get(self[fields["pointee"]], fields.get("kind"))
            case "tensor_view":
                element, kind = self[fields["element"]], fields.get("kind")
                return cuda_tile.TensorViewType.get(
                    fields["shape"], element, fields["strides"], kind
                )
            case "partition_view":
                tile_shape, view = fields["tile_shape"], self[fields["tensor_view"]]
                return cuda_tile.PartitionViewType.get(tile_shape, view, fields["dim_map"], padding)
            case "strided_view":
                tile_shape, view = fields["tile_shape"], self[fields["tensor_view"]]
                steps = fields["traversal_strides"]
                return cuda_tile.StridedViewType.get(
                    tile_shape, steps, view, fields["dim_map"], padding
                )
            case "gather_scatter_view":
                tile_shape, view = fields["tile_shape"], self[fields["tensor_view"]]
                return cuda_tile.GatherScatterViewType.get(
                    tile_shape, view, fields["sparse_dim"], padding
                )
            case "function":
                inputs = [self[type] for type in fields["inputs"]]
                results = [self[type] for type in fields["results"]]
                return ir.FunctionType.get(inputs, results)
        if name in INTEGER_WIDTHS:
            return ir.IntegerType.get_signless(INTEGER_WIDTHS[name])
        return _SIMPLE[name]()


class TypeExporter:
    """Fills the type table of a file; components of a type come before it."""

    def __init__(self, file: File):
        self._file = file
        self._indices: dict[ir.Type, int] = {}
        # Other writers start with these two; an index for them then takes one byte.
        for width in (1, 32):
            self.index(ir.IntegerType.get_signless(width))

    def index(self, type: ir.Type) -> int:
        """The index of a type; `BytecodeError` if it has no place in the file's version."""
        index = self._indices.get(type)
        if index is None:
            record = self._record(type)
            self._check_version(record, type)
            index = self._indices[type] = len(self._file.types)
            self._file.types.append(record)
        return index

    def _check_version(self, record: Record, type: ir.Type) -> None:
        if self._file.version < (needed := needed_version(record)):
            raise BytecodeError(
                f"type {type} needs bytecode {needed} or newer, {self._file.version} was asked for"
            )

    def _record(self, type: ir.Type) -> Record:
        name, fields = self._describe(type)
        present = {key: value for key, value in fields.items() if value is not None}
        return Record(TYPES.by_name[name], present)

    def _describe(self, type: Any) -> tuple[str, dict[str, Any]]:
        """The name of a type and its fields; those that are None are absent."""
        match type:
            case cuda_tile.TileType():
                return "tile", {
                    "element": self.index(type.element_type),
                    "shape": type.shape,
                }
            case cuda_tile.PtrType():
                return "ptr", {"pointee": self.index(type.pointee), "kind": type.kind}
            case cuda_tile.TensorViewType():
                return "tensor_view", {
                    "element": self.index(type.element_type),
                    "shape": type.shape,
                    "strides": type.strides,
                    "kind": type.kind,
                }
            case cuda_tile.PartitionViewType():
                return "partition_view", self._view(type) | {"dim_map": type.dim_map}
            case cuda_tile.StridedViewType():
                return "strided_view", self._view(type) | {
                    "traversal_strides": type.traversal_strides,
                    "dim_map": type.dim_map,
                }
            case cuda_tile.GatherScatterViewType():
                return "gather_scatter_view", self._view(type) | {"sparse_dim": type.sparse_dim}
            case cuda_tile.TokenType():
                return "token", {}
            case ir.FunctionType():
                return "function", {
                    "inputs": tuple(self.index(each) for each in type.inputs),
                    "results": tuple(self.index(each) for each in type.results),
                }
        name = str(type).removeprefix("!cuda_tile.")
        if name not in TYPES.by_name:
            raise BytecodeError(f"type {type} has no place in Tile IR bytecode")
        return name, {}

    def _view(self, type: Any) -> dict[str, Any]:
        return {
            "tile_shape": type.tile_shape,
            "tensor_view": self.index(type.tensor_view),
            "padding": type.padding_value,
        }
