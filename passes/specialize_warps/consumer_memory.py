"""How much shared memory the consumers are going to need, before layouts and buffers are chosen."""

from __future__ import annotations

from tileir.compiler.tile_types import TileInfo, buffer_info, tile_info, tile_of
from tileir.compiler.wgmma import WarpgroupGrid, accumulator_layout
from tileir.dialects import tile_gpu
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.memory_accesses import SECTOR_BYTES, wastes_no_sectors
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.walk import ops_named

#: What may take or give a tile in the layout of accumulators.
_CONVERTING = ("tile_gpu.dot", "tile_gpu.atomic_red", "tile_gpu.store", "tile_gpu.load")
#: What takes its tiles through shared memory, or gives one that lies as nothing after it may want.
_REARRANGING = tuple(
    f"tile_gpu.{name}"
    for name in ("permute", "reshape", "scan", "extract", "insert", "cat", "print")
)


def bytes_of_consumers(kernel: Operation, except_for: set[Operation]) -> int:
    """Bytes of buffers, and of the largest tile that passes through shared memory to change its
    layout on the way from memory, to memory, or to a product."""
    total, num_warps = 0, num_warps_of(kernel)
    tiles: list[TileInfo] = []
    for op in ops_named(kernel, "tile_gpu.alloc", "tile_gpu.to_shared"):
        if op.operation not in except_for:
            total += buffer_info(op.operation.results[0].type).bytes
    for op in ops_named(kernel, *_CONVERTING):
        if op.operation not in except_for:
            info = _converted(op, num_warps)
            tiles += [] if info is None else [info]
    for op in ops_named(kernel, *_REARRANGING):
        tiles += _rearranged(op)
    largest = max((info.num_elements * info.element_bytes for info in tiles), default=0)
    return total + largest * 9 // 8  # some of it pads rows


def _rearranged(op: OpView) -> list[TileInfo]:
    """The tiles that an operation takes and gives, unless it only prepares an operand, or changes
    the number of dimensions of size 1."""
    results = list(op.operation.results)
    if results and all(map(_is_operand, results)):
        return []
    if isinstance(op, tile_gpu.ReshapeOp) and tile_of(op.source).wide == tile_of(op.result).wide:
        return []
    infos = (tile_info(value.type) for value in (*op.operation.operands, *results))
    return [info for info in infos if info is not None]


def _converted(op: OpView, num_warps: int) -> TileInfo | None:
    """The tile that has or gets the layout of accumulators and another one here."""
    if isinstance(op, tile_gpu.DotOp):
        lhs = tile_info(op.lhs.type)
        return None if lhs is None or lhs.element_bytes == 2 else lhs
    if isinstance(op, tile_gpu.AtomicRedOp):
        return tile_info(op.value.type)
    if isinstance(op, tile_gpu.StoreOp):
        return None if _stays(op, tile_of(op.value), SECTOR_BYTES, num_warps) else tile_of(op.value)
    if isinstance(op, tile_gpu.LoadOp) and not _is_operand(op.result):
        info = tile_of(op.result)
        return None if _stays(op, info, SECTOR_BYTES // 2, num_warps) else info
    return None


def _is_operand(tile: Value) -> bool:
    """Whether a tile only becomes an operand of a product, in shared memory."""
    users = [use.owner.operation for use in tile.uses]
    return all(
        user.name == "tile_gpu.to_shared"
        or (user.name == "tile_gpu.ftof" and _is_operand(user.results[0]))
        for user in users
    )


def _stays(op: OpView, info: TileInfo, least: int, num_warps: int) -> bool:
    """Whether memory is accessed in the layout of accumulators, as `assign-layouts` decides."""
    grid = WarpgroupGrid.choose(info.shape, num_warps, False) if len(info.shape) == 2 else None
    if grid is None:
        return False
    layout = accumulator_layout(info.shape, grid)
    return wastes_no_sectors(op, info.with_layout(layout), least)
