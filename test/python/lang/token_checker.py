"""Executes the scalar part of a kernel and checks that tokens order its accesses to memory.

The value of a token is the set of accesses that come before whatever waits for it.  Each access is
checked against all earlier ones to the same place of the same array of which one is a store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tileir.dialects.cuda_tile import ComparisonPredicate, array_from_elements, enum_value
from tileir.ir import Module

COMPARE: dict[Any, Callable[[int, int], bool]] = {
    ComparisonPredicate.Equal: lambda a, b: a == b,
    ComparisonPredicate.NotEqual: lambda a, b: a != b,
    ComparisonPredicate.LessThan: lambda a, b: a < b,
    ComparisonPredicate.LessThanOrEqual: lambda a, b: a <= b,
    ComparisonPredicate.GreaterThan: lambda a, b: a > b,
    ComparisonPredicate.GreaterThanOrEqual: lambda a, b: a >= b,
}


class Leave(Exception):
    """A jump out of blocks."""

    def __init__(self, kind: str, values: list[Any]):
        self.kind = kind
        self.values = values


class TokenChecker:
    """Runs one block of the only kernel of a module; `accesses` is the log: array, place, store."""

    def __init__(self, module: Module, *arguments: Any):
        kernels = module.body.operations[0].operation
        entry = kernels.regions[0].blocks[0].operations[0].operation
        self.block_of_kernel = entry.regions[0].blocks[0]
        self.values: dict[Any, Any] = {}
        self.accesses: list[tuple[str, tuple[int, ...], bool]] = []
        self.waited: list[frozenset[int]] = []
        for argument, value in zip(self.block_of_kernel.arguments, arguments, strict=True):
            self.values[argument] = value

    def run(self) -> TokenChecker:
        try:
            self.block(self.block_of_kernel, [])
        except Leave as leave:
            assert leave.kind == "return"
        return self

    def block(self, block: Any, arguments: list[Any]) -> list[Any]:
        """Executes a block; the result is what it yields."""
        for argument, value in zip(block.arguments, arguments, strict=False):
            self.values[argument] = value
        for op in block.operations:
            operation = op.operation
            name = operation.name.removeprefix("cuda_tile.")
            operands = [self.values[operand] for operand in operation.operands]
            if name == "yield":
                return operands
            if name in ("break", "continue", "return"):
                raise Leave(name, operands)
            results = getattr(self, name)(operation, *operands)
            for result, value in zip(operation.results, results, strict=True):
                self.values[result] = value
        raise AssertionError("a block without an end")

    # Operations.

    def subi(self, op: Any, left: int, right: int) -> list[int]:
        return [left - right]

    def constant(self, op: Any) -> list[Any]:
        return [array_from_elements(op.attributes["value"]).flat[0].item()]

    def assume(self, op: Any, value: Any) -> list[Any]:
        return [value]

    def make_tensor_view(self, op: Any, base: Any, *_: Any) -> list[Any]:
        return [base]

    def make_partition_view(self, op: Any, view: Any) -> list[Any]:
        return [view]

    def addi(self, op: Any, left: int, right: int) -> list[int]:
        return [left + right]

    def muli(self, op: Any, left: int, right: int) -> list[int]:
        return [left * right]

    def andi(self, op: Any, left: int, right: int) -> list[int]:
        return [left & right]

    def reshape(self, op: Any, value: Any) -> list[Any]:
        return [value]

    def cmpi(self, op: Any, left: int, right: int) -> list[bool]:
        return [COMPARE[enum_value(op.attributes["comparison_predicate"])](left, right)]

    def make_token(self, op: Any) -> list[frozenset[int]]:
        return [frozenset()]

    def join_tokens(self, op: Any, *tokens: frozenset[int]) -> list[frozenset[int]]:
        return [frozenset().union(*tokens)]

    def load_view_tko(self, op: Any, view: str, *rest: Any) -> list[Any]:
        *index, token = rest
        return [0, self.access(view, tuple(index), False, token)]

    def store_view_tko(self, op: Any, tile: Any, view: str, *rest: Any) -> list[Any]:
        *index, token = rest
        return [self.access(view, tuple(index), True, token)]

    def access(
        self, array: str, place: tuple[int, ...], store: bool, token: frozenset[int]
    ) -> frozenset[int]:
        number = len(self.accesses)
        for earlier, (other, other_place, other_store) in enumerate(self.accesses):
            conflict = array == other and place == other_place and (store or other_store)
            assert not conflict or earlier in token, (
                f"access {number} to {array}{list(place)} does not wait for access {earlier}"
            )
        self.accesses.append((array, place, store))
        self.waited.append(token)
        return token | {number}

    # Control flow.

    def if_(self, op: Any, condition: bool) -> list[Any]:
        return self.block(op.regions[0 if condition else 1].blocks[0], [])

    def for_(self, op: Any, start: int, stop: int, step: int, *carried: Any) -> list[Any]:
        values = list(carried)
        for index in range(start, stop, step):
            try:
                self.block(op.regions[0].blocks[0], [index, *values])
            except Leave as leave:
                if leave.kind != "continue":
                    raise
                values = leave.values
        return values

    def loop(self, op: Any, *carried: Any) -> list[Any]:
        values = list(carried)
        while True:
            try:
                self.block(op.regions[0].blocks[0], values)
            except Leave as leave:
                if leave.kind == "break":
                    return leave.values
                if leave.kind != "continue":
                    raise
                values = leave.values


setattr(TokenChecker, "if", TokenChecker.if_)
setattr(TokenChecker, "for", TokenChecker.for_)
