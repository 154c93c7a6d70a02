"""The words of CUDA C for threads.

A block is one logical thread that works on whole tiles; which threads of the GPU compute which
elements is the compiler's choice. So a grid has as many threads as blocks:

| word | meaning |
|---|---|
| `grid_dim(axis)` | blocks along an axis of the grid: `num_blocks(axis)` |
| `block_dim(axis)` | threads in a block: 1 |
| `tid(axis)` | the number of this thread in its block: 0 |

`bid(0) * block_dim(0) + tid(0)` therefore numbers blocks, which is right if the grid has a block
for each element or tile. A kernel that takes blocks to have another number of threads is an error
which shows the kernel on tiles.
"""

from __future__ import annotations

import ast
import textwrap
from typing import Any

from ..errors import TileTypeError, TileValueError
from ..interpreter import current_interpreter
from ..simt import numbers_elements, tile_kernel, uses_block_dim
from ..values import Tile
from .common import constant_int
from .grid import num_blocks


def _check_axis(axis: Any) -> None:
    number = constant_int(axis, "axis")
    if number not in (0, 1, 2):
        raise TileValueError(f"the axes of a block are 0, 1 and 2, got {number}")


def grid_dim(axis: int) -> Tile:
    """The number of blocks along an axis (0, 1 or 2) of the grid: `num_blocks`."""
    return num_blocks(axis)


def block_dim(axis: int) -> int:
    """The number of threads along an axis of a block: 1, as a block is one logical thread."""
    _check_axis(axis)
    return 1


def tid(axis: int) -> int:
    """The number of this thread in its block along an axis: 0, as a block is one logical thread.

    Raises `TileTypeError`, with the kernel on tiles, where the function does not multiply by
    `block_dim` and so takes blocks to have another number of threads.
    """
    _check_axis(axis)
    function = current_interpreter().frame.source.node
    if not uses_block_dim(function):
        raise threads_error("a block is one logical thread: there are no threads to number")
    return 0


def no_elements() -> TileTypeError:
    """The error for an array that is indexed."""
    reason = "an array has no elements in a kernel, only tiles can be computed with"
    if numbers_elements(current_interpreter().frame.source.node):
        return threads_error(reason)
    return TileTypeError(
        reason,
        remedy="write ct.load(array, index, shape) and ct.store(array, index, tile), or for "
        "elements ct.gather(array, indices) and ct.scatter(array, indices, tile)",
    )


def threads_error(reason: str) -> TileTypeError:
    """An error that shows the current function as a kernel on tiles."""
    function = current_interpreter().frame.source.node
    if not isinstance(function, ast.FunctionDef):
        return TileTypeError(reason, remedy="load whole tiles: ct.load(array, index, shape)")
    text = textwrap.indent(tile_kernel(function), "      ")
    return TileTypeError(
        reason,
        remedy=f"work on whole tiles, with a grid of ct.cdiv(n, TILE) blocks:\n\n{text}\n",
    )
