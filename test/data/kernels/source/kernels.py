# ruff: noqa: C408
"""Fourteen families of kernels in cuda.tile's language, with NumPy references.

`cases()` yields the small cases, `perf_cases()` one large shape per family.
See common.py for the meaning of the fields.
"""

import cuda.tile as ct
import numpy as np
from common import (
    Const,
    F,
    Suite,
    bf16,
    cdiv,
    f16,
    f32,
    grow,
    i32,
    next_pow2,
    normal,
    padded_rows,
    rng,
    sentinel,
)

SUITE = Suite("p")
cases, perf_cases = SUITE.cases, SUITE.perf_cases

ConstInt = ct.Constant[int]
ConstBool = ct.Constant[bool]
ZERO = ct.PaddingMode.ZERO
NEG_INF = ct.PaddingMode.NEG_INF
LOG2E = 1.4426950408889634


# ------------------------------------------------------------------------------ vector_add


@ct.kernel
def vector_add(a, b, out, TILE: ConstInt):
    i = ct.bid(0)
    lhs = ct.load(a, index=(i,), shape=(TILE,))
    rhs = ct.load(b, index=(i,), shape=(TILE,))
    ct.store(out, index=(i,), tile=lhs + rhs)


@SUITE.family(
    dict(tag="even", n=1024, tile=256),
    dict(tag="edge", n=1000, tile=128),
    dict(tag="one_tile", n=5, tile=64),
    perf=dict(n=1 << 26, tile=1024),
)
def vector_add_f32(n, tile):
    def args(seed):
        r = rng(seed, "vector_add")
        return [normal(r, n, f32), normal(r, n, f32), sentinel(n, f32), Const(tile)]

    return dict(
        kernel=vector_add,
        args=args,
        outputs=[2],
        grid=(cdiv(n, tile), 1, 1),
        reference=lambda a: [a[0] + a[1]],
        rtol=0.0,
        atol=0.0,
        reason="one correctly rounded f32 addition",
    )


# -------------------------------------------------------------------------------- axpy_2d


@ct.kernel
def axpy_2d(alpha, x, y, TM: ConstInt, TN: ConstInt):
    pos = (ct.bid(0), ct.bid(1))
    xs = ct.load(x, pos, (TM, TN), padding_mode=ZERO).astype(ct.float32)
    ys = ct.load(y, pos, (TM, TN), padding_mode=ZERO).astype(ct.float32)
    ct.store(y, pos, (ys + alpha * xs).astype(y.dtype))


@SUITE.family(
    dict(tag="edge", m=37, n=70, tm=16, tn=32, pad=10),
    dict(tag="aligned", m=64, n=128, tm=32, tn=64, pad=0),
    perf=dict(m=8192, n=8192, tm=64, tn=128, pad=0),
)
def axpy_2d_f16(m, n, tm, tn, pad):
    def args(seed):
        r = rng(seed, "axpy")
        return [
            np.float32(-1.75),
            padded_rows(normal(r, (m, n), f16), pad),
            padded_rows(normal(r, (m, n), f16), pad),
            Const(tm),
            Const(tn),
        ]

    return dict(
        kernel=axpy_2d,
        args=args,
        outputs=[2],
        grid=(cdiv(m, tm), cdiv(n, tn), 1),
        reference=lambda a: [F(a[2]) + float(a[0]) * F(a[1])],
        rtol=1e-3,
        atol=1e-6,
        reason="one f16 rounding (2^-11) of an f32 result",
    )


# ---------------------------------------------------------------------------- row_softmax


@ct.kernel
def row_softmax(x, out, TN: ConstInt):
    row = ct.bid(0)
    v = ct.load(x, (row, 0), (1, TN), padding_mode=NEG_INF).astype(ct.float32)
    e = ct.exp(v - ct.max(v, axis=1, keepdims=True))
    ct.store(out, (row, 0), (e / ct.sum(e, axis=1, keepdims=True)).astype(out.dtype))


def softmax_reference(x):
    x = F(x)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@SUITE.family(
    dict(tag="f32", m=9, n=200, dtype=f32),
    dict(tag="f16", m=16, n=256, dtype=f16),
    dict(tag="f16_n1", m=3, n=1, dtype=f16),
    perf=dict(m=4096, n=4096, dtype=f16),
)
def row_softmax_whole(m, n, dtype):
    def args(seed):
        return [
            normal(rng(seed, "softmax"), (m, n), dtype, 3.0),
            sentinel((m, n), dtype),
            Const(next_pow2(n)),
        ]

    half = dtype == f16
    return dict(
        kernel=row_softmax,
        args=args,
        outputs=[1],
        grid=(m, 1, 1),
        reference=lambda a: [softmax_reference(a[0])],
        rtol=1e-3 if half else 1e-5,
        atol=1e-6 if half else 1e-7,
        reason="f16 rounding of the result" if half else "f32 exp, sum and divide",
    )


# ----------------------------------------------------------------- online_softmax_chunked


@ct.kernel
def online_softmax(x, out, TM: ConstInt, TN: ConstInt):
    """First pass keeps a running maximum and a rescaled sum; second pass normalises."""
    i = ct.bid(0)
    chunks = ct.num_tiles(x, axis=1, shape=(TM, TN))
    top = ct.full((TM, 1), -np.inf, dtype=ct.float32)
    den = ct.zeros((TM, 1), dtype=ct.float32)
    for j in range(chunks):
        v = ct.load(x, (i, j), (TM, TN), padding_mode=NEG_INF).astype(ct.float32) * LOG2E
        new_top = ct.maximum(top, ct.max(v, axis=1, keepdims=True))
        den = den * ct.exp2(top - new_top) + ct.sum(ct.exp2(v - new_top), axis=1, keepdims=True)
        top = new_top
    inv = 1.0 / den
    for j in range(chunks):
        v = ct.load(x, (i, j), (TM, TN), padding_mode=NEG_INF).astype(ct.float32) * LOG2E
        ct.store(out, (i, j), (ct.exp2(v - top) * inv).astype(out.dtype))


@SUITE.family(
    dict(tag="edge", m=10, n=300, tm=4, tn=64),
    dict(tag="even", m=8, n=256, tm=2, tn=128),
    perf=dict(m=4096, n=32768, tm=1, tn=2048),
)
def online_softmax_chunked(m, n, tm, tn):
    # In a block of rows that straddles the edge the missing rows are all -inf and turn into
    # NaN; those rows are never stored.
    def args(seed):
        return [
            normal(rng(seed, "online"), (m, n), f32, 4.0),
            sentinel((m, n), f32),
            Const(tm),
            Const(tn),
        ]

    return dict(
        kernel=online_softmax,
        args=args,
        outputs=[1],
        grid=(cdiv(m, tm), 1, 1),
        reference=lambda a: [softmax_reference(a[0])],
        rtol=1e-5,
        atol=1e-7,
        reason="approximate f32 exp2 (about 2 ulp) and rescaling",
    )


# ---------------------------------------------------------------------------- layer_norm


@ct.kernel
def layer_norm(x, w, b, y, mean, rstd, eps, TN: ConstInt):
    row = ct.bid(0)
    n = x.shape[1]
    chunks = ct.cdiv(n, TN)
    acc = ct.zeros((1, TN), dtype=ct.float32)
    for j in range(chunks):
        acc += ct.load(x, (row, j), (1, TN), padding_mode=ZERO)
    mu = ct.sum(acc, axis=1) / n
    acc = ct.zeros((1, TN), dtype=ct.float32)
    for j in range(chunks):
        v = ct.load(x, (row, j), (1, TN), padding_mode=ZERO)
        inside = (j * TN + ct.arange(TN, dtype=ct.int32)) < n
        d = ct.where(inside, v - mu, 0.0)
        acc += d * d
    inv = ct.rsqrt(ct.sum(acc, axis=1) / n + eps)
    ct.store(mean, (row,), mu)
    ct.store(rstd, (row,), inv)
    for j in range(chunks):
        v = ct.load(x, (row, j), (1, TN), padding_mode=ZERO)
        scale = ct.load(w, (j,), (TN,), padding_mode=ZERO)
        shift = ct.load(b, (j,), (TN,), padding_mode=ZERO)
        ct.store(y, (row, j), (v - mu) * inv * scale + shift)


@SUITE.family(
    dict(tag="edge", m=7, n=150, tn=64),
    dict(tag="even", m=8, n=256, tn=128),
    perf=dict(m=16384, n=4096, tn=1024),
)
def layer_norm_fwd(m, n, tn):
    def args(seed):
        r = rng(seed, "layer_norm")
        return [
            normal(r, (m, n), f32, 2.0) + np.float32(0.5),
            normal(r, n, f32),
            normal(r, n, f32),
            sentinel((m, n), f32),
            sentinel(m, f32),
            sentinel(m, f32),
            np.float32(1e-5),
            Const(tn),
        ]

    def reference(a):
        x = F(a[0])
        mu = x.mean(axis=1)
        inv = 1 / np.sqrt(x.var(axis=1) + float(a[6]))
        return [(x - mu[:, None]) * inv[:, None] * F(a[1]) + F(a[2]), mu, inv]

    return dict(
        kernel=layer_norm,
        args=args,
        outputs=[3, 4, 5],
        grid=(m, 1, 1),
        reference=reference,
        rtol=2e-5,
        atol=2e-5,
        reason="f32 sums of n terms, rsqrt.approx; atol covers cancellation in x - mean",
    )


# ------------------------------------------------------------------------------- rms_norm


@ct.kernel
def rms_norm(x, w, y, eps, TM: ConstInt, TN: ConstInt):
    """Persistent over row blocks; the whole row is one tile."""
    n = x.shape[1]
    scale = ct.load(w, (0,), (TN,), padding_mode=ZERO).astype(ct.float32)
    for i in range(ct.bid(0), ct.num_tiles(x, axis=0, shape=(TM, TN)), ct.num_blocks(0)):
        v = ct.load(x, (i, 0), (TM, TN), padding_mode=ZERO).astype(ct.float32)
        inv = ct.rsqrt(ct.sum(v * v, axis=1, keepdims=True) / n + eps)
        ct.store(y, (i, 0), (v * inv * scale).astype(y.dtype))


@SUITE.family(
    dict(tag="edge", m=22, n=120, tm=4, blocks=3),
    dict(tag="even", m=32, n=128, tm=2, blocks=4),
    perf=dict(m=16384, n=4096, tm=4, blocks=132),
)
def rms_norm_bf16(m, n, tm, blocks):
    def args(seed):
        r = rng(seed, "rms")
        return [
            normal(r, (m, n), bf16),
            normal(r, n, bf16),
            sentinel((m, n), bf16),
            np.float32(1e-6),
            Const(tm),
            Const(next_pow2(n)),
        ]

    def reference(a):
        x = F(a[0])
        return [x / np.sqrt((x * x).mean(axis=1, keepdims=True) + float(a[3])) * F(a[1])]

    return dict(
        kernel=rms_norm,
        args=args,
        outputs=[2],
        grid=(blocks, 1, 1),
        reference=reference,
        rtol=5e-3,
        atol=1e-6,
        reason="one bf16 rounding (2^-8 = 3.9e-3 relative)",
    )


# --------------------------------------------------------------------------------- matmul


def grouped_tile(flat, tiles_m, tiles_n, GROUP):
    """Walk the output tiles in bands of GROUP tile rows, column-major inside a band."""
    per_band = GROUP * tiles_n
    band = flat // per_band
    first = band * GROUP
    height = min(tiles_m - first, GROUP)
    within = flat - band * per_band
    return first + within % height, within // height


@ct.kernel
def matmul(a, b, c, TM: ConstInt, TN: ConstInt, TK: ConstInt, GROUP: ConstInt):
    i, j = grouped_tile(ct.bid(0), ct.cdiv(a.shape[0], TM), ct.cdiv(b.shape[1], TN), GROUP)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(TM, TK))):
        lhs = ct.load(a, (i, k), (TM, TK), padding_mode=ZERO)
        rhs = ct.load(b, (k, j), (TK, TN), padding_mode=ZERO)
        acc = ct.mma(lhs, rhs, acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


@SUITE.family(
    dict(tag="even", m=128, n=128, k=64, tm=64, tn=64, tk=32, group=2),
    dict(tag="edge", m=100, n=72, k=50, tm=32, tn=32, tk=16, group=3),
    dict(tag="f32_out", m=64, n=48, k=40, tm=64, tn=16, tk=32, group=8, out=f32),
    perf=dict(m=4096, n=4096, k=4096, tm=128, tn=128, tk=64, group=8),
)
def matmul_f16(m, n, k, tm, tn, tk, group, out=f16):
    def args(seed):
        r = rng(seed, "matmul")
        return [
            normal(r, (m, k), f16),
            normal(r, (k, n), f16),
            sentinel((m, n), out),
            Const(tm),
            Const(tn),
            Const(tk),
            Const(group),
        ]

    return dict(
        kernel=matmul,
        args=args,
        outputs=[2],
        grid=(cdiv(m, tm) * cdiv(n, tn), 1, 1),
        reference=lambda a: [F(a[0]) @ F(a[1])],
        rtol=1e-3 if out == f16 else 1e-5,
        atol=grow(1e-3 if out == f16 else 1e-4, k),
        reason="f32 accumulation, then the output rounding; atol covers cancellation",
    )


# ------------------------------------------------------------------ matmul_fused_bias_relu


@ct.kernel
def matmul_bias_relu(a, b, bias, c, TM: ConstInt, TN: ConstInt, TK: ConstInt):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((TM, TN), 0.0, dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        acc = ct.mma(
            ct.load(a, (i, k), (TM, TK), padding_mode=ZERO),
            ct.load(b, (k, j), (TK, TN), padding_mode=ZERO),
            acc,
        )
    row = ct.load(bias, (j,), (TN,), padding_mode=ZERO).astype(ct.float32)
    ct.store(c, (i, j), ct.maximum(acc + row, 0.0).astype(c.dtype))


@SUITE.family(
    dict(tag="even", m=64, n=128, k=64, tm=32, tn=64, tk=32),
    dict(tag="edge", m=70, n=90, k=44, tm=32, tn=32, tk=32),
    perf=dict(m=4096, n=4096, k=4096, tm=128, tn=128, tk=64),
)
def matmul_fused_bias_relu(m, n, k, tm, tn, tk):
    def args(seed):
        r = rng(seed, "bias_relu")
        return [
            normal(r, (m, k), bf16),
            normal(r, (k, n), bf16),
            normal(r, n, bf16, 3.0),
            sentinel((m, n), bf16),
            Const(tm),
            Const(tn),
            Const(tk),
        ]

    return dict(
        kernel=matmul_bias_relu,
        args=args,
        outputs=[3],
        grid=(cdiv(m, tm), cdiv(n, tn), 1),
        reference=lambda a: [np.maximum(F(a[0]) @ F(a[1]) + F(a[2]), 0.0)],
        rtol=5e-3,
        atol=grow(1e-3, k),
        reason="one bf16 rounding; atol covers values near zero",
    )


# ----------------------------------------------------------------------- persistent_matmul


@ct.kernel
def matmul_persistent(a, b, c, TM: ConstInt, TN: ConstInt, TK: ConstInt):
    tiles_n = ct.cdiv(b.shape[1], TN)
    total = ct.cdiv(a.shape[0], TM) * tiles_n
    steps = ct.cdiv(a.shape[1], TK)
    for flat in range(ct.bid(0), total, ct.num_blocks(0)):
        i = flat // tiles_n
        j = flat % tiles_n
        acc = ct.zeros((TM, TN), dtype=ct.float32)
        for k in range(steps):
            lhs = ct.load(a, (i, k), (TM, TK), padding_mode=ZERO, latency=3)
            rhs = ct.load(b, (k, j), (TK, TN), padding_mode=ZERO, latency=3)
            acc = ct.mma(lhs, rhs, acc)
        ct.store(c, (i, j), acc.astype(c.dtype))


@SUITE.family(
    dict(tag="even", m=128, n=96, k=64, tm=32, tn=32, tk=32, blocks=5),
    dict(tag="edge", m=75, n=67, k=33, tm=16, tn=32, tk=16, blocks=4),
    perf=dict(m=8192, n=4096, k=2048, tm=128, tn=128, tk=64, blocks=132),
)
def persistent_matmul(m, n, k, tm, tn, tk, blocks):
    def args(seed):
        r = rng(seed, "persistent")
        return [
            normal(r, (m, k), f16),
            normal(r, (k, n), f16),
            sentinel((m, n), f16),
            Const(tm),
            Const(tn),
            Const(tk),
        ]

    return dict(
        kernel=matmul_persistent,
        args=args,
        outputs=[2],
        grid=(blocks, 1, 1),
        reference=lambda a: [F(a[0]) @ F(a[1])],
        rtol=1e-3,
        atol=grow(1e-3, k),
        reason="f32 accumulation, then one f16 rounding",
    )


# -------------------------------------------------------------------------- batched_matmul


@ct.kernel
def bmm(a, b, c, TM: ConstInt, TN: ConstInt, TK: ConstInt):
    z, i, j = ct.bid(2), ct.bid(0), ct.bid(1)
    acc = ct.zeros((1, TM, TN), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=2, shape=(1, TM, TK))):
        lhs = ct.load(a, (z, i, k), (1, TM, TK), padding_mode=ZERO)
        rhs = ct.load(b, (z, k, j), (1, TK, TN), padding_mode=ZERO)
        acc = ct.mma(lhs, rhs, acc)
    ct.store(c, (z, i, j), acc.astype(c.dtype))


@SUITE.family(
    dict(tag="even", z=3, m=64, n=32, k=64, tm=32, tn=32, tk=32),
    dict(tag="edge", z=2, m=50, n=41, k=30, tm=16, tn=16, tk=16),
    perf=dict(z=16, m=2048, n=2048, k=1024, tm=128, tn=128, tk=64),
)
def batched_matmul(z, m, n, k, tm, tn, tk):
    def args(seed):
        r = rng(seed, "bmm")
        return [
            normal(r, (z, m, k), f16),
            normal(r, (z, k, n), f16),
            sentinel((z, m, n), f16),
            Const(tm),
            Const(tn),
            Const(tk),
        ]

    return dict(
        kernel=bmm,
        args=args,
        outputs=[2],
        grid=(cdiv(m, tm), cdiv(n, tn), z),
        reference=lambda a: [F(a[0]) @ F(a[1])],
        rtol=1e-3,
        atol=grow(1e-3, k),
        reason="f32 accumulation, then one f16 rounding",
    )


# ------------------------------------------------------------------------------- transpose


@ct.kernel
def transpose(x, y, TM: ConstInt, TN: ConstInt):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, (j, i), ct.transpose(ct.load(x, (i, j), (TM, TN))))


@SUITE.family(
    dict(tag="f16", m=96, n=64, tm=32, tn=64, dtype=f16),
    dict(tag="f32_edge", m=45, n=83, tm=16, tn=32, dtype=f32),
    dict(tag="i32_edge", m=7, n=33, tm=8, tn=16, dtype=i32),
    perf=dict(m=8192, n=8192, tm=64, tn=64, dtype=f16),
)
def transpose_2d(m, n, tm, tn, dtype):
    def args(seed):
        return [
            normal(rng(seed, "transpose"), (m, n), dtype, 50.0),
            sentinel((n, m), dtype),
            Const(tm),
            Const(tn),
        ]

    return dict(
        kernel=transpose,
        args=args,
        outputs=[1],
        grid=(cdiv(m, tm), cdiv(n, tn), 1),
        reference=lambda a: [a[0].T],
        rtol=0.0,
        atol=0.0,
        reason="pure data movement",
    )


# ------------------------------------------------------------------------------ row_cumsum


@ct.kernel
def cumsum_rows(x, y, TM: ConstInt, TN: ConstInt):
    i = ct.bid(0)
    carry = ct.zeros((TM, 1), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(TM, TN))):
        v = ct.load(x, (i, j), (TM, TN), padding_mode=ZERO)
        ct.store(y, (i, j), ct.cumsum(v, axis=1) + carry)
        carry = carry + ct.sum(v, axis=1, keepdims=True)


@SUITE.family(
    dict(tag="even", m=8, n=256, tm=2, tn=64),
    dict(tag="edge", m=5, n=210, tm=4, tn=32),
    perf=dict(m=4096, n=16384, tm=1, tn=1024),
)
def row_cumsum(m, n, tm, tn):
    def args(seed):
        return [
            normal(rng(seed, "cumsum"), (m, n), f32),
            sentinel((m, n), f32),
            Const(tm),
            Const(tn),
        ]

    return dict(
        kernel=cumsum_rows,
        args=args,
        outputs=[1],
        grid=(cdiv(m, tm), 1, 1),
        reference=lambda a: [np.cumsum(F(a[0]), axis=1)],
        rtol=1e-5,
        atol=grow(1e-4, n),
        reason="f32 prefix sums in any association, cancellation",
    )


# ----------------------------------------------------------------------------- gather_rows


@ct.kernel
def gather_rows(table, ids, slots, out, TR: ConstInt, TC: ConstInt):
    """out[slots[t]] = table[ids[t]]; ids outside the table give zero rows, slots outside the
    output are dropped."""
    t = ct.bid(0) * TR + ct.arange(TR, dtype=ct.int32)
    live = t < ids.shape[0]
    src = ct.gather(ids, t, padding_value=-1)
    dst = ct.gather(slots, t, padding_value=-1)
    col = ct.bid(1) * TC + ct.arange(TC, dtype=ct.int32)
    rows = ct.gather(table, (src[:, None], col[None, :]), padding_value=0)
    ct.scatter(out, (dst[:, None], col[None, :]), rows, mask=live[:, None])


@SUITE.family(
    dict(tag="f32", vocab=50, width=40, tokens=37, tr=8, tc=32, dtype=f32),
    dict(tag="bf16", vocab=33, width=64, tokens=32, tr=16, tc=64, dtype=bf16),
    perf=dict(vocab=32000, width=4096, tokens=16384, tr=8, tc=512, dtype=bf16),
)
def gather_rows_embedding(vocab, width, tokens, tr, tc, dtype):
    def args(seed):
        r = rng(seed, "gather")
        ids = r.integers(-2, vocab + 2, tokens).astype(i32)  # some out of range on purpose
        slots = r.permutation(tokens + 3)[:tokens].astype(i32)  # a few beyond the output
        return [
            normal(r, (vocab, width), dtype),
            ids,
            slots,
            sentinel((tokens, width), dtype),
            Const(tr),
            Const(tc),
        ]

    def reference(a):
        table, ids, slots, out = a[0], a[1], a[2], a[3].copy()
        for src, dst in zip(ids, slots, strict=True):
            if dst < out.shape[0]:
                out[dst] = table[src] if 0 <= src < table.shape[0] else 0
        return [out]

    return dict(
        kernel=gather_rows,
        args=args,
        outputs=[3],
        grid=(cdiv(tokens, tr), cdiv(width, tc), 1),
        reference=reference,
        rtol=0.0,
        atol=0.0,
        reason="pure data movement",
    )


# -------------------------------------------------------------------------- flash_attention


@ct.kernel
def flash_attention(
    q,
    k,
    v,
    out,
    lse,
    scale,
    GROUP: ConstInt,
    TM: ConstInt,
    TN: ConstInt,
    D: ConstInt,
    CAUSAL: ConstBool,
):
    """One block per (query tile, head, batch).  GROUP query heads share a key/value head.

    With CAUSAL, query row r sees keys up to r + (keys - queries).
    """
    i, h, z = ct.bid(0), ct.bid(1), ct.bid(2)
    kv_head = h // GROUP
    n_q, n_k = q.shape[2], k.shape[2]
    factor = scale * LOG2E

    qt = ct.reshape(ct.load(q, (z, h, i, 0), (1, 1, TM, D), padding_mode=ZERO), (TM, D))
    row = i * TM + ct.arange(TM, dtype=ct.int32)[:, None] + (n_k - n_q)
    top = ct.full((TM, 1), -1e30, dtype=ct.float32)
    den = ct.zeros((TM, 1), dtype=ct.float32)
    acc = ct.zeros((TM, D), dtype=ct.float32)

    last = ct.cdiv(n_k, TN)
    if CAUSAL:
        last = min(last, ct.cdiv((i + 1) * TM + n_k - n_q, TN))
    for j in range(last):
        kt = ct.reshape(
            ct.load(k, (z, kv_head, 0, j), (1, 1, D, TN), order=(0, 1, 3, 2), padding_mode=ZERO),
            (D, TN),
        )
        s = ct.mma(qt, kt, ct.zeros((TM, TN), dtype=ct.float32)) * factor
        col = j * TN + ct.arange(TN, dtype=ct.int32)[None, :]
        seen = col < n_k
        if CAUSAL:
            seen = seen & (col <= row)
        s = ct.where(seen, s, -1e30)
        new_top = ct.maximum(top, ct.max(s, axis=1, keepdims=True))
        p = ct.where(seen, ct.exp2(s - new_top), 0.0)
        shrink = ct.exp2(top - new_top)
        den = den * shrink + ct.sum(p, axis=1, keepdims=True)
        vt = ct.reshape(ct.load(v, (z, kv_head, j, 0), (1, 1, TN, D), padding_mode=ZERO), (TN, D))
        acc = ct.mma(p.astype(v.dtype), vt, acc * shrink)
        top = new_top
    ct.store(out, (z, h, i, 0), ct.reshape((acc / den).astype(out.dtype), (1, 1, TM, D)))
    ct.store(lse, (z, h, i), ct.reshape((top + ct.log2(den)) / LOG2E, (1, 1, TM)))


def attention_reference(q, k, v, scale, causal):
    """Dense softmax attention in float64; returns (output, log-sum-exp)."""
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(F(t), group, axis=1) for t in (k, v))
    s = np.einsum("bhqd,bhkd->bhqk", F(q), k) * scale
    if causal:
        n_q, n_k = s.shape[2:]
        hidden = np.arange(n_k)[None, :] > np.arange(n_q)[:, None] + (n_k - n_q)
        s = np.where(hidden, -np.inf, s)
    top = s.max(axis=-1, keepdims=True)
    e = np.exp(s - top)
    den = e.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", e / den, v), (top + np.log(den))[..., 0]


@SUITE.family(
    dict(tag="full", z=1, hq=2, hk=2, nq=64, nk=64, d=32, tm=32, tn=32, causal=False),
    dict(tag="full_edge", z=2, hq=2, hk=1, nq=40, nk=55, d=16, tm=16, tn=16, causal=False),
    dict(tag="causal_gqa", z=1, hq=4, hk=2, nq=48, nk=48, d=32, tm=16, tn=32, causal=True),
    dict(tag="causal_edge", z=1, hq=2, hk=1, nq=37, nk=53, d=32, tm=32, tn=16, causal=True),
    perf=dict(z=2, hq=32, hk=8, nq=4096, nk=4096, d=128, tm=128, tn=64, causal=True),
)
def flash_attention_fwd(z, hq, hk, nq, nk, d, tm, tn, causal):
    def args(seed):
        r = rng(seed, "flash")
        return [
            normal(r, (z, hq, nq, d), f16),
            normal(r, (z, hk, nk, d), f16),
            normal(r, (z, hk, nk, d), f16),
            sentinel((z, hq, nq, d), f16),
            sentinel((z, hq, nq), f32),
            np.float32(d**-0.5),
            Const(hq // hk),
            Const(tm),
            Const(tn),
            Const(d),
            Const(causal),
        ]

    return dict(
        kernel=flash_attention,
        args=args,
        outputs=[3, 4],
        grid=(cdiv(nq, tm), hq, z),
        reference=lambda a: list(attention_reference(a[0], a[1], a[2], float(a[5]), causal)),
        rtol=2e-3,
        atol=2e-3,
        reason="probabilities are rounded to f16 before the second product",
    )
