"""What the operations share: checks of arguments, conversion and broadcasting of operands."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias, TypeGuard, TypeVar

from ..builder import Builder, current_builder
from ..constants import constant
from ..dtypes import DType, dtype_of
from ..errors import TileTypeError, TileValueError
from ..promotion import Number, default_dtype, promote, promote_number
from ..values import Tile, describe

Shape: TypeAlias = tuple[int, ...]
#: What elementwise operations take.
Operand: TypeAlias = Tile | Number

#: Tile IR allows no larger tiles.
MAX_ELEMENTS = 1 << 24

E_ = TypeVar("E_", bound=Enum)


def is_number(value: Any) -> TypeGuard[Number]:
    """Whether it is one of Python's numbers, which are loosely typed."""
    return isinstance(value, (bool, int, float))


# ---- arguments that must be known at compile time --------------------------------------------


def constant_int(value: Any, name: str) -> int:
    """An integer known at compile time. Raises `TileTypeError` otherwise."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, Tile):
        raise TileTypeError(
            f"'{name}' must be known at compile time, got {describe(value)}",
            remedy="pass it to the kernel as a ct.Constant[int]",
        )
    whole = isinstance(value, float) and value.is_integer()
    raise TileTypeError(
        f"'{name}' must be an integer, got {describe(value)}",
        remedy=f"write {int(value)}; // divides integers" if whole else None,
    )


def constant_ints(value: Any, name: str) -> tuple[int, ...]:
    """A tuple of integers known at compile time; one integer stands for a tuple of one."""
    if isinstance(value, (tuple, list)):
        return tuple(constant_int(item, f"{name}[{i}]") for i, item in enumerate(value))
    return (constant_int(value, name),)


def constant_bool(value: Any, name: str) -> bool:
    """A boolean known at compile time; `name` is the argument's, for errors."""
    if isinstance(value, bool):
        return value
    raise TileTypeError(f"'{name}' must be True or False at compile time, got {describe(value)}")


def enum_member(value: Any, cls: type[E_], name: str) -> E_:
    """A member of one of the enumerations of the language."""
    if isinstance(value, cls):
        return value
    members = ", ".join(f"ct.{cls.__name__}.{member.name}" for member in cls)
    raise TileTypeError(f"'{name}' must be one of {members}, got {describe(value)}")


def dtype_argument(value: Any, name: str = "dtype") -> DType:
    """A dtype of ours, or one of NumPy, PyTorch, ..."""
    found = dtype_of(value)
    if found is None:
        raise TileTypeError(
            f"'{name}' must be a dtype such as ct.float32, got {describe(value)}",
        )
    return found


def tile_shape(value: Any, name: str = "shape", builder: Builder | None = None) -> Shape:
    """The shape of a tile: positive integers, together at most 2^24 elements.

    Dimensions that are not powers of two mark the kernel as going beyond Tile IR.
    """
    shape = constant_ints(value, name)
    elements = 1
    for i, extent in enumerate(shape):
        if extent < 1:
            raise TileValueError(f"'{name}[{i}]' must be positive, got {extent}")
        elements *= extent
    if elements > MAX_ELEMENTS:
        raise TileValueError(
            f"a tile has at most 2^24 = {MAX_ELEMENTS} elements, {list(shape)} are {elements}",
            remedy="use smaller tiles in a loop",
        )
    note_shape(builder or current_builder(), shape)
    return shape


def note_shape(builder: Builder, shape: Shape) -> None:
    """Marks the kernel if Tile IR itself could not have a tile of this shape."""
    if any(extent & (extent - 1) for extent in shape):
        builder.extended = True


def axis_of(value: Any, rank: int, name: str = "axis") -> int:
    """An axis of something of `rank` dimensions; negative ones count from the end."""
    axis = constant_int(value, name)
    if not -rank <= axis < rank:
        raise TileValueError(
            f"'{name}' is {axis}, out of range for {rank} dimension{'s' * (rank != 1)}",
        )
    return axis % rank


def permutation_of(value: Any, rank: int, name: str) -> tuple[int, ...]:
    """A permutation of the axes of something of `rank` dimensions."""
    axes = tuple(axis_of(axis, rank, name) for axis in constant_ints(value, name))
    if sorted(axes) != list(range(rank)):
        raise TileValueError(f"'{name}' must be a permutation of {rank} axes, got {axes}")
    return axes


# ---- operands --------------------------------------------------------------------------------


def as_tile(value: Any, name: str) -> Tile:
    """A tile; a number becomes one of its default dtype."""
    if isinstance(value, Tile):
        return value
    if is_number(value):
        return constant(current_builder(), value)
    raise not_a_tile(value, name)


def not_a_tile(value: Any, name: str) -> TileTypeError:
    """The error for an argument that is neither a tile nor a number."""
    remedy = None
    if hasattr(value, "names") and hasattr(value, "ndim"):
        remedy = "load a tile of the array first: ct.load(array, index, shape)"
    elif type(value).__module__ in ("numpy", "torch", "cupy"):
        remedy = "pass the array to the kernel as an argument, and load from it"
    elif name == "tile" and isinstance(value, tuple):
        remedy = "the order is ct.store(array, index, tile)"
    return TileTypeError(
        f"'{name}' must be a tile or a number, got {describe(value)}", remedy=remedy
    )


def dtype_of_operand(value: Operand) -> DType:
    """The dtype of a tile, or that which a number has by default."""
    return value.dtype if isinstance(value, Tile) else default_dtype(value)


def shape_of_operand(value: Operand) -> Shape:
    """The shape of a tile; numbers have none."""
    return value.shape if isinstance(value, Tile) else ()


def common_dtype(x: Operand, y: Operand) -> DType:
    """The dtype that an operation on two operands has, at least one of them a tile."""
    loose_x = not isinstance(x, Tile) or x.loose
    loose_y = not isinstance(y, Tile) or y.loose
    if loose_x == loose_y:
        return promote(dtype_of_operand(x), dtype_of_operand(y))
    firm, loose = (y, x) if loose_x else (x, y)
    assert isinstance(firm, Tile)
    if isinstance(loose, Tile):
        return _promote_loose(loose.dtype, firm.dtype)
    return promote_number(loose, firm.dtype)


def _promote_loose(loose: DType, firm: DType) -> DType:
    """What a run-time number without a firm dtype becomes beside another."""
    return firm if loose.category.value <= firm.category.value else loose


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all of `shapes` broadcast to, by NumPy's rules."""
    rank = max(map(len, shapes))
    result = [1] * rank
    for shape in shapes:
        for i, extent in enumerate(shape, start=rank - len(shape)):
            if extent != 1 and result[i] not in (1, extent):
                raise TileValueError(
                    "shapes do not broadcast: " + " and ".join(str(list(each)) for each in shapes),
                    remedy="sizes must be equal or 1, counted from the last; x[:, None] adds one",
                )
            result[i] = max(result[i], extent)
    return tuple(result)


def broadcast(x: Tile, shape: Shape) -> Tile:
    """`x` repeated to `shape`, which its own shape broadcasts to."""
    if x.shape == shape:
        return x
    builder = current_builder()
    aligned = (1,) * (len(shape) - len(x.shape)) + x.shape
    if aligned != x.shape:
        x = builder.tile("cuda_tile.reshape", x.dtype, aligned, (x.value,))
    if aligned == shape:
        return x
    return builder.tile("cuda_tile.broadcast", x.dtype, shape, (x.value,))


def converted(value: Operand, dtype: DType, shape: Shape) -> Tile:
    """An operand as a tile of this dtype and shape: cast first, as there are fewer elements."""
    if not isinstance(value, Tile):
        return constant(current_builder(), value, dtype, shape)
    if value.dtype is not dtype:
        from .casts import convert

        value = convert(value, dtype)
    return broadcast(value, shape)


def operand(value: Any, name: str) -> Operand:
    """A tile or a number. Raises `TileTypeError` otherwise."""
    if isinstance(value, Tile) or is_number(value):
        return value
    raise not_a_tile(value, name)


def require_arithmetic(dtype: DType, what: str) -> None:
    """Raises `TileTypeError` for floats that only hold data."""
    if not dtype.is_arithmetic:
        raise TileTypeError(
            f"{what} does not work on {dtype}, which only holds data",
            remedy="convert it first, for example with .astype(ct.float32)",
        )


def together(
    x: Any, y: Any, names: Sequence[str] = ("x", "y"), dtype: DType | None = None
) -> tuple[Tile, Tile]:
    """Two operands as tiles of one dtype (default: what they promote to) and one shape."""
    left, right = operand(x, names[0]), operand(y, names[1])
    dtype = dtype or common_dtype(left, right)
    shape = broadcast_shapes(shape_of_operand(left), shape_of_operand(right))
    return converted(left, dtype, shape), converted(right, dtype, shape)
