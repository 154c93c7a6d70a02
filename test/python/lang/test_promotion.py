"""Dtypes and promotion, against recorded answers of cuda.tile and formats of other packages."""

from __future__ import annotations

import json
import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tileir.errors import TileError
from tileir.lang import dtypes
from tileir.lang.dtypes import BY_NAME, DType, dtype_of
from tileir.lang.errors import TileTypeError, TileValueError
from tileir.lang.promotion import (
    casts_implicitly,
    convert_number,
    default_dtype,
    largest_finite,
    promote,
    promote_number,
    round_float,
)

TABLE = json.loads((Path(__file__).parents[2] / "data" / "lang" / "promotion.json").read_text())
NUMBERS = {"bool": True, "int": 3, "float": 1.5}


def named(name: str) -> DType:
    return getattr(dtypes, name)


@pytest.mark.parametrize("left", list(TABLE))
def test_promotion_is_cuda_tiles(left: str) -> None:
    for right, expected in TABLE[left].items():
        try:
            if right in NUMBERS:
                got = promote_number(NUMBERS[right], named(left)).name
            else:
                got = promote(named(left), named(right)).name
        except TileTypeError:
            got = None
        assert got == expected, (left, right)


def test_casts_are_implicit_if_they_lose_nothing() -> None:
    assert casts_implicitly(dtypes.float16, dtypes.float32)
    assert casts_implicitly(dtypes.int64, dtypes.float16)
    assert not casts_implicitly(dtypes.float32, dtypes.float16)
    assert not casts_implicitly(dtypes.float32, dtypes.tfloat32)


def test_numbers_alone() -> None:
    assert default_dtype(True) is dtypes.bool_
    assert default_dtype(-5) is dtypes.int32
    assert default_dtype(2**31) is dtypes.int64
    assert default_dtype(2**63) is dtypes.uint64
    assert default_dtype(0.5) is dtypes.float32
    with pytest.raises(TileValueError, match="does not fit in any"):
        default_dtype(2**64)


def test_an_integer_must_fit() -> None:
    assert promote_number(255, dtypes.uint8) is dtypes.uint8
    with pytest.raises(TileValueError, match="256 is out of range of uint8"):
        promote_number(256, dtypes.uint8)


def test_errors_name_the_remedy() -> None:
    with pytest.raises(TileError, match=r"\n.*x\.astype\(ct\.float16\)"):
        promote(dtypes.float16, dtypes.bfloat16)


NUMPY = {
    dtypes.float16: np.float16,
    dtypes.bfloat16: ml_dtypes.bfloat16,
    dtypes.float32: np.float32,
    dtypes.float8_e4m3fn: ml_dtypes.float8_e4m3fn,
    dtypes.float8_e5m2: ml_dtypes.float8_e5m2,
    dtypes.float4_e2m1fn: ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("dtype", NUMPY, ids=str)
def test_floats_round_to_nearest_even(dtype: DType) -> None:
    limit = largest_finite(dtype)
    assert limit == float(ml_dtypes.finfo(NUMPY[dtype]).max)
    random = np.random.default_rng(1)
    values = random.standard_normal(500) * np.exp2(random.integers(-30, 20, 500))
    ties = [0.0, 1.0, 1.5, 2.5, 0.3, 1 + 2.0**-8, 1 + 2.0**-11, 2.0**-15, 2.0**-24, 3 * 2.0**-10]
    for value in [*values, *ties, limit, -limit]:
        if abs(value) <= limit:
            expected = float(np.float64(value).astype(NUMPY[dtype]))
            assert round_float(float(value), dtype) == expected, value


def test_what_overflows_is_infinite_or_the_largest() -> None:
    assert round_float(1e6, dtypes.float16) == math.inf
    assert round_float(-1e300, dtypes.float32) == -math.inf
    assert round_float(1e6, dtypes.float8_e4m3fn) == 448
    assert round_float(65520.0, dtypes.float16) == math.inf
    assert round_float(65519.0, dtypes.float16) == 65504


def test_explicit_conversions_wrap_and_truncate() -> None:
    assert convert_number(70000, dtypes.int16) == 4464
    assert convert_number(-1, dtypes.uint8) == 255
    assert convert_number(-3.7, dtypes.int32) == -3
    assert convert_number(5, dtypes.bool_) is True
    with pytest.raises(TileValueError):
        convert_number(math.nan, dtypes.int32)


def test_dtypes_of_other_packages() -> None:
    assert dtype_of(np.float32) is dtypes.float32
    assert dtype_of(np.dtype("uint8")) is dtypes.uint8
    assert dtype_of(np.bool_) is dtypes.bool_
    assert dtype_of(np.dtype(ml_dtypes.bfloat16)) is dtypes.bfloat16
    assert dtype_of(ml_dtypes.float8_e5m2) is dtypes.float8_e5m2
    assert dtype_of("float32") is None and dtype_of(3) is None and dtype_of(np.zeros(2)) is None


class _TorchDtype:
    """PyTorch's dtypes have no name, only this text."""

    def __init__(self, text: str):
        self.text = text

    def __str__(self) -> str:
        return self.text


def test_dtypes_of_pytorch() -> None:
    assert dtype_of(_TorchDtype("torch.bfloat16")) is dtypes.bfloat16
    assert dtype_of(_TorchDtype("torch.bool")) is dtypes.bool_
    assert dtype_of(_TorchDtype("torch.complex64")) is None


def test_names_and_elements() -> None:
    assert BY_NAME["u8"] is dtypes.uint8 and dtypes.uint8.element == "i8"
    assert dtypes.bool_.element == "i1" and dtypes.bool_.bitwidth == 8
    assert str(dtypes.float16) == "float16"
    with pytest.raises(TileError, match="inside of a kernel"):
        dtypes.int16(5)
