"""Debug information: records to MLIR locations and back.

Reading: a location record becomes `di_loc<loc("file":line:column) in scope>`, a call site
`callsite(callee at caller)`, anything else unknown.

Writing: every location of an entry must lead to one subprogram, whose linkage name is the entry's.
It is that of the entry's `di_loc` (MLIR's verifier sees to it that operations agree), or is made up
from the first location in the entry: file and compile unit of its file name, line of the entry.

* `di_loc` is stored as it is.
* `file:line:col` is stored within the subprogram of the entry.
* A name keeps its child's location; of a fused location the first that can be stored stands for
  all; a call site keeps both ends, or the one that can be stored.
* An entry without a location gets the first of its operations, if they have any.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from tileir import ir
from tileir.bytecode.mlir_attributes import AttributeExporter, identifier_bytes
from tileir.bytecode.records import File, Record
from tileir.bytecode.tags import DEBUG
from tileir.dialects import cuda_tile
from tileir.dialects._native import Handle, function, unwrap_location


class LocationImporter:
    """The MLIR locations of a file's debug records, made when they are first asked for."""

    def __init__(self, file: File):
        self._file = file
        self._unknown = ir.Location.unknown()
        self._locations: dict[int, ir.Location] = {0: self._unknown}
        self._scopes: dict[int, ir.Attribute] = {}

    def __getitem__(self, index: int) -> ir.Location:
        location = self._locations.get(index)
        if location is None:
            location = self._locations[index] = self._location(self._file.debug[index - 1])
        return location

    def _location(self, record: Record) -> ir.Location:
        fields = record.fields
        match record.spec.name:
            case "loc":
                filename = self._file.text(fields["filename"])
                source = ir.Location.file(filename, fields["line"], fields["column"])
                return cuda_tile.di_loc(source, self._scope(fields["scope"]))
            case "call_site":
                return ir.Location.callsite(self[fields["callee"]], [self[fields["caller"]]])
        return self._unknown

    def _scope(self, index: int) -> ir.Attribute:
        scope = self._scopes.get(index)
        if scope is None:
            scope = self._scopes[index] = self._make_scope(self._file.debug[index - 1])
        return scope

    def _make_scope(self, record: Record) -> ir.Attribute:
        fields, text = record.fields, self._file.text
        match record.spec.name:
            case "file":
                file = cuda_tile.DIFile(text(fields["name"]), text(fields["directory"]))
                return cuda_tile.di_file(file)
            case "compile_unit":
                return cuda_tile.di_compile_unit(self._scope(fields["file"]))
            case "lexical_block":
                scope, file = self._scope(fields["scope"]), self._scope(fields["file"])
                return cuda_tile.di_lexical_block(scope, file, fields["line"], fields["column"])
        return cuda_tile.di_subprogram(
            self._scope(fields["file"]),
            fields["line"],
            text(fields["name"]),
            text(fields["linkage_name"]),
            self._scope(fields["compile_unit"]),
            fields["scope_line"],
        )


class Source(NamedTuple):
    """A place in a source file."""

    filename: str
    line: int
    column: int


class LocationExporter:
    """The debug records of the file that is being written."""

    def __init__(self, file: File, strings: AttributeExporter):
        self._file = file
        self._strings = strings
        self._records: dict[tuple[Any, ...], int] = {}

    def add(self, kind: str, **fields: Any) -> int:
        """The index of a record, which is added if it is new. Strings are interned."""
        values = {
            key: self._strings.string(value) if isinstance(value, str) else value
            for key, value in fields.items()
        }
        key = (kind, *values.values())
        index = self._records.get(key)
        if index is None:
            self._file.debug.append(Record(DEBUG.by_name[kind], values))
            index = self._records[key] = len(self._file.debug)
        return index


class EntryLocations:
    """The locations of one entry (`own`) and of its operations, as debug indices."""

    def __init__(self, exporter: LocationExporter, entry: ir.Operation, name: str):
        self._exporter = exporter
        self._name = name
        self._indices: dict[ir.Attribute, int] = {}
        self._scopes: dict[ir.Attribute, int] = {}
        nodes = (cuda_tile.debug_node(leaf.attr) for leaf in _leaves(entry.location))
        self._root = next((node.fields[1] for node in nodes if node is not None), None)
        self._subprogram = 0
        self.own = 0
        own = next(_sources(entry.location), None) or self._default_source(entry)
        if own is not None:
            self._subprogram = self._find_subprogram(own)
            self.own = self._add_loc(own, self._subprogram)

    def __getitem__(self, location: ir.Location) -> int:
        """The index of an operation's location, 0 if there is nothing to store."""
        if not self._subprogram:
            return 0
        attribute = location.attr
        index = self._indices.get(attribute)
        if index is None:
            index = self._indices[attribute] = self._located(location, is_callee=False)
        return index

    def _default_source(self, entry: ir.Operation) -> Source | None:
        """Where an entry without a location lies; None if nothing in it has one."""
        if self._root is None:
            return next((s for leaf in _all_leaves(entry) for s in _sources(leaf)), None)
        node = _node(self._root)
        name, directory = map(_text, _node(node.fields[0]).fields)
        return Source(os.path.join(directory, name), _number(node.numbers[0]), 0)

    def _find_subprogram(self, own: Source) -> int:
        """The record of the entry's subprogram, which is made up if there is no debug scope."""
        if self._root is not None:
            return self._scope(self._root)
        directory, base = os.path.split(own.filename)
        file = self._exporter.add("file", name=base, directory=directory)
        return self._add_subprogram(
            file=file,
            line=own.line,
            name=self._name,
            compile_unit=self._exporter.add("compile_unit", file=file),
            scope_line=own.line,
            linkage_name=self._name,
        )

    def _located(self, location: ir.Location, is_callee: bool) -> int:
        """`is_callee`: the location may lie in any subprogram."""
        if location.is_a_file():
            return self._add_loc(next(_sources(location)), self._subprogram)
        if location.is_a_name():
            return self._located(location.child_loc, is_callee)
        if location.is_a_fused():
            parts = (self._located(part, is_callee) for part in location.locations)
            return next((index for index in parts if index), 0)
        if location.is_a_callsite():
            return self._call_site(location, is_callee)
        node = cuda_tile.debug_node(location.attr)
        if node is None:
            return 0
        scope = node.fields[1]
        source = next(_sources(location), None)
        if source is None:
            return 0
        index = self._add_loc(source, self._scope(scope))
        if is_callee or (self._root is not None and _root(scope) == self._root):
            return index
        # Of a call site whose caller is unknown.
        return self._exporter.add("call_site", callee=index, caller=self.own)

    def _call_site(self, location: ir.Location, is_callee: bool) -> int:
        callee = self._located(location.callee, is_callee=True)
        caller = self._located(location.caller, is_callee)
        if callee and caller:
            return self._exporter.add("call_site", callee=callee, caller=caller)
        return caller or self._located(location.callee, is_callee)

    def _add_loc(self, source: Source, scope: int) -> int:
        return self._exporter.add(
            "loc", scope=scope, filename=source.filename, line=source.line, column=source.column
        )

    def _scope(self, attribute: ir.Attribute) -> int:
        """The record of a file, compile unit, subprogram or lexical block."""
        index = self._scopes.get(attribute)
        if index is None:
            index = self._scopes[attribute] = self._add_scope(attribute)
        return index

    def _add_scope(self, attribute: ir.Attribute) -> int:
        node = _node(attribute)
        fields, numbers = node.fields, [_number(each) for each in node.numbers]
        match node.kind:
            case "di_file":
                name, directory = map(_text, fields)
                return self._exporter.add("file", name=name, directory=directory)
            case "di_compile_unit":
                return self._exporter.add("compile_unit", file=self._scope(fields[0]))
            case "di_lexical_block":
                return self._exporter.add(
                    "lexical_block",
                    scope=self._scope(fields[0]),
                    file=self._scope(fields[1]),
                    line=numbers[0],
                    column=numbers[1],
                )
        return self._add_subprogram(
            file=self._scope(fields[0]),
            compile_unit=self._scope(fields[3]),
            line=numbers[0],
            name=_text(fields[1]),
            scope_line=numbers[1],
            linkage_name=_text(fields[2]),
        )

    def _add_subprogram(
        self,
        *,
        file: int,
        line: int,
        name: str,
        compile_unit: int,
        scope_line: int,
        linkage_name: str,
    ) -> int:
        return self._exporter.add(
            "subprogram",
            file=file,
            line=line,
            name=name,
            linkage_name=linkage_name,
            compile_unit=compile_unit,
            scope_line=scope_line,
        )


def _node(attribute: ir.Attribute) -> cuda_tile.DebugNode:
    node = cuda_tile.debug_node(attribute)
    assert node is not None
    return node


def _text(attribute: Any) -> str:
    return attribute.value_bytes.decode("utf-8", "replace")


def _number(value: int) -> int:
    """A line or column; the bindings give those from 2^31 on as negative numbers."""
    return value if 0 <= value < 1 << 31 else (1 << 31) - 1


def _root(scope: ir.Attribute) -> ir.Attribute:
    """The subprogram that a scope lies in."""
    while (node := _node(scope)).kind == "di_lexical_block":
        scope = node.fields[0]
    return scope


def source_of(location: ir.Location) -> str | None:
    """`file:line:col` of a location, if it has one."""
    source = next(_sources(location), None)
    return None if source is None else f"{source.filename}:{source.line}:{source.column}"


def _sources(location: ir.Location) -> Iterator[Source]:
    """Every `file:line:col` in a location, those of callers before those of callees."""
    for leaf in _leaves(location):
        if leaf.is_a_file():
            line, column = (_number(n) for n in (leaf.start_line, leaf.start_col))
            yield Source(_filename(leaf), line, column)
        else:
            yield from _sources(ir.Location.from_attr(_node(leaf.attr).fields[0]))


_file_identifier = function("mlirLocationFileLineColRangeGetFilename", Handle, Handle)


def _filename(location: ir.Location) -> str:
    """The file of a `file:line:col`; `location.filename` aborts if that is not UTF-8."""
    name = identifier_bytes(_file_identifier(unwrap_location(location)))
    return name.decode("utf-8", "replace")


def _leaves(location: ir.Location) -> Iterator[ir.Location]:
    """The `di_loc`s and `file:line:col`s in a location, callers before callees."""
    if location.is_a_file() or cuda_tile.debug_node(location.attr) is not None:
        yield location
    elif location.is_a_name():
        yield from _leaves(location.child_loc)
    elif location.is_a_fused():
        for part in location.locations:
            yield from _leaves(part)
    elif location.is_a_callsite():
        yield from _leaves(location.caller)
        yield from _leaves(location.callee)


def _all_leaves(entry: ir.Operation) -> Iterator[ir.Location]:
    """The leaves of the locations of an entry and its operations, each once."""
    seen: set[ir.Attribute] = set()
    pending = [entry]
    while pending:
        op = pending.pop()
        if op.location.attr not in seen:
            seen.add(op.location.attr)
            yield from _leaves(op.location)
        nested = [child.operation for region in op.regions for block in region for child in block]
        pending += reversed(nested)
