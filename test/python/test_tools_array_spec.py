"""Arrays described on the command line of tile-run."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tileir.errors import LaunchError
from tileir.tools.array_spec import is_array_spec, make_array, save_array, save_arrays


def test_contents() -> None:
    assert make_array("i32:2x3:arange", 0).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert make_array("f16:3:full(-1.5)", 0).tolist() == [-1.5] * 3
    assert make_array("f64:2:ones", 0).dtype == np.float64
    assert make_array("i1:2:ones", 0).tolist() == [True, True]
    assert make_array("u8:2:full(255)", 0).tolist() == [255, 255]
    assert make_array("bf16:4:zeros", 0).dtype == ml_dtypes.bfloat16
    assert make_array("f8E4M3FN:4:ones", 0).astype(np.float32).tolist() == [1] * 4
    assert make_array("f32::full(3)", 0).shape == ()


def test_random_contents_follow_the_seed() -> None:
    first = make_array("f32:64:randn", 1)
    assert np.array_equal(first, make_array("f32:64:randn(seed=1)", 9))
    assert not np.array_equal(first, make_array("f32:64:randn", 2))
    spread = make_array("f64:1000:rand(lo=-2,hi=3)", 0)
    assert -2 <= spread.min() < -1.9
    assert 2.9 < spread.max() < 3
    whole = make_array("i32:1000:randint(lo=5,hi=8)", 0)
    assert set(whole.tolist()) == {5, 6, 7}


def test_strides_and_offset_make_a_view() -> None:
    array = make_array("f32:3x4:ones:strides=10x1:offset=2", 0)
    assert array.strides == (40, 4)
    assert array.base is not None
    assert array.base.shape == (2 + 2 * 10 + 3 + 1,)
    assert array.base[:2].tolist() == [0, 0]
    assert array.base[2:6].tolist() == [1] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f32:4", "should be TYPE:SHAPE:CONTENT"),
        ("f33:4:zeros", "unknown element type 'f33'"),
        ("f32:4,4:zeros", "'4,4' is no list of numbers such as 128x64"),
        ("f32:4:noise", "unknown content 'noise'\n.*zeros, ones"),
        ("f32:4:full", "wrong options for full"),
        ("f32:4:randn(mean=2)", "wrong options for randn"),
        ("f32:4:full(x)", "'x' is no number"),
        ("f32:4:zeros:pad=3", "'pad=3' is not strides=AxB or offset=N"),
        ("f32:4x4:zeros:strides=4", "2 extents but 1 strides"),
        ("f32:99999999x99999999:zeros", "too many"),
        ("f4E2M1FN:4:zeros", "cannot be generated"),
        ("missing.npy", "cannot load missing.npy"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        make_array(text, 0)


def test_numbers_are_no_arrays() -> None:
    assert not any(map(is_array_spec, ("12", "-1.5", "true", "x", "a.txt")))
    assert all(map(is_array_spec, ("f32:2:zeros", "a.npy", "dir/b.npz:name")))


def test_files_round_trip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, narrow = np.arange(6.0).reshape(2, 3), make_array("bf16:4:ones", 0)
    save_arrays(str(tmp_path / "all.npz"), {"plain": plain, "narrow": narrow})
    assert np.array_equal(make_array(f"{tmp_path}/all.npz:plain", 0), plain)
    assert make_array(f"{tmp_path}/all.npz:narrow", 0).tolist() == [0x3F80] * 4
    save_array(str(tmp_path / "one.npy"), plain.T)
    assert np.array_equal(make_array(f"{tmp_path}/one.npy", 0), plain.T)
    save_array("-", narrow)
    assert capsys.readouterr().out == "[1 1 1 1]\n"
    with pytest.raises(LaunchError, match="cannot load .*all.npz:other"):
        make_array(f"{tmp_path}/all.npz:other", 0)
    with pytest.raises(LaunchError, match="cannot write"):
        save_arrays(str(tmp_path / "no" / "all.npz"), {})
