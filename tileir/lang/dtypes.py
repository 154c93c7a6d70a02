"""Element types of tiles and arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = [
    "BY_NAME",
    "Category",
    "DType",
    "bfloat16",
    "bool_",
    "dtype_of",
    "float4_e2m1fn",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e5m3fnu",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "tfloat32",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class Category(Enum):
    """Decides what a dtype mixes with, see `promotion`. Higher values win."""

    BOOLEAN = 0
    INTEGER = 1
    FLOAT = 2
    #: Floats that hold data of matrix products: loaded, stored, converted, multiplied, not added.
    STORAGE = 3


@dataclass(frozen=True, slots=True)
class DType:
    """The type of the elements of a tile or an array.

    `name` is what users write, `ir` the name in signatures (`u8`), `element` that of the IR,
    whose integers have no sign (`i8`); `bitwidth` counts the bits of a value in memory.
    `exponent_bits` and `mantissa_bits` describe floats; the mantissa without its implied bit.
    `since` is the lowest compute capability that has it, times ten, 0 for all.

    In kernels a dtype can be called to make a scalar of that type: `ct.int16(5)`.
    """

    name: str
    ir: str
    category: Category
    bitwidth: int
    signed: bool = True
    exponent_bits: int = field(default=0, repr=False)
    mantissa_bits: int = field(default=0, repr=False)
    since: int = field(default=0, repr=False)

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash(self.name)

    def __call__(self, value: Any = 0, /) -> Any:
        from .ops.casts import scalar

        return scalar(self, value)

    @property
    def element(self) -> str:
        """Its name in the IR, where integers have no sign: `i8` for `uint8`."""
        return f"i{self.bitwidth}" if self.is_integer else self.ir

    @property
    def is_bool(self) -> bool:
        """Booleans only."""
        return self.category is Category.BOOLEAN

    @property
    def is_integer(self) -> bool:
        """Integers, not booleans."""
        return self.category is Category.INTEGER

    @property
    def is_integral(self) -> bool:
        """Booleans or integers."""
        return self.category.value <= Category.INTEGER.value

    @property
    def is_float(self) -> bool:
        """Floats of any kind, those for storage too."""
        return self.category.value >= Category.FLOAT.value

    @property
    def is_arithmetic(self) -> bool:
        """Whether operators such as + work on it."""
        return self.category is not Category.STORAGE

    @property
    def minimum(self) -> int:
        """The lowest value of an integer or a boolean."""
        return -(1 << (self.bitwidth - 1)) if self.signed and self.is_integer else 0

    @property
    def maximum(self) -> int:
        """The highest value of an integer or a boolean."""
        return (1 << (self.bitwidth - (self.signed and self.is_integer))) - 1


def _integer(bitwidth: int, signed: bool) -> DType:
    prefix = "" if signed else "u"
    ir = f"{'i' if signed else 'u'}{bitwidth}"
    return DType(f"{prefix}int{bitwidth}", ir, Category.INTEGER, bitwidth, signed)


def _float(name: str, ir: str, bitwidth: int, exponent: int, mantissa: int) -> DType:
    return DType(name, ir, Category.FLOAT, bitwidth, True, exponent, mantissa)


def _storage(
    name: str, ir: str, bitwidth: int, exponent: int, mantissa: int, *, signed: bool = True,
    since: int = 0,
) -> DType:  # fmt: skip
    return DType(name, ir, Category.STORAGE, bitwidth, signed, exponent, mantissa, since)


bool_ = DType("bool_", "i1", Category.BOOLEAN, 8, signed=False)
uint8, uint16, uint32, uint64 = (_integer(bits, False) for bits in (8, 16, 32, 64))
int8, int16, int32, int64 = (_integer(bits, True) for bits in (8, 16, 32, 64))
float16 = _float("float16", "f16", 16, 5, 10)
bfloat16 = _float("bfloat16", "bf16", 16, 8, 7)
float32 = _float("float32", "f32", 32, 8, 23)
float64 = _float("float64", "f64", 64, 11, 52)
tfloat32 = _storage("tfloat32", "tf32", 32, 8, 10)
float8_e4m3fn = _storage("float8_e4m3fn", "f8E4M3FN", 8, 4, 3)
float8_e5m2 = _storage("float8_e5m2", "f8E5M2", 8, 5, 2)
float8_e8m0fnu = _storage("float8_e8m0fnu", "f8E8M0FNU", 8, 8, 0, signed=False)
float4_e2m1fn = _storage("float4_e2m1fn", "f4E2M1FN", 4, 2, 1)
float8_e5m3fnu = _storage("float8_e5m3fnu", "fnv8E5M3FNU", 8, 5, 3, signed=False, since=107)

_ALL = (
    bool_,
    *(uint8, uint16, uint32, uint64),
    *(int8, int16, int32, int64),
    *(float16, bfloat16, float32, float64),
    *(tfloat32, float8_e4m3fn, float8_e5m2, float8_e8m0fnu, float4_e2m1fn, float8_e5m3fnu),
)

#: Dtypes by the name that signatures use.
BY_NAME: dict[str, DType] = {dtype.ir: dtype for dtype in _ALL}

#: What NumPy, ml_dtypes, PyTorch, CuPy and JAX call them.
_FOREIGN_NAMES: dict[str, DType] = {dtype.name: dtype for dtype in _ALL if dtype is not tfloat32}
_FOREIGN_NAMES |= {"bool": bool_, "float4_e2m1fn_x2": float4_e2m1fn}


def dtype_of(value: Any) -> DType | None:
    """The dtype that an object stands for, None if it stands for none.

    Takes our dtypes, Python's `int`, `float` and `bool`, and the dtypes of NumPy, PyTorch, CuPy
    and JAX, by their names, so that none of those needs to be imported.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, type) and value in _BUILTIN:
        return _BUILTIN[value]
    if isinstance(value, str):
        return None
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):
        name = str(value)
        if not name.startswith("torch."):
            return None
    return _FOREIGN_NAMES.get(name.removeprefix("torch.").rstrip("_"))


_BUILTIN: dict[type, DType] = {bool: bool_, int: int32, float: float32}
