"""What a kernel asks of its launcher beyond the entry's parameters and grid, as attributes.

`tile_gpu.hidden_parameters`: how to fill the parameters after the entry's own, one JSON text each.
`tile_gpu.launch_grid`: the grid to start, as three expressions, where it is not the program's.
`tile_gpu.launch_cluster`: blocks of a cluster, likewise, where it may be more than one.
(Both in the terms of `tileir.runtime.metadata`.)
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tileir.ir import ArrayAttr, FunctionType, Operation, StringAttr, Type, TypeAttr, Value
from tileir.runtime.expressions import Expression
from tileir.runtime.metadata import (
    ONE_BLOCK,
    PROGRAM_GRID,
    Extents,
    HiddenParameter,
    HiddenScalar,
    hidden_parameter_from_json,
)

_HIDDEN_ATTRIBUTE = "tile_gpu.hidden_parameters"
_GRID_ATTRIBUTE = "tile_gpu.launch_grid"
_CLUSTER_ATTRIBUTE = "tile_gpu.launch_cluster"


def add_hidden_parameter(kernel: Operation, type_: Type, recipe: HiddenParameter) -> Value:
    """Appends a parameter that the launcher fills by `recipe`."""
    body = kernel.regions[0].blocks[0]
    value = body.add_argument(type_, kernel.location)
    types = [argument.type for argument in body.arguments]
    kernel.attributes["function_type"] = TypeAttr.get(FunctionType.get(types, []))
    known = _texts(kernel, _HIDDEN_ATTRIBUTE)
    _set_texts(kernel, _HIDDEN_ATTRIBUTE, [*known, json.dumps(recipe.to_json())])
    return value


def hidden_parameters(kernel: Operation) -> tuple[HiddenParameter, ...]:
    """What the launcher fills the last parameters with, in their order."""
    texts = _texts(kernel, _HIDDEN_ATTRIBUTE)
    count = len(kernel.regions[0].blocks[0].arguments) - len(texts)
    return tuple(hidden_parameter_from_json(json.loads(text), count) for text in texts)


def set_launch_grid(kernel: Operation, grid: Sequence[Expression]) -> None:
    """Has the launcher start `grid` blocks (x, y, z) for a program's grid."""
    _set_texts(kernel, _GRID_ATTRIBUTE, [json.dumps(extent) for extent in grid])


def launch_grid(kernel: Operation) -> Extents:
    """The blocks to start; without other word, those of the program."""
    return _extents(kernel, _GRID_ATTRIBUTE, PROGRAM_GRID)


def set_launch_cluster(kernel: Operation, blocks: Expression) -> None:
    """Has the launcher form clusters of so many blocks along x."""
    texts = [json.dumps(extent) for extent in (blocks, 1, 1)]
    _set_texts(kernel, _CLUSTER_ATTRIBUTE, texts)


def launch_cluster(kernel: Operation) -> Extents:
    """The blocks of a cluster (x, y, z); without other word, one."""
    return _extents(kernel, _CLUSTER_ATTRIBUTE, ONE_BLOCK)


def _extents(kernel: Operation, name: str, default: Extents) -> Extents:
    texts = _texts(kernel, name)
    if not texts:
        return default
    x, y, z = (json.loads(text) for text in texts)
    return (x, y, z)


def program_grid(kernel: Operation, type_: Type) -> list[Value]:
    """Hidden parameters that hold the extents of the program's grid."""
    return [add_hidden_parameter(kernel, type_, HiddenScalar(extent)) for extent in PROGRAM_GRID]


def _texts(kernel: Operation, name: str) -> list[str]:
    if name not in kernel.attributes:
        return []
    return [StringAttr(text).value for text in ArrayAttr(kernel.attributes[name])]


def _set_texts(kernel: Operation, name: str, texts: Sequence[str]) -> None:
    kernel.attributes[name] = ArrayAttr.get([StringAttr.get(text) for text in texts])
