"""Bytecode to MLIR."""

from __future__ import annotations

from tileir import ir
from tileir.bytecode.decode import decode
from tileir.bytecode.enums import VISIBILITY
from tileir.bytecode.fields import BOOL_ARRAY, CONSTANT, U63
from tileir.bytecode.mlir_attributes import AttributeImporter
from tileir.bytecode.mlir_locations import LocationImporter, source_of
from tileir.bytecode.mlir_types import TypeImporter
from tileir.bytecode.records import Block, File, Function, Global, Op
from tileir.bytecode.stream import malformed
from tileir.bytecode.tags import HINTS
from tileir.bytecode.verification import failure_of, innermost_failure
from tileir.dialects import cuda_tile, make_context
from tileir.errors import VerificationError

MODULE_NAME = "kernels"
"""Bytecode does not hold the name of a module; this is the one that NVIDIA's tools give it."""


def read_bytecode(data: bytes, context: ir.Context | None = None) -> ir.Module:
    """The module in Tile IR bytecode of version 13.1 to 13.5.

    The result is a `builtin.module` with one `cuda_tile.module @kernels`, verified. It lives in
    `context`, or the current context, or a new one of `tileir.dialects.make_context()`.

    What older versions do not have gets its default. `print` of 13.1 becomes a `print_tko` whose
    token nobody uses. Empty hints, and `inbounds` that promise nothing, are left out.

    Raises `BytecodeError` with a byte offset for malformed input, and `VerificationError` for
    operations that break a rule of the dialect.
    """
    file = decode(bytes(data))
    if context is None:
        context = ir.Context.current or make_context()
    with context:
        return _ModuleImporter(file, len(data)).module()


class _ModuleImporter:
    def __init__(self, file: File, size: int):
        self._file = file
        self._types = TypeImporter(file)
        self._attributes = AttributeImporter(file, self._types, size)
        self._locations = LocationImporter(file)
        self._offsets: list[tuple[ir.Operation, int]] = []
        self._values: list[ir.Value] = []

    def module(self) -> ir.Module:
        unknown = self._locations[0]
        module = ir.Module.create(unknown)
        attributes: dict[str, ir.Attribute] = {"sym_name": ir.StringAttr.get(MODULE_NAME)}
        if self._file.producer is not None:
            attributes["producer"] = self._attributes.string(self._file.producer)
        at = ir.InsertionPoint(module.body)
        tile_module = self._create("cuda_tile.module", unknown, at, attributes, regions=1)
        at = ir.InsertionPoint(tile_module.regions[0].blocks.append())
        for item in self._file.globals:
            self._global(item, at)
        for function in self._file.functions:
            self._entry(function, at)
        self._verify(module)
        return module

    def _create(
        self,
        name: str,
        location: ir.Location,
        at: ir.InsertionPoint,
        attributes: dict[str, ir.Attribute],
        results: list[ir.Type] | None = None,
        operands: list[ir.Value] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        return ir.Operation.create(
            name,
            results=results,
            operands=operands,
            attributes=attributes,
            regions=regions,
            loc=location,
            ip=at,
        )

    def _global(self, item: Global, at: ir.InsertionPoint) -> None:
        attributes = {
            "sym_name": self._attributes.string(item.name),
            "value": self._attributes.constant(item.constant, item.type, item.offset),
            "alignment": self._attributes.value(U63, item.alignment),
            "symbol_visibility": self._attributes.enum(VISIBILITY, item.visibility),
        }
        if item.is_constant:
            attributes["constant"] = ir.UnitAttr.get()
        op = self._create("cuda_tile.global", self._locations[0], at, attributes)
        self._offsets.append((op, item.offset))

    def _entry(self, function: Function, at: ir.InsertionPoint) -> None:
        location = self._locations[function.location]
        attributes = {
            "sym_name": self._attributes.string(function.name),
            "function_type": ir.TypeAttr.get(self._types[function.signature]),
        }
        if function.hints is not None and function.hints.fields["entries"]:
            attributes["optimization_hints"] = self._attributes.tagged(function.hints)
        entry = self._create("cuda_tile.entry", location, at, attributes, regions=1)
        self._offsets.append((entry, function.offset))
        parameters = list(self._file.types[function.signature].fields["inputs"])
        self._values = []
        self._block(Block(parameters, function.body), entry.regions[0], location)

    def _block(self, block: Block, region: ir.Region, location: ir.Location) -> None:
        """With `_operation` the only recursion: two Python frames for each level of regions."""
        types = [self._types[type] for type in block.arguments]
        target = region.blocks.append(*types, arg_locs=[location] * len(types))
        self._values += target.arguments
        at = ir.InsertionPoint(target)
        for op in block.operations:
            self._operation(op, at)

    def _operation(self, op: Op, at: ir.InsertionPoint) -> None:
        spec, location = op.spec, self._locations[op.location]
        results: list[ir.Type] = [self._types[type] for type in op.results]
        if spec.results == 1 and not results:  # print of 13.1
            results = [cuda_tile.TokenType.get()]
        created = self._create(
            f"cuda_tile.{spec.name}",
            location,
            at,
            self._op_attributes(op),
            results,
            [self._values[value] for value in op.operands],
            spec.regions,
        )
        self._offsets.append((created, op.offset))
        for block, region in zip(op.regions, created.regions, strict=True):
            if block is not None:
                visible = len(self._values)
                self._block(block, region, location)
                del self._values[visible:]
        if op.results:
            self._values += created.results

    def _op_attributes(self, op: Op) -> dict[str, ir.Attribute]:
        attributes: dict[str, ir.Attribute] = {}
        for attribute in op.spec.attributes:
            value = op.attributes.get(attribute.name)
            encoding = attribute.encoding
            if value is None or (encoding is HINTS and not value):
                continue
            if encoding is CONSTANT:
                made = self._attributes.constant(value, op.results[0], op.offset)
            elif encoding is BOOL_ARRAY:
                self._check_inbounds(op, value)
                if not any(value):
                    continue
                made = self._attributes.value(encoding, value)
            else:
                made = self._attributes.value(encoding, value)
            attributes[attribute.name] = made
        if op.segments is not None:
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(op.segments)
        return attributes

    @staticmethod
    def _check_inbounds(op: Op, inbounds: tuple[bool, ...]) -> None:
        names = [operand.name for operand in op.spec.operands]
        indices = (op.segments or [])[names.index("index")]
        if len(inbounds) != indices:
            raise malformed(
                f"inbounds has {len(inbounds)} entries for {indices} indices", op.offset
            )

    def _verify(self, module: ir.Module) -> None:
        failure = failure_of(module.operation)
        if failure is None:
            return
        bad = innermost_failure(module.operation)
        failure = failure_of(bad) or failure
        offset = next((offset for op, offset in self._offsets if op == bad), None)
        source = None if failure.location is None else source_of(failure.location)
        places = [source, None if offset is None else f"byte {offset}"]
        location = ", ".join(place for place in places if place)
        raise VerificationError(failure.reason, location=location or None)
