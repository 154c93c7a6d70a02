"""An independent oracle: IEEE rounding of exact rationals, in Python integers."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

MODES = ("nearest_even", "zero", "negative_inf", "positive_inf")


def _integral(q: Fraction, mode: str) -> int:
    """A non-negative rational to an integer; `up` and `away` act on the magnitude."""
    floor = q.numerator // q.denominator
    rest = q - floor
    if mode == "even":
        return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1))
    if mode == "away":
        return floor + (rest >= Fraction(1, 2))
    return floor + (mode == "up" and rest != 0)


def _magnitude_mode(mode: str, negative: bool) -> str:
    if mode == "nearest_even":
        return "even"
    if mode == "nearest_away":
        return "away"
    if mode == "zero":
        return "down"
    return "up" if negative == (mode == "negative_inf") else "down"


def exponent_of(q: Fraction) -> int:
    """e with 2^e <= q < 2^(e + 1)."""
    e = q.numerator.bit_length() - q.denominator.bit_length()
    return e if q >= Fraction(2) ** e else e - 1


def round_rational(q: Fraction, fmt, mode: str, saturate: bool = False) -> float:
    """`q`, not zero, rounded to `fmt`; the result fits a Python float exactly."""
    negative, magnitude = q < 0, abs(q)
    how = _magnitude_mode(mode, negative)
    quantum = max(exponent_of(magnitude), fmt.min_exponent) - (fmt.precision - 1)
    value = _integral(magnitude / Fraction(2) ** quantum, how) * Fraction(2) ** quantum
    if value > Fraction(fmt.maximum):
        limit = saturate or (how == "down" and fmt.has_infinity)
        out = fmt.maximum if limit else float("inf") if fmt.has_infinity else float("nan")
    else:
        out = float(value)
    return -out if negative else out


def sqrt_sticky(q: Fraction) -> Fraction:
    """A rational that rounds like sqrt(q) to at most 60 bits: 80 bits and a sticky one."""
    scale = 2 * (100 + max(0, -exponent_of(q)))
    scaled = q * Fraction(2) ** scale
    n = scaled.numerator // scaled.denominator
    root = isqrt(n)
    exact = root * root == scaled
    return (root + (Fraction(0) if exact else Fraction(1, 2))) / Fraction(2) ** (scale // 2)
