"""Small kernels for the interpreter's tests, from the text of their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

import tileir
from tileir import interp

TYPES = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e8m0fnu": "f8E8M0FNU",
}
bf16 = ml_dtypes.bfloat16


def f32(values: Any) -> np.ndarray:
    """Numbers, nested as the array shall be."""
    return np.array(values, np.float32)


def kernel(parameters: str, body: str, around: str = "") -> Any:
    """A module with entry @k; `around` holds globals."""
    text = f"cuda_tile.module @m {{\n{around}\nentry @k({parameters}) {{\n{body}\nreturn\n}}\n}}"
    return tileir.parse(text, name="k.mlir")


def run(
    parameters: str,
    body: str,
    args: Sequence[Any] = (),
    grid: Any = 1,
    *,
    check: bool = True,
    around: str = "",
) -> list[str]:
    return interp.run(kernel(parameters, body, around), "k", grid, args, check=check)


def type_of(array: np.ndarray) -> str:
    return TYPES[array.dtype.name]


def tile_type(shape: Sequence[int], element: str) -> str:
    return f"tile<{'x'.join([*map(str, shape), element])}>"


def compute(
    body: str,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[tuple[Sequence[int], Any]],
    *,
    check: bool = True,
) -> list[np.ndarray]:
    """Runs `body` on tiles %x0, %x1, ... that hold `inputs`; it must define %r0, %r1, ...

    `outputs` are the shapes and dtypes of the results. Arrays are at most of rank 4, contiguous;
    extents are powers of two.
    """
    results = [np.zeros(shape, dtype) for shape, dtype in outputs]
    arrays = [np.ascontiguousarray(x) for x in inputs]
    parameters = [f"%p{i}: tile<ptr<{type_of(a)}>>" for i, a in enumerate([*arrays, *results])]
    loads = [load(f"%x{i}", f"%p{i}", a.shape, type_of(a)) for i, a in enumerate(arrays)]
    first = len(arrays)
    stores = [store(f"%r{i}", f"%p{first + i}", a.shape, type_of(a)) for i, a in enumerate(results)]
    text = "\n".join([*loads, body, *stores])
    run(", ".join(parameters), text, [*arrays, *results], check=check)
    return results


def _pointers(name: str, base: str, shape: Sequence[int], element: str) -> str:
    """Defines %NAME as the addresses of a contiguous array's elements."""
    count = int(np.prod(shape, dtype=int))
    flat, one = tile_type([count], f"ptr<{element}>"), f"tile<1xptr<{element}>>"
    return f"""
    {name}_1 = reshape {base} : tile<ptr<{element}>> -> {one}
    {name}_b = broadcast {name}_1 : {one} -> {flat}
    {name}_i = iota : {tile_type([count], "i32")}
    {name}_f = offset {name}_b, {name}_i : {flat}, {tile_type([count], "i32")} -> {flat}
    {name}_p = reshape {name}_f : {flat} -> {tile_type(shape, f"ptr<{element}>")}"""


def load(name: str, base: str, shape: Sequence[int], element: str) -> str:
    """Text that loads a contiguous array at pointer `base` into %name."""
    types = f"{tile_type(shape, f'ptr<{element}>')} -> {tile_type(shape, element)}, token"
    return f"""{_pointers(name, base, shape, element)}
    {name}, {name}_t = load_ptr_tko weak {name}_p : {types}"""


def store(name: str, base: str, shape: Sequence[int], element: str) -> str:
    """Text that stores %name to a contiguous array at pointer `base`."""
    types = f"{tile_type(shape, f'ptr<{element}>')}, {tile_type(shape, element)} -> token"
    return f"""{_pointers(name, base, shape, element)}
    {name}_t = store_ptr_tko weak {name}_p, {name} : {types}"""


def one(body: str, inputs: Sequence[np.ndarray], shape: Sequence[int], dtype: Any) -> np.ndarray:
    """The single result %r0 of `body`."""
    return compute(body, inputs, [(shape, dtype)])[0]
