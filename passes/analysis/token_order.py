"""Which memory operations a token is ordered after.

In Tile IR, order between memory operations exists only through tokens; `TokenOrder` follows them
through joins, branches and loops. Operations that no token connects may run in any order, and if
both may touch the same memory the program has a race: so passes may assume that they do not.
"""

from __future__ import annotations

from tileir.dialects.cuda_tile import TokenType
from tileir.ir import Block, OpView, Value

_LOADS = {"load_ptr_tko", "load_view_tko"}
_STORES = {"store_ptr_tko", "store_view_tko"}
_ATOMICS = {"atomic_cas_tko", "atomic_rmw_tko", "atomic_red_view_tko"}
_FENCES = {"gdc_wait_tko", "gdc_launch_dependents_tko", "memory_fence_alias_tko"}

LOADS = {"cuda_tile." + name for name in _LOADS}
#: Every operation that takes part in the order.
MEMORY = {"cuda_tile." + name for name in _LOADS | _STORES | _ATOMICS | _FENCES}


def is_token(value: Value) -> bool:
    return isinstance(value.type, TokenType)


class TokenOrder:
    """The memory operations inside a block that its tokens are ordered after.

    Tokens that come from outside the block are ordered after nothing.
    """

    def __init__(self, block: Block):
        self._before: dict[Value, frozenset[OpView]] = {}
        while self._propagate(block):
            pass

    def of(self, token: Value) -> frozenset[OpView]:
        """The operations that `token` is ordered after."""
        return self._before.get(token, frozenset())

    def of_operands(self, op: OpView) -> frozenset[OpView]:
        """The operations that `op` is ordered after."""
        tokens = [self.of(o) for o in op.operation.operands if is_token(o)]
        return frozenset().union(*tokens)

    def _propagate(self, block: Block) -> bool:
        """One round over the block; true if a set grew. Loops need several rounds."""
        changed = False
        for op in block:
            for region in op.operation.regions:
                for inner in region.blocks:
                    changed |= self._flow_into(op, inner)
                    changed |= self._propagate(inner)
            for result in op.operation.results:
                if is_token(result):
                    changed |= self._grow(result, self._behind(op, result))
        return changed

    def _behind(self, op: OpView, result: Value) -> frozenset[OpView]:
        if op.operation.name in MEMORY:
            return self.of_operands(op) | {op}
        if op.operation.regions:
            return self._leaving(op, result)
        return self.of_operands(op)

    def _grow(self, token: Value, more: frozenset[OpView]) -> bool:
        known = self.of(token)
        if more <= known:
            return False
        self._before[token] = known | more
        return True

    def _flow_into(self, op: OpView, block: Block) -> bool:
        """Carried tokens: from the initial values and from every `continue`."""
        changed = False
        sources = [_carried_operands(op)] + [
            list(t.operation.operands) for t in terminators(block, "cuda_tile.continue")
        ]
        arguments = list(block.arguments)
        if op.operation.name == "cuda_tile.for":
            arguments = arguments[1:]
        elif op.operation.name != "cuda_tile.loop":
            return False
        for source in sources:
            for argument, value in zip(arguments, source, strict=True):
                if is_token(argument):
                    changed |= self._grow(argument, self.of(value))
        return changed

    def _leaving(self, op: OpView, result: Value) -> frozenset[OpView]:
        """Tokens that leave an operation with regions, by its terminators."""
        index = list(op.operation.results).index(result)
        name = {"cuda_tile.loop": "break", "cuda_tile.for": "continue"}.get(
            op.operation.name, "yield"
        )
        leaving = [
            self.of(t.operation.operands[index])
            for region in op.operation.regions
            for block in region.blocks
            for t in terminators(block, "cuda_tile." + name)
        ]
        if op.operation.name == "cuda_tile.for":  # no round at all
            leaving.append(self.of(_carried_operands(op)[index]))
        return frozenset().union(*leaving)


def _carried_operands(op: OpView) -> list[Value]:
    skip = 3 if op.operation.name == "cuda_tile.for" else 0
    return list(op.operation.operands)[skip:]


def terminators(block: Block, name: str) -> list[OpView]:
    """Terminators called `name` that belong to the operation that holds `block`: `continue` and
    `break` may stand in nested branches."""
    found = []
    for op in block:
        if op.operation.name == name:
            found.append(op)
        elif op.operation.name == "cuda_tile.if" and name != "cuda_tile.yield":
            for region in op.operation.regions:
                for inner in region.blocks:
                    found += terminators(inner, name)
    return found
