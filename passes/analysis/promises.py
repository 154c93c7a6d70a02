"""What a program promises of its parameters by `assume`."""

from __future__ import annotations

from tileir.compiler.ir_util import defining_op
from tileir.dialects.cuda_tile import Bounded, assume_predicate
from tileir.ir import Block, BlockArgument, Value

_ASSUME = "cuda_tile.assume"


def nonnegative_parameters(entry: Block) -> list[int]:
    """The indices of an entry's parameters, none of which is negative: `assume` says so in the
    entry's own block, which runs whatever happens."""
    found = set()
    for op in entry:
        if op.operation.name != _ASSUME:
            continue
        predicate = assume_predicate(op.operation.attributes["predicate"])
        if isinstance(predicate, Bounded) and predicate.lower is not None and predicate.lower >= 0:
            source = _assumed(op.operation.operands[0])
            if isinstance(source.owner, Block) and source.owner == entry:
                found.add(BlockArgument(source).arg_number)
    return sorted(found)


def _assumed(value: Value) -> Value:
    """The value that a chain of promises is about."""
    op = defining_op(value)
    while op is not None and op.operation.name == _ASSUME:
        value = op.operation.operands[0]
        op = defining_op(value)
    return value
