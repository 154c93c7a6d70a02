"""How far a result may be from the expected one, element by element.

Exact results have the same bits, except that any NaN equals any other. Bounds in units in the last
place (ulp) are for functions: the distance to the true value, given in float64, in units of the
spacing of the result's format at that value. Infinity counts as the power of two beyond the
largest finite number, so that an overflow one step too early is one ulp off.

Only NumPy is needed; elements of formats that NumPy does not have are carried as raw integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .dtypes import element


@dataclass(frozen=True)
class Format:
    """Bits of a binary floating-point format behind the sign."""

    exponent: int
    mantissa: int
    has_infinity: bool = True

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent - 1))

    @property
    def overflow(self) -> float:
        """The power of two after the largest finite number; infinity for f64."""
        return float("inf") if self.exponent == 11 else 2.0 ** (1 << (self.exponent - 1))


FORMATS = {
    "f16": Format(5, 10),
    "bf16": Format(8, 7),
    "f32": Format(8, 23),
    "tf32": Format(8, 23),
    "f64": Format(11, 52),
    "f8E4M3FN": Format(4, 3, has_infinity=False),
    "f8E5M2": Format(5, 2),
}


@dataclass(frozen=True)
class Tolerance:
    """What is allowed for one output: so many `ulps` (0: the same bits), or else an error of at
    most atol + rtol * |want|."""

    ulps: float | None = 0.0
    rtol: float = 0.0
    atol: float = 0.0

    @classmethod
    def from_json(cls, data: dict[str, float]) -> Self:
        if "ulps" in data:
            return cls(ulps=data["ulps"])
        return cls(None, data.get("rtol", 0.0), data.get("atol", 0.0))

    def to_json(self) -> dict[str, float]:
        if self.ulps is not None:
            return {"ulps": self.ulps}
        return {"rtol": self.rtol, "atol": self.atol}

    @property
    def exact(self) -> bool:
        return self.ulps == 0

    def errors(self, got: np.ndarray, want: np.ndarray, dtype: str) -> np.ndarray:
        """The error of each element as a fraction of what is allowed; infinity for wrong bits, and
        where only one is NaN or infinite. `want` is float64, or as `got` where bits must agree."""
        if self.exact:
            return np.where(same_bits(got, want, dtype), 0.0, np.inf)
        have, wanted = as_float64(got, dtype), as_float64(want, dtype)
        with np.errstate(all="ignore"):
            if self.ulps is not None:
                ratio = _ulp_errors(have, wanted, FORMATS[dtype]) / self.ulps
            else:
                ratio = _relative_errors(have, wanted, self.rtol, self.atol)
            ratio = np.where(np.isnan(wanted), np.where(np.isnan(have), 0.0, np.inf), ratio)
        return np.where(np.isnan(ratio), np.inf, ratio)


def same_bits(got: np.ndarray, want: np.ndarray, dtype: str) -> np.ndarray:
    """Whether elements agree in every bit, or are both NaN."""
    raw = np.dtype(element(dtype).raw)
    a, b = np.asarray(got).view(raw), np.asarray(want).view(raw)
    equal = a == b
    return equal | (is_nan(a, dtype) & is_nan(b, dtype)) if dtype in FORMATS else equal


def is_nan(raw: np.ndarray, dtype: str) -> np.ndarray:
    """Whether elements, given as raw unsigned integers, are NaN."""
    format_ = FORMATS[dtype]
    magnitude = raw & np.asarray((1 << (format_.exponent + format_.mantissa)) - 1, raw.dtype)
    if not format_.has_infinity:
        return magnitude == (1 << (format_.exponent + format_.mantissa)) - 1
    return magnitude > ((1 << format_.exponent) - 1) << format_.mantissa


def as_float64(values: np.ndarray, dtype: str) -> np.ndarray:
    """Elements of type `dtype`, in their own NumPy type or raw, or float64 already."""
    if values.dtype == np.float64:
        return values
    if dtype == "bf16" and values.dtype == np.uint16:
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def _ulp_errors(have: np.ndarray, wanted: np.ndarray, format_: Format) -> np.ndarray:
    limit = format_.overflow
    exponent = np.frexp(np.clip(np.abs(wanted), 0.0, min(limit / 2, 2.0**1023)))[1] - 1
    spacing = np.maximum(exponent, format_.min_exponent) - format_.mantissa
    if np.isinf(limit):  # f64: halve what would overflow, so that differences stay finite
        have, wanted = _finite(have), _finite(wanted)
        difference = np.abs(np.ldexp(have, -1) - np.ldexp(wanted, -1))
        error = np.ldexp(difference, 1 - spacing)
    else:
        difference = np.abs(np.clip(have, -limit, limit) - np.clip(wanted, -limit, limit))
        error = np.ldexp(difference, -spacing)
    signs_differ = np.signbit(have) != np.signbit(wanted)
    return np.where((wanted == 0) & (have == 0) & signs_differ, np.inf, error)


def _finite(values: np.ndarray) -> np.ndarray:
    largest: Any = np.finfo(np.float64).max
    return np.clip(values, -largest, largest)


def _relative_errors(have: np.ndarray, wanted: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    infinite = np.isinf(wanted) | np.isinf(have)
    difference = np.where(infinite & (have == wanted), 0.0, np.abs(have - wanted))
    return np.where(difference == 0, 0.0, difference / (atol + rtol * np.abs(wanted)))
