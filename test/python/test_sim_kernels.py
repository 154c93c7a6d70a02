"""Whole kernels: the compiler's own, nvcc's, Triton's manner, and kernels written by hand."""

from __future__ import annotations

import gzip
import math
import time

import numpy as np
import pytest
from kernel_cases import FOLDER, case_names, load_case
from sim_support import bf16, f32

import tileir
from tileir import sim

DATA = FOLDER.parent / "sim"
SAMPLE = (
    "axpy_2d_f16_edge",
    "batched_matmul_edge",
    "flash_attention_fwd_causal_gqa",
    "gather_rows_embedding_bf16",
    "layer_norm_fwd_edge",
    "matmul_f16_even",
    "online_softmax_chunked_edge",
    "persistent_matmul_edge",
    "row_cumsum_edge",
    "transpose_2d_f16",
)


def names() -> list:
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(name, marks=marks[name in SAMPLE]) for name in case_names()]


@pytest.mark.parametrize("target", ("sm_80", "sm_90a"))
@pytest.mark.parametrize("name", names())
def test_compiled_kernel(name, target):
    case = load_case(name)
    args = case.args()
    tileir.run(case.bytecode, case.symbol, case.grid, args, backend="sim", target=target)
    result = case.compare(args)
    assert result.passed, result.failures


@pytest.mark.slow
@pytest.mark.parametrize("seed", (1, 2, 3))
@pytest.mark.parametrize("name", case_names())
def test_compiled_kernel_in_any_order(name, seed):
    case = load_case(name)
    args = case.args()
    program = tileir.compile(case.bytecode, target="sm_90a")
    sim.run(program.ptx, case.symbol, case.grid, args=args, seed=seed)
    result = case.compare(args)
    assert result.passed, result.failures


def test_a_large_tile_is_quick():
    """One 128 x 128 tile with K = 256 of the large product."""
    case = load_case("matmul_f16_perf")
    program = tileir.compile(case.bytecode, target="sm_80")
    r = np.random.default_rng(1)
    a, b = (r.standard_normal(shape).astype(np.float16) for shape in ((128, 256), (256, 128)))
    c = np.zeros((128, 128), np.float16)
    args = [value for x in (a, b, c) for value in (x, *x.shape, *(s // 2 for s in x.strides))]
    start = time.perf_counter()
    sim.run(program.ptx, case.symbol, 1, args=args)
    assert time.perf_counter() - start < 3
    want = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, want, rtol=2e-3, atol=2e-2)


# --- kernels written by hand ---------------------------------------------------------------------


def ptx(name: str) -> str:
    return gzip.decompress((DATA / f"{name}.ptx.gz").read_bytes()).decode()


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(bf16)


def close(got: np.ndarray, want: np.ndarray) -> None:
    """Relative error in the Frobenius norm; rounding to bf16 alone gives 1.7e-3."""
    error = np.linalg.norm(got.astype(np.float64) - want) / np.linalg.norm(want)
    assert error < 3e-3, error


@pytest.mark.parametrize("seed", (0, 1))
def test_persistent_gemm(seed):
    a, b, c = normal(256, 192), normal(512, 192, seed=1), np.full((256, 512), np.nan, bf16)
    maps = [sim.tensor_map(x, box, swizzle=128)
            for x, box in ((a, (128, 64)), (b, (256, 64)), (c, (64, 64)))]  # fmt: skip
    sim.run(ptx("gemm_persistent"), "foo", 2, args=[*maps, 2, 2, 3, 4], shared=229440, seed=seed)
    close(c, a.astype(np.float64) @ b.astype(np.float64).T)


# name: (shared memory, blocks, rows of B's box, B is K x N)
GEMMS = {
    "gemm_pingpong": (229888, 3, 128, False),
    "gemm_cluster": (131584, 4, 64, False),
    "gemm_copies": (131584, 3, 128, False),
    "gemm_built_maps": (131584, 4, 64, True),
    "gemm_split": (131584, 8, 128, False),
}


@pytest.mark.parametrize("seed", (0, 1))
@pytest.mark.parametrize("name", GEMMS)
def test_gemm(name, seed):
    shared, blocks, rows, transposed = GEMMS[name]
    m, n, k = 256, 256, 256
    a, b, c = normal(m, k), normal(n, k, seed=1), np.full((m, n), np.nan, bf16)
    given = np.ascontiguousarray(b.T) if transposed else b
    bias, workspace = normal(n), np.zeros(1 << 16, np.uint8)
    maps = [sim.tensor_map(x, box, swizzle=128)
            for x, box in ((a, (128, 64)), (given, (rows, 64)), (c, (64, 64)))]  # fmt: skip
    args = [*maps, a, given, c, bias, workspace, m, n, k, k, given.shape[1], n, 2]
    sim.run(ptx(name), "foo", blocks, args=args, shared=shared, seed=seed)
    close(c, a.astype(np.float64) @ b.astype(np.float64).T)


@pytest.mark.parametrize("seed", (0, 1))
@pytest.mark.parametrize(("name", "depth", "length", "keys", "shared", "causal"),
                         [("attention_causal", 64, 192, 96, 123056, True),
                          ("attention_ragged", 128, 360, 80, 180368, False)])  # fmt: skip
def test_attention(name, depth, length, keys, shared, causal, seed):
    heads = 2
    q, k, v = (normal(heads, length, depth, seed=seed) for seed in range(3))
    out, lse = np.full_like(q, np.nan), np.full((heads, length), np.nan, np.float32)
    counter = np.zeros(1, np.int32)

    def map_of(x, rows):
        """64 columns at a time: (heads, depth / 64, length, 64)."""
        strides = (length * depth * 2, 128, depth * 2, 2)
        shape = (heads, depth // 64, length, 64)
        view = np.lib.stride_tricks.as_strided(x, shape, strides)
        return sim.tensor_map(view, (1, depth // 64, rows, 64), swizzle=128)

    maps = [map_of(q, 64), map_of(k, keys), map_of(v, keys), map_of(out, 64)]
    tiles = -(-length // 192)
    scale = depth**-0.5
    args = [*maps, length, tiles, tiles * heads, heads if causal else 1,
            np.float32(scale * math.log2(math.e)), lse, counter]  # fmt: skip
    sim.run(ptx(name), "foo", 2, args=args, shared=shared, seed=seed)
    scores = np.einsum("hqd,hkd->hqk", q.astype(np.float64), k.astype(np.float64)) * scale
    if causal:
        scores[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    total = weights.sum(-1, keepdims=True)
    close(out, np.einsum("hqk,hkd->hqd", weights / total, v.astype(np.float64)))
    want = scores.max(-1) + np.log(total[..., 0])
    np.testing.assert_allclose(lse, want, atol=1e-4)
    assert counter[0] == 0


# --- nvcc ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def features() -> sim.Simulator:
    return sim.Simulator(ptx("features"), name="features.ptx")


def test_sum(features):
    x = np.random.default_rng(1).standard_normal(5000).astype(np.float32)
    out = np.zeros(1, np.float32)
    features.run("sum", 3, 256, [x, out, 5000])
    np.testing.assert_allclose(out[0], x.astype(np.float64).sum(), atol=1e-3)


@pytest.mark.parametrize("seed", (0, 1))
def test_recursion_local_arrays_and_printing(features, seed):
    out, best = np.zeros(64, np.int32), np.zeros(64)
    result = features.run("control", 1, 64, [out, best], seed=seed)

    def ackermann(m, n):
        if m == 0:
            return n + 1
        return ackermann(m - 1, ackermann(m, n - 1) if n else 1)

    for i in range(64):
        local = [0.0] * 8
        for k in range(8):
            local[(k * 5 + i) % 8] = k * (i % 3 + 1) - 3.5
        kind = {0: 17, 1: i * 3, 2: i - 40, 3: -i, 4: i * i}.get(i % 7, 5)
        assert best[i] == max(local)
        where = local.index(max(local)) * 1000
        assert out[i] == ackermann(i % 3, i % 4) * 10000 + where + kind
    assert result.printed == ["2 of threads: 17.500     7|-1099511627776|x"]


def test_library_functions(features):
    r = np.random.default_rng(2)
    n = 200
    x = (r.standard_normal(n) * 10.0 ** r.integers(-2, 8, n)).astype(np.float32)
    a = r.standard_normal(n) * 1000
    y, b, c = np.zeros((n, 4), np.float32), np.zeros((n, 2)), np.zeros((n, 4), np.int64)
    features.run("library", 2, 128, [x, y, a, b, c, n])
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        want = [np.sin(wide), np.exp(wide * 1e-3) / (1 + wide * wide),
                np.sqrt(abs(wide)) + np.log(abs(wide) + 1), (abs(wide) * 1e-3) ** 1.5]  # fmt: skip
    for column, values in enumerate(want):
        finite = values < 1e30
        np.testing.assert_allclose(y[finite, column], values[finite], rtol=2e-5, atol=3e-7)
    np.testing.assert_allclose(b[:, 0], a / 3 + np.sqrt(abs(a)), rtol=1e-15)
    np.testing.assert_allclose(b[:, 1], np.exp(-abs(a) * 0.01) * np.cos(a), rtol=1e-13, atol=1e-16)
    top = 1 << 64
    for i in range(n):
        p, q = int(a[i] * 1e6), i * 37 - 400
        quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        bits = p % top
        wide_product = p * _signed(p * 1000003 % top) >> 64
        ones = bits.bit_count() + 64 - bits.bit_length() + (bits & -bits).bit_length()
        mixed = (bits << i % 64) ^ (bits >> i % 61) ^ int(f"{bits:064b}"[::-1], 2)
        assert c[i].tolist() == [quotient, p - quotient * q, _signed((wide_product + ones) % top),
                                 _signed(mixed % top)]  # fmt: skip


def _signed(x: int) -> int:
    return x - (1 << 64) if x >> 63 else x


def test_halves(features):
    r = np.random.default_rng(3)
    h, u = r.standard_normal((32, 2)).astype(np.float16), r.standard_normal(32).astype(bf16)
    y, v = np.zeros_like(h), np.zeros_like(u)
    features.run("halves", 1, 32, [h, y, u, v, 32])
    a, b = h, np.roll(h, -1, axis=0)
    added = np.maximum(-a, b + np.float16(0.5)).astype(np.float64)
    want = a.astype(np.float64) * b.astype(np.float64) + added
    assert (y == want.astype(np.float16)).all()
    s, t = u.astype(np.float32), np.roll(u, -3).astype(np.float32)
    assert (v == np.where(s > t, s * t, s + 2 * t).astype(bf16)).all()


@pytest.mark.parametrize("seed", (0, 1))
def test_pipelined_copies(features, seed):
    x = np.arange(4 * 64 * 5, dtype=np.float32)
    y, odd = np.zeros_like(x), np.zeros(5, np.int32)
    features.run("pipelined", 1, 64, [x, y, odd, 5], shared=2 * 64 * 16, seed=seed)
    assert (y.reshape(5, -1) == x.reshape(5, -1)[:, ::-1]).all()
    assert odd.tolist() == [sum((tile + i) % 3 == 0 for i in range(64)) for tile in range(5)]


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_warps_and_a_lock(features, seed):
    x = np.random.default_rng(4).integers(-100, 100, 32).astype(np.int32)
    x[5:9] = 3
    out, counter = np.zeros(32, np.uint32), np.zeros(1, np.int32)
    features.run("warps", 1, 32, [x, out, counter], seed=seed)
    positive = sum(1 << i for i in range(32) if x[i] > 0)
    for i in range(32):
        same = sum(1 << k for k in range(32) if x[k] == x[i])
        part = int(x[x > 0].sum()) << 7 if x[i] > 0 else 0
        assert out[i] == same ^ positive ^ part ^ ((x > 90).any() << 31)
    assert counter[0] == x.sum()


def test_constant_memory_and_bytes(features):
    image = np.random.default_rng(5).integers(0, 256, (20, 37)).astype(np.uint8)
    out = np.zeros_like(image)
    features.run("blur", (3, 3), (16, 8), [image, out, 37, 20])
    padded = np.pad(image, ((0, 0), (2, 2)), mode="edge").astype(np.float32)
    taps = f32([0.0625, 0.25, 0.375, 0.25, 0.0625])
    want = np.sum([taps[k] * padded[:, k : k + 37] for k in range(5)], axis=0) + 0.5
    assert (out == want.astype(np.uint8)).all()


# --- Triton's manner -----------------------------------------------------------------------------


def test_triton_like():
    text = (DATA / "triton_like.ptx").read_text()
    x = np.random.default_rng(6).standard_normal((5, 400)).astype(np.float32)
    y = np.zeros_like(x)
    sim.run(text, args=[y, x, 400, 400, np.zeros(1, np.uint8)], grid=5, shared=16)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    with pytest.raises(tileir.ExecutionError, match=r"softmax.py:18:20: out of bounds"):
        sim.run(text, args=[y, x, 400, 512, np.zeros(1, np.uint8)], grid=5, shared=16)


@pytest.mark.parametrize("target", ("sm_80", "sm_90a"))
def test_updates_of_bf16_touch_nothing_else(target: str) -> None:
    """Of an array of odd length, too; before sm_90 each is a loop."""
    text = """cuda_tile.module @m { entry @k(%p: tile<ptr<bf16>>) {
      %c = constant <bf16: 1.5> : tile<bf16>
      %old, %t = atomic_rmw_tko acq_rel device %p, addf, %c
        : tile<ptr<bf16>>, tile<bf16> -> tile<bf16>, token
      return } }"""
    total = np.array([0.25], bf16)
    tileir.run(text, "k", (3, 1, 1), [total], backend="sim", target=target)
    assert total.tolist() == [4.75]
