"""Scales (f8E8M0FNU) and floats of four bits (f4E2M1FN): conversions, shapes, scaled products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileir.runtime.dtypes import storage_dtype

from .float_arithmetic import COUNT, TILE
from .kernel import Kernel, tile
from .values import floats, generator

_WIDE = ("f32", "f64", "f16", "bf16", "tf32")
_CODES = np.arange(256, dtype=np.uint8)


def _scale_to_float() -> Kernel:
    """Every scale there is, in every format that holds some."""
    k = Kernel("ftof_f8E8M0FNU")
    x = k.load(_CODES.view(storage_dtype("f8E8M0FNU")), "f8E8M0FNU")
    k.store(x, "f8E8M0FNU", (256,), "scales copied")
    for element in _WIDE:
        types = f"{tile([256], 'f8E8M0FNU')} -> {tile([256], element)}"
        k.store(k.op(f"ftof {x} : {types}"), element, (256,), f"ftof f8E8M0FNU to {element}")
    return k


def _float_to_scale(source: str) -> Kernel:
    k = Kernel(f"ftof_f8E8M0FNU_from_{source}", COUNT // TILE)
    x = k.load(_around_powers(source), source)
    for mode in ("zero", "positive_inf"):
        types = f"{tile([TILE], source)} -> {tile([TILE], 'f8E8M0FNU')}"
        y = k.op(f"ftof {x} rounding<{mode}> : {types}")
        k.store(y, "f8E8M0FNU", (COUNT,), f"ftof {source} to f8E8M0FNU {mode}")
    return k


def _around_powers(source: str) -> np.ndarray:
    """Powers of two, subnormal ones too, with their neighbours; then all kinds of numbers."""
    dtype = storage_dtype(source)
    with np.errstate(over="ignore", under="ignore"):
        powers = np.ldexp(1.0, np.arange(-140, 130)).astype(dtype)
    raw = powers.view(f"u{dtype.itemsize}")
    step = 1 << 13 if source == "tf32" else 1
    neighbours = [powers, (raw + raw.dtype.type(step)).view(dtype)]
    neighbours.append(np.where(raw > step, raw - raw.dtype.type(step), raw).view(dtype))
    return np.concatenate([*neighbours, -powers, floats(source, COUNT, "scale")])[:COUNT]


def _four_bits(source: str) -> Kernel:
    """To f4E2M1FN, seen as bytes and as f32."""
    k = Kernel(f"ftof_f4E2M1FN_from_{source}", COUNT // TILE)
    ties = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
    around = np.concatenate([ties * s for s in (1, 1 + 2.0**-7, 1 - 2.0**-7)])
    values = np.concatenate([around, -around]).astype(storage_dtype(source))
    x = k.load(np.concatenate([values, floats(source, COUNT, "four")])[:COUNT], source)
    types = f"{tile([TILE], source)} -> {tile([TILE], 'f4E2M1FN')}"
    y = k.op(f"ftof {x} : {types}")
    packed = k.op(f"pack {y} : {tile([TILE], 'f4E2M1FN')} -> {tile([TILE // 2], 'i8')}")
    k.store(packed, "i8", (COUNT // 2,), f"ftof {source} to f4E2M1FN")
    k.store(_to_f32(k, y, [TILE]), "f32", (COUNT,), f"ftof {source} to f4E2M1FN and back")
    return k


def _to_f32(k: Kernel, value: str, shape: Sequence[int]) -> str:
    return k.op(f"ftof {value} : {tile(shape, 'f4E2M1FN')} -> {tile(shape, 'f32')}")


def _load_four_bits(k: Kernel, shape: Sequence[int], *seed: str) -> str:
    """A tile of f4E2M1FN, out of bytes."""
    count = int(np.prod(shape))
    data = generator("four bits", *seed).integers(-128, 128, count // 2).astype(np.int8)
    packed = k.load(data, "i8")
    line = k.op(f"unpack {packed} : {tile([count // 2], 'i8')} -> {tile([count], 'f4E2M1FN')}")
    types = f"{tile([count], 'f4E2M1FN')} -> {tile(shape, 'f4E2M1FN')}"
    return line if list(shape) == [count] else k.op(f"reshape {line} : {types}")


def _shapes_of_four_bits() -> Kernel:
    k, f4 = Kernel("shapes_f4E2M1FN"), "f4E2M1FN"
    values = "[0.0, 0.5, 1.0, 1.5, -2.0, 3.0, -4.0, 6.0]"
    constant = k.op(f"constant <{f4}: {values}> : {tile([8], f4)}")
    k.store(_to_f32(k, constant, [8]), "f32", (8,), "constant")
    x, y = _load_four_bits(k, [16, 32], "x"), _load_four_bits(k, [16, 32], "y")
    for text, shape in (
        (f"permute {x} [1, 0] : {tile([16, 32], f4)} -> {tile([32, 16], f4)}", (32, 16)),
        (f"cat {x}, {y} dim = 0 : {tile([16, 32], f4)}, {tile([16, 32], f4)} -> "
         f"{tile([32, 32], f4)}", (32, 32)),
        (f"extract {x}[{k.scalar(1)}, {k.scalar(0)}] : {tile([16, 32], f4)} -> "
         f"{tile([8, 32], f4)}", (8, 32)),
    ):  # fmt: skip
        label = text.partition(" ")[0]
        k.store(_to_f32(k, k.op(text), shape), "f32", shape, label)
    return k


#: (elements, scales, elements along K that share one)
_SCALED = (
    ("f8E4M3FN", "f8E8M0FNU", 32), ("f8E5M2", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E8M0FNU", 32),
    ("f4E2M1FN", "f8E8M0FNU", 16), ("f4E2M1FN", "f8E4M3FN", 16),
)  # fmt: skip


def _scaled_product(operand: str, scale: str, block: int, batch: Sequence[int] = ()) -> Kernel:
    """Small integers and scales, so that all sums are exact."""
    name = "_".join([operand, scale, str(block), *map(str, batch)])
    k = Kernel(f"mmaf_scaled_{name}")
    m, n, depth = 32, 16, 64
    shapes = [[*batch, m, depth], [*batch, depth, n], [*batch, m, n]]
    scales = [[*batch, m, depth // block], [*batch, depth // block, n]]
    a, b = (_operand(k, operand, shape, str(i)) for i, shape in enumerate(shapes[:2]))
    acc = k.load(generator("acc", name).integers(-8, 9, shapes[2]).astype(np.float32), "f32")
    sa, sb = (_scales(k, scale, shape, str(i)) for i, shape in enumerate(scales))
    elements = (operand, operand, "f32", scale, scale)
    types = ", ".join(map(tile, [*shapes, *scales], elements))
    result = k.op(f"mmaf_scaled {a}, {b}, {acc}, {sa}, {sb} : {types}")
    k.store(result, "f32", tuple(shapes[2]), name)
    return k


def _operand(k: Kernel, element: str, shape: Sequence[int], seed: str) -> str:
    if element == "f4E2M1FN":
        return _load_four_bits(k, shape, seed)
    values = generator("scaled", element, seed).integers(-4, 5, shape)
    return k.load(values.astype(storage_dtype(element)), element)


def _scales(k: Kernel, element: str, shape: Sequence[int], seed: str) -> str:
    powers = 2.0 ** generator("scales", element, seed).integers(-2, 3, shape)
    return k.load(powers.astype(storage_dtype(element)), element)


def kernels() -> Iterator[Kernel]:
    yield _scale_to_float()
    for source in _WIDE:
        yield _float_to_scale(source)
        yield _four_bits(source)
    yield _shapes_of_four_bits()
    for case in _SCALED:
        yield _scaled_product(*case)
    yield _scaled_product("f8E4M3FN", "f8E8M0FNU", 32, (2,))
