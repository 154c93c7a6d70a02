"""Folds of random constants against NumPy: what canonicalisation makes of an operation on
constants is the value that the operation is defined to have."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

from tileir.dialects import cuda_tile as ct
from tileir.dialects import make_context

LENGTH = 64


@cache
def shared_context() -> ir.Context:
    return make_context()


def fold(lines: list[str], **constants: tuple[str, np.ndarray]) -> np.ndarray:
    """What `%r` in `lines` is after canonicalisation; `constants` are named values."""
    context = shared_context()
    with context, ir.Location.unknown():
        body = []
        for name, (element, array) in constants.items():
            tile = ct.TileType.get(array.shape, ir.Type.parse(element))
            value = ct.elements_from_array(array, tile)
            body.append(f'%{name} = "cuda_tile.constant"() <{{value = {value}}}> : () -> {tile}')
        type_ = lines[-1].rpartition(" ")[2]
        text = "\n".join([*body, *lines, f'print "%d", %r : {type_}', "return"])
        module = ir.Module.parse(f"cuda_tile.module @m {{ entry @k() {{ {text} }} }}", context)
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        entry = module.body.operations[0].regions[0].blocks[0].operations[0]
        operations = list(entry.regions[0].blocks[0].operations)
        printed = next(op for op in operations if op.name == "cuda_tile.print")
        constant = printed.operands[0].owner
        assert constant.name == "cuda_tile.constant", f"not folded: {constant}"
        return ct.array_from_elements(constant.attributes["value"]).copy()


def integers(bits: int, seed: int) -> np.ndarray:
    """Random integers, and the extremes."""
    rng = np.random.default_rng(seed)
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    values = rng.integers(low, high, LENGTH, dtype=np.int64, endpoint=True)
    values[:6] = [low, high, -1, 0, 1, 2]
    return rng.permutation(values).astype(f"int{bits}")


def wrap(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


INTEGER_OPERATIONS = {
    "addi": lambda a, b, n: a + b,
    "subi": lambda a, b, n: a - b,
    "muli": lambda a, b, n: a * b,
    "mulhii": lambda a, b, n: ((a % 2**n) * (b % 2**n)) >> n,
    "andi": lambda a, b, n: a & b,
    "ori": lambda a, b, n: a | b,
    "xori": lambda a, b, n: a ^ b,
    "maxi signed": lambda a, b, n: max(a, b),
    "maxi unsigned": lambda a, b, n: max(a % 2**n, b % 2**n),
    "mini signed": lambda a, b, n: min(a, b),
    "mini unsigned": lambda a, b, n: min(a % 2**n, b % 2**n),
}


@pytest.mark.parametrize("bits", [8, 32, 64])
@pytest.mark.parametrize("operation", INTEGER_OPERATIONS)
def test_integer_arithmetic(operation: str, bits: int) -> None:
    a, b = integers(bits, 1), integers(bits, 2)
    name, _, signedness = operation.partition(" ")
    result = fold(
        [f"%r = {name} %a, %b {signedness} : tile<{LENGTH}xi{bits}>"],
        a=(f"i{bits}", a), b=(f"i{bits}", b),
    )  # fmt: skip
    compute = INTEGER_OPERATIONS[operation]
    expected = [wrap(compute(int(x), int(y), bits), bits) for x, y in zip(a, b, strict=True)]
    assert result.tolist() == expected


ROUNDINGS = {"zero": math.trunc, "negative_inf": math.floor, "positive_inf": math.ceil}


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("signedness", ["signed", "unsigned"])
def test_division(signedness: str, rounding: str) -> None:
    if signedness == "unsigned" and rounding == "negative_inf":
        pytest.skip("unsigned division has no such mode")
    a, b = integers(8, 3), integers(8, 4)
    # Division by zero, and of the minimum by -1, is undefined.
    b[(b == 0) | (b == -1)] = 3
    result = fold(
        [f"%r = divi %a, %b {signedness} rounding<{rounding}> : tile<{LENGTH}xi8>"],
        a=("i8", a), b=("i8", b),
    )  # fmt: skip
    as_read = (lambda x: int(x)) if signedness == "signed" else (lambda x: int(x) % 256)
    expected = [
        wrap(ROUNDINGS[rounding](Fraction(as_read(x), as_read(y))), 8)
        for x, y in zip(a, b, strict=True)
    ]
    assert result.tolist() == expected


@pytest.mark.parametrize("operation", ["shli", "shri signed", "shri unsigned"])
def test_shifts(operation: str) -> None:
    a, amount = integers(32, 5), np.arange(LENGTH, dtype=np.int32) % 32
    name, _, signedness = operation.partition(" ")
    result = fold(
        [f"%r = {name} %a, %n {signedness} : tile<{LENGTH}xi32>"],
        a=("i32", a), n=("i32", amount),
    )  # fmt: skip
    compute = {
        "shli": lambda x, n: x << n,
        "shri signed": lambda x, n: x >> n,
        "shri unsigned": lambda x, n: (x % 2**32) >> n,
    }[operation]
    expected = [wrap(compute(int(x), int(n)), 32) for x, n in zip(a, amount, strict=True)]
    assert result.tolist() == expected


FLOAT_OPERATIONS = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
}


def neighbours(value: Fraction, dtype: type) -> tuple[float, float]:
    """The floats of a type next below and above a number (itself twice if it is one)."""
    near = dtype(float(value))
    below = near if Fraction(float(near)) <= value else np.nextafter(near, dtype(-np.inf))
    above = below if Fraction(float(below)) == value else np.nextafter(below, dtype(np.inf))
    return float(below), float(above)


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("rounding", ["nearest_even", "zero", "negative_inf", "positive_inf"])
@pytest.mark.parametrize("operation", FLOAT_OPERATIONS)
def test_float_arithmetic(operation: str, rounding: str, element: str) -> None:
    dtype = {"f16": np.float16, "f32": np.float32}[element]
    rng = np.random.default_rng(6)
    a, b = (rng.uniform(-8, 8, LENGTH).astype(dtype) for _ in range(2))
    result = fold(
        [f"%r = {operation} %a, %b rounding<{rounding}> : tile<{LENGTH}x{element}>"],
        a=(element, a), b=(element, b),
    )  # fmt: skip
    for x, y, actual in zip(a, b, result, strict=True):
        exact = FLOAT_OPERATIONS[operation](Fraction(float(x)), Fraction(float(y)))
        below, above = neighbours(exact, dtype)
        expected = {
            "zero": below if exact > 0 else above,
            "negative_inf": below,
            "positive_inf": above,
            "nearest_even": nearest_even(exact, below, above, dtype),
        }[rounding]
        assert float(actual) == expected, (x, y)


def nearest_even(exact: Fraction, below: float, above: float, dtype: type) -> float:
    to_below, to_above = exact - Fraction(below), Fraction(above) - exact
    if to_below != to_above:
        return below if to_below < to_above else above
    bits = np.asarray(below, dtype).view(f"u{np.dtype(dtype).itemsize}")
    return below if int(bits) % 2 == 0 else above


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_integer_to_float(element: str) -> None:
    values = integers(32, 7)
    result = fold(
        [f"%r = itof %a signed : tile<{LENGTH}xi32> -> tile<{LENGTH}x{element}>"],
        a=("i32", values),
    )
    with np.errstate(over="ignore"):
        expected = values.astype(np.float64).astype(result.dtype)
    np.testing.assert_array_equal(result, expected)


def test_float_to_integer() -> None:
    values = np.random.default_rng(8).uniform(-100, 100, LENGTH).astype(np.float32)
    result = fold(
        [f"%r = ftoi %a signed : tile<{LENGTH}xf32> -> tile<{LENGTH}xi8>"], a=("f32", values)
    )
    np.testing.assert_array_equal(result, np.trunc(values).astype(np.int8))


@pytest.mark.parametrize("ordering", ["ordered", "unordered"])
@pytest.mark.parametrize(
    "predicate", ["equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
                  "greater_than_or_equal"],
)  # fmt: skip
def test_float_comparison(predicate: str, ordering: str) -> None:
    rng = np.random.default_rng(9)
    pool = np.array([np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf], np.float32)
    a, b = (rng.choice(pool, LENGTH) for _ in range(2))
    tile = f"tile<{LENGTH}xf32>"
    result = fold(
        [f"%r = cmpf {predicate} {ordering} %a, %b : {tile} -> tile<{LENGTH}xi1>"],
        a=("f32", a), b=("f32", b),
    )  # fmt: skip
    compare = {
        "equal": np.equal, "not_equal": np.not_equal, "less_than": np.less,
        "less_than_or_equal": np.less_equal, "greater_than": np.greater,
        "greater_than_or_equal": np.greater_equal,
    }[predicate]  # fmt: skip
    unordered = np.isnan(a) | np.isnan(b)
    expected = np.where(unordered, ordering == "unordered", compare(a, b))
    np.testing.assert_array_equal(result, expected)


def test_reshape() -> None:
    values = np.arange(LENGTH, dtype=np.int32)
    result = fold([f"%r = reshape %a : tile<{LENGTH}xi32> -> tile<4x16xi32>"], a=("i32", values))
    np.testing.assert_array_equal(result, values.reshape(4, 16))
