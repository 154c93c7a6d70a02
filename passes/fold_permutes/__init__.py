"""fold-permutes: around matrix products, tiles are loaded and stored in the order in which they are
used.

A tile of a tensor that is loaded and then permuted is one of the same tensor with its dimensions in
another order:

    permute(load(B)[j, k] sizes [n, k] strides [s, 1])  =  load(B)[k, j] sizes [k, n] strides [1, s]

So is one that is permuted and then stored, and the transpose of a product is one of the transposed
operands. Passes after this one look at loads and stores for what they can copy: a permute between
them and a product would have the tile pass through registers. It moves past what sees each element
alone, if all that it meets on the way can be had in the other order for nothing.

A product that is only stored transposed is computed transposed, so that its rows are those of
memory, unless it meets tiles on the way whose rows are its own. Such results, and those that are
used otherwise, too, are stored by columns.

Kernels without products stay as they are, since nothing is copied for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tileir.compiler.tile_types import tile_of
from tileir.compiler.wgmma import WARPS, WarpgroupGrid
from tileir.dialects import tile_gpu
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.memory_accesses import contiguous_dim
from tileir.passes.base import ModulePass
from tileir.passes.fold_permutes.origins import Origins, is_elementwise
from tileir.passes.fold_permutes.permutations import TRANSPOSED, permutation_of
from tileir.passes.fold_permutes.permuting import (
    Permuting,
    drop_reshapes,
    permute_access,
)
from tileir.passes.walk import kernels, ops_named, ops_of


@dataclass(frozen=True)
class FoldPermutes(ModulePass):
    """Load and store tiles in the order in which matrix products use and give them."""

    name = "fold-permutes"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            if ops_of(kernel, tile_gpu.DotOp):
                _fold_into_origins(kernel)
                _transpose_products(kernel)
                _fold_into_stores(kernel)


def _fold_into_origins(kernel: Operation) -> None:
    """Permutes of what is loaded, or computed by products that are only stored."""
    while any(_fold_into_origin(op) for op in ops_of(kernel, tile_gpu.PermuteOp)):
        _erase_unused(kernel)


def _fold_into_origin(op: tile_gpu.PermuteOp) -> bool:
    origins, permutation = Origins(), permutation_of(op)
    if not origins.are_free(op.source, permutation):
        return False
    if origins.products and not (_is_only_stored(op.result) and _turn_well(origins)):
        return False
    permuted = Permuting().permuted(op.source, permutation)
    op.result.replace_all_uses_with(permuted)
    op.operation.erase()
    drop_reshapes(permuted)
    return True


def _erase_unused(kernel: Operation) -> None:
    """What is not used any more would stand for a use of what it is computed from."""
    for op in reversed(ops_named(kernel, "tile_gpu.permute", "tile_gpu.reshape")):
        if not list(op.operation.results[0].uses):
            op.operation.erase()


def _transpose_products(kernel: Operation) -> None:
    """Products that are only stored by columns."""
    for store in ops_of(kernel, tile_gpu.StoreOp):
        if len(store.starts) != 2 or contiguous_dim(store) != 0:
            continue
        origins = Origins()
        if origins.are_free(store.value, TRANSPOSED) and origins.products and _turn_well(origins):
            _transpose_store(store)


def _fold_into_stores(kernel: Operation) -> None:
    """Permutes of products that are used otherwise, too."""
    shapes = {tile_of(product.result).shape for product in ops_of(kernel, tile_gpu.DotOp)}
    permutes = ops_of(kernel, tile_gpu.PermuteOp)
    of_results = [op.result for op in permutes if tile_of(op.source).wide in shapes]
    # Several may lead to one store.
    for store in dict.fromkeys(store for result in of_results for store in _stores_of(result)):
        origins = Origins(may_be_products=False)
        if len(store.starts) == 2 and origins.are_free(store.value, TRANSPOSED):
            _transpose_store(store)
    _erase_unused(kernel)


def _transpose_store(store: tile_gpu.StoreOp) -> None:
    store.operation.operands[0] = Permuting().permuted(store.value, TRANSPOSED)
    permute_access(store, TRANSPOSED)


def _turn_well(origins: Origins) -> bool:
    """Whether products can be computed transposed as fast, and what is loaded on the way to the
    store has no rows of its own that would become columns."""
    shapes = (tile_of(product.result).shape for product in origins.products)
    grids = (WarpgroupGrid.choose(shape[::-1], WARPS, False) for shape in shapes)
    upright = any(contiguous_dim(load) == 1 for load in origins.loads)
    return all(grid is not None for grid in grids) and not upright


# ---- where tiles go ---------------------------------------------------------------------------


def _is_only_stored(value: Value) -> bool:
    """Whether only stores see a tile, perhaps after operations on each element."""
    return all(isinstance(end, tile_gpu.StoreOp) for end in _ends(value))


def _stores_of(value: Value) -> Iterator[tile_gpu.StoreOp]:
    """The stores that see a tile, perhaps after operations on each element."""
    return (end for end in _ends(value) if isinstance(end, tile_gpu.StoreOp))


def _ends(value: Value) -> Iterator[OpView]:
    """What sees a tile behind operations on each element and reshapes, each once."""
    seen: set[Operation] = set()
    left = [value]
    while left:
        for use in left.pop().uses:
            user = use.owner.operation
            if user in seen:
                continue
            seen.add(user)
            if is_elementwise(user.opview) or isinstance(user.opview, tile_gpu.ReshapeOp):
                left.append(user.results[0])
            else:
                yield user.opview
