"""Walking IR, and replacing values in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_block, defining_op
from tileir.dialects.finding import Handled, find_operations
from tileir.ir import Block, Operation, OpView, Value

_Op = TypeVar("_Op", bound=OpView)

#: Operations whose region runs again and again.
LOOPS = ("scf.for", "scf.while")


def kernels(module: Operation) -> list[Operation]:
    """The `gpu.func` kernels of a `builtin.module`."""
    return [
        op.operation
        for top in module.regions[0].blocks[0]
        if top.operation.name == "gpu.module"
        for op in top.operation.regions[0].blocks[0]
        if op.operation.name == "gpu.func"
    ]


def entries(module: Operation) -> list[Operation]:
    """The `cuda_tile.entry` kernels of a `builtin.module`."""
    return [
        op.operation
        for top in module.regions[0].blocks[0]
        if top.operation.name == "cuda_tile.module"
        for op in top.operation.regions[0].blocks[0]
        if op.operation.name == "cuda_tile.entry"
    ]


def walk(operation: Operation) -> Iterator[OpView]:
    """Every operation inside `operation`, each before the operations of its regions. The one
    just given may be erased if it has no regions."""
    for region in operation.regions:
        for block in region.blocks:
            for op in list(block):
                has_regions = len(op.operation.regions) > 0
                yield op
                if has_regions:
                    yield from walk(op.operation)


def ops_named(operation: Operation | OpView, *names: str) -> list[OpView]:
    """The operations inside `operation` with one of these names, in the order of `walk`, which has
    to look at all others, too, at a microsecond or two each."""
    return find_operations(operation.operation, names)


def ops_of(operation: Operation | OpView, kind: type[_Op]) -> list[_Op]:
    """The operations of one class inside `operation`, as `ops_named`."""
    return cast("list[_Op]", ops_named(operation, _name_of(kind)))


def ops_on_tiles(operation: Operation | OpView, *others: str) -> list[OpView]:
    """The operations inside `operation` that have a tile among their operands, results, or the
    arguments of their blocks, and those called `others`, in the order of `walk`."""
    return find_operations(operation.operation, others, Handled.TILES)


def ops_on_buffers(operation: Operation | OpView, *others: str) -> list[OpView]:
    """The same for buffers in shared memory."""
    return find_operations(operation.operation, others, Handled.BUFFERS)


def _name_of(kind: type[OpView]) -> str:
    # Classes of operations have one; the stub of their base does not say so.
    return kind.OPERATION_NAME  # pyright: ignore[reportAttributeAccessIssue]


def computed_from(
    value: Value, follows: Callable[[OpView], bool] = lambda op: True
) -> Iterator[Value]:
    """`value` and the values that it is computed from, each once, as far as `follows` says to look
    at the operands of an operation."""
    seen: set[Value] = set()
    left = [value]
    while left:
        current = left.pop()
        if current in seen:
            continue
        seen.add(current)
        yield current
        op = defining_op(current)
        if op is not None and follows(op):
            left += op.operation.operands


def follows_from_parameters(value: Value, names: tuple[str, ...]) -> bool:
    """Whether `value` follows from the kernel's parameters by operations whose names start with one
    of `names`."""
    return all(_is_parameter_or(source, names) for source in computed_from(value))


def _is_parameter_or(value: Value, names: tuple[str, ...]) -> bool:
    op = defining_op(value)
    if op is None:
        return defining_block(value).owner.operation.name == "gpu.func"
    return op.operation.name.startswith(names)


def recompute(
    b: Builder,
    value: Value,
    known: dict[Value, Value],
    again: Callable[[OpView], bool] = lambda op: True,
) -> Value:
    """`value`, computed where `b` stands from what `known` gives instead of others, and by copies
    of the operations that `again` chooses. `known` grows by what was computed."""
    if value in known:
        return known[value]
    op = defining_op(value)
    if op is None or not again(op):
        return value
    operands = [recompute(b, operand, known, again) for operand in op.operation.operands]
    clone = op.operation.clone(ip=b.point)
    for i, operand in enumerate(operands):
        clone.operands[i] = operand
    known.update(zip(op.operation.results, clone.results, strict=True))
    return known[value]


def blocks_of(op: OpView | Operation) -> Iterator[Block]:
    """The blocks of an operation's regions."""
    for region in op.operation.regions:
        yield from region.blocks


def uses_of(value: Value) -> list[tuple[OpView, int]]:
    """Where a value is used so far, for `redirect`."""
    return [(use.owner, use.operand_number) for use in value.uses]


def redirect(uses: Iterable[tuple[OpView, int]], value: Value) -> None:
    """Has these uses use `value` instead of what they used."""
    for user, index in uses:
        user.operation.operands[index] = value


def replace_op(op: OpView, *values: Value) -> None:
    """Uses `values` instead of the results of `op`, and erases it."""
    for result, value in zip(op.operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.operation.erase()
