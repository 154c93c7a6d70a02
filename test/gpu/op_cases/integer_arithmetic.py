"""Integer arithmetic: every operation, width, signedness and rounding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .float_arithmetic import COUNT, TILE, Elementwise
from .kernel import Kernel, tile
from .values import INTEGERS, WIDTH, generator, integer_pairs, integers

_PREDICATES = ("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
               "greater_than_or_equal")  # fmt: skip
_SIGNS = ("signed", "unsigned")


def _wrapping(element: str) -> Kernel:
    k = Elementwise(f"integers_{element}", element)
    x, y = k.load(*integer_pairs(element, COUNT))
    for op in ("absi", "negi"):
        k.judge(f"{op} {x} : {k.type}", op)
    for op in ("addi", "subi", "muli", "mulhii", "andi", "ori", "xori"):
        k.judge(f"{op} {x}, {y} : {k.type}", op)
    for op in ("maxi", "mini"):
        for sign in _SIGNS:
            k.judge(f"{op} {x}, {y} {sign} : {k.type}", f"{op} {sign}")
    return k.kernel


def _comparisons(element: str) -> Kernel:
    k = Elementwise(f"cmpi_{element}", element)
    x, y = k.load(*integer_pairs(element, COUNT, "compare"))
    for predicate in _PREDICATES:
        for sign in _SIGNS:
            text = f"cmpi {predicate} {x}, {y}, {sign} : {k.type} -> {tile([TILE], 'i1')}"
            k.judge(text, f"cmpi {predicate} {sign}", element="i1")
    return k.kernel


def _without_overflow(element: str) -> Kernel:
    """The promises `overflow<...>`, on operands that keep them."""
    k = Elementwise(f"no_wrap_{element}", element)
    rng = generator(element, "no wrap")
    limit = 1 << (WIDTH[element] // 2 - 1)
    a, b = rng.integers(0, limit, (2, COUNT)).astype(f"int{WIDTH[element]}")
    x, y = k.load(np.maximum(a, b), np.minimum(a, b))
    amount = k.load(rng.integers(0, WIDTH[element] // 2 - 1, COUNT).astype(a.dtype))[0]
    for flag in ("no_signed_wrap", "no_unsigned_wrap", "no_wrap"):
        for op in ("addi", "subi", "muli"):
            k.judge(f"{op} {x}, {y} overflow<{flag}> : {k.type}", f"{op} {flag}")
        k.judge(f"shli {x}, {amount} overflow<{flag}> : {k.type}", f"shli {flag}")
    k.judge(f"negi {x} overflow<no_signed_wrap> : {k.type}", "negi no_signed_wrap")
    return k.kernel


def _divisions(element: str) -> Kernel:
    """Every rounding of quotients; divisors are not 0, and the smallest number is not divided
    by -1."""
    k = Elementwise(f"divisions_{element}", element)
    a, b = integer_pairs(element, COUNT, "divide")
    smallest = np.iinfo(a.dtype).min
    b = np.where((b == 0) | ((a == smallest) & (b == -1)), np.asarray(3, b.dtype), b)
    x, y = k.load(a, b)
    for sign, rounding in (
        ("signed", "zero"), ("signed", "positive_inf"), ("signed", "negative_inf"),
        ("unsigned", "zero"), ("unsigned", "positive_inf"),
    ):  # fmt: skip
        suffix = "" if rounding == "zero" else f" rounding<{rounding}>"
        k.judge(f"divi {x}, {y} {sign}{suffix} : {k.type}", f"divi {sign} {rounding}")
    for sign in _SIGNS:
        k.judge(f"remi {x}, {y} {sign} : {k.type}", f"remi {sign}")
    for divisor in (1, 2, 8, 7, 100, -1, -4, -10):
        c = k.kernel.full(divisor, [TILE], element)
        (z,) = k.load(np.where(a == smallest, np.asarray(9, a.dtype), a))
        k.judge(f"divi {z}, {c} signed : {k.type}", f"divi signed by {divisor}")
        k.judge(f"divi {z}, {c} signed rounding<negative_inf> : {k.type}",
                f"divi floor by {divisor}")  # fmt: skip
        k.judge(f"remi {z}, {c} signed : {k.type}", f"remi signed by {divisor}")
        if divisor > 0:
            k.judge(f"divi {z}, {c} unsigned : {k.type}", f"divi unsigned by {divisor}")
            k.judge(f"remi {z}, {c} unsigned : {k.type}", f"remi unsigned by {divisor}")
    return k.kernel


def _shifts(element: str) -> Kernel:
    k = Elementwise(f"shifts_{element}", element)
    width = WIDTH[element]
    amounts = (np.arange(COUNT) % width).astype(f"int{width}")
    x, n = k.load(generator("shift").permutation(integers(element, COUNT, "shift")), amounts)
    k.judge(f"shli {x}, {n} : {k.type}", "shli")
    for sign in _SIGNS:
        k.judge(f"shri {x}, {n} {sign} : {k.type}", f"shri {sign}")
    for amount in (0, 1, width - 1):
        c = k.kernel.full(amount, [TILE], element)
        k.judge(f"shli {x}, {c} : {k.type}", f"shli by {amount}")
        for sign in _SIGNS:
            k.judge(f"shri {x}, {c} {sign} : {k.type}", f"shri {sign} by {amount}")
    return k.kernel


def _booleans() -> Kernel:
    """i1 in all operations that take it; read as signed, true is -1."""
    k = Elementwise("integers_i1", "i1")
    rng = generator("booleans")
    a, b = rng.random((2, COUNT)) < 0.5
    x, y = k.load(a, b)
    for op in ("absi", "negi"):
        k.judge(f"{op} {x} : {k.type}", op)
    for op in ("addi", "subi", "muli", "mulhii", "andi", "ori", "xori"):
        k.judge(f"{op} {x}, {y} : {k.type}", op)
    for sign in _SIGNS:
        for op in ("maxi", "mini"):
            k.judge(f"{op} {x}, {y} {sign} : {k.type}", f"{op} {sign}")
        for predicate in _PREDICATES:
            k.judge(f"cmpi {predicate} {x}, {y}, {sign} : {k.type} -> {k.type}",
                    f"cmpi {predicate} {sign}")  # fmt: skip
    one = k.kernel.full("true", [TILE], "i1")
    k.judge(f"divi {x}, {one} unsigned : {k.type}", "divi unsigned by 1")
    k.judge(f"remi {x}, {one} unsigned : {k.type}", "remi unsigned by 1")
    return k.kernel


def kernels() -> Iterator[Kernel]:
    for element in INTEGERS:
        yield _wrapping(element)
        yield _comparisons(element)
        yield _without_overflow(element)
        yield _divisions(element)
        yield _shifts(element)
    yield _booleans()
