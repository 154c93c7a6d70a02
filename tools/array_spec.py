"""Arrays described on the command line.

f16:128x64:randn                      type, shape, content
f16:128x64:randn(seed=3)              contents: zeros, ones, full(v), arange, randn, rand,
f32:64:rand(lo=-1,hi=1)                         randint(lo=,hi=)
f32:37x70:zeros:strides=80x1          strides in elements: the view of a larger buffer
f32:64:zeros:offset=16                starts 16 elements into its buffer
input.npy   data.npz:name             an array from a file
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tileir.errors import LaunchError
from tileir.runtime.arrays import contiguous_strides
from tileir.runtime.dtypes import ELEMENTS, element, storage_dtype

_LARGEST = 1 << 34
_CONTENT = re.compile(r"(\w+)(?:\((.*)\))?")
_FILE = re.compile(r"(.+\.npy)|(.+\.npz):(\w+)")


def is_array_spec(text: str) -> bool:
    """Whether `text` describes an array, not a number."""
    return _FILE.fullmatch(text) is not None or text.partition(":")[0] in ELEMENTS


def make_array(text: str, seed: int) -> np.ndarray:
    """The array that `text` describes; random contents use `seed` unless the text says one."""
    if _FILE.fullmatch(text):
        return _load(text)
    parts = text.split(":")
    if len(parts) < 3:
        raise LaunchError(f"'{text}' should be TYPE:SHAPE:CONTENT, for example f16:128x64:randn")
    type_name, shape_text, content, *options = parts
    dtype = storage_dtype(element(type_name).name)
    if element(type_name).kind == "float" and dtype.kind not in "fV":
        raise LaunchError(f"{type_name} arrays cannot be generated", remedy="use a .npy file")
    shape = _extents(shape_text, text)
    view = _view(shape, dtype, options, text)
    _fill(view, content, seed, text)
    return view


def _load(text: str) -> np.ndarray:
    plain, archive, member = _FILE.fullmatch(text).groups()  # type: ignore[union-attr]
    try:
        loaded = np.load(plain or archive, allow_pickle=False)
        return loaded if plain else loaded[member]
    except (OSError, ValueError, KeyError) as error:
        raise LaunchError(f"cannot load {text}: {error}") from error


def _extents(text: str, whole: str) -> tuple[int, ...]:
    """`128x64` as (128, 64); an empty text is a single element."""
    if not re.fullmatch(r"(\d+(x\d+)*)?", text):
        raise LaunchError(f"'{whole}': '{text}' is no list of numbers such as 128x64")
    return tuple(int(number) for number in text.split("x")) if text else ()


def _view(shape: tuple[int, ...], dtype: Any, options: list[str], whole: str) -> np.ndarray:
    """An array of that shape, in a buffer just large enough for its strides and offset."""
    strides, offset = contiguous_strides(shape), 0
    for option in options:
        key, _, value = option.partition("=")
        if key == "strides":
            strides = _extents(value, whole)
        elif key == "offset" and value.isdecimal():
            offset = int(value)
        else:
            raise LaunchError(f"'{whole}': '{option}' is not strides=AxB or offset=N")
    if len(strides) != len(shape):
        raise LaunchError(f"'{whole}': {len(shape)} extents but {len(strides)} strides")
    steps = zip(shape, strides, strict=True)
    reach = offset + 1 + sum((extent - 1) * stride for extent, stride in steps if extent)
    if reach * dtype.itemsize > _LARGEST:
        raise LaunchError(f"'{whole}' needs {reach * dtype.itemsize} bytes, too many")
    buffer = np.zeros(reach, dtype)
    size = dtype.itemsize
    return np.ndarray(shape, dtype, buffer, offset * size, [stride * size for stride in strides])


def _fill(view: np.ndarray, content: str, seed: int, whole: str) -> None:
    match = _CONTENT.fullmatch(content)
    maker = _MAKERS.get(match[1]) if match else None
    if match is None or maker is None:
        raise LaunchError(
            f"'{whole}': unknown content '{content}'", remedy=f"known: {', '.join(_MAKERS)}"
        )
    options = _options(match[2] or "", whole)
    random = np.random.default_rng(int(options.pop("seed", seed)))
    try:
        values = maker(view.shape, random, **options)
    except TypeError:
        raise LaunchError(f"'{whole}': wrong options for {match[1]}") from None
    if view.dtype.kind in "iu" and values.dtype.kind == "f":
        # Rounded towards zero; random floats make little sense but have a meaning.
        values = np.trunc(values)
    view[...] = values.astype(view.dtype)


def _options(text: str, whole: str) -> dict[str, float]:
    """`lo=-1,hi=1` as a dict; a lone number is called `value`."""
    options = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.rpartition("=")
        try:
            options[key.strip() if equals else "value"] = float(value)
        except ValueError:
            raise LaunchError(f"'{whole}': '{value}' is no number") from None
    return options


def _arange(shape: tuple[int, ...], random: Any) -> np.ndarray:
    return np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)


def _rand(shape: tuple[int, ...], random: Any, lo: float = 0.0, hi: float = 1.0) -> np.ndarray:
    return random.random(shape) * (hi - lo) + lo


def _randint(shape: tuple[int, ...], random: Any, lo: float = 0, hi: float = 128) -> np.ndarray:
    return random.integers(int(lo), int(hi), shape)


_MAKERS: dict[str, Callable[..., np.ndarray]] = {
    "zeros": lambda shape, random: np.zeros(shape),
    "ones": lambda shape, random: np.ones(shape),
    "full": lambda shape, random, value: np.full(shape, value),
    "arange": _arange,
    "randn": lambda shape, random, scale=1.0: random.standard_normal(shape) * scale,
    "rand": _rand,
    "randint": _randint,
}


def save_arrays(path: str, arrays: dict[str, np.ndarray]) -> None:
    """Writes `.npz`; the narrow floats, which NumPy's files do not know, as raw integers."""
    plain: dict[str, Any] = {name: _plain(array) for name, array in arrays.items()}
    try:
        np.savez_compressed(path, **plain)
    except OSError as error:
        raise LaunchError(f"cannot write {path}: {error.strerror}") from error


def save_array(path: str, array: np.ndarray) -> None:
    """Writes `.npy`, or prints the array for `-`."""
    if path == "-":
        print(np.array2string(array, threshold=64))
        return
    try:
        np.save(Path(path), _plain(array), allow_pickle=False)
    except OSError as error:
        raise LaunchError(f"cannot write {path}: {error.strerror}") from error


def _plain(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "V":
        return array
    return np.ascontiguousarray(array).view(f"uint{8 * array.itemsize}")
