"""Input values that matter: edges of formats, halfway cases, random bits."""

from __future__ import annotations

import itertools

import numpy as np

from tileir.runtime.dtypes import element as element_of
from tileir.runtime.dtypes import storage_dtype
from tileir.runtime.tolerance import FORMATS

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def generator(*seed: str) -> np.random.Generator:
    """A random generator that depends on nothing but `seed`."""
    return np.random.default_rng(list("/".join(seed).encode()))


def from_bits(bits: np.ndarray | list[int], element: str) -> np.ndarray:
    """Elements of a float type with the given bits; tf32 loses what it does not have."""
    raw = np.asarray(bits, np.dtype(element_of(element).raw))
    if element == "tf32":
        raw = raw & np.uint32(0xFFFFE000)
    return raw.view(storage_dtype(element))


# ---- floats ------------------------------------------------------------------------------------


def float_edges(element: str) -> np.ndarray:
    """Zeros, subnormals, the ends of the normal range, numbers around powers of two and
    integers, infinities and NaN, in both signs."""
    format_ = FORMATS[element]
    mantissa, exponent = format_.mantissa, format_.exponent
    one = ((1 << (exponent - 1)) - 1) << mantissa
    ulp = 1 << 13 if element == "tf32" else 1
    unit = 1 << mantissa
    top = ((1 << exponent) - 1) << mantissa
    if not format_.has_infinity:
        top += unit - 1
    positive = [
        0, ulp, 2 * ulp, 3 * ulp, unit // 2, unit - ulp, unit, unit + ulp, 2 * unit,
        one - unit, one - ulp, one, one + ulp, one + 2 * ulp, one + unit // 2,
        one + unit - ulp, one + unit, one + unit + unit // 2, one + 2 * unit, one + 3 * unit,
        one + min(mantissa, 6) * unit + ulp, top - unit, top - 2 * ulp, top - ulp, top,
    ]  # fmt: skip
    if format_.has_infinity:
        positive += [top + unit // 2, top + ulp]
    sign = 1 << (mantissa + exponent)
    return from_bits(positive + [sign | p for p in positive], element)


def random_bits(element: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Every exponent equally often."""
    raw = np.dtype(element_of(element).raw)
    return from_bits(rng.integers(0, np.iinfo(raw).max, count, raw, endpoint=True), element)


def moderate(element: str, count: int, rng: np.random.Generator, spread: int = 6) -> np.ndarray:
    """Numbers of about 2^-spread to 2^spread, all bits of the mantissa random."""
    scale = 2.0 ** rng.uniform(-spread, spread, count)
    values = rng.choice([-1.0, 1.0], count) * scale
    return _round(values, element)


def _round(values: np.ndarray, element: str) -> np.ndarray:
    if element == "tf32":
        return from_bits(values.astype(np.float32).view(np.uint32), "tf32")
    with np.errstate(over="ignore"):
        return values.astype(storage_dtype(element))


def floats(element: str, count: int, *seed: str) -> np.ndarray:
    """`count` numbers: the edges, then moderate ones and random bits."""
    rng = generator(element, *seed)
    edges = float_edges(element)
    half = (count - len(edges)) // 2
    parts = [edges, moderate(element, half, rng), random_bits(element, count, rng)]
    return np.concatenate(parts)[:count]


def float_pairs(element: str, count: int, *seed: str) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of edges, sums that end halfway between two numbers, moderate and random ones."""
    rng = generator(element, "pairs", *seed)
    edges = float_edges(element)
    crossed = rng.permutation(list(itertools.product(range(len(edges)), repeat=2)))
    crossed = crossed[: count // 2]
    a, b = [edges[crossed[:, 0]]], [edges[crossed[:, 1]]]
    rest = count - len(crossed)
    for part, size in (
        ("ties", rest // 3),
        ("moderate", rest // 3),
        ("bits", rest - rest // 3 * 2),
    ):
        if part == "ties":
            x, y = _halfway(element, size, rng)
        elif part == "moderate":
            x, y = moderate(element, size, rng), moderate(element, size, rng)
        else:
            x, y = random_bits(element, size, rng), random_bits(element, size, rng)
        a.append(x)
        b.append(y)
    return np.concatenate(a), np.concatenate(b)


def _halfway(element: str, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """x and a y of half a unit in its last place, or just beside."""
    mantissa = FORMATS[element].mantissa
    x = _round(1 + rng.integers(0, 1 << min(mantissa, 50), count) * 2.0**-mantissa, element)
    beside = rng.integers(-1, 2, count) * 2.0**-mantissa
    y = _round(2.0 ** -(mantissa + 1) * (1 + beside), element)
    signs = rng.choice([-1.0, 1.0], (2, count))
    return _round(x * signs[0], element), _round(y.astype(np.float64) * signs[1], element)


def float_triples(element: str, count: int, *seed: str) -> tuple[np.ndarray, ...]:
    """Operands of a fused multiply-add; a third of them cancel but for the rounding error."""
    a, b = float_pairs(element, count, "triples", *seed)
    rng = generator(element, "third", *seed)
    c = rng.permutation(np.concatenate([float_edges(element), moderate(element, count, rng)]))
    c = c[:count].copy()
    third = rng.random(count) < 1 / 3
    with np.errstate(all="ignore"):
        product = -(a.astype(np.float64) * b.astype(np.float64))
        c[third] = _round(product[third], element)
    return a, b, c


def wide(values: np.ndarray) -> np.ndarray:
    """As float64, signalling NaN included."""
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


# ---- integers ----------------------------------------------------------------------------------


def integer_edges(element: str) -> np.ndarray:
    """0, small numbers, the ends of both ranges, powers of two and their neighbours."""
    width = WIDTH[element]
    if width == 1:
        return np.array([False, True])
    values = {0, 1, 2, 3, 5, 7, 10, 100, (1 << width) - 1}
    for shift in range(0, width, max(1, width // 8)):
        values |= {(1 << shift) - 1, 1 << shift, (1 << shift) + 1}
    top = 1 << (width - 1)
    values |= {top - 1, top, top + 1, *((1 << width) - v for v in list(values) if v)}
    kept = sorted(v for v in values if v < 1 << width)
    return np.array(kept, f"uint{width}").view(f"int{width}")


def random_integers(element: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of every bit length."""
    width = WIDTH[element]
    if width == 1:
        return rng.random(count) < 0.5
    bits = rng.integers(0, 1 << 63, count, np.uint64) * 2 + rng.integers(0, 2, count, np.uint64)
    shifted = bits >> rng.integers(64 - width, 64, count).astype(np.uint64)
    signs = rng.random(count) < 0.5
    values = np.where(signs, ~shifted + np.uint64(1), shifted)
    return values.astype(f"uint{width}").view(f"int{width}")


def integers(element: str, count: int, *seed: str) -> np.ndarray:
    rng = generator(element, *seed)
    return np.concatenate([integer_edges(element), random_integers(element, count, rng)])[:count]


def integer_pairs(element: str, count: int, *seed: str) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(element, "pairs", *seed)
    edges = integer_edges(element)
    crossed = rng.permutation(list(itertools.product(range(len(edges)), repeat=2)))[: count // 2]
    rest = count - len(crossed)
    a = np.concatenate([edges[crossed[:, 0]], random_integers(element, rest, rng)])
    b = np.concatenate([edges[crossed[:, 1]], random_integers(element, rest, rng)])
    return a, b
