"""Loops and branches: carried tiles become carried registers."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir import Block, OpView, Region, Type, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers


def _lower_block(ctx: Lowering, old: Block, new: Block) -> None:
    """Lowers the operations of a block into another, up to and with its terminator."""
    with ctx.builder.at(new):
        *ops, end = list(old)
        for op in ops:
            ctx.lower(op)
        ctx.builder.location = end.location
        ctx.builder.create(end.operation.name, ctx.flat(list(end.operation.operands)))


def _new_block(ctx: Lowering, region: Region, arguments: Sequence[Value]) -> Block:
    """A block whose arguments are the registers of `arguments`, bound to them."""
    types: list[Type] = ctx.flat_types(arguments)
    block = ctx.builder.block(region, types)
    ctx.bind(arguments, list(block.arguments))
    return block


@lowers("scf.for")
def _for(ctx: Lowering, op: OpView) -> None:
    old = op.operation
    operands = ctx.flat(list(old.operands))
    attributes = dict(old.attributes.items())
    results = ctx.flat_types(old.results)
    new = ctx.builder.create("scf.for", operands, results, attributes, regions=1)
    body = old.regions[0].blocks[0]
    _lower_block(ctx, body, _new_block(ctx, new.regions[0], list(body.arguments)))
    ctx.bind(old.results, list(new.results))


@lowers("scf.if")
def _if(ctx: Lowering, op: OpView) -> None:
    old = op.operation
    new = ctx.builder.create(
        "scf.if", ctx.flat(list(old.operands)), ctx.flat_types(old.results), regions=2
    )
    for before, after in zip(old.regions, new.regions, strict=True):
        if len(before.blocks):
            _lower_block(ctx, before.blocks[0], _new_block(ctx, after, []))
    ctx.bind(old.results, list(new.results))


@lowers("scf.while")
def _while(ctx: Lowering, op: OpView) -> None:
    old = op.operation
    new = ctx.builder.create(
        "scf.while", ctx.flat(list(old.operands)), ctx.flat_types(old.results), regions=2
    )
    for before, after in zip(old.regions, new.regions, strict=True):
        block = before.blocks[0]
        _lower_block(ctx, block, _new_block(ctx, after, list(block.arguments)))
    ctx.bind(old.results, list(new.results))


#: Of `fence.proxy`. (PTX ISA.)
_PROXY_FENCE_PTX_VERSION = 75


@lowers("nvvm.fence.proxy")
def _proxy_fence(ctx: Lowering, op: OpView) -> None:
    ctx.need_ptx(_PROXY_FENCE_PTX_VERSION)
    op.operation.clone(ip=ctx.builder.point)


#: Programmatic dependent launches.
_GRID_DEPENDENCY_CAPABILITY = 90


@lowers("nvvm.griddepcontrol")
def _grid_dependency(ctx: Lowering, op: OpView) -> None:
    """Older architectures run grids one after another: there is nothing to wait for."""
    if ctx.target.capability >= _GRID_DEPENDENCY_CAPABILITY:
        op.operation.clone(ip=ctx.builder.point)
