"""What the layout of a reduction's operands means for its results."""

from __future__ import annotations

from tileir.compiler.halving import halved
from tileir.compiler.ir_util import int_attr
from tileir.compiler.layout import Layout, Owner
from tileir.ir import OpView


def crosses_warps(reduce: OpView, source: Layout) -> bool:
    """Whether several warps have parts of a result."""
    return source.count(Owner.WARP, int_attr(reduce, "dim")) > 1


def shares_out(reduce: OpView, source: Layout) -> bool:
    """Whether threads that have parts of the same results have parts of several."""
    dim = int_attr(reduce, "dim")
    several = source.count(Owner.LANE, dim) > 1 or crosses_warps(reduce, source)
    return several and copied(reduce, source).num_registers > 1


def copied(reduce: OpView, source: Layout) -> Layout:
    """The layout of results of which all threads that have parts get copies."""
    return source.drop(int_attr(reduce, "dim"))


def shared_out(reduce: OpView, source: Layout) -> Layout:
    """The layout of results that lanes share out, as far as that goes."""
    dim = int_attr(reduce, "dim")
    return halved(source, dim).drop(dim)
