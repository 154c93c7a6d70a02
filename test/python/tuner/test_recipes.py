"""Arguments that travel by content."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tileir.errors import LaunchError
from tileir.runtime import PointerTable
from tileir.runtime.arrays import address
from tileir.tuner import recipe
from tileir.tuner.recipe import copied, describe_words, make_words


def there_and_back(*words: Any) -> list[Any]:
    return make_words(pickle.loads(pickle.dumps(describe_words(words))))


BASE = np.arange(4096, dtype=np.int32)


@pytest.mark.parametrize(
    "array",
    [
        BASE[:100],
        BASE[3:200:7],
        BASE[200:3:-5],
        BASE.reshape(64, 64).T[5:9, ::2],
        BASE.reshape(64, 64)[::-1, 1:],
        np.broadcast_to(BASE[:8], (3, 8)),
        BASE[:0],
        np.array(7, np.int64),
        np.arange(50).astype(ml_dtypes.bfloat16).reshape(5, 10)[:, 1:4],
        np.array([True, False, True]),
    ],
)
def test_small_arrays_come_as_they_are(array: np.ndarray) -> None:
    (back,) = there_and_back(array)
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype and back.strides == array.strides
    if array.size:
        assert address(back) % 256 == address(array) % 256


def test_large_floats_come_without_their_elements() -> None:
    array = np.zeros((600, 100), np.float16)[:, 1:]
    (described,) = describe_words([array])
    assert len(pickle.dumps(described)) < 500
    (back,) = make_words([described])
    assert back.shape == array.shape and back.strides == array.strides
    assert address(back) % 256 == address(array) % 256
    values = back.astype(np.float64)
    assert abs(values.mean()) < 0.05 and abs(values.std() - 1) < 0.05
    (again,) = make_words([described])
    np.testing.assert_array_equal(again, back)


def test_integers_come_whole_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    indices = np.random.default_rng(0).integers(0, 1000, 100_000)
    (back,) = there_and_back(indices)
    np.testing.assert_array_equal(back, indices)
    monkeypatch.setattr(recipe, "_MOST", 1 << 18)
    with pytest.raises(LaunchError, match="0 MiB of i64 are too much to send to another process"):
        describe_words([indices])


def test_numbers_and_tables() -> None:
    table = PointerTable([BASE[:4], BASE[8:16:2]])
    a, b, c, back = there_and_back(3, 2.5, True, table)
    assert (a, b, c) == (3, 2.5, True) and isinstance(c, bool)
    for got, want in zip(back.arrays, table.arrays, strict=True):
        np.testing.assert_array_equal(got, want)


def test_what_cannot_travel() -> None:
    with pytest.raises(LaunchError, match="a dict cannot be sent to another process"):
        describe_words([{}])


def test_copies_are_apart() -> None:
    array = BASE.copy().reshape(64, 64)[:, 1:]
    copy, number, table = copied([array, 5, PointerTable([array])])
    np.testing.assert_array_equal(copy, array)
    assert number == 5 and copy.strides == array.strides
    assert address(copy) % 256 == address(array) % 256
    copy[:] = 0
    table.arrays[0][:] = 1
    np.testing.assert_array_equal(array, BASE.reshape(64, 64)[:, 1:])
