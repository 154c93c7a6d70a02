"""Integer operations and conversions in the IR: attributes reach the right arithmetic."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from interp_support import bf16, one, type_of

A = np.array([7, -7, 7, -7, 100, -128, 127, 1], np.int8)
B = np.array([2, 2, -2, -2, 100, 1, 127, -128], np.int8)


def binary(text: str, x: np.ndarray, y: np.ndarray, *, check: bool = False) -> np.ndarray:
    del check
    return one(f"%r0 = {text} : tile<{x.size}x{type_of(x)}>", [x, y], x.shape, x.dtype)


def unary(text: str, x: np.ndarray) -> np.ndarray:
    return one(f"%r0 = {text} : tile<{x.size}x{type_of(x)}>", [x], x.shape, x.dtype)


def wrapped(values, dtype=np.int8) -> list[int]:
    return np.array(list(values)).astype(dtype).tolist()


def pairs(x, y):
    return [(int(a), int(b)) for a, b in zip(x, y, strict=True)]


def test_arithmetic_wraps():
    each = pairs(A, B)
    assert binary("addi %x0, %x1", A, B).tolist() == wrapped(x + y for x, y in each)
    assert binary("subi %x0, %x1", A, B).tolist() == wrapped(x - y for x, y in each)
    assert binary("muli %x0, %x1", A, B).tolist() == wrapped(x * y for x, y in each)
    high = wrapped((x % 256) * (y % 256) >> 8 for x, y in each)
    assert binary("mulhii %x0, %x1", A, B).tolist() == high
    assert unary("negi %x0", A).tolist() == wrapped(-int(x) for x in A)
    assert unary("absi %x0", A).tolist() == wrapped(abs(int(x)) for x in A)


def test_division():
    each = pairs(A, B)
    trunc = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in each]
    assert binary("divi %x0, %x1 signed", A, B).tolist() == trunc
    floor = binary("divi %x0, %x1 signed rounding<negative_inf>", A, B)
    assert floor.tolist() == [x // y for x, y in each]
    ceil = binary("divi %x0, %x1 signed rounding<positive_inf>", A, B)
    assert ceil.tolist() == [-(-x // y) for x, y in each]
    unsigned = [(x % 256, y % 256) for x, y in each]
    assert binary("divi %x0, %x1 unsigned", A, B).tolist() == wrapped(x // y for x, y in unsigned)
    up = binary("divi %x0, %x1 unsigned rounding<positive_inf>", A, B)
    assert up.tolist() == wrapped(-(-x // y) for x, y in unsigned)
    rest = binary("remi %x0, %x1 signed", A, B)
    assert rest.tolist() == [x - q * y for (x, y), q in zip(each, trunc, strict=True)]
    assert binary("remi %x0, %x1 unsigned", A, B).tolist() == wrapped(x % y for x, y in unsigned)


def test_order():
    each = pairs(A, B)
    assert binary("maxi %x0, %x1 signed", A, B).tolist() == [max(p) for p in each]
    assert binary("mini %x0, %x1 signed", A, B).tolist() == [min(p) for p in each]
    unsigned = [(x % 256, y % 256) for x, y in each]
    assert binary("maxi %x0, %x1 unsigned", A, B).tolist() == wrapped(max(p) for p in unsigned)
    assert binary("mini %x0, %x1 unsigned", A, B).tolist() == wrapped(min(p) for p in unsigned)


COMPARE = {
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less_than": "__lt__",
    "less_than_or_equal": "__le__",
    "greater_than": "__gt__",
    "greater_than_or_equal": "__ge__",
}


@pytest.mark.parametrize("signedness", ("signed", "unsigned"))
@pytest.mark.parametrize("predicate", COMPARE)
def test_comparison(predicate, signedness):
    text = f"%r0 = cmpi {predicate} %x0, %x1, {signedness} : tile<8xi8> -> tile<8xi1>"
    got = one(text, [A, B], (8,), bool)
    each = pairs(A, B)
    if signedness == "unsigned":
        each = [(x % 256, y % 256) for x, y in each]
    assert got.tolist() == [getattr(x, COMPARE[predicate])(y) for x, y in each]


def test_shifts_and_bits():
    n = np.array([0, 1, 2, 3, 4, 5, 6, 7], np.int8)
    assert binary("shli %x0, %x1", A, n).tolist() == wrapped(x << s for x, s in pairs(A, n))
    assert binary("shri %x0, %x1 signed", A, n).tolist() == [x >> s for x, s in pairs(A, n)]
    logical = wrapped((x % 256) >> s for x, s in pairs(A, n))
    assert binary("shri %x0, %x1 unsigned", A, n).tolist() == logical
    for name, sign in (("andi", "__and__"), ("ori", "__or__"), ("xori", "__xor__")):
        want = [getattr(x, sign)(y) for x, y in pairs(A, B)]
        assert binary(f"{name} %x0, %x1", A, B).tolist() == want


def test_one_bit_integers():
    """Read as signed, true is -1."""
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    assert binary("addi %x0, %x1", a, b).tolist() == [False, True, True, False]
    assert binary("muli %x0, %x1", a, b).tolist() == [False, False, False, True]
    assert binary("maxi %x0, %x1 signed", a, b).tolist() == [False, False, False, True]
    assert binary("maxi %x0, %x1 unsigned", a, b).tolist() == [False, True, True, True]
    text = "%r0 = cmpi less_than %x0, %x1, signed : tile<4xi1> -> tile<4xi1>"
    assert one(text, [a, b], (4,), bool).tolist() == [False, False, True, False]
    wide = one("%r0 = exti %x0 signed : tile<4xi1> -> tile<4xi32>", [a], (4,), np.int32)
    assert wide.tolist() == [0, 0, -1, -1]
    wide = one("%r0 = exti %x0 unsigned : tile<4xi1> -> tile<4xi32>", [a], (4,), np.int32)
    assert wide.tolist() == [0, 0, 1, 1]
    real = one("%r0 = itof %x0 signed : tile<4xi1> -> tile<4xf32>", [a], (4,), np.float32)
    assert real.tolist() == [0, 0, -1, -1]


@pytest.mark.parametrize("dtype", (np.int16, np.int32, np.int64))
def test_wider_types(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a, b = np.array([high, low, 12345, -1], dtype), np.array([1, 1, -7, -1], dtype)
    bits = 8 * a.itemsize
    each = pairs(a, b)

    def wrap(value):
        value %= 1 << bits
        return value - (1 << bits) if value >> (bits - 1) else value

    assert binary("addi %x0, %x1", a, b).tolist() == [wrap(x + y) for x, y in each]
    assert binary("muli %x0, %x1", a, b).tolist() == [wrap(x * y) for x, y in each]
    high_half = [wrap((x % (1 << bits)) * (y % (1 << bits)) >> bits) for x, y in each]
    assert binary("mulhii %x0, %x1", a, b).tolist() == high_half
    assert binary("remi %x0, %x1 signed", a, b).tolist() == [0, 0, 12345 % 7, 0]


def test_extension_and_truncation():
    x = np.array([-1, 127, -128, 5], np.int8)
    got = one("%r0 = exti %x0 unsigned : tile<4xi8> -> tile<4xi16>", [x], (4,), np.int16)
    assert got.tolist() == [255, 127, 128, 5]
    got = one("%r0 = exti %x0 signed : tile<4xi8> -> tile<4xi64>", [x], (4,), np.int64)
    assert got.tolist() == x.tolist()
    y = np.array([257, -1, 128, 0], np.int32)
    got = one("%r0 = trunci %x0 : tile<4xi32> -> tile<4xi8>", [y], (4,), np.int8)
    assert got.tolist() == [1, -1, -128, 0]
    got = one("%r0 = trunci %x0 : tile<4xi32> -> tile<4xi1>", [y], (4,), bool)
    assert got.tolist() == [True, True, False, False]


def test_four_bit_integers():
    body = """
    %a = unpack %x0 : tile<2xi8> -> tile<4xi4>
    %r0 = exti %a signed : tile<4xi4> -> tile<4xi8>
    %r1_ = exti %a unsigned : tile<4xi4> -> tile<4xi8>
    %b = trunci %r1_ : tile<4xi8> -> tile<4xi4>
    %c = pack %b : tile<4xi4> -> tile<2xi8>
    %r1 = cat %r1_, %r1_ dim = 0 : tile<4xi8>, tile<4xi8> -> tile<8xi8>
    %r2 = addi %c, %c : tile<2xi8>"""
    from interp_support import compute

    x = np.array([0x7F, 0x81], np.uint8).view(np.int8)
    signed, unsigned, twice = compute(
        body, [x], [((4,), np.int8), ((8,), np.int8), ((2,), np.int8)]
    )
    assert signed.tolist() == [-1, 7, 1, -8]
    assert unsigned[:4].tolist() == [15, 7, 1, 8]
    assert (twice.view(np.uint8) == (x.view(np.uint8) * 2)).all()


def test_float_integer_conversion():
    x = np.array([1.9, -1.9, 300.0, -300.0, np.nan, np.inf, 127.9, -128.9], np.float32)
    got = one("%r0 = ftoi %x0 signed saturating : tile<8xf32> -> tile<8xi8>", [x], (8,), np.int8)
    assert got.tolist() == [1, -1, 127, -128, 0, 127, 127, -128]
    got = one("%r0 = ftoi %x0 unsigned saturating : tile<8xf32> -> tile<8xi8>", [x], (8,), np.int8)
    assert got.view(np.uint8).tolist() == [1, 0, 255, 0, 0, 255, 127, 0]
    n = np.array([-1, 2**31 - 1, 3, -(2**31)], np.int32)
    got = one("%r0 = itof %x0 unsigned : tile<4xi32> -> tile<4xf64>", [n], (4,), np.float64)
    assert got.tolist() == [2.0**32 - 1, 2.0**31 - 1, 3, 2.0**31]
    got = one("%r0 = itof %x0 signed : tile<4xi32> -> tile<4xf16>", [n], (4,), np.float16)
    assert got.tolist() == [-1, np.inf, 3, -np.inf]
    got = one("%r0 = itof %x0 signed : tile<4xi32> -> tile<4xbf16>", [n], (4,), bf16)
    assert got.astype(float).tolist() == [-1, 2.0**31, 3, -(2.0**31)]


def test_float_conversion():
    x = np.array([1 + 2.0**-11, 65520.0, 500.0, -0.0], np.float32)
    got = one("%r0 = ftof %x0 : tile<4xf32> -> tile<4xf16>", [x], (4,), np.float16)
    assert got.tolist() == [1.0, np.inf, 500, 0]
    got = one("%r0 = ftof %x0 rounding<zero> : tile<4xf32> -> tile<4xf16>", [x], (4,), np.float16)
    assert got.tolist() == [1.0, 65504, 500, 0]
    e4m3 = ml_dtypes.float8_e4m3fn
    got = one("%r0 = ftof %x0 : tile<4xf32> -> tile<4xf8E4M3FN>", [x], (4,), e4m3)
    assert got.astype(float).tolist() == [1, 448, 448, 0]
    body = """
    %a = ftof %x0 : tile<4xf32> -> tile<4xtf32>
    %r0 = ftof %a : tile<4xtf32> -> tile<4xf32>"""
    got = one(
        body, [np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 3e38, 5], np.float32)], (4,), np.float32
    )
    assert got.tolist()[:2] == [1.0, 1 + 2.0**-9]
    body = """
    %a = ftof %x0 : tile<4xf32> -> tile<4xf4E2M1FN>
    %r0 = ftof %a : tile<4xf4E2M1FN> -> tile<4xf32>"""
    got = one(body, [np.array([0.3, -2.5, 100, 5], np.float32)], (4,), np.float32)
    assert got.tolist() == [0.5, -2, 6, 4]


def test_bitcast():
    x = np.array([0x3F800000, -1], np.int32)
    got = one("%r0 = bitcast %x0 : tile<2xi32> -> tile<2xf32>", [x], (2,), np.float32)
    assert got[0] == 1 and got.view(np.int32)[1] == -1
    h = np.array([1.0, -2.0], np.float16)
    got = one("%r0 = bitcast %x0 : tile<2xf16> -> tile<2xbf16>", [h], (2,), bf16)
    assert (got.view(np.uint16) == h.view(np.uint16)).all()


def test_pointer_conversion():
    body = """
    %n = ptr_to_int %x0_p : tile<4xptr<i32>> -> tile<4xi64>
    %q = int_to_ptr %n : tile<4xi64> -> tile<4xptr<f32>>
    %b = ptr_to_ptr %q : tile<4xptr<f32>> -> tile<4xptr<i8>>
    %one = constant <i8: 1> : tile<4xi8>
    %c = offset %b, %one : tile<4xptr<i8>>, tile<4xi8> -> tile<4xptr<i8>>
    %r0, %t = load_ptr_tko weak %c : tile<4xptr<i8>> -> tile<4xi8>, token"""
    x = np.array([0x11223344, 0x55667788, -1, 0x0000FF00], np.int32)
    got = one(body, [x], (4,), np.int8)
    assert got.view(np.uint8).tolist() == [0x33, 0x77, 0xFF, 0xFF]
