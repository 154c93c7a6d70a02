"""Element types by name: what NumPy holds in memory for each type of the IR.

`ml_dtypes` gives NumPy the narrow floats (bf16, fp8, fp4); where it is not installed, as on a
machine that only launches, their elements are carried as raw unsigned integers of the same size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..errors import LaunchError


@dataclass(frozen=True)
class Element:
    """An element type: its name, its kind (`int`, `uint`, `bool`, `float`) and its NumPy names.

    `numpy` is the dtype's name; `raw` the integer of the same size that can stand for it.
    """

    name: str
    kind: str
    numpy: str
    raw: str

    @property
    def bytes(self) -> int:
        return np.dtype(self.raw).itemsize


def _elements() -> dict[str, Element]:
    table = [Element("i1", "bool", "bool", "uint8")]
    for bits in (8, 16, 32, 64):
        raw = f"uint{bits}"
        table += [
            Element(f"i{bits}", "int", f"int{bits}", raw),
            Element(f"u{bits}", "uint", raw, raw),
        ]
    table += [
        Element("f16", "float", "float16", "uint16"),
        Element("bf16", "float", "bfloat16", "uint16"),
        Element("f32", "float", "float32", "uint32"),
        Element("tf32", "float", "float32", "uint32"),
        Element("f64", "float", "float64", "uint64"),
        Element("f8E4M3FN", "float", "float8_e4m3fn", "uint8"),
        Element("f8E5M2", "float", "float8_e5m2", "uint8"),
        Element("f8E8M0FNU", "float", "float8_e8m0fnu", "uint8"),
        # Two elements a byte in the IR's memory; NumPy sees the bytes.
        Element("f4E2M1FN", "float", "uint8", "uint8"),
    ]
    return {element.name: element for element in table}


ELEMENTS = _elements()


def element(name: str) -> Element:
    """The element type called `name` in the IR; `LaunchError` lists the names if there is none."""
    try:
        return ELEMENTS[name]
    except KeyError:
        raise LaunchError(
            f"unknown element type '{name}'", remedy=f"known: {', '.join(ELEMENTS)}"
        ) from None


@cache
def storage_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype that holds elements of the IR's type `name`."""
    found = element(name)
    try:
        return np.dtype(found.numpy)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(found.raw)
    return np.dtype(getattr(ml_dtypes, found.numpy))


def name_of(dtype: np.dtype[Any]) -> str | None:
    """The IR's name for a NumPy dtype (signed and unsigned apart), or None if it has none."""
    for found in ELEMENTS.values():
        if found.numpy == dtype.name:
            return found.name
    return None


def holds(dtype: np.dtype[Any], name: str) -> bool:
    """Whether an array of `dtype` may be passed where the kernel has elements of type `name`.

    Integers of the IR have no sign, so either sign will do; raw unsigned integers may stand for
    any type of their size.
    """
    found = element(name)
    if dtype.itemsize != found.bytes or not dtype.isnative:
        return False
    if dtype.name in (found.numpy, found.raw):
        return True
    if found.kind == "bool":
        return dtype.kind in "biu"
    return found.kind in ("int", "uint") and dtype.kind in "iu"


def to_float64(values: np.ndarray, name: str) -> np.ndarray:
    """`values`, elements of the IR's type `name` in their own dtype or raw, as float64."""
    if values.dtype == storage_dtype(name) and values.dtype.name == element(name).numpy:
        return values.astype(np.float64)
    if name == "bf16" and values.dtype == np.uint16:
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    raise LaunchError(
        f"cannot read {name} from {values.dtype.name} here",
        remedy="install ml_dtypes for the narrow floating-point types",
    )
