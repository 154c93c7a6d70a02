"""How many registers the tiles that are live at one time fill, at most."""

from __future__ import annotations

from collections.abc import Mapping

from tileir.compiler.ir_util import defining_op
from tileir.ir import Block, OpView, Value
from tileir.passes.split_tile.operations import captured
from tileir.passes.walk import blocks_of

#: Results that are their operand under another shape.
_SAME_REGISTERS = {f"cuda_tile.{name}" for name in ("assume", "broadcast", "permute", "reshape")}
#: Results that are made where they are used.
_MADE_AGAIN = {f"cuda_tile.{name}" for name in ("constant", "iota", "cmpi", "cmpf")}


def live_words(block: Block, words: Mapping[Value, int]) -> int:
    """The largest sum of `words` over values that are live at one point of a block: defined there
    and used later. Elementwise operations may write over operands that die."""
    ops = list(block)
    last_use: dict[Value, int] = {}
    for position, op in enumerate(ops):
        for value in (*op.operation.operands, *captured(op)):
            last_use[_root(value)] = position
    live = sum(words.get(argument, 0) for argument in block.arguments)
    dying: dict[int, int] = {}
    for value, position in last_use.items():
        if value in block.arguments or _is_made_in(value, block):
            dying[position] = dying.get(position, 0) + _words_of(value, words)
    most = live
    for position, op in enumerate(ops):
        inside = max((live_words(inner, words) for inner in blocks_of(op)), default=0)
        most = max(most, live + inside)
        live -= dying.get(position, 0)
        live += sum(_words_of(r, words) for r in op.operation.results if r in last_use)
        most = max(most, live)
    return most


def _root(value: Value) -> Value:
    op = defining_op(value)
    while op is not None and op.operation.name in _SAME_REGISTERS:
        value = op.operation.operands[0]
        op = defining_op(value)
    return value


def _is_made_in(value: Value, block: Block) -> bool:
    op = defining_op(value)
    return op is not None and op.operation.block == block


def _words_of(value: Value, words: Mapping[Value, int]) -> int:
    op: OpView | None = defining_op(value)
    if op is not None and op.operation.name in _SAME_REGISTERS | _MADE_AGAIN:
        return 0
    return words.get(value, 0)
