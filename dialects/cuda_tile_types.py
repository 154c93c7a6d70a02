"""Classes of the cuda_tile types.

`value.type` and parsed types come back as these classes. `get` raises a `VerificationError` with
the current location for parameters that break a rule of the type.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TypeVar

from mlir import ir

from tileir.errors import VerificationError

from ._cuda_tile_enum_gen import PaddingValue, PtrKind
from ._native import (
    Handle,
    Ints,
    check_range,
    current_location,
    function,
    given_or_current,
    last_error,
    unwrap_context,
    unwrap_type,
    wrap,
    wrap_type,
)

_type_kind = function("tileirTypeKind", ctypes.c_int, Handle)
_type_id_of_kind = function("tileirTypeIDOfKind", Handle, ctypes.c_int)
_inner = function("tileirTypeGetInner", Handle, Handle)
_ints = function(
    "tileirTypeGetInts",
    ctypes.c_ssize_t,
    Handle,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_ssize_t,
)
_enum = function("tileirTypeGetEnum", ctypes.c_int, Handle)
_sparse_dim = function("tileirGatherScatterViewTypeGetSparseDim", ctypes.c_int, Handle)
_tile_type_of_view = function("tileirViewTypeGetTileType", Handle, Handle)
_get_tile = function("tileirTileTypeGet", Handle, Handle, Ints)
_get_ptr = function("tileirPtrTypeGet", Handle, Handle, ctypes.c_int)
_get_token = function("tileirTokenTypeGet", Handle, Handle)
_get_f8e5m3 = function("tileirF8E5M3FNUTypeGet", Handle, Handle)
_get_tensor_view = function("tileirTensorViewTypeGet", Handle, Handle, Ints, Ints, ctypes.c_int)
_get_partition = function("tileirPartitionViewTypeGet", Handle, Handle, Ints, Ints, ctypes.c_int)
_get_strided = function("tileirStridedViewTypeGet", Handle, Handle, Ints, Ints, Ints, ctypes.c_int)
_get_gather = function(
    "tileirGatherScatterViewTypeGet", Handle, Handle, Ints, ctypes.c_int, ctypes.c_int
)

#: A dimension or stride known only at run time.
DYNAMIC = -(2**63)

_SHAPE, _STRIDES, _DIM_MAP = range(3)

_T = TypeVar("_T", bound="CudaTileType")


class CudaTileType(ir.Type):
    """Base of the classes of this module."""

    _kind = 0

    def __init__(self, type_: ir.Type):
        if _type_kind(unwrap_type(type_)) != self._kind:
            raise ValueError(f"{type_} is no {type(self).__name__}")
        super().__init__(type_)

    @classmethod
    def _cast(cls, type_: ir.Type) -> ir.Type:
        """A type whose id says that it is of this class."""
        found = cls.__new__(cls)
        ir.Type.__init__(found, type_)
        return found

    @classmethod
    def isinstance(cls, type_: ir.Type) -> bool:
        return _type_kind(unwrap_type(type_)) == cls._kind

    def _list(self, which: int) -> list[int]:
        handle = unwrap_type(self)
        buffer = (ctypes.c_int64 * 16)()
        count = _ints(handle, which, buffer, 16)
        if count > 16:
            buffer = (ctypes.c_int64 * count)()
            _ints(handle, which, buffer, count)
        return buffer[:count]


def _checked(cls: type[_T], handle: Handle) -> _T:
    """The type of a handle, or the error that made it null."""
    if not handle.pointer:
        raise VerificationError(last_error(), location=current_location())
    return cls(wrap(ir.Type, handle))


def _context(context: ir.Context | None) -> Handle:
    return unwrap_context(given_or_current(context))


class TileType(CudaTileType):
    """`tile<64x32xf16>`: a value of static shape; a scalar has rank 0."""

    _kind = 1

    @classmethod
    def get(cls, shape: Sequence[int], element_type: ir.Type) -> TileType:
        return _checked(cls, _get_tile(unwrap_type(element_type), Ints.of(shape)))

    @property
    def shape(self) -> list[int]:
        return self._list(_SHAPE)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def element_type(self) -> ir.Type:
        return wrap_type(_inner(unwrap_type(self)))

    @property
    def num_elements(self) -> int:
        count = 1
        for dim in self.shape:
            count *= dim
        return count

    def with_shape(self, shape: Sequence[int]) -> TileType:
        return TileType.get(shape, self.element_type)

    def with_element(self, element_type: ir.Type) -> TileType:
        return TileType.get(self.shape, element_type)


class PtrType(CudaTileType):
    """`ptr<f32>`: the element type of a tile of global addresses."""

    _kind = 2

    @classmethod
    def get(cls, pointee: ir.Type, kind: PtrKind | None = None) -> PtrType:
        return _checked(cls, _get_ptr(unwrap_type(pointee), -1 if kind is None else kind))

    @property
    def pointee(self) -> ir.Type:
        return wrap_type(_inner(unwrap_type(self)))

    @property
    def kind(self) -> PtrKind | None:
        value = _enum(unwrap_type(self))
        return None if value < 0 else PtrKind(value)


class TokenType(CudaTileType):
    """`token`: orders memory operations."""

    _kind = 3

    @classmethod
    def get(cls, context: ir.Context | None = None) -> TokenType:
        return _checked(cls, _get_token(_context(context)))


class F8E5M3FNUType(CudaTileType):
    """`fnv8E5M3FNU`: an unsigned scale type of sm_107."""

    _kind = 8

    @classmethod
    def get(cls, context: ir.Context | None = None) -> F8E5M3FNUType:
        return _checked(cls, _get_f8e5m3(_context(context)))


class TensorViewType(CudaTileType):
    """`tensor_view<?x64xf32, strides=[?,1]>`; `DYNAMIC` stands for `?`."""

    _kind = 4

    @classmethod
    def get(
        cls,
        shape: Sequence[int],
        element_type: ir.Type,
        strides: Sequence[int],
        kind: PtrKind | None = None,
    ) -> TensorViewType:
        handle = _get_tensor_view(
            unwrap_type(element_type),
            Ints.of(shape),
            Ints.of(strides),
            -1 if kind is None else kind,
        )
        return _checked(cls, handle)

    @property
    def shape(self) -> list[int]:
        return self._list(_SHAPE)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def strides(self) -> list[int]:
        """In elements."""
        return self._list(_STRIDES)

    @property
    def element_type(self) -> ir.Type:
        return wrap_type(_inner(unwrap_type(self)))

    @property
    def kind(self) -> PtrKind | None:
        value = _enum(unwrap_type(self))
        return None if value < 0 else PtrKind(value)


class _TileViewType(CudaTileType):
    """What partition, strided and gather/scatter views share."""

    @property
    def tile_shape(self) -> list[int]:
        return self._list(_SHAPE)

    @property
    def rank(self) -> int:
        return len(self.tile_shape)

    @property
    def tensor_view(self) -> TensorViewType:
        return wrap_type(_inner(unwrap_type(self)))

    @property
    def element_type(self) -> ir.Type:
        return self.tensor_view.element_type

    @property
    def tile_type(self) -> TileType:
        """The type of the tiles that are loaded and stored."""
        return wrap_type(_tile_type_of_view(unwrap_type(self)))

    @property
    def padding_value(self) -> PaddingValue | None:
        """What elements outside of the tensor load as; None for anything."""
        value = _enum(unwrap_type(self))
        return None if value < 0 else PaddingValue(value)


def _int32s(values: Sequence[int]) -> Ints:
    """Numbers that a view holds in 32 bits."""
    for value in values:
        check_range(value, -(2**31), 2**31 - 1)
    return Ints.of(values)


def _dim_map(values: Sequence[int] | None, rank: int) -> Ints:
    return _int32s(range(rank) if values is None else values)


def _padding(value: PaddingValue | None) -> int:
    return -1 if value is None else int(value)


class PartitionViewType(_TileViewType):
    """A tensor cut into a grid of tiles; tile dimension i walks tensor dimension dim_map[i]."""

    _kind = 5

    @classmethod
    def get(
        cls,
        tile_shape: Sequence[int],
        tensor_view: TensorViewType,
        dim_map: Sequence[int] | None = None,
        padding_value: PaddingValue | None = None,
    ) -> PartitionViewType:
        handle = _get_partition(
            unwrap_type(TensorViewType(tensor_view)),
            _int32s(tile_shape),
            _dim_map(dim_map, len(tile_shape)),
            _padding(padding_value),
        )
        return _checked(cls, handle)

    @property
    def dim_map(self) -> list[int]:
        return self._list(_DIM_MAP)


class StridedViewType(_TileViewType):
    """As a partition view, with tiles `traversal_strides[i]` elements apart."""

    _kind = 6

    @classmethod
    def get(
        cls,
        tile_shape: Sequence[int],
        traversal_strides: Sequence[int],
        tensor_view: TensorViewType,
        dim_map: Sequence[int] | None = None,
        padding_value: PaddingValue | None = None,
    ) -> StridedViewType:
        handle = _get_strided(
            unwrap_type(TensorViewType(tensor_view)),
            _int32s(tile_shape),
            _int32s(traversal_strides),
            _dim_map(dim_map, len(tile_shape)),
            _padding(padding_value),
        )
        return _checked(cls, handle)

    @property
    def traversal_strides(self) -> list[int]:
        return self._list(_STRIDES)

    @property
    def dim_map(self) -> list[int]:
        return self._list(_DIM_MAP)


class GatherScatterViewType(_TileViewType):
    """A view whose dimension `sparse_dim` is indexed by a tile of element positions."""

    _kind = 7

    @classmethod
    def get(
        cls,
        tile_shape: Sequence[int],
        tensor_view: TensorViewType,
        sparse_dim: int,
        padding_value: PaddingValue | None = None,
    ) -> GatherScatterViewType:
        handle = _get_gather(
            unwrap_type(TensorViewType(tensor_view)),
            _int32s(tile_shape),
            check_range(sparse_dim, -(2**31), 2**31 - 1),
            _padding(padding_value),
        )
        return _checked(cls, handle)

    @property
    def sparse_dim(self) -> int:
        return _sparse_dim(unwrap_type(self))


TileViewType = PartitionViewType | StridedViewType | GatherScatterViewType


def _register_casters() -> None:
    for cls in (
        TileType,
        PtrType,
        TokenType,
        TensorViewType,
        PartitionViewType,
        StridedViewType,
        GatherScatterViewType,
        F8E5M3FNUType,
    ):
        ir.register_type_caster(wrap(ir.TypeID, _type_id_of_kind(cls._kind)))(cls._cast)


_register_casters()
