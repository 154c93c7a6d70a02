"""Products of tiles that a kernel transposes: after loading them, or before storing the result.

Both mean the same as loads and stores with `order=(1, 0)`, and are to become the same instructions.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from gemm_support import LAUNCHES, Launch, assert_fast, simulate

import tileir
import tileir.lang as ct
from tileir.compiler.program import Program
from tileir.lang.compilation import KernelSignature
from tileir.lang.kernel import Kernel

ZERO = ct.PaddingMode.ZERO
BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, I32 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.int32)
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
I8 = np.dtype(np.int8)


@ct.function
def taken(x, i, j, TI, TJ, how):
    """Tile (i, j) of a matrix, or of the transpose of `x`, to be multiplied."""
    if how == "plain":
        tile = ct.load(x, (i, j), (TI, TJ), padding_mode=ZERO)
    elif how == "order":
        tile = ct.load(x, (i, j), (TI, TJ), order=(1, 0), padding_mode=ZERO)
    else:
        tile = ct.load(x, (j, i), (TJ, TI), padding_mode=ZERO).transpose()
    return tile.astype(ct.tfloat32) if x.dtype == ct.float32 else tile


@ct.function
def put(c, i, j, tile, how):
    if how == "plain":
        ct.store(c, (i, j), tile.astype(c.dtype))
    elif how == "order":
        ct.store(c, (i, j), tile.astype(c.dtype), order=(1, 0))
    elif how == "converted":
        ct.store(c, (j, i), ct.transpose(tile.astype(c.dtype)))
    else:
        ct.store(c, (j, i), tile.transpose().astype(c.dtype))


@ct.kernel
def product(
    a, b, c, TM: ct.Constant, TN: ct.Constant, TK: ct.Constant,
    left: ct.Constant, right: ct.Constant, result: ct.Constant, sums: ct.Constant,
):  # fmt: skip
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), sums)
    for k in range(ct.cdiv(a.shape[1 if left == "plain" else 0], TK)):
        tile = taken(a, i, k, TM, TK, left)
        acc = ct.mma(tile, taken(b, k, j, TK, TN, right), acc)
    put(c, i, j, acc, result)


@dataclass(frozen=True)
class Case:
    """A product, of elements of one type, with parts of tiles at the edges."""

    dtype: np.dtype[Any] = BF16
    out: np.dtype[Any] = BF16
    tile: tuple[int, int, int] = (128, 128, 64)
    hows: tuple[str, str, str] = ("plain", "plain", "plain")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """M, N and K."""
        return self.tile[0] + 48, self.tile[1] + 16, self.tile[2] + 80

    @property
    def grid(self) -> tuple[int, int, int]:
        m, n, _ = self.sizes
        return -(-m // self.tile[0]), -(-n // self.tile[1]), 1

    def arguments(self) -> tuple[Any, ...]:
        """Arrays, of which the kernel transposes some, and constants."""
        m, n, k = self.sizes
        r = np.random.default_rng(m + n + k)
        shapes = [(m, k), (k, n), (m, n)]
        shapes = [
            s if how == "plain" else s[::-1] for s, how in zip(shapes, self.hows, strict=True)
        ]
        # Small integers: sums are exact in any order, and halves of them are rounded in the end.
        a, b = (r.integers(-4, 5, shape).astype(self.dtype) for shape in shapes[:2])
        c = np.full(shapes[2], 77, self.out)
        sums = ct.int32 if self.dtype == I8 else ct.float32
        return a, b, c, *self.tile, *self.hows, sums

    def compiled(self, target: str = "sm_90a", launch: Launch = "managed") -> Program:
        return compiled(product, self.arguments(), target, launch)

    def check(self, program: Program) -> None:
        """Simulates the program beside NumPy."""
        arguments = self.arguments()
        run(program, self.grid, arguments)
        a, b, c = (
            (x if how == "plain" else x.T).astype(np.float64)
            for x, how in zip(arguments[:3], self.hows, strict=True)
        )
        np.testing.assert_array_equal(c, (a @ b).astype(self.out).astype(np.float64))


def compiled(
    kernel: Kernel, arguments: tuple[Any, ...], target: str = "sm_90a", launch: Launch = "managed"
) -> Program:
    described = KernelSignature.from_kernel_args(kernel, arguments).signature
    source = str(kernel.trace(described, target))
    return tileir.compile(source, target, launch=launch, isolate=False, cache=False)


def run(program: Program, grid: tuple[int, int, int], arguments: tuple[Any, ...]) -> None:
    flat: list[Any] = []
    for array in arguments:
        if isinstance(array, np.ndarray):
            flat += [array, *array.shape, *(s // array.itemsize for s in array.strides)]
    simulate(program, grid, flat)


_COUNTED = r"wgmma\.mma_async|mma\.sync|cp\.async[.\w:]*|st\.shared|ldmatrix[.\w]*|stmatrix[.\w]*"


def stages(program: Program) -> int:
    """How many rounds are fetched ahead."""
    found = re.search(r"fetches (\d+) stages", str(program.remarks))
    assert found, program.remarks
    return int(found[1])


def instructions(program: Program) -> Counter[str]:
    return Counter(re.findall(_COUNTED, program.ptx))


OPERANDS = [(BF16, BF16), (E4M3, BF16), (I8, I32), (F32, F32)]
TURNED = [("plain", "turned"), ("turned", "plain"), ("turned", "turned")]


@pytest.mark.parametrize("turned", TURNED, ids="-".join)
@pytest.mark.parametrize(("dtype", "out"), OPERANDS, ids=str)
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_operands_become_what_ordered_loads_become(dtype, out, turned, target):
    if target == "sm_80" and dtype == E4M3:
        target = "sm_89"
    case = Case(dtype, out, (128, 128, 128 // dtype.itemsize), (*turned, "plain"))
    ordered = replace(case, hows=tuple(how.replace("turned", "order") for how in case.hows))
    assert instructions(case.compiled(target)) == instructions(ordered.compiled(target))


@pytest.mark.parametrize("turned", TURNED, ids="-".join)
@pytest.mark.parametrize(
    ("dtype", "launch"), [(BF16, "plain"), (BF16, "managed"), (F16, "managed")], ids=str
)
def test_operands_of_16_bits(dtype, turned, launch):
    case = Case(dtype, dtype, hows=(*turned, "plain"))
    program = case.compiled(launch=launch)
    assert "cp.async.bulk.tensor" in program.ptx and "cp.async.cg" not in program.ptx
    assert_fast(program)
    case.check(program)


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize(("dtype", "out"), [(E4M3, BF16), (I8, I32)], ids=str)
def test_operands_of_8_bits(dtype, out, launch):
    """As layers of neural networks are written: the weights' rows run along k."""
    case = Case(dtype, out, (128, 128, 128), ("plain", "turned", "plain"))
    program = case.compiled(launch=launch)
    assert "wgmma" in program.ptx and "cp.async.bulk.tensor" in program.ptx
    assert_fast(program)
    case.check(program)


@pytest.mark.parametrize("dtype", [BF16, F16, I8], ids=str)
def test_operands_on_ampere(dtype):
    case = Case(dtype, I32 if dtype == I8 else dtype, (64, 64, 64), ("turned", "turned", "plain"))
    case.check(case.compiled("sm_80"))


STORED_TILES = [
    (64, 64, 64), (128, 64, 64), (64, 128, 64), (128, 128, 64), (64, 256, 64), (128, 256, 64),
    (256, 128, 64),
]  # fmt: skip


def check_result(case: Case, launch: Launch) -> None:
    """As fast as that tile of the transposed product, and right."""
    program = case.compiled(launch=launch)
    assert_fast(program)
    m, n, k = case.tile
    upright = replace(case, tile=(n, m, k), hows=("plain",) * 3).compiled(launch=launch)
    assert stages(program) == stages(upright)
    assert ("tma_store" in program.stage("tile_gpu")) == ("tma_store" in upright.stage("tile_gpu"))
    case.check(program)


@pytest.mark.parametrize("out", [BF16, F32], ids=str)
@pytest.mark.parametrize("tile", STORED_TILES, ids=str)
def test_results(tile, out):
    check_result(Case(BF16, out, tile, ("plain", "plain", "turned")), "managed")


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("how", ["order", "turned", "converted"])
@pytest.mark.parametrize("tile", [(128, 128, 64), (128, 256, 64)], ids=str)
def test_results_however_they_are_transposed(tile, how, launch):
    check_result(Case(BF16, BF16, tile, ("plain", "turned", how)), launch)


@pytest.mark.parametrize(("dtype", "out"), [(E4M3, BF16), (I8, I32), (F32, F32)], ids=str)
def test_results_of_other_types(dtype, out):
    """Sums of 8-bit floats are added up in full precision on the way."""
    tile = (128, 256, 128 // dtype.itemsize)
    case = Case(dtype, out, tile, ("plain", "turned", "turned"))
    program = case.compiled()
    assert "cp.async.bulk.tensor.2d.global" in program.ptx
    assert_fast(program)
    case.check(program)


@pytest.mark.parametrize("out", [BF16, F32], ids=str)
def test_results_on_ampere(out):
    case = Case(BF16, out, (64, 128, 64), ("plain", "turned", "turned"))
    case.check(case.compiled("sm_80"))


def test_results_that_are_computed_slice_by_slice():
    """256x256 accumulators do not fit a block's registers."""
    case = Case(BF16, BF16, (256, 256, 64), ("turned", "turned", "turned"))
    case.check(case.compiled())


# ---- with epilogues ------------------------------------------------------------------------------


@ct.function
def multiplied(a, b, i, j, TM, TN):
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 1, (TM, 64))):
        right = ct.load(b, (j, k), (TN, 64), padding_mode=ZERO).transpose()
        acc = ct.mma(ct.load(a, (i, k), (TM, 64), padding_mode=ZERO), right, acc)
    return acc


@ct.kernel
def work_after_transposing(a, b, c, d, row, residual, TM: ct.Constant, TN: ct.Constant):
    """Everything is in the orientation of what is stored."""
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN).transpose()
    acc = acc * 2.0 + ct.load(row, (j,), (TN,), padding_mode=ZERO)[:, None]
    acc = acc + ct.load(residual, (j, i), (TN, TM), padding_mode=ZERO).astype(ct.float32)
    ct.store(c, (j, i), ct.maximum(acc, 0.0).astype(c.dtype))


@ct.kernel
def work_before_transposing(a, b, c, d, row, residual, TM: ct.Constant, TN: ct.Constant):
    """The same in the orientation of the product."""
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN)
    acc = acc * 2.0 + ct.load(row, (j,), (TN,), padding_mode=ZERO)[None, :]
    residual = ct.load(residual, (i, j), (TM, TN), order=(1, 0), padding_mode=ZERO)
    acc = ct.maximum(acc + residual.astype(ct.float32), 0.0)
    ct.store(c, (j, i), acc.transpose().astype(c.dtype))


@ct.kernel
def upright_residual(a, b, c, d, row, residual, TM: ct.Constant, TN: ct.Constant):
    """The residual has the product's rows, the result its columns."""
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN)
    acc = acc * 2.0 + ct.load(row, (j,), (TN,), padding_mode=ZERO)[None, :]
    acc = acc + ct.load(residual, (i, j), (TM, TN), padding_mode=ZERO).astype(ct.float32)
    ct.store(c, (j, i), ct.maximum(acc, 0.0).transpose().astype(c.dtype))


@ct.kernel
def both_orientations(a, b, c, d, row, residual, TM: ct.Constant, TN: ct.Constant):
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN)
    acc = acc * 2.0 + ct.load(row, (j,), (TN,), padding_mode=ZERO)[None, :]
    acc = acc + ct.load(residual, (i, j), (TM, TN), padding_mode=ZERO).astype(ct.float32)
    acc = ct.maximum(acc, 0.0).astype(c.dtype)
    ct.store(c, (j, i), acc.transpose())
    ct.store(d, (i, j), acc)


EPILOGUES = [work_after_transposing, work_before_transposing, upright_residual, both_orientations]


@pytest.mark.parametrize(
    ("out", "launch"), [(BF16, "managed"), (BF16, "plain"), (F32, "managed")], ids=str
)
@pytest.mark.parametrize("tile", [(128, 128), (128, 256), (64, 64)], ids=str)
@pytest.mark.parametrize("kernel", EPILOGUES, ids=lambda kernel: kernel.name)
def test_epilogues(kernel, tile, out, launch):
    r = np.random.default_rng(5)
    m, n, k = tile[0] + 48, tile[1] + 16, 144
    a, b, residual = (r.integers(-4, 5, s).astype(BF16) for s in ((m, k), (n, k), (m, n)))
    row = r.integers(-4, 5, n).astype(np.float32)
    c, d = np.full((n, m), 77, out), np.full((m, n), 77, out)
    upright = kernel in (upright_residual, both_orientations)
    given = residual if upright else np.ascontiguousarray(residual.T)
    arguments = a, b, c, d, row, given, *tile
    program = compiled(kernel, arguments, launch=launch)
    assert_fast(program)
    assert "cp.async.bulk.tensor.2d.global" in program.ptx
    assert "take_tile" in program.stage("tile_gpu")
    run(program, (2, 2, 1), arguments)
    left, right, added = (x.astype(np.float64) for x in (a, b, residual))
    want = np.maximum(2 * (left @ right.T) + row + added, 0).astype(out)
    np.testing.assert_array_equal(c.T.astype(np.float64), want.astype(np.float64))
    if kernel is both_orientations:
        np.testing.assert_array_equal(d.astype(np.float64), want.astype(np.float64))


# ---- other programs ------------------------------------------------------------------------------


@ct.kernel
def batched(a, b, c, T: ct.Constant):
    """Matrices of a batch, each transposed together with it."""
    i, j, batch = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((T, T), ct.float32)
    for k in range(ct.num_tiles(a, 2, (1, T, 64))):
        left = ct.load(a, (batch, i, k), (1, T, 64), padding_mode=ZERO).reshape((T, 64))
        right = ct.load(b, (batch, j, k), (1, T, 64), padding_mode=ZERO)
        acc = ct.mma(left, ct.permute(right, (0, 2, 1)).reshape((64, T)), acc)
    ct.store(c, (batch, j, i), ct.permute(acc.reshape((1, T, T)), (0, 2, 1)).astype(c.dtype))


def test_batches():
    r = np.random.default_rng(3)
    a, b = (r.integers(-4, 5, (2, size, 144)).astype(BF16) for size in (176, 144))
    c = np.full((2, 144, 176), 77, BF16)
    arguments = a, b, c, 128
    program = compiled(batched, arguments)
    assert_fast(program)
    assert "taking turns" in str(program.remarks)
    run(program, (2, 2, 2), arguments)
    want = np.einsum("bik,bjk->bji", a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_array_equal(c.astype(np.float64), want.astype(BF16).astype(np.float64))


@ct.kernel
def attention(q, k, v, o):
    i = ct.bid(0)
    query = ct.load(q, (i, 0), (128, 64), padding_mode=ZERO)
    acc = ct.zeros((128, 64), ct.float32)
    total = ct.zeros((128, 1), ct.float32)
    for j in range(ct.num_tiles(k, 0, (64, 64))):
        key = ct.load(k, (j, 0), (64, 64), padding_mode=ZERO)
        scores = ct.exp(ct.mma(query, key.transpose(), ct.zeros((128, 64), ct.float32)) * 0.125)
        total += ct.sum(scores, 1, keepdims=True)
        acc = ct.mma(scores.astype(v.dtype), ct.load(v, (j, 0), (64, 64), padding_mode=ZERO), acc)
    ct.store(o, (0, i), (acc / total).transpose().astype(o.dtype))


def test_attention():
    """The keys are taken transposed; the result, of probabilities in registers, is stored so."""
    r = np.random.default_rng(4)
    q, k, v = (r.normal(size=(size, 64)).astype(BF16) for size in (192, 256, 256))
    o = np.full((64, 192), np.nan, np.float32)
    program = compiled(attention, (q, k, v, o))
    assert_fast(program)
    assert "cp.async.cg" not in program.ptx
    run(program, (2, 1, 1), (q, k, v, o))
    query, key, value = (x.astype(np.float64) for x in (q, k, v))
    weights = np.exp(query @ key.T / 8)
    want = weights @ value / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(o.T, want, rtol=2**-6, atol=2**-7)


@ct.kernel
def squared_again_and_again(a, b, c, d, both: ct.Constant):
    acc = multiplied(a, b, 0, 0, 64, 64)
    if both:
        ct.store(d, (0, 0), acc.astype(d.dtype))
    acc = acc.transpose()
    for _ in ct.static_iter(range(40)):
        acc = acc * acc
    ct.store(c, (0, 0), acc.astype(c.dtype))


@pytest.mark.parametrize("both", [False, True], ids=["stored once", "stored twice"])
def test_values_that_are_used_twice_take_no_longer(both: bool) -> None:
    """A walk along all paths, 2 to the power of 40, would not end."""
    matrix = np.zeros((64, 64), BF16)
    program = compiled(squared_again_and_again, (matrix, matrix, matrix, matrix, both))
    assert "wgmma" in program.ptx
