"""Construction, shapes and conversions of tiles, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from lang_support import run, text

import tileir.lang as ct
from tileir.lang import RoundingMode
from tileir.lang.errors import TileTypeError, TileValueError


@ct.kernel
def apply(x, out, function: ct.Constant, shape: ct.Constant):
    ct.store(out, (0,) * out.ndim, function(ct.load(x, (0,) * x.ndim, shape)))


@ct.kernel
def make(out, function: ct.Constant):
    ct.store(out, (0,) * out.ndim, function())


def result(function: Callable[..., Any], x: np.ndarray, like: np.ndarray) -> np.ndarray:
    out = np.zeros(like.shape, like.dtype)
    run(apply, 1, x, out, function, x.shape)
    return out


X = np.arange(32, dtype=np.float32).reshape(4, 8)
SHAPES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "reshape": (lambda t: ct.reshape(t, (8, -1)), lambda x: x.reshape(8, 4)),
    "method": (lambda t: t.reshape((2, 4, 4)), lambda x: x.reshape(2, 4, 4)),
    "flat": (lambda t: t.reshape(-1), lambda x: x.reshape(-1)),
    "expand_dims": (lambda t: ct.expand_dims(t, -1), lambda x: x[:, :, None]),
    "none": (lambda t: t[None, :, None], lambda x: x[None, :, None]),
    "ellipsis": (lambda t: t[..., None], lambda x: x[..., None]),
    "transpose": (lambda t: ct.transpose(t), lambda x: x.T),
    "axes": (lambda t: t[None].transpose(0, 2), lambda x: x[None].transpose(2, 1, 0)),
    "permute": (
        lambda t: t.reshape((2, 2, 8)).permute((2, 0, 1)),
        lambda x: x.reshape(2, 2, 8).transpose(2, 0, 1),
    ),
    "broadcast_to": (
        lambda t: ct.broadcast_to(t[None], (2, 4, 8)),
        lambda x: np.broadcast_to(x, (2, 4, 8)),
    ),
    "cat": (lambda t: ct.cat((t, t + 100), 0), lambda x: np.concatenate([x, x + 100])),
    "cat last": (lambda t: ct.cat((t, t * 2), -1), lambda x: np.concatenate([x, x * 2], -1)),
    "extract": (lambda t: t.extract((1, 1), (2, 4)), lambda x: x[2:4, 4:8]),
    "extract scalar": (lambda t: ct.extract(t, (2, 3), ())[None], lambda x: x[2, 3][None]),
    "extract at run time": (
        lambda t: ct.extract(t, (ct.bid(0) + 1, 0), (2, 4)),
        lambda x: x[2:4, 0:4],
    ),
    "where": (lambda t: ct.where(t > 10, t, -1), lambda x: np.where(x > 10, x, -1)),
    "where broadcasts": (
        lambda t: ct.where((t > 10)[:, :1] if False else ct.arange(8, dtype=ct.int32) > 3, t, 0.5),
        lambda x: np.where(np.arange(8) > 3, x, 0.5),
    ),
    "broadcasting": (
        lambda t: t + ct.arange(4, dtype=ct.float32)[:, None] * ct.arange(8, dtype=ct.float32),
        lambda x: x + np.arange(4.0)[:, None] * np.arange(8.0),
    ),
    "item": (lambda t: t + t.extract((3, 7), (1, 1)).item(), lambda x: x + x[3, 7]),
    "properties": (lambda t: t * t.shape[1] + t.ndim, lambda x: x * 8 + 2),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    function, reference = SHAPES[name]
    expected = np.asarray(reference(X), np.float32)
    np.testing.assert_array_equal(result(function, X, expected), expected)


def test_insert() -> None:
    expected = X.copy()
    expected[2:4, 4:8] = -1
    part = lambda t: ct.insert(t, (1, 1), ct.full((2, 4), -1, ct.float32))  # noqa: E731
    np.testing.assert_array_equal(result(part, X, X), expected)
    expected = X.copy()
    expected[1, 2] = 9
    np.testing.assert_array_equal(result(lambda t: t.insert((1, 2), 9.0), X, X), expected)


MAKE: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "zeros": (lambda: ct.zeros((4, 2), ct.int32), np.zeros((4, 2), np.int32)),
    "ones": (lambda: ct.ones(8, np.float32), np.ones(8, np.float32)),
    "full": (lambda: ct.full((2, 4), 2.5, ct.float16), np.full((2, 4), 2.5, np.float16)),
    "full at run time": (
        lambda: ct.full((4,), ct.bid(0) + 3, ct.float32),
        np.full(4, 3, np.float32),
    ),
    "full wraps": (lambda: ct.full((4,), 300, ct.int8), np.full(4, 44, np.int8)),
    "arange": (
        lambda: ct.arange(8, start=7, step=-1, dtype=ct.int16),
        np.arange(7, -1, -1, dtype=np.int16),
    ),
    "arange of floats": (
        lambda: ct.arange(8, start=0.5, step=0.25, dtype=ct.float32),
        np.arange(8, dtype=np.float32) * np.float32(0.25) + np.float32(0.5),
    ),
    "arange at run time": (
        lambda: ct.arange(4, start=ct.bid(0) + 5, step=ct.bid(0) + 2, dtype=ct.int32),
        np.arange(4, dtype=np.int32) * 2 + 5,
    ),
    "astile": (
        lambda: ct.astile(((1, 2), (3, 4)), dtype=ct.float32),
        np.array([[1, 2], [3, 4]], np.float32),
    ),
    "astile of unsigned": (
        lambda: ct.astile((2**32 - 1, 1), dtype=ct.uint32),
        np.array([2**32 - 1, 1], np.uint32),
    ),
    "astile of booleans": (
        lambda: ct.astile((True, False, True, True), dtype=ct.bool_),
        np.array([True, False, True, True]),
    ),
    "astile at run time": (
        lambda: ct.astile(((1, ct.bid(0) + 7), (3, 4)), dtype=ct.int32),
        np.array([[1, 7], [3, 4]], np.int32),
    ),
    "typed scalars": (
        lambda: ct.full((2,), ct.int8(200) + ct.int16(1), ct.int16),
        np.full(2, -55, np.int16),
    ),
    "not powers of two": (
        lambda: ct.arange(6, dtype=ct.int32).reshape((2, 3)),
        np.arange(6, dtype=np.int32).reshape(2, 3),
    ),
}


@pytest.mark.parametrize("name", MAKE)
def test_construction(name: str) -> None:
    function, expected = MAKE[name]
    out = np.zeros(expected.shape, expected.dtype)
    run(make, 1, out, function)
    np.testing.assert_array_equal(out, expected)


def test_modules_are_extended_only_if_they_need_to() -> None:
    out = np.zeros(8, np.int32)
    assert "cuda_tile.extended" not in text(make, out, lambda: ct.zeros(8, ct.int32))
    assert "cuda_tile.extended" in text(make, out, lambda: ct.zeros(6, ct.int32))
    joined = lambda: ct.cat((ct.zeros(8, ct.int32), ct.zeros(4, ct.int32)), 0)  # noqa: E731
    assert "cuda_tile.extended" in text(make, out, joined)


def tfloat32(x: np.ndarray) -> np.ndarray:
    """Rounded to nearest even in 10 bits of mantissa."""
    bits = x.view(np.uint32).astype(np.int64)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)


CASTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "to integers": (lambda t: t.astype(ct.int32), lambda x: x.astype(np.int32)),
    "to float16": (lambda t: t.astype(ct.float16), lambda x: x.astype(np.float16)),
    "to bfloat16": (
        lambda t: t.astype(ct.bfloat16).astype(ct.float32),
        lambda x: x.astype(ml_dtypes.bfloat16).astype(np.float32),
    ),
    "to float8": (
        lambda t: ct.astype(t, ct.float8_e4m3fn).astype(ct.float32),
        lambda x: x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32),
    ),
    "to bool": (lambda t: t.astype(ct.bool_), lambda x: x != 0),
    "to tfloat32": (lambda t: t.astype(ct.tfloat32).astype(ct.float32), lambda x: tfloat32(x)),
    "rounding": (
        lambda t: t.astype(ct.float16, rounding_mode=RoundingMode.RZ),
        lambda x: np.where(
            np.abs(x.astype(np.float16).astype(np.float64)) > np.abs(x),
            np.nextafter(x.astype(np.float16), np.float16(0)),
            x.astype(np.float16),
        ),
    ),
    "bits": (lambda t: ct.bitcast(t, ct.uint32), lambda x: x.view(np.uint32)),
    "bytes": (
        lambda t: ct.pack_to_bytes(t),
        lambda x: x.reshape(-1).view(np.uint8),
    ),
    "bytes and back": (
        lambda t: ct.unpack_from_bytes(ct.pack_to_bytes(t), ct.float16),
        lambda x: x.reshape(-1).view(np.float16),
    ),
    "wrapping": (
        lambda t: t.astype(ct.int32).astype(ct.uint8),
        lambda x: x.astype(np.int32).astype(np.uint8),
    ),
    "sign": (
        lambda t: t.astype(ct.int8).astype(ct.uint8).astype(ct.float32),
        lambda x: x.astype(np.int8).astype(np.uint8).astype(np.float32),
    ),
}


@pytest.mark.parametrize("name", CASTS)
def test_casts(name: str) -> None:
    function, reference = CASTS[name]
    x = (np.linspace(-100, 100, 32) * 1.01).astype(np.float32)
    x[3] = 0
    expected = np.asarray(reference(x))
    out = np.zeros(expected.shape, expected.dtype)
    run(apply, 1, x, out, function, (32,))
    np.testing.assert_array_equal(out.view(np.uint8), expected.view(np.uint8))


ERRORS: dict[str, tuple[Callable[..., Any], type[Exception], str]] = {
    "count": (lambda t: t.reshape((3, 5)), TileValueError, "32 elements and cannot become"),
    "two unknown": (lambda t: t.reshape((-1, -1)), TileValueError, "only one size"),
    "does not divide": (lambda t: t.reshape((5, -1)), TileValueError, "it does not divide"),
    "shape at run time": (
        lambda t: t.reshape((ct.bid(0), 8)),
        TileTypeError,
        r"'shape\[0\]' must be known at compile time, got int32\n.*\n.*\n.*ct.Constant",
    ),
    "index": (lambda t: t[0], TileTypeError, "tiles cannot be indexed"),
    "item": (lambda t: t.item(), TileValueError, "takes a tile of one element"),
    "axis": (lambda t: ct.expand_dims(t, 5), TileValueError, "'axis' is 5, out of range"),
    "permutation": (lambda t: t.permute((0, 0)), TileValueError, "must be a permutation"),
    "three axes": (lambda t: ct.transpose(t[None]), TileTypeError, "which two"),
    "three tiles": (lambda t: ct.cat((t, t, t), 0), TileTypeError, "joins a pair"),
    "cat dtypes": (
        lambda t: ct.cat((t, t.astype(ct.float16)), 0),
        TileTypeError,
        "tiles of one dtype",
    ),
    "cat shapes": (lambda t: ct.cat((t, t[None]), 0), TileValueError, "equal sizes in the others"),
    "part": (lambda t: t.extract((0, 0), (3, 8)), TileValueError, "must divide those of the tile"),
    "part index": (
        lambda t: t.extract((0, 5), (2, 4)),
        TileValueError,
        r"'index\[1\]' is 5: 8 elements have 2 parts of 4",
    ),
    "insert dtype": (
        lambda t: t.insert((0, 0), ct.zeros((2, 2), ct.float16)),
        TileTypeError,
        "'value' is float16, the tile is float32",
    ),
    "too large": (
        lambda t: ct.zeros((4096, 8192), ct.float32),
        TileValueError,
        "at most 2.24 = 16777216 elements",
    ),
    "not positive": (lambda t: ct.zeros((0,), ct.float32), TileValueError, "must be positive"),
    "dtype": (lambda t: ct.zeros((4,), "float32"), TileTypeError, "'dtype' must be a dtype"),
    "bits": (lambda t: ct.bitcast(t, ct.int64), TileTypeError, "float32 has 32 bits, int64 64"),
    "ragged": (lambda t: ct.astile(((1, 2), (3,)), dtype=ct.int32), TileValueError, "one length"),
    "too many values": (
        lambda t: ct.arange(512, dtype=ct.int8),
        TileValueError,
        "int8 cannot hold 512",
    ),
    "rounding of integers": (
        lambda t: t.astype(ct.int32, rounding_mode=RoundingMode.RZ),
        TileTypeError,
        "floats that become floats",
    ),
    "rounding mode": (
        lambda t: t.astype(ct.float8_e5m2, rounding_mode=RoundingMode.RZ),
        TileTypeError,
        "converts to float8_e5m2 by RoundingMode.RN",
    ),
    "scalar of a tile": (lambda t: ct.float16(t), TileTypeError, "makes a scalar, not a tile"),
    "broadcast_to": (lambda t: ct.broadcast_to(t, (4, 16)), TileValueError, "do.* not broadcast"),
    "packing": (
        lambda t: ct.unpack_from_bytes(t, ct.int32),
        TileTypeError,
        "must be a 1-D tile of uint8",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    function, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        text(apply, X, X, function, (4, 8))


def test_an_architecture_may_lack_a_dtype() -> None:
    with pytest.raises(Exception, match="float8_e5m3fnu exists from sm_107 on"):
        text(apply, X, X, lambda t: t.astype(ct.float8_e5m3fnu), (4, 8))
