"""Conversions: every pair of types and every mode that the dialect accepts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileir.runtime.dtypes import storage_dtype
from tileir.runtime.tolerance import FORMATS

from .float_arithmetic import COUNT, TILE, Elementwise
from .kernel import Kernel, tile
from .values import (
    FLOATS,
    INTEGERS,
    WIDTH,
    float_edges,
    from_bits,
    generator,
    integers,
    moderate,
    random_bits,
    wide,
)

_NARROW = ("f8E4M3FN", "f8E5M2")
_PLAIN = ("f64", "f32", "tf32", "f16", "bf16")
_MODES = ("nearest_even", "zero", "negative_inf", "positive_inf", "nearest_away")


def _bits(element: str) -> tuple[int, int]:
    format_ = FORMATS[element]
    return (10 if element == "tf32" else format_.mantissa), format_.exponent


def _widens(source: str, result: str) -> bool:
    return all(a <= b for a, b in zip(_bits(source), _bits(result), strict=True))


def _modes(source: str, result: str) -> tuple[str, ...]:
    """The rounding modes of `ftof` from bytecode 13.4 on."""
    if result in _NARROW:
        return _MODES[:1]
    if _widens(source, result) or (source, result) == ("f64", "f32"):
        return _MODES[:4]
    if (source, result) == ("f32", "tf32"):
        return ("nearest_even", "zero", "nearest_away")
    return _MODES[:2]


def _values(element: str, result: str) -> np.ndarray:
    """Numbers of one format around the edges and the halfway points of another."""
    rng = generator(element, "to", result)
    pieces = [float_edges(element), moderate(element, COUNT // 4, rng, 8)]
    targets = np.concatenate([float_edges(result), random_bits(result, 400, rng)])
    targets = wide(targets)
    targets = targets[np.isfinite(targets)]
    unit = 2.0 ** -(_bits(result)[0] + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        for factor in (1, 1 + unit, 1 + unit * (1 + 2.0**-9), 1 + unit * (1 - 2.0**-9), 1 - unit):
            pieces.append(_cast(targets * factor, element))
    pieces.append(random_bits(element, COUNT, rng))
    return np.concatenate(pieces)[:COUNT]


def _cast(values: np.ndarray, element: str) -> np.ndarray:
    if element == "tf32":
        return from_bits(values.astype(np.float32).view(np.uint32), element)
    return values.astype(storage_dtype(element))


def _float_to_float(source: str, results: tuple[str, ...], name: str) -> Kernel:
    k = Elementwise(f"ftof_{source}{name}", source)
    for result in results:
        if result == source:
            continue
        (x,) = k.load(_values(source, result))
        for mode in _modes(source, result):
            suffix = "" if mode == "nearest_even" else f" rounding<{mode}>"
            text = f"ftof {x}{suffix} : {k.type} -> {tile([TILE], result)}"
            k.judge(text, f"ftof {mode} to {result} from", element=result)
    return k.kernel


def _integer_range(result: str, signed: bool) -> tuple[int, int]:
    width = WIDTH[result]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def _to_integer_values(source: str, low: int, high: int) -> np.ndarray:
    """Numbers around both ends of an integer type's range, fractions, edges, random bits."""
    rng = generator(source, "to", str(low), str(high))
    near = [float(n) + d for n in (low, high, 0) for d in (-2, -1, -0.75, -0.5, 0, 0.5, 0.99, 1, 2)]
    step = [np.nextafter(float(n), to) for n in (low, high + 1) for to in (-np.inf, np.inf)]
    scale = rng.uniform(-1.2, 1.2, COUNT // 2) * float(high)
    with np.errstate(over="ignore"):
        pieces = [_cast(np.array([*near, *step]), source), float_edges(source),
                  _cast(scale, source), moderate(source, COUNT // 4, rng),
                  random_bits(source, COUNT, rng)]  # fmt: skip
    return np.concatenate(pieces)[:COUNT]


def _float_to_integer(source: str) -> Kernel:
    k = Elementwise(f"ftoi_{source}", source)
    for result in ("i1", *INTEGERS):
        for sign in ("signed", "unsigned"):
            low, high = _integer_range(result, sign == "signed")
            values = _to_integer_values(source, low, high)
            whole = np.trunc(np.nan_to_num(wide(values), nan=np.inf))
            inside = (whole >= low) & (whole < float(high) + 1)
            kept = np.where(inside, values, np.zeros_like(values))
            x, y = k.load(kept, values)
            target = tile([TILE], result)
            k.judge(f"ftoi {x} {sign} : {k.type} -> {target}", f"ftoi {sign} to {result} from",
                    element=result)  # fmt: skip
            k.judge(f"ftoi {y} {sign} saturating : {k.type} -> {target}",
                    f"ftoi {sign} saturating to {result} from", element=result)  # fmt: skip
    return k.kernel


def _integer_to_float(source: str, results: tuple[str, ...], name: str) -> Kernel:
    k = Elementwise(f"itof_{source}{name}", source)
    rng = generator("itof", source)
    values = rng.permutation(np.resize(integers(source, COUNT, "itof"), COUNT))
    halves = _halfway_integers(source, rng)
    values[: len(halves)] = halves
    (x,) = k.load(values)
    for result in results:
        for sign in ("signed", "unsigned"):
            text = f"itof {x} {sign} : {k.type} -> {tile([TILE], result)}"
            k.judge(text, f"itof {sign} to {result} from", element=result)
    return k.kernel


def _halfway_integers(source: str, rng: np.random.Generator) -> np.ndarray:
    """Integers half way between two numbers of each format, and their neighbours."""
    width = WIDTH[source]
    found = []
    for precision in (3, 4, 8, 11, 24, 53):
        for _ in range(64 if precision + 2 < width else 0):
            shift = int(rng.integers(1, width - precision))
            odd = (1 << precision) | int(rng.integers(0, 1 << precision)) | 1
            found += [((odd << shift) >> 1) + d for d in (-1, 0, 1)]
    kept = [n for n in found if n < 1 << width]
    if width == 1:
        return np.zeros(0, bool)
    return np.array(kept, f"uint{width}").view(f"int{width}")[: COUNT // 2]


def _integer_to_integer(source: str) -> Kernel:
    k = Elementwise(f"integer_width_{source}", source)
    x, y = k.load(np.resize(integers(source, COUNT, "width"), COUNT),
                  (np.arange(COUNT) % 2).astype(storage_dtype(source)))  # fmt: skip
    for result in ("i1", *INTEGERS):
        target = tile([TILE], result)
        if WIDTH[result] > WIDTH[source]:
            for sign in ("signed", "unsigned"):
                k.judge(f"exti {x} {sign} : {k.type} -> {target}", f"exti {sign} to {result} from",
                        element=result)  # fmt: skip
        elif WIDTH[result] < WIDTH[source]:
            k.judge(
                f"trunci {x} : {k.type} -> {target}", f"trunci to {result} from", element=result
            )
            k.judge(f"trunci {y} overflow<no_unsigned_wrap> : {k.type} -> {target}",
                    f"trunci no_unsigned_wrap to {result} from", element=result)  # fmt: skip
    return k.kernel


def _four_bits() -> Kernel:
    """i4 exists between a `trunci` and an `exti` only."""
    k = Elementwise("four_bits", "i32")
    (x,) = k.load(integers("i32", COUNT, "four"))
    narrow = k.kernel.op(f"trunci {x} : {k.type} -> {tile([TILE], 'i4')}")
    for sign in ("signed", "unsigned"):
        for result in ("i8", "i32"):
            k.judge(f"exti {narrow} {sign} : {tile([TILE], 'i4')} -> {tile([TILE], result)}",
                    f"exti {sign} i4 to {result} from", element=result)  # fmt: skip
    return k.kernel


_SAME_WIDTH = {
    8: ("i8", *_NARROW), 16: ("i16", "f16", "bf16"), 32: ("i32", "f32"), 64: ("i64", "f64"),
}  # fmt: skip


def _bitcasts() -> Iterator[Kernel]:
    for types in _SAME_WIDTH.values():
        for source in types:
            k = Elementwise(f"bitcast_{source}", source)
            values = integers(source, COUNT) if source in INTEGERS else None
            if values is None:
                values = random_bits(source, COUNT, generator("bitcast"))
            else:
                values = np.resize(values, COUNT)
            (x,) = k.load(_without_nan(values, source))
            for result in types:
                if result != source:
                    k.judge(f"bitcast {x} : {k.type} -> {tile([TILE], result)}",
                            f"bitcast to {result} from", element=result)  # fmt: skip
            yield k.kernel


def _without_nan(values: np.ndarray, element: str) -> np.ndarray:
    if element in INTEGERS:
        return values
    return np.where(np.isnan(wide(values)), np.zeros_like(values), values)


def _pointers() -> Kernel:
    """Through an integer and back, and to another pointee."""
    k = Kernel("pointer_conversions")
    data = generator("pointers").integers(-100, 100, 64).astype(np.int32)
    p = k.pointer(data, "i32")
    number = k.op(f"ptr_to_int {p} : tile<ptr<i32>> -> tile<i64>")
    moved = k.op(f"addi {number}, {k.scalar(16, 'i64')} : tile<i64>")
    q = k.op(f"int_to_ptr {moved} : tile<i64> -> tile<ptr<i32>>")
    value, token = k.fresh(), k.fresh()
    k.emit(f"{value}, {token} = load_ptr_tko weak {q} : tile<ptr<i32>> -> tile<i32>, token")
    k.store(value, "i32", (), "int_to_ptr")
    bytes_ = k.op(f"ptr_to_ptr {p} : tile<ptr<i32>> -> tile<ptr<i8>>")
    shape = tile([256], "ptr<i8>")
    one = k.op(f"reshape {bytes_} : tile<ptr<i8>> -> {tile([1], 'ptr<i8>')}")
    many = k.op(f"broadcast {one} : {tile([1], 'ptr<i8>')} -> {shape}")
    index = k.op(f"iota : {tile([256], 'i32')}")
    places = k.op(f"offset {many}, {index} : {shape}, {tile([256], 'i32')} -> {shape}")
    loaded, token = k.fresh(), k.fresh()
    k.emit(
        f"{loaded}, {token} = load_ptr_tko weak {places} : {shape} -> {tile([256], 'i8')}, token"
    )
    k.store(loaded, "i8", (256,), "ptr_to_ptr")
    numbers = k.op(f"ptr_to_int {places} : {shape} -> {tile([256], 'i64')}")
    back = k.op(f"int_to_ptr {numbers} : {tile([256], 'i64')} -> {shape}")
    again, token = k.fresh(), k.fresh()
    k.emit(f"{again}, {token} = load_ptr_tko weak {back} : {shape} -> {tile([256], 'i8')}, token")
    k.store(again, "i8", (256,), "ptr_to_int and back")
    return k


def kernels() -> Iterator[Kernel]:
    for source in (*_PLAIN, *_NARROW):
        yield _float_to_float(source, _PLAIN, "")
        yield _float_to_float(source, _NARROW, "_f8")
    for source in FLOATS:
        yield _float_to_integer(source)
    for source in ("i1", *INTEGERS):
        yield _integer_to_float(source, _PLAIN, "")
        yield _integer_to_float(source, _NARROW, "_f8")
        yield _integer_to_integer(source)
    yield _four_bits()
    yield from _bitcasts()
    yield _pointers()
