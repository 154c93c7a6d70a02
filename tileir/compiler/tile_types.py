"""The types of tile_gpu, read and written by passes."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tileir.compiler.layout import Layout
from tileir.compiler.unsupported import Unsupported
from tileir.dialects import tile_gpu
from tileir.errors import VerificationError
from tileir.ir import OpView, Type, Value

if TYPE_CHECKING:
    from tileir.compiler.builder import Builder

#: Bytes that an element takes in memory and in a shared buffer.
_ELEMENT_BYTES = {
    "i1": 1, "i4": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8,
    "f8E4M3FN": 1, "f8E5M2": 1, "f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "f64": 8,
}  # fmt: skip


#: 8-bit floats that PTX converts and multiplies, and what it calls them.
FP8 = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
#: Formats of which only conversions know more than the bits, and the integers that stand for them.
STORED_AS = {"f8E8M0FNU": "i8", "!cuda_tile.fnv8E5M3FNU": "i8", "f4E2M1FN": "i4"}


def bytes_of(element: str) -> int:
    """Bytes that an element takes in memory. Raises Unsupported for elements of half a byte."""
    size = _ELEMENT_BYTES.get(STORED_AS.get(element, element))
    if size is None or element == "f4E2M1FN":
        raise Unsupported(
            f"no code generation for {element} in memory", remedy="load i8, and unpack it"
        )
    return size


@dataclass(frozen=True)
class TileInfo:
    """The parts of `!tile_gpu.tile<64x32xf16, #layout>`; no layout before `assign-layouts`."""

    shape: tuple[int, ...]
    element: str
    assigned: Layout | None = None

    def __str__(self) -> str:
        dims = "x".join(map(str, self.shape))
        suffix = f", {self.assigned}" if self.assigned else ""
        return f"!tile_gpu.tile<{dims}x{self.element}{suffix}>"

    @property
    def layout(self) -> Layout:
        if self.assigned is None:
            raise VerificationError(f"{self} has no layout yet", remedy="run assign-layouts first")
        return self.assigned

    def with_layout(self, layout: Layout | None) -> TileInfo:
        return replace(self, assigned=layout)

    @property
    def num_elements(self) -> int:
        return math.prod(self.shape)

    def permuted(self, permutation: Sequence[int]) -> TileInfo:
        """The tile whose dimension i is `permutation[i]` of this one, without a layout."""
        return TileInfo(tuple(self.shape[dim] for dim in permutation), self.element)

    @property
    def wide(self) -> tuple[int, ...]:
        """The sizes other than 1."""
        return tuple(size for size in self.shape if size != 1)

    @property
    def is_row(self) -> bool:
        """Whether it has one row or column only."""
        return self.num_elements == max(self.shape, default=1)

    @property
    def element_bytes(self) -> int:
        return bytes_of(self.element)


def is_tile_type(type_: Type) -> bool:
    """Whether a type is `!tile_gpu.tile`."""
    return type_.typeid == tile_gpu.TILE_ID


_TILE = re.compile(r"!tile_gpu\.tile<((?:\d+x)+)(\w+)(?:, #tile_gpu\.layout(<.*>))?>")


@functools.cache
def _parse_tile(text: str) -> TileInfo:
    match = _TILE.fullmatch(text)
    assert match, text
    shape = tuple(int(n) for n in match[1].split("x") if n)
    return TileInfo(shape, match[2], Layout.parse(match[3]) if match[3] else None)


def tile_info(type_: Type) -> TileInfo | None:
    """The parts of a tile type; None for any other type."""
    return _parse_tile(str(type_)) if is_tile_type(type_) else None


def tile_of(value: Value) -> TileInfo:
    """The parts of the type of `value`, which is a tile."""
    info = tile_info(value.type)
    assert info is not None, f"{value.type} is not a tile"
    return info


def is_buffer_type(type_: Type) -> bool:
    return type_.typeid == tile_gpu.BUFFER_ID


def tile_type(builder: Builder, info: TileInfo) -> Type:
    return builder.type(str(info))


CHUNK_BYTES = 16
LINE_BYTES = 128
#: After so many rows a swizzle repeats: it reads the low three bits of their numbers.
SWIZZLE_PERIOD = 8
#: A box of a tensor memory access has at most so many rows.
LARGEST_BOX = 256
#: And addresses and strides of tensors are multiples of so many bytes (CUDA driver,
#: cuTensorMapEncodeTiled).
TENSOR_ALIGNMENT = 16


@dataclass(frozen=True)
class BufferInfo:
    """`!tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 3>`, in parts."""

    shape: tuple[int, ...]
    element: str
    order: tuple[int, ...]
    swizzle: int = 0
    pad: int = 0
    stages: int = 1

    def __str__(self) -> str:
        dims = "x".join(map(str, self.shape))
        text = f"!tile_gpu.buffer<{dims}x{self.element}"
        if self.order != tuple(range(len(self.shape))):
            text += f", order = [{', '.join(map(str, self.order))}]"
        for key, default in (("swizzle", 0), ("pad", 0), ("stages", 1)):
            if getattr(self, key) != default:
                text += f", {key} = {getattr(self, key)}"
        return text + ">"

    @property
    def element_bytes(self) -> int:
        return bytes_of(self.element)

    @property
    def row(self) -> int:
        """Elements along the fastest dimension."""
        return self.shape[self.order[-1]]

    @property
    def num_rows(self) -> int:
        return math.prod(self.shape) // self.row

    @property
    def panel(self) -> int:
        """Elements of a row that lie together: a swizzled buffer is cut into panels whose rows
        are as wide as the swizzle."""
        return self.swizzle // self.element_bytes if self.swizzle else self.row

    @property
    def pitch_bytes(self) -> int:
        """Bytes from one row of a panel to the next."""
        return (self.panel + self.pad) * self.element_bytes

    @property
    def panel_bytes(self) -> int:
        return self.num_rows * self.pitch_bytes

    @property
    def stage_bytes(self) -> int:
        return self.row // self.panel * self.panel_bytes

    @property
    def bytes(self) -> int:
        return self.stages * self.stage_bytes

    @property
    def alignment(self) -> int:
        """Bytes that the start must be a multiple of: the swizzle reads address bits, and whole
        lines of shared memory (a tensor map is one) stay whole."""
        plain = LINE_BYTES if self.stage_bytes % LINE_BYTES == 0 else CHUNK_BYTES
        return {128: 1024, 64: 512, 32: 256}.get(self.swizzle, plain)

    @property
    def swizzle_bits(self) -> tuple[int, int]:
        """How far to shift the number of a row, and the mask of what is left then: what the number
        of a 16-byte chunk is xor-ed with."""
        return {128: (0, 7), 64: (1, 3), 32: (2, 1), 0: (0, 0)}[self.swizzle]

    def xor_of_row(self, row: np.ndarray | int) -> np.ndarray | int:
        """What the 16-byte chunk index of `row` is xor-ed with."""
        shift, mask = self.swizzle_bits
        return (row >> shift) & mask

    def offsets(self, coordinates: np.ndarray) -> np.ndarray:
        """Byte offset within a stage of elements at `coordinates` [..., dimension]."""
        row = np.zeros(coordinates.shape[:-1], np.int64)
        for dim in self.order[:-1]:
            row = row * self.shape[dim] + coordinates[..., dim]
        column = coordinates[..., self.order[-1]]
        byte = column % self.panel * self.element_bytes
        chunk = byte // CHUNK_BYTES ^ self.xor_of_row(row)
        return (
            column // self.panel * self.panel_bytes
            + row * self.pitch_bytes
            + chunk * CHUNK_BYTES
            + byte % CHUNK_BYTES
        )

    def byte_of(self, coordinates: Sequence[int]) -> int:
        """Byte offset within a stage of the element at `coordinates`."""
        return int(self.offsets(np.array(coordinates)))


_BUFFER = re.compile(r"!tile_gpu\.buffer<((?:\d+x)+)(\w+)(.*)>")


@functools.cache
def _parse_buffer(text: str) -> BufferInfo:
    match = _BUFFER.fullmatch(text)
    assert match, text
    shape = tuple(int(n) for n in match[1].split("x") if n)
    order = re.search(r"order = \[([\d, ]*)\]", match[3])
    number = {key: int(value) for key, value in re.findall(r"(\w+) = (\d+)", match[3])}
    return BufferInfo(
        shape,
        match[2],
        tuple(int(n) for n in order[1].split(",")) if order else tuple(range(len(shape))),
        **number,
    )


def buffer_info(type_: Type) -> BufferInfo:
    return _parse_buffer(str(type_))


def operand_of(product: OpView, index: int) -> TileInfo | BufferInfo:
    """The parts of the type of an operand of a matrix product."""
    value = product.operation.operands[index]
    return buffer_info(value.type) if is_buffer_type(value.type) else tile_of(value)


def tensor_map_box(type_: Type) -> BufferInfo:
    """The box of `!tile_gpu.tensor_map`, as the buffer that it fills."""
    return _parse_buffer(str(type_).replace("tensor_map", "buffer", 1))


def swizzle_for(row_bytes: int) -> int:
    """The widest swizzle that divides a row, 0 if none does."""
    return next((width for width in (128, 64, 32) if row_bytes % width == 0), 0)


def operand_buffer(shape: Sequence[int], element: str, order: Sequence[int]) -> BufferInfo:
    """A buffer from which the matrix instructions read without bank conflicts."""
    row_bytes = shape[order[-1]] * bytes_of(element)
    return BufferInfo(tuple(shape), element, tuple(order), swizzle=swizzle_for(row_bytes))
