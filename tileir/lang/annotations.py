"""Annotations of kernel parameters: what a launcher must know before it compiles."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any, TypeVar, get_args, get_origin

from ..errors import TileError
from .dtypes import DType, int32, int64
from .errors import TileSyntaxError, TileTypeError, TileValueError, place_of, place_of_caller

T = TypeVar("T")


class ConstantAnnotation:
    """Marks a parameter whose value is known at compile time: each value is a compile of its
    own."""

    def __repr__(self) -> str:
        return "ConstantAnnotation()"


#: `Constant[int]`, or `Constant` alone for a constant of any type.
Constant = Annotated[T, ConstantAnnotation()]


def _wrong_index_dtype(name: str, dtype: Any) -> TileValueError:
    return TileValueError(
        f"{name} is {dtype}", location=place_of_caller(), remedy="it must be int32 or int64"
    )


@dataclass(frozen=True, kw_only=True)
class ArrayAnnotation:
    """How an array is specialised.

    `index_dtype` (int32 or int64) holds extents and strides. Those of the dimensions listed in
    `static_shape_dims` and `static_stride_dims` become constants; where strides are listed, no
    other stride of the array does.
    """

    index_dtype: DType = int32
    static_shape_dims: tuple[int, ...] = ()
    static_stride_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.index_dtype not in (int32, int64):
            raise _wrong_index_dtype("index_dtype", self.index_dtype)
        for name in ("static_shape_dims", "static_stride_dims"):
            dims = getattr(self, name)
            if not isinstance(dims, tuple) or not all(type(dim) is int for dim in dims):
                raise TileTypeError(
                    f"{name} must be a tuple of integers, not {dims!r}",
                    location=place_of_caller(),
                    remedy=f"write {name}=(0,)",
                )


@dataclass(frozen=True, kw_only=True)
class ScalarAnnotation:
    """The dtype, int32 or int64, of a Python integer."""

    dtype: DType

    def __post_init__(self) -> None:
        if self.dtype not in (int32, int64):
            raise _wrong_index_dtype("dtype", self.dtype)


#: An array whose extents and strides may exceed 32 bits.
IndexedWithInt64 = Annotated[T, ArrayAnnotation(index_dtype=int64)]
#: A Python integer that may exceed 32 bits.
ScalarInt64 = Annotated[T, ScalarAnnotation(dtype=int64)]


@dataclass(frozen=True, kw_only=True)
class ListAnnotation:
    """How the arrays of a list are specialised."""

    element: ArrayAnnotation = ArrayAnnotation()


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter of a kernel.

    `items` are those of a parameter annotated as a tuple; `each` stands for all items of
    `tuple[X, ...]`.
    """

    name: str
    constant: bool = False
    array: ArrayAnnotation | None = None
    scalar: ScalarAnnotation | None = None
    list: ListAnnotation | None = None
    items: tuple[ParameterInfo, ...] | None = None
    each: ParameterInfo | None = None
    default: Any = inspect.Parameter.empty

    @property
    def index_bits(self) -> int:
        """Width of extents and strides, of an array or of the arrays of a list."""
        array = self.list.element if self.list is not None else self.array
        return 64 if array is not None and array.index_dtype is int64 else 32


def parameters_of(function: FunctionType) -> tuple[ParameterInfo, ...]:
    """The parameters of a kernel. Raises TileError for `*args` and `**kwargs`."""
    signature = inspect.signature(function)
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except TileError:
        raise
    except Exception:
        # Annotations that cannot be evaluated annotate nothing of ours.
        hints = {}
    found = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TileSyntaxError(
                f"the kernel '{function.__name__}' has a parameter '{parameter}'",
                location=place_of(function),
                remedy="name each parameter; how many there are may differ in a tuple",
            )
        annotation = hints.get(parameter.name, parameter.annotation)
        try:
            found.append(_info(parameter.name, annotation, False, parameter.default))
        except TileTypeError as error:
            place = place_of(function)
            raise TileTypeError(error.reason, location=place, remedy=error.remedy) from None
    return tuple(found)


def _info(name: str, annotation: Any, constant: bool, default: Any) -> ParameterInfo:
    metadata: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        metadata = tuple(rest)
    constant = constant or any(isinstance(each, ConstantAnnotation) for each in metadata)
    array = _first(metadata, ArrayAnnotation)
    scalar = _first(metadata, ScalarAnnotation)
    list_ = _first(metadata, ListAnnotation)
    if sum(each is not None for each in (array, scalar, list_)) + constant > 1:
        raise TileTypeError(
            f"'{name}' has annotations that exclude each other",
            remedy="a parameter is a constant, an array, a list or a number",
        )
    items = each = None
    arguments = get_args(annotation) if get_origin(annotation) is tuple else ()
    empty = inspect.Parameter.empty
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        each = _info(f"{name}[...]", arguments[0], constant, empty)
    elif arguments:
        items = tuple(
            _info(f"{name}[{index}]", argument, constant, empty)
            for index, argument in enumerate(arguments)
        )
    return ParameterInfo(name, constant, array, scalar, list_, items, each, default)


def _first(metadata: tuple[Any, ...], cls: type[T]) -> T | None:
    return next((each for each in metadata if isinstance(each, cls)), None)
