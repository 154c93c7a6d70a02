"""Types of tile_gpu in Python: their text, and where a buffer holds each element."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tileir.compiler.layout import Layout, lane, reg, warp
from tileir.compiler.tile_types import (
    BufferInfo,
    TileInfo,
    buffer_info,
    bytes_of,
    operand_buffer,
    swizzle_for,
    tile_info,
)
from tileir.dialects import make_context
from tileir.errors import UnsupportedError
from tileir.ir import Type

CONTEXT = make_context()


def every_coordinate(shape: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, shape))), int)


BUFFERS = [
    BufferInfo((64,), "f32", (0,)),
    BufferInfo((16, 24), "f16", (0, 1)),
    BufferInfo((16, 24), "f16", (1, 0)),
    BufferInfo((16, 24), "f16", (0, 1), pad=8),
    BufferInfo((4, 3, 8), "f32", (2, 0, 1), pad=1),
    BufferInfo((64, 64), "f16", (0, 1), swizzle=128),
    BufferInfo((64, 32), "bf16", (0, 1), swizzle=64),
    BufferInfo((32, 16), "f16", (0, 1), swizzle=32),
    BufferInfo((16, 256), "f16", (0, 1), swizzle=128),
    BufferInfo((64, 128), "f16", (1, 0), swizzle=128),
    BufferInfo((80, 192), "f16", (1, 0), swizzle=32),
    BufferInfo((128, 32), "f32", (0, 1), swizzle=128),
    BufferInfo((16, 128), "f8E4M3FN", (0, 1), swizzle=128, stages=3),
    BufferInfo((16, 32), "tf32", (0, 1), swizzle=128),
    BufferInfo((32, 32), "i1", (0, 1), swizzle=32),
]  # fmt: skip


@pytest.mark.parametrize("info", BUFFERS, ids=str)
def test_buffer_text_is_the_dialects(info):
    type_ = Type.parse(str(info), CONTEXT)
    assert str(type_) == str(info)
    assert buffer_info(type_) == info


@pytest.mark.parametrize("info", BUFFERS, ids=str)
def test_elements_do_not_overlap(info):
    offsets = info.offsets(every_coordinate(info.shape))
    assert len(set(offsets.tolist())) == math.prod(info.shape)
    assert (offsets % info.element_bytes == 0).all()
    assert offsets.min() == 0
    assert offsets.max() + info.element_bytes <= info.stage_bytes
    assert info.bytes == info.stages * info.stage_bytes


#: Address bits that the tensor memory accelerator xors: (lowest of the target, of the source,
#: how many). CUDA driver API, CUtensorMapSwizzle; PTX ISA, "Swizzling Modes".
HARDWARE_SWIZZLE = {128: (4, 7, 3), 64: (4, 7, 2), 32: (4, 7, 1)}


def hardware_address(address: int, swizzle: int) -> int:
    to, source, count = HARDWARE_SWIZZLE[swizzle]
    return address ^ (address >> source & (1 << count) - 1) << to


@pytest.mark.parametrize("info", [b for b in BUFFERS if b.swizzle], ids=str)
def test_swizzle_is_that_of_the_hardware(info):
    """A panel is a box as wide as the swizzle, which starts at a multiple of `alignment`."""
    for coordinates in every_coordinate(info.shape):
        *slow, fast = (coordinates[d] for d in info.order)
        row = int(np.ravel_multi_index(slow, [info.shape[d] for d in info.order[:-1]]))
        byte = int(fast) * info.element_bytes
        panel, within = divmod(byte, info.swizzle)
        panel_bytes = math.prod(info.shape[d] for d in info.order[:-1]) * info.swizzle
        expected = panel * panel_bytes + hardware_address(row * info.swizzle + within, info.swizzle)
        assert info.offsets(coordinates[None])[0] == expected


def test_swizzle_alignment_covers_its_address_bits():
    for width, (_, source, count) in HARDWARE_SWIZZLE.items():
        info = BufferInfo((64, 64), "f16", (0, 1), swizzle=width)
        assert info.alignment == 1 << (source + count)


def test_padding_separates_rows():
    info = BufferInfo((4, 8), "f16", (0, 1), pad=8)
    assert info.pitch_bytes == 32
    assert info.stage_bytes == 128
    assert info.offsets(np.array([[1, 0]]))[0] == 32


def test_order_says_what_is_fastest():
    info = BufferInfo((4, 8), "f32", (1, 0))
    assert info.offsets(np.array([[1, 0], [0, 1]])).tolist() == [4, 16]


def test_operand_buffers_take_the_widest_swizzle():
    assert [swizzle_for(n) for n in (256, 128, 192, 64, 96, 32, 16)] == [
        128,
        128,
        64,
        64,
        32,
        32,
        0,
    ]
    assert operand_buffer((64, 32), "f16", (0, 1)) == BufferInfo(
        (64, 32), "f16", (0, 1), swizzle=64
    )
    assert operand_buffer((64, 32), "f16", (1, 0)).swizzle == 128


# ---- tiles ---------------------------------------------------------------------------------------


def test_tile_text():
    layout = Layout.of([warp(4, 1), lane(16, 2)], [lane(2, 1), reg(4)])
    for info in (TileInfo((64, 8), "f16"), TileInfo((64, 8), "f16", layout), TileInfo((7,), "i1")):
        type_ = Type.parse(str(info), CONTEXT)
        assert str(type_) == str(info)
        assert tile_info(type_) == info
    assert tile_info(Type.parse("f32", CONTEXT)) is None


def test_element_sizes():
    sizes = {"i1": 1, "i8": 1, "f8E5M2": 1, "f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "i64": 8}
    assert {name: bytes_of(name) for name in sizes} == sizes
    with pytest.raises(UnsupportedError, match="f4E2M1FN"):
        bytes_of("f4E2M1FN")
