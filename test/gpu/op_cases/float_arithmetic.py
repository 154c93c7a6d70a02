"""Floating-point arithmetic: every operation, format, rounding mode and flush to zero.

All of it is exact, except the approximations of `divf` and `sqrt` (PTX ISA: `div.full` and
`div.approx` err by 2 ulp, `sqrt.approx` by 1).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileir.runtime.tolerance import Tolerance

from .kernel import EXACT, Kernel, tile
from .values import FLOATS, float_pairs, float_triples, floats

COUNT = 2048
TILE = 256
MODES = ("nearest_even", "zero", "negative_inf", "positive_inf")
_APPROXIMATE = Tolerance(2.5)


class Elementwise:
    """A kernel of operations on tiles of one format."""

    def __init__(self, name: str, element: str, count: int = COUNT):
        self.kernel = Kernel(name, count // TILE)
        self.element, self.count = element, count
        self.type = tile([TILE], element)

    def load(self, *arrays: np.ndarray) -> list[str]:
        return [self.kernel.load(array, self.element) for array in arrays]

    def judge(
        self, text: str, label: str, tolerance: Tolerance = EXACT, element: str | None = None,
        expected: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """An operation, and an output for its result."""
        value = self.kernel.op(text)
        element = element or self.element
        label = f"{label} {self.element}"
        self.kernel.store(value, element, (self.count,), label, tolerance, expected)


def _roundings(op: str, element: str) -> Iterator[str]:
    for mode in MODES:
        rounding = f" rounding<{mode}>" if mode != "nearest_even" else ""
        yield rounding
        if element == "f32":
            yield f"{rounding} flush_to_zero"


def _arithmetic(element: str, op: str) -> Kernel:
    k = Elementwise(f"{op}_{element}", element)
    arrays = float_triples if op == "fma" else float_pairs
    operands = ", ".join(k.load(*arrays(element, COUNT, op)))
    for suffix in _roundings(op, element):
        k.judge(f"{op} {operands}{suffix} : {k.type}", op + suffix)
    return k.kernel


def _square_root(element: str) -> Kernel:
    k = Elementwise(f"sqrt_{element}", element)
    (x,) = k.load(np.abs(floats(element, COUNT, "sqrt")))
    for suffix in _roundings("sqrt", element):
        k.judge(f"sqrt {x}{suffix} : {k.type}", "sqrt" + suffix)
    (y,) = k.load(floats(element, COUNT, "sqrt of negatives"))
    k.judge(f"sqrt {y} : {k.type}", "sqrt of any sign")
    return k.kernel


def _approximations() -> Kernel:
    k = Elementwise("approximate_f32", "f32")
    a, b = float_pairs("f32", COUNT, "approximate")
    # An approximation of the smallest normal number may lie below it, and be flushed to zero.
    with np.errstate(all="ignore"):
        quotient = np.abs(a.astype(np.float64) / b.astype(np.float64))
    b = np.where(np.abs(quotient * 2.0**126 - 1) < 2.0**-20, 1, b).astype(np.float32)
    x, y = k.load(a, b)
    for flush in ("", " flush_to_zero"):
        k.judge(
            f"divf {x}, {y} rounding<full>{flush} : {k.type}", "divf full" + flush, _APPROXIMATE
        )
    # Subnormal divisors have no finite reciprocal: nothing is promised for them.
    _, z = k.load(a, np.where(np.abs(b) < 2.0**-126, np.copysign(0, b), b).astype(np.float32))
    for flush in ("", " flush_to_zero"):
        text = f"divf {x}, {z} rounding<approx>{flush}"
        k.judge(f"{text} : {k.type}", "divf approx" + flush, _APPROXIMATE)
        k.judge(f"sqrt {x} rounding<approx>{flush} : {k.type}", "sqrt approx" + flush,
                _APPROXIMATE)  # fmt: skip
    return k.kernel


def _others(element: str) -> Kernel:
    """Signs, integral values, remainders, extrema."""
    k = Elementwise(f"float_others_{element}", element)
    a, b = float_pairs(element, COUNT, "others")
    x, y = k.load(a, b)
    for op in ("absf", "negf", "ceil", "floor"):
        k.judge(f"{op} {x} : {k.type}", op)
    k.judge(f"remf {x}, {y} : {k.type}", "remf")
    flushes = ("", " flush_to_zero") if element == "f32" else ("",)
    for op in ("maxf", "minf"):
        for flush in flushes:
            for nan in ("", " propagate_nan"):
                k.judge(f"{op} {x}, {y}{flush}{nan} : {k.type}", op + flush + nan)
    return k.kernel


def _comparisons(element: str) -> Kernel:
    k = Elementwise(f"cmpf_{element}", element)
    x, y = k.load(*float_pairs(element, COUNT, "compare"))
    predicates = ("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
                  "greater_than_or_equal")  # fmt: skip
    for predicate in predicates:
        for ordering in ("ordered", "unordered"):
            text = f"cmpf {predicate} {ordering} {x}, {y} : {k.type} -> {tile([TILE], 'i1')}"
            k.judge(text, f"cmpf {predicate} {ordering}", element="i1")
    return k.kernel


def _no_contraction(element: str) -> Kernel:
    """A product and a sum stay two roundings; so do a product and a difference."""
    k = Elementwise(f"no_contraction_{element}", element)
    x, y, z = k.load(*float_triples(element, COUNT, "contract"))
    product = k.kernel.op(f"mulf {x}, {y} : {k.type}")
    k.judge(f"addf {product}, {z} : {k.type}", "mulf, addf")
    k.judge(f"subf {product}, {z} : {k.type}", "mulf, subf")
    negated = k.kernel.op(f"negf {product} : {k.type}")
    k.judge(f"addf {z}, {negated} : {k.type}", "mulf, negf, addf")
    return k.kernel


def kernels() -> Iterator[Kernel]:
    for element in FLOATS:
        for op in ("addf", "subf", "mulf", "divf", "fma"):
            yield _arithmetic(element, op)
        yield _square_root(element)
        yield _others(element)
        yield _comparisons(element)
        yield _no_contraction(element)
    yield _approximations()
