"""How many registers of a thread are full of tiles at once, when tiles have layouts.

A tile lives from the operation that gives it to the last that takes it (`lives.py`). An operation
on elements may write where it reads.
"""

from __future__ import annotations

import re
from itertools import accumulate

from tileir.compiler.ir_util import block_of
from tileir.compiler.tile_types import TileInfo, is_tile_type, tile_of
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.lives import Timeline
from tileir.passes.walk import LOOPS, ops_on_tiles

#: The same elements in the same registers.
_ALIASES = ("tile_gpu.broadcast", "tile_gpu.reshape", "tile_gpu.permute")
#: One value, or one that follows from the number of the thread.
_FREE = ("arith.constant", "tile_gpu.splat", "tile_gpu.iota")
_REGISTER_BITS = 32


def registers_of_tiles(kernel: Operation) -> int:
    """32-bit registers of a thread that tiles fill where most of them are alive."""
    return _Lives(kernel).peak()


class _Lives:
    def __init__(self, kernel: Operation):
        self.time = Timeline(kernel, lambda op: ops_on_tiles(op, *LOOPS), LOOPS)
        #: Bits that come to life (or end it, if negative) behind each operation.
        self.change = [0] * len(self.time.ops)
        for at, op in enumerate(self.time.ops):
            behind = self.time.end.get(op.operation, at)
            for result in op.operation.results:
                if op.operation.name not in (*_ALIASES, *_FREE):
                    self._count(result, behind)
            for region in op.operation.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        self._count(argument, at)

    def peak(self) -> int:
        return max(accumulate(self.change), default=0) // _REGISTER_BITS

    def _count(self, value: Value, start: int) -> None:
        """Adds a value's life to the changes."""
        if not is_tile_type(value.type):
            return
        bits = _bits(tile_of(value))
        home = block_of(value).owner.operation
        last = max((self.time.span(home, user)[1] for user in _users(value)), default=start)
        if last > start:
            self.change[start] += bits
            self.change[last] -= bits


def _bits(tile: TileInfo) -> int:
    """Bits that a thread holds of a tile."""
    width = re.search(r"\d+", tile.element)
    assert width is not None, tile.element
    return tile.layout.num_registers * int(width[0])


def _users(value: Value) -> list[OpView]:
    """Operations that read a value, under whichever name."""
    users = []
    for use in value.uses:
        user = use.owner
        users.append(user)
        if user.operation.name in _ALIASES:
            users += _users(user.operation.results[0])
    return users
