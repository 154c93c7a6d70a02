"""Kernels of the language traced and run on NumPy arrays.

run(kernel, 4, x, out, 16)                 # on the interpreter; the grid is 4 blocks
ir = text(kernel, x, out, 16)              # the IR

Arrays are specialised as a launcher does, Python's numbers go to parameters annotated as constants
or become scalars (int32, float32, bool_).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import tileir
from tileir.lang.kernel import Kernel
from tileir.lang.signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    ScalarParameter,
    Signature,
    TupleParameter,
    array_facts,
)
from tileir.runtime import PointerTable

#: The IR's names of NumPy's types.
NAMES = {
    "bool": "i1",
    **{f"{s}int{bits}": f"{s or 'i'}{bits}" for s in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e8m0fnu": "f8E8M0FNU",
}
_SCALARS = {bool: np.bool_, int: np.int32, float: np.float32}


def array_parameter(array: np.ndarray, index_bits: int = 32) -> ArrayParameter:
    address = array.__array_interface__["data"][0]
    strides = [stride // array.itemsize for stride in array.strides]
    return array_facts(
        NAMES[array.dtype.name],
        array.itemsize,
        address,
        array.shape,
        strides,
        index_bits=index_bits,
    )


def parameter(value: Any, info: Any) -> Any:
    if info is not None and info.constant:
        return ConstantParameter(value)
    if isinstance(value, np.ndarray):
        return array_parameter(value, 32 if info is None else info.index_bits)
    if isinstance(value, list):
        return ListParameter(_of_all([array_parameter(array) for array in value]))
    if isinstance(value, tuple):
        return TupleParameter(tuple(parameter(item, None) for item in value))
    return ScalarParameter(NAMES[_scalar(value).dtype.name])


def _of_all(arrays: list[ArrayParameter]) -> ArrayParameter:
    """What holds for each of several arrays, of their strides."""
    columns = zip(*(array.static_strides for array in arrays), strict=True)
    strides = tuple(column[0] if len(set(column)) == 1 else None for column in columns)
    return ArrayParameter(arrays[0].dtype, arrays[0].rank, static_strides=strides)


def _scalar(value: Any) -> np.generic:
    return value if isinstance(value, np.generic) else _SCALARS[type(value)](value)


def signature(kernel: Kernel, args: Sequence[Any]) -> Signature:
    return Signature(
        tuple(parameter(a, info) for a, info in zip(args, kernel.parameters, strict=True))
    )


def words(value: Any, description: Any) -> list[Any]:
    """The entry's arguments for one parameter."""
    if isinstance(description, ConstantParameter):
        return []
    if isinstance(value, np.ndarray):
        word = np.int64 if description.index_bits == 64 else np.int32
        strides = [stride // value.itemsize for stride in value.strides]
        return [value, *map(word, value.shape), *map(word, strides)]
    if isinstance(value, list):
        return [PointerTable(tuple(value)), np.int32(len(value))]
    if isinstance(value, tuple):
        pairs = zip(value, description.items, strict=True)
        return [word for item, each in pairs for word in words(item, each)]
    return [_scalar(value)]


def trace(kernel: Kernel, *args: Any, target: str = "sm_90a") -> Any:
    return kernel.trace(signature(kernel, args), target)


def text(kernel: Kernel, *args: Any, target: str = "sm_90a") -> str:
    return str(trace(kernel, *args, target=target))


def run(
    kernel: Kernel,
    grid: int | tuple[int, ...],
    *args: Any,
    backend: Literal["interp", "sim"] = "interp",
    target: str = "sm_90a",
) -> list[str]:
    """Runs a kernel; arrays are written in place. The result are the lines that it prints."""
    described = signature(kernel, args)
    module = kernel.trace(described, target)
    flat = [w for a, p in zip(args, described.parameters, strict=True) for w in words(a, p)]
    blocks = (grid, 1, 1) if isinstance(grid, int) else (*grid, 1, 1)[:3]
    return tileir.run(module, kernel.name, blocks, flat, backend=backend, target=target)
