"""Which values may be undefined: only those get code that follows poison."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...dialects import cuda_tile
from . import access
from .access import Op

# Operations whose results do not depend on whether operands are undefined.
_FRESH = {
    f"cuda_tile.{name}"
    for name in (
        "load_view_tko",
        "multimem_load_reduce_view_tko",
        "load_ptr_tko",
        "atomic_rmw_tko",
        "atomic_cas_tko",
        "get_index_space_shape",
        "get_tensor_shape",
    )
}


def undefined_values(entry: Op) -> set[ir.Value]:
    """The tiles of an entry that may have undefined elements."""
    analysis = _Analysis(entry)
    size = -1
    while size != len(analysis.found):
        size = len(analysis.found)
        analysis.visit_block(entry.operation.regions[0].blocks[0], None, None)
    return analysis.found


class _Analysis:
    def __init__(self, entry: Op):
        self.found: set[ir.Value] = set()
        operations = access.nested(entry)
        self._scratch = any(op.operation.name == "cuda_tile.alloca" for op in operations)

    def visit_block(self, block: ir.Block, branch: Op | None, loop: Op | None) -> None:
        """Operations of a block inside `branch` (an if) and `loop` (a for or loop)."""
        for op in block.operations:
            self._visit(op, branch, loop)

    def _visit(self, op: Op, branch: Op | None, loop: Op | None) -> None:
        name = op.operation.name.removeprefix("cuda_tile.")
        regions = [r.blocks[0] for r in op.operation.regions if len(r.blocks)]
        if name in ("for", "loop"):
            arguments = _carried(op)
            self._flow(op.init_values, arguments)
            self.visit_block(regions[0], None, op)
            if name == "for":
                self._flow(arguments, op.results)
        elif name == "if":
            for block in regions:
                self.visit_block(block, op, loop)
        elif name == "yield" and branch is not None:
            self._flow(op.operands, branch.results)
        elif name == "continue" and loop is not None:
            self._flow(op.operands, _carried(loop))
        elif name == "break" and loop is not None:
            self._flow(op.operands, loop.results)
        elif self._may_be_undefined(op):
            self._flow_all(op.results)

    def _may_be_undefined(self, op: Op) -> bool:
        name = op.operation.name
        if name in ("cuda_tile.load_view_tko", "cuda_tile.multimem_load_reduce_view_tko"):
            return self._scratch or op.view.type.padding_value is None
        if name == "cuda_tile.load_ptr_tko":
            if op.mask is None:
                return self._scratch
            unknown = op.padding_value is None or op.padding_value in self.found
            return self._scratch or unknown or op.mask in self.found
        if name == "cuda_tile.atomic_rmw_tko":
            return op.mask is not None
        if name == "cuda_tile.atomic_cas_tko":
            return op.mask is not None and op.cmp in self.found
        if _has_undefined_cases(op):
            return True
        return name not in _FRESH and any(value in self.found for value in op.operands)

    def _flow(self, sources: Sequence[ir.Value], targets: Sequence[ir.Value]) -> None:
        for source, target in zip(sources, targets, strict=True):
            if source in self.found:
                self._flow_all([target])

    def _flow_all(self, values: Sequence[ir.Value]) -> None:
        self.found.update(v for v in values if isinstance(v.type, cuda_tile.TileType))


def _has_undefined_cases(op: Op) -> bool:
    """Whether elements of an arithmetic result may be undefined (at rank 0 that is an error)."""
    name = op.operation.name.removeprefix("cuda_tile.")
    if name == "ftoi":
        return not access.flag(op, "saturating")
    if not op.results or not getattr(op.results[0].type, "shape", ()):
        return False
    if name in ("divi", "remi"):
        return access.known_integer(op.operands[1]) in (None, 0, -1)
    if access.keyword(op, "overflow", "none") != "none":
        return True
    return name in ("shli", "shri") and access.known_integer(op.operands[1]) is None


def _carried(loop: Op) -> Sequence[ir.Value]:
    """The region arguments that hold loop-carried values."""
    arguments = list(loop.operation.regions[0].blocks[0].arguments)
    return arguments[1:] if loop.operation.name == "cuda_tile.for" else arguments
