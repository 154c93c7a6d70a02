"""Loops and branches: carried tiles become carried registers."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir import Block, OpView, Type, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers


def _lower_block(l: Lowering, old: Block, new: Block) -> None:
    """Lowers the operations of a block into another, up to and with its terminator."""
    with l.builder.at(new):
        *ops, end = list(old)
        for op in ops:
            l.lower(op)
        l.builder.location = end.location
        l.builder.create(end.operation.name, l.flat(list(end.operation.operands)))


def _new_block(l: Lowering, region, arguments: Sequence[Value]) -> Block:
    """A block whose arguments are the registers of `arguments`, bound to them."""
    types: list[Type] = l.flat_types(arguments)
    block = l.builder.block(region, types)
    l.bind(arguments, list(block.arguments))
    return block


@lowers("scf.for")
def _for(l: Lowering, op: OpView) -> None:
    old = op.operation
    operands = l.flat(list(old.operands))
    attributes = dict(old.attributes.items())
    results = l.flat_types(old.results)
    new = l.builder.create("scf.for", operands, results, attributes, regions=1)
    body = old.regions[0].blocks[0]
    _lower_block(l, body, _new_block(l, new.regions[0], list(body.arguments)))
    l.bind(old.results, list(new.results))


@lowers("scf.if")
def _if(l: Lowering, op: OpView) -> None:
    old = op.operation
    new = l.builder.create(
        "scf.if", l.flat(list(old.operands)), l.flat_types(old.results), regions=2
    )
    for before, after in zip(old.regions, new.regions, strict=True):
        if len(before.blocks):
            _lower_block(l, before.blocks[0], _new_block(l, after, []))
    l.bind(old.results, list(new.results))


@lowers("scf.while")
def _while(l: Lowering, op: OpView) -> None:
    old = op.operation
    new = l.builder.create(
        "scf.while", l.flat(list(old.operands)), l.flat_types(old.results), regions=2
    )
    for before, after in zip(old.regions, new.regions, strict=True):
        block = before.blocks[0]
        _lower_block(l, block, _new_block(l, after, list(block.arguments)))
    l.bind(old.results, list(new.results))
