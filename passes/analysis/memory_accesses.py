"""How loads and stores of tiles meet memory: which dimension is contiguous, how many elements one
instruction moves, whether a layout wastes memory transactions."""

from __future__ import annotations

from tileir.compiler.ir_util import bool_list, defining_op, has_flag, int_attr, splat_integer
from tileir.compiler.layout import Owner
from tileir.compiler.tile_types import TileInfo
from tileir.dialects import tile_gpu
from tileir.ir import OpView

#: Operations that access a tile of a tensor.
TensorOp = (
    tile_gpu.LoadOp
    | tile_gpu.StoreOp
    | tile_gpu.AtomicRedOp
    | tile_gpu.AsyncLoadOp
    | tile_gpu.PrefetchOp
)
#: Operations that access memory through addresses.
_POINTER_OPS = ("tile_gpu.gather", "tile_gpu.scatter")

#: Bytes that one instruction moves at most.
VECTOR_BYTES = 16
#: Bytes that memory moves at least.
SECTOR_BYTES = 32


def contiguous_dim(access: TensorOp) -> int | None:
    """The last dimension whose stride is known to be 1."""
    strides = list(access.strides)
    for dim in reversed(range(len(strides))):
        if splat_integer(defining_op(strides[dim])) == 1:
            return dim
    return None


def memory_order(access: OpView, rank: int) -> tuple[int, ...]:
    """The dimensions of a tile from slowest to fastest in memory, as far as it is known."""
    contiguous = contiguous_dim(access) if isinstance(access, TensorOp) else None
    if contiguous is None:
        return tuple(range(rank))
    return (*(d for d in range(rank) if d != contiguous), contiguous)


def access_vector(access: OpView, info: TileInfo) -> int:
    """Elements that one instruction may access at once along the contiguous dimension."""
    if access.operation.name in _POINTER_OPS:
        limit = int_attr(access, "contiguity")
    elif isinstance(access, tile_gpu.LoadOp | tile_gpu.StoreOp):
        dim = contiguous_dim(access)
        if dim is None or has_flag(access, "scope"):
            return 1
        limit = info.shape[dim]
        if not bool_list(access, "in_bounds")[dim]:
            limit = min(limit, int_attr(access, "extent_multiple", 1))
    else:
        return 1
    bytes_ = min(int_attr(access, "alignment"), VECTOR_BYTES)
    return max(1, min(limit, bytes_ // info.element_bytes))


def wastes_no_sectors(access: OpView, info: TileInfo, least: int = SECTOR_BYTES) -> bool:
    """Whether each instruction, in the layout that the tile has, touches whole sectors, or at least
    so many bytes of them (or whole rows)."""
    contiguous = memory_order(access, len(info.shape))[-1]
    run = 1
    for digit in reversed(info.layout.dims[contiguous]):
        if digit.owner is Owner.WARP:
            break
        run *= digit.size
        if digit.owner is Owner.LANE:
            break
    row = info.shape[contiguous]
    vector = info.layout.run(contiguous)
    wide_enough = vector * info.element_bytes >= 4 or vector >= access_vector(access, info)
    return wide_enough and run * info.element_bytes >= min(least, row * info.element_bytes)
