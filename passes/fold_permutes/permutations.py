"""Permutations of the dimensions of tiles."""

from __future__ import annotations

from tileir.compiler.ir_util import int_list
from tileir.compiler.tile_types import tile_of
from tileir.dialects import tile_gpu

#: Dimension i of the permuted tile is dimension `permutation[i]` of the tile.
Permutation = tuple[int, ...]

TRANSPOSED = (1, 0)


def is_identity(permutation: Permutation) -> bool:
    return permutation == tuple(range(len(permutation)))


def permutation_of(op: tile_gpu.PermuteOp) -> Permutation:
    return tuple(int_list(op, "permutation"))


def composed(op: tile_gpu.PermuteOp, then: Permutation) -> Permutation:
    """The permutation of the source of `op` that gives its result permuted once more."""
    first = permutation_of(op)
    return tuple(first[dim] for dim in then)


def before_reshape(op: tile_gpu.ReshapeOp, permutation: Permutation) -> Permutation | None:
    """The permutation of the source of a reshape, which only adds or drops dimensions of size 1,
    that puts the others in the order of the permuted result; None for other reshapes."""
    if tile_of(op.source).wide != tile_of(op.result).wide:
        return None
    source, result = tile_of(op.source).shape, tile_of(op.result).shape
    wide = [dim for dim, size in enumerate(source) if size != 1]
    wide_after = [dim for dim, size in enumerate(result) if size != 1]
    order = iter([wide[wide_after.index(dim)] for dim in permutation if result[dim] != 1])
    return tuple(dim if size == 1 else next(order) for dim, size in enumerate(source))
