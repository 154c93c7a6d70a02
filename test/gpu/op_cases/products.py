"""Matrix products: types, shapes, operand orders, operands from registers, chains.

Most operands are small integers, so that every order of summation gives the same bits: what is
wrong is then a misplaced element. Products of random numbers are judged relative to the sum of
the magnitudes of their terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileir.runtime.dtypes import storage_dtype
from tileir.runtime.tolerance import Tolerance

from .kernel import EXACT, Kernel, tile
from .values import generator, moderate, wide

_SHAPES = (
    (16, 8, 16), (16, 16, 16), (16, 16, 128), (32, 16, 32), (64, 64, 64), (64, 32, 16),
    (16, 256, 32), (256, 16, 16), (128, 64, 32), (8, 8, 8), (4, 16, 8), (16, 4, 4), (1, 16, 16),
    (32, 32, 1), (2, 2, 2), (64, 8, 64),
)  # fmt: skip
#: (operands, accumulator)
_TYPES = (
    ("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("tf32", "f32"), ("f32", "f32"),
    ("f64", "f64"), ("i8", "i32"), ("f8E4M3FN", "f32"), ("f8E5M2", "f32"), ("f8E4M3FN", "f16"),
    ("f8E5M2", "f16"),
)  # fmt: skip


def small(shape: Sequence[int], element: str, *seed: str) -> np.ndarray:
    """Integers from -2 to 2: sums of 128 products stay exact in f16."""
    rng = generator("product", element, str(tuple(shape)), *seed)
    return rng.integers(-2, 3, shape).astype(storage_dtype(element))


def bytes_(shape: Sequence[int], *seed: str) -> np.ndarray:
    """All values of i8."""
    return generator("bytes", str(tuple(shape)), *seed).integers(-128, 128, shape).astype(np.int8)


class Products:
    """A kernel of matrix products of one pair of types."""

    def __init__(self, name: str, operand: str, accumulator: str):
        self.kernel = Kernel(f"{name}_{operand}_{accumulator}")
        self.operand, self.accumulator = operand, accumulator

    def small(self, shape: Sequence[int], *seed: str) -> np.ndarray:
        return bytes_(shape, *seed) if self.operand == "i8" else small(shape, self.operand, *seed)

    def load(self, shape: Sequence[int], *seed: str) -> str:
        return self.kernel.load(self.small(shape, *seed), self.operand)

    def load_turned(self, shape: Sequence[int], *seed: str) -> str:
        """A tile that lies in memory with its last two dimensions exchanged."""
        turned = [*shape[:-2], shape[-1], shape[-2]]
        value = self.load(turned, *seed)
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        source, result = tile(turned, self.operand), tile(shape, self.operand)
        return self.kernel.op(f"permute {value} {order} : {source} -> {result}")

    def accumulate(self, shape: Sequence[int]) -> str:
        return self.kernel.load(small(shape, self.accumulator, "acc"), self.accumulator)

    def multiply(
        self, a: str, b: str, c: str, a_shape: Sequence[int], b_shape: Sequence[int],
        signs: str = "",
    ) -> str:  # fmt: skip
        op = "mmai" if self.operand == "i8" else "mmaf"
        if op == "mmai" and not signs:
            signs = " signed signed"
        c_shape = [*a_shape[:-1], b_shape[-1]]
        types = (tile(a_shape, self.operand), tile(b_shape, self.operand),
                 tile(c_shape, self.accumulator))  # fmt: skip
        return self.kernel.op(f"{op} {a}, {b}, {c}{signs} : {', '.join(types)}")

    def judge(
        self, value: str, shape: Sequence[int], label: str, tolerance: Tolerance = EXACT,
        expected: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        name = f"{label} {self.operand} {self.accumulator}"
        self.kernel.store(value, self.accumulator, shape, name, tolerance, expected)


def _shapes(operand: str, accumulator: str) -> Iterator[Kernel]:
    for m, n, k in _SHAPES:
        p = Products(f"product_{m}x{n}x{k}", operand, accumulator)
        a, b, c = p.load((m, k), "a"), p.load((k, n), "b"), p.accumulate((m, n))
        p.judge(p.multiply(a, b, c, (m, k), (k, n)), (m, n), f"{m}x{n}x{k}")
        yield p.kernel


def _orders(operand: str, accumulator: str) -> Iterator[Kernel]:
    """Operands that lie transposed in memory."""
    for m, n, k in ((64, 32, 32), (16, 8, 64)):
        p = Products(f"product_orders_{m}x{n}x{k}", operand, accumulator)
        for left in (p.load, p.load_turned):
            for right in (p.load, p.load_turned):
                a, b, c = left((m, k), "a"), right((k, n), "b"), p.accumulate((m, n))
                label = f"{m}x{n}x{k} {left.__name__} {right.__name__}"
                p.judge(p.multiply(a, b, c, (m, k), (k, n)), (m, n), label)
        yield p.kernel


def _computed(operand: str, accumulator: str) -> Kernel:
    """Operands that are computed, and the accumulator used again."""
    p = Products("product_computed", operand, accumulator)
    k, m = p.kernel, 32
    shape = (m, m)
    kind, acc = tile(shape, operand), tile(shape, accumulator)
    condition = k.load(generator("product condition").random(shape) < 0.7, "i1")
    zero = k.full(0 if operand == "i8" else "0.0", shape, operand)
    a, b = (
        k.op(f"select {condition}, {p.load(shape, name)}, {zero} : {tile(shape, 'i1')}, {kind}")
        for name in "ab"
    )
    first = p.multiply(a, b, p.accumulate(shape), shape, shape)
    p.judge(first, shape, "computed")
    second = p.multiply(b, a, first, shape, shape)
    p.judge(second, shape, "accumulated")
    one = k.op(f"iota : {tile([m], 'i32')}")
    wide_ = k.op(f"reshape {one} : {tile([m], 'i32')} -> {tile([1, m], 'i32')}")
    rows = k.op(f"broadcast {wide_} : {tile([1, m], 'i32')} -> {tile(shape, 'i32')}")
    spread = rows if accumulator == "i32" else k.op(
        f"itof {rows} signed : {tile(shape, 'i32')} -> {acc}")  # fmt: skip
    op = "addi" if accumulator == "i32" else "addf"
    p.judge(k.op(f"{op} {second}, {spread} : {acc}"), shape, "used in arithmetic")
    return p.kernel


def _chained(operand: str, accumulator: str) -> Kernel:
    """The result of one product, converted, is an operand of the next (attention's pattern)."""
    p = Products("product_chained", operand, accumulator)
    k, (m, n, d) = p.kernel, (64, 32, 16)
    rng = generator("chained")
    sparse = (rng.random((m, d)) < 0.1) * rng.integers(-1, 2, (m, d))
    a = k.load(sparse.astype(storage_dtype(operand)), operand)
    scores = p.multiply(
        a, p.load((d, n), "keys"), k.full("0.0", (m, n), accumulator), (m, d), (d, n)
    )
    narrow = k.op(f"ftof {scores} : {tile((m, n), accumulator)} -> {tile((m, n), operand)}")
    result = p.multiply(narrow, p.load((n, d), "values"), p.accumulate((m, d)), (m, n), (n, d))
    p.judge(result, (m, d), "chained")
    return k


def _in_loop(operand: str, accumulator: str) -> Kernel:
    """A loop over k with loads, which the compiler overlaps; the last tile passes the edge."""
    p = Products("product_loop", operand, accumulator)
    k, (m, n, step, depth) = p.kernel, (64, 32, 32, 200)
    zero, one = k.scalar(0), k.scalar(1)
    rounds = k.number(-(-depth // step), "i32")
    views = []
    for name, shape, cut in (("a", (m, depth), (m, step)), ("b", (depth, n), (step, n))):
        pointer = k.pointer(p.small(shape, name), operand)
        tensor = f"tensor_view<{shape[0]}x{shape[1]}x{operand}, strides=[{shape[1]},1]>"
        whole = k.op(f"make_tensor_view {pointer}, shape = [{shape[0]}, {shape[1]}], "
                     f"strides = [{shape[1]}, 1] : {tensor}")  # fmt: skip
        padding = "padding_value = zero, "
        type_ = f"partition_view<tile=({cut[0]}x{cut[1]}), {padding}{tensor}>"
        views.append((k.op(f"make_partition_view {whole} : {type_}"), type_, tile(cut, operand)))
    (va, ta, xa), (vb, tb, xb) = views
    acc = tile((m, n), accumulator)
    op, signs = ("mmai", " signed signed") if operand == "i8" else ("mmaf", "")
    k.emit(f"""%sum = for %k in ({zero} to {rounds}, step {one}) : tile<i32>
      iter_values(%c = {p.accumulate((m, n))}) -> ({acc}) {{
    %a, %t1 = load_view_tko weak {va}[{zero}, %k] : {ta}, tile<i32> -> {xa}, token
    %b, %t2 = load_view_tko weak {vb}[%k, {zero}] : {tb}, tile<i32> -> {xb}, token
    %d = {op} %a, %b, %c{signs} : {xa}, {xb}, {acc}
    continue %d : {acc}
  }}""")
    p.judge("%sum", (m, n), f"{m}x{n}x{depth} in steps of {step}")
    return k


def _batches(operand: str, accumulator: str) -> Iterator[Kernel]:
    for batch, m, n, k in (
        (1, 32, 16, 32), (2, 16, 16, 32), (4, 32, 16, 16), (8, 4, 4, 4), (2, 128, 64, 32),
        (16, 16, 8, 32),
    ):  # fmt: skip
        p = Products(f"product_batch_{batch}x{m}x{n}x{k}", operand, accumulator)
        a, b = p.load((batch, m, k), "a"), p.load_turned((batch, k, n), "b")
        c = p.accumulate((batch, m, n))
        value = p.multiply(a, b, c, (batch, m, k), (batch, k, n))
        p.judge(value, (batch, m, n), f"batch of {batch} {m}x{n}x{k}")
        yield p.kernel


def _signs() -> Iterator[Kernel]:
    for m, n, k in ((32, 16, 32), (64, 64, 64), (4, 4, 4)):
        p = Products(f"product_signs_{m}x{n}x{k}", "i8", "i32")
        for left in ("signed", "unsigned"):
            for right in ("signed", "unsigned"):
                a, b, c = p.load((m, k), "a"), p.load_turned((k, n), "b"), p.accumulate((m, n))
                value = p.multiply(a, b, c, (m, k), (k, n), f" {left} {right}")
                p.judge(value, (m, n), f"{left} {right} {m}x{n}x{k}")
        yield p.kernel


#: Unit roundoff of accumulation, for products of random numbers. The tensor cores align the terms
#: of a step and drop what lies below; a few bits more than the format's own.
_ROUNDOFF = {"f16": 2.0**-10, "f32": 2.0**-21, "f64": 2.0**-50}


def _random(operand: str, accumulator: str) -> Iterator[Kernel]:
    for m, n, k in ((64, 32, 64), (16, 16, 16), (128, 64, 32)):
        p = Products(f"product_random_{m}x{n}x{k}", operand, accumulator)
        rng = generator("random product", operand, str(k))
        spread = 1 if accumulator == "f16" else 3
        a, b = (moderate(operand, rows * columns, rng, spread).reshape(rows, columns)
                for rows, columns in ((m, k), (k, n)))  # fmt: skip
        c = moderate(accumulator, m * n, rng, spread).reshape(m, n)
        value = p.multiply(p.kernel.load(a, operand), p.kernel.load(b, operand),
                           p.kernel.load(c, accumulator), (m, k), (k, n))  # fmt: skip
        expected = wide(a) @ wide(b) + wide(c)
        terms = np.abs(wide(a)) @ np.abs(wide(b)) + np.abs(wide(c))
        roundoff = 2.0**-12 if operand in ("f8E4M3FN", "f8E5M2") else _ROUNDOFF[accumulator]
        tolerance = Tolerance(None, atol=float(terms.max()) * max(roundoff, _ROUNDOFF[accumulator]))
        p.judge(value, (m, n), f"random {m}x{n}x{k}", tolerance, expected)
        yield p.kernel


def _large() -> Iterator[Kernel]:
    for operand in ("f16", "bf16"):
        for m, n, k in ((256, 256, 16), (256, 128, 64), (128, 256, 32), (64, 256, 128)):
            p = Products(f"product_{m}x{n}x{k}", operand, "f32")
            a, b, c = p.load((m, k), "a"), p.load((k, n), "b"), p.accumulate((m, n))
            p.judge(p.multiply(a, b, c, (m, k), (k, n)), (m, n), f"{m}x{n}x{k}")
            yield p.kernel


def kernels() -> Iterator[Kernel]:
    for operand, accumulator in _TYPES:
        yield from _shapes(operand, accumulator)
        yield from _orders(operand, accumulator)
        yield _computed(operand, accumulator)
        yield _in_loop(operand, accumulator)
        yield from _batches(operand, accumulator)
        if operand != "i8":
            yield from _random(operand, accumulator)
        if (
            operand != "i8"
            and (operand, accumulator) not in (("f32", "f32"), ("f64", "f64"))
            and (operand != accumulator)
        ):
            yield _chained(operand, accumulator)
    yield from _signs()
    yield from _large()
