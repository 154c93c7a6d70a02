"""What views describe, while a kernel is converted."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.dialects.cuda_tile import AtomicRedViewTkoOp, LoadViewTkoOp, StoreViewTkoOp
from tileir.ir import Type, Value

#: An operation that reads or writes memory through a view.
ViewAccess = LoadViewTkoOp | StoreViewTkoOp | AtomicRedViewTkoOp


@dataclass(frozen=True)
class Extent:
    """A size or stride: its i64 value, what is known to divide it, and its value if constant."""

    value: Value
    multiple: int
    constant: int | None = None


@dataclass(frozen=True)
class Tensor:
    """A tensor in memory: `base_multiple` divides its address in bytes."""

    base: Value
    base_multiple: int
    element: Type
    sizes: tuple[Extent, ...]
    strides: tuple[Extent, ...]


@dataclass(frozen=True)
class View:
    """A tensor cut into tiles: index i of tile dimension d starts at element `i * steps[d]` of
    tensor dimension `dim_map[d]`."""

    tensor: Tensor
    tile: tuple[int, ...]
    steps: tuple[int, ...]
    dim_map: tuple[int, ...]
    padding: str | None
    sparse_dim: int | None = None


class ViewTable:
    """What each view (a value of cuda_tile) describes."""

    def __init__(self) -> None:
        self.tensors: dict[Value, Tensor] = {}
        self.views: dict[Value, View] = {}
