"""Reductions and scans: dimensions, sizes, types, directions, combiners.

Where the order of combination matters, inputs are chosen so that it does not: floats are small
integers, whose sums are exact. Combiners that are associative but not commutative find elements
combined in the wrong order by a scan (a reduction may take any order).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileir.runtime.dtypes import storage_dtype

from .kernel import Kernel, tile
from .values import FLOATS, INTEGERS, WIDTH, generator

Shapes = tuple[tuple[tuple[int, ...], int], ...]

_SHAPES: Shapes = (
    ((1,), 0), ((2,), 0), ((16,), 0), ((64,), 0), ((128,), 0), ((256,), 0), ((1024,), 0),
    ((4096,), 0), ((16, 64), 0), ((16, 64), 1), ((128, 32), 0), ((128, 32), 1), ((1, 128), 0),
    ((1, 128), 1), ((256, 1), 0), ((4, 8, 32), 0), ((4, 8, 32), 1), ((4, 8, 32), 2),
    ((2, 4, 8, 16), 1), ((64, 256), 1), ((64, 256), 0), ((8, 1024), 1), ((1024, 4), 0),
)  # fmt: skip
_SCAN_SHAPES: Shapes = (
    ((1,), 0), ((2,), 0), ((16,), 0), ((64,), 0), ((512,), 0), ((16, 32), 0), ((16, 32), 1),
    ((64, 4), 0), ((4, 128), 1), ((4, 4, 16), 0), ((4, 4, 16), 1), ((4, 4, 16), 2),
)  # fmt: skip


def small(shape: Sequence[int], element: str, *seed: str) -> np.ndarray:
    """Small integers whose sums over any dimension are exact in every type."""
    rng = generator("small", element, str(shape), *seed)
    dtype = storage_dtype(element)
    if element == "i1":
        return rng.random(shape) < 0.5
    if element in INTEGERS:
        limit = 1 << (WIDTH[element] - 1)
        return rng.integers(-limit, limit, shape, dtype)
    return rng.choice([-1.0, 0.0, 1.0, 2.0, -2.0], shape, p=[0.2, 0.5, 0.2, 0.05, 0.05]).astype(
        dtype
    )


class Aggregate:
    """A kernel of reductions or scans of one element type."""

    def __init__(self, name: str, element: str):
        self.kernel = Kernel(f"{name}_{element}")
        self.element = element

    def add(
        self, kind: str, operands: Sequence[tuple[str, str]], shape: Sequence[int], dim: int,
        identities: Sequence[str], body: str, label: str, reverse: bool = False,
        judged: Sequence[int] | None = None,
    ) -> list[str]:  # fmt: skip
        """`operands` are (value, element) pairs; `body` names arguments %e0, %a0, %e1, %a1, ...
        and yields %r0, %r1, ...; `judged` are the results that are stored (default: all)."""
        k, count = self.kernel, len(operands)
        result_shape = [n for d, n in enumerate(shape) if d != dim] if kind == "reduce" else shape
        elements = [element for _, element in operands]
        results = k.fresh("r")
        names = results if count == 1 else f"{results}:{count}"
        sources = ", ".join(value for value, _ in operands)
        types = ", ".join(tile(shape, e) for e in elements)
        out = ", ".join(tile(result_shape, e) for e in elements)
        arguments = ", ".join(f"%e{i}: tile<{e}>, %a{i}: tile<{e}>" for i, e in enumerate(elements))
        given = ", ".join(f"{v} : {e}" for v, e in zip(identities, elements, strict=True))
        direction = f" reverse={'true' if reverse else 'false'}" if kind == "scan" else ""
        yields = ", ".join(f"%r{i}" for i in range(count))
        scalars = ", ".join(f"tile<{e}>" for e in elements)
        k.emit(
            f"{names} = {kind} {sources} dim={dim}{direction} identities=[{given}] : "
            f"{types} -> {out} ({arguments}) {{\n{body}\n    yield {yields} : {scalars}\n  }}"
        )
        values = [results] if count == 1 else [f"{results}#{i}" for i in range(count)]
        for i in range(count) if judged is None else judged:
            name = f"{kind} {label} of {tuple(shape)} dim {dim} {elements[i]}{' reverse' * reverse}"
            k.store(values[i], elements[i], result_shape, name)
        return values


def _simple(op: str, element: str, suffix: str = "") -> str:
    return f"    %r0 = {op} %e0, %a0{suffix} : tile<{element}>"


def _sum(element: str) -> tuple[str, str]:
    """(identity, body) of addition; of exclusive or for i1."""
    if element == "i1":
        return "0", _simple("xori", element)
    if element in INTEGERS:
        return "0", _simple("addi", element)
    return "0.0", _simple("addf", element)


def _sums(element: str) -> Kernel:
    a = Aggregate("reduce_sum", element)
    identity, body = _sum(element)
    for shape, dim in _SHAPES:
        x = a.kernel.load(small(shape, element), element)
        a.add("reduce", [(x, element)], shape, dim, [identity], body, "sum")
    return a.kernel


def _prefix_sums(element: str) -> Kernel:
    a = Aggregate("scan_sum", element)
    identity, body = _sum(element)
    for shape, dim in _SCAN_SHAPES:
        x = a.kernel.load(small(shape, element), element)
        for reverse in (False, True):
            a.add("scan", [(x, element)], shape, dim, [identity], body, "sum", reverse)
    return a.kernel


def _long_scan() -> Kernel:
    a = Aggregate("scan_long", "i32")
    x = a.kernel.load(small((4096,), "i32"), "i32")
    a.add("scan", [(x, "i32")], (4096,), 0, ["0"], _simple("addi", "i32"), "sum")
    return a.kernel


def _extrema(element: str) -> Kernel:
    """Minimum and maximum, with all numbers of the type, products of signs, bit operations."""
    a = Aggregate("reduce_extrema", element)
    shapes = (((256,), 0), ((16, 64), 0), ((16, 64), 1), ((4, 8, 32), 1))
    for shape, dim in shapes:
        x = a.kernel.load(small(shape, element, "extrema"), element)
        if element in INTEGERS:
            low, high = -(1 << (WIDTH[element] - 1)), (1 << (WIDTH[element] - 1)) - 1
            rules = (
                ("maxi signed", str(low), "maxi", " signed"),
                ("mini signed", str(high), "mini", " signed"),
                ("maxi unsigned", "0", "maxi", " unsigned"),
                ("mini unsigned", "-1", "mini", " unsigned"),
                ("andi", "-1", "andi", ""), ("ori", "0", "ori", ""), ("xori", "0", "xori", ""),
                ("muli", "1", "muli", ""),
            )  # fmt: skip
        else:
            rules = (
                ("maxf", "-inf", "maxf", ""),
                ("minf", "inf", "minf", ""),
                ("maxf propagate_nan", "-inf", "maxf", " propagate_nan"),
            )
        for label, identity, op, suffix in rules:
            a.add("reduce", [(x, element)], shape, dim, [_bits_of(identity, element)],
                  _simple(op, element, suffix), label)  # fmt: skip
    return a.kernel


def _bits_of(text: str, element: str) -> str:
    """Infinities as bits, since text has no word for them."""
    if "inf" not in text:
        return text
    exponent, mantissa = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}[element]
    bits = ((1 << exponent) - 1) << mantissa
    if text.startswith("-"):
        bits |= 1 << (exponent + mantissa)
    return f"0x{bits:0{(exponent + mantissa + 1) // 4}X}"


_FIRST_MAXIMUM = """\
    %greater = cmpf greater_than ordered %e0, %a0 : tile<{value}> -> tile<i1>
    %equal = cmpf equal ordered %e0, %a0 : tile<{value}> -> tile<i1>
    %earlier = cmpi less_than %e1, %a1, signed : tile<i32> -> tile<i1>
    %tie = andi %equal, %earlier : tile<i1>
    %take = ori %greater, %tie : tile<i1>
    %r0 = select %take, %e0, %a0 : tile<i1>, tile<{value}>
    %r1 = select %take, %e1, %a1 : tile<i1>, tile<i32>"""


def _argmax(element: str) -> Kernel:
    """Two operands: the largest number and where it first stands."""
    a = Aggregate("argmax", element)
    for shape, dim in (((1024,), 0), ((32, 128), 1), ((32, 128), 0), ((4, 64, 8), 1)):
        x = a.kernel.load(small(shape, element, "argmax"), element)
        flat = a.kernel.op(f"iota : {tile([shape[dim]], 'i32')}")
        unit = [n if d == dim else 1 for d, n in enumerate(shape)]
        line = a.kernel.op(f"reshape {flat} : {tile([shape[dim]], 'i32')} -> {tile(unit, 'i32')}")
        index = a.kernel.op(f"broadcast {line} : {tile(unit, 'i32')} -> {tile(shape, 'i32')}")
        a.add("reduce", [(x, element), (index, "i32")], shape, dim,
              [_bits_of("-inf", element), str(2**31 - 1)], _FIRST_MAXIMUM.format(value=element),
              "argmax")  # fmt: skip
    return a.kernel


#: The composition of the affine maps x -> m x + t (accumulator first) is associative and does not
#: commute: m = m1 m2, t = m2 t1 + t2.
_COMPOSE = """\
    %r0 = muli %a0, %e0 : tile<{e}>
    %p = muli %e0, %a1 : tile<{e}>
    %r1 = addi %p, %e1 : tile<{e}>"""


def _compositions(element: str) -> Kernel:
    """Prefixes of a composition of maps: another order of combination gives another result."""
    a = Aggregate("scan_compose", element)
    shapes: Shapes = (((64,), 0), ((256,), 0), ((16, 64), 0), ((16, 64), 1), ((4, 8, 16), 1))
    for shape, dim in shapes:
        m = a.kernel.load(small(shape, element, "factor") | 1, element)
        t = a.kernel.load(small(shape, element, "term"), element)
        for reverse in (False, True):
            a.add("scan", [(m, element), (t, element)], shape, dim, ["1", "0"],
                  _COMPOSE.format(e=element), "composition", reverse)  # fmt: skip
    return a.kernel


def _captures() -> Kernel:
    """A combiner that uses values from outside, and several operands of different types."""
    a = Aggregate("reduce_captures", "i32")
    x = a.kernel.load(small((16, 64), "i32", "capture"), "i32")
    y = a.kernel.load(small((16, 64), "f64", "capture"), "f64")
    z = a.kernel.load(small((16, 64), "f16", "capture"), "f16")
    mask = a.kernel.number(0x00FF00FF, "i32")
    body = (f"    %s0 = xori %e0, %a0 : tile<i32>\n    %r0 = andi %s0, {mask} : tile<i32>\n"
            "    %r1 = addf %e1, %a1 : tile<f64>\n    %r2 = addf %e2, %a2 : tile<f16>")  # fmt: skip
    masked = a.kernel.op(f"broadcast {_one(a.kernel, mask)} : tile<1x1xi32> -> tile<16x64xi32>")
    kept = a.kernel.op(f"andi {x}, {masked} : tile<16x64xi32>")
    for dim in (0, 1):
        a.add("reduce", [(kept, "i32"), (y, "f64"), (z, "f16")], (16, 64), dim, ["0", "0.0", "0.0"],
              body, "three operands")  # fmt: skip
    return a.kernel


def _one(k: Kernel, scalar: str) -> str:
    return k.op(f"reshape {scalar} : tile<i32> -> tile<1x1xi32>")


def _chains() -> Kernel:
    """Reductions of reductions, and results used beside their source (softmax's pattern)."""
    a = Aggregate("reduce_chain", "f32")
    x = a.kernel.load(small((32, 128), "f32", "chain"), "f32")
    k, wide = a.kernel, tile((32, 128), "f32")
    (top,) = a.add("reduce", [(x, "f32")], (32, 128), 1, [_bits_of("-inf", "f32")],
                   _simple("maxf", "f32"), "row maximum")  # fmt: skip
    column = k.op(f"reshape {top} : tile<32xf32> -> tile<32x1xf32>")
    spread = k.op(f"broadcast {column} : tile<32x1xf32> -> {wide}")
    centred = k.op(f"subf {x}, {spread} : {wide}")
    (total,) = a.add("reduce", [(centred, "f32")], (32, 128), 0, ["0.0"], _simple("addf", "f32"),
                     "of differences")  # fmt: skip
    a.add("reduce", [(total, "f32")], (128,), 0, ["0.0"], _simple("addf", "f32"), "of sums")
    return k


def kernels() -> Iterator[Kernel]:
    for element in ("i1", *INTEGERS, *FLOATS):
        yield _sums(element)
        yield _prefix_sums(element)
    for element in (*INTEGERS, *FLOATS):
        yield _extrema(element)
    for element in FLOATS:
        yield _argmax(element)
    for element in INTEGERS:
        yield _compositions(element)
    yield _long_scan()
    yield _captures()
    yield _chains()
