"""Constants, shape operations, reductions, scans and matrix products."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from interp_support import bf16, compute, f32, one, tile_type, type_of

import tileir
from tileir import interp

F = np.float32
R = np.random.default_rng(0)


def normal(*shape: int, dtype: type[np.generic] = F) -> np.ndarray:
    return R.standard_normal(shape).astype(dtype)


def test_constants():
    body = """
    %r0 = constant <f32: [0.5, -1.0, 0x7FC00000, 3.0]> : tile<4xf32>
    %r1 = constant <i8: [[1, -2], [3, 127]]> : tile<2x2xi8>
    %r2 = constant <i1: [true, false, true, true]> : tile<4xi1>
    %r3 = constant <bf16: 1.5> : tile<4x2xbf16>
    %r4 = constant <i64: -9223372036854775808> : tile<2xi64>
    %r5 = constant <f8E4M3FN: 448.0> : tile<2xf8E4M3FN>"""
    outputs = [
        ((4,), F),
        ((2, 2), np.int8),
        ((4,), bool),
        ((4, 2), bf16),
        ((2,), np.int64),
        ((2,), ml_dtypes.float8_e4m3fn),
    ]
    a, b, c, d, e, f = compute(body, [], outputs)
    assert np.array_equal(a, f32([0.5, -1, np.nan, 3]), equal_nan=True)
    assert b.tolist() == [[1, -2], [3, 127]]
    assert c.tolist() == [True, False, True, True]
    assert d.astype(float).tolist() == [[1.5, 1.5]] * 4
    assert e.tolist() == [-(2**63)] * 2
    assert f.astype(float).tolist() == [448, 448]


def test_iota():
    assert one("%r0 = iota : tile<8xi64>", [], (8,), np.int64).tolist() == list(range(8))
    got = one("%r0 = iota : tile<256xi8>", [], (256,), np.int8)
    assert got.view(np.uint8).tolist() == list(range(256))


def test_broadcast_reshape_permute():
    x = normal(1, 4)
    body = """
    %b = broadcast %x0 : tile<1x4xf32> -> tile<8x4xf32>
    %r0 = addf %b, %b : tile<8x4xf32>
    %r1 = reshape %b : tile<8x4xf32> -> tile<2x16xf32>
    %r2 = permute %b [1, 0] : tile<8x4xf32> -> tile<4x8xf32>
    %c = broadcast %x0 : tile<1x4xf32> -> tile<2x4xf32>
    %r3 = cat %c, %c dim = 1 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x8xf32>"""
    whole = np.broadcast_to(x, (8, 4))
    shapes = [((8, 4), F), ((2, 16), F), ((4, 8), F), ((2, 8), F)]
    a, b, c, d = compute(body, [x], shapes)
    assert (a == whole * 2).all()
    assert (b == whole.reshape(2, 16)).all()
    assert (c == whole.T).all()
    assert (d == np.concatenate([whole[:2]] * 2, axis=1)).all()


def test_permute_of_rank_three():
    x = normal(2, 4, 8)
    got = one("%r0 = permute %x0 [2, 0, 1] : tile<2x4x8xf32> -> tile<8x2x4xf32>", [x], (8, 2, 4), F)
    assert (got == x.transpose(2, 0, 1)).all()


def test_extract_and_insert():
    x, y = normal(8, 8), normal(2, 4)
    body = """
    %i = constant <i32: 2> : tile<i32>
    %j = constant <i32: 1> : tile<i32>
    %r0 = extract %x0[%i, %j] : tile<8x8xf32> -> tile<2x4xf32>
    %r1 = insert %x1, %x0[%i, %j] : tile<2x4xf32>, tile<8x8xf32>"""
    got, replaced = compute(body, [x, y], [((2, 4), F), ((8, 8), F)])
    assert (got == x[4:6, 4:8]).all()
    want = x.copy()
    want[4:6, 4:8] = y
    assert (replaced == want).all()


def test_select():
    c = np.array([True, False, True, False])
    a, b = normal(4), normal(4)
    got = one("%r0 = select %x0, %x1, %x2 : tile<4xi1>, tile<4xf32>", [c, a, b], (4,), F)
    assert (got == np.where(c, a, b)).all()


@pytest.mark.parametrize("dtype", (np.int16, np.float16, bf16, F, np.float64, np.int64))
def test_pack_and_unpack(dtype):
    x = normal(4, dtype=np.float64).astype(dtype)
    t, size = type_of(x), x.itemsize
    body = f"""
    %r0 = pack %x0 : tile<4x{t}> -> tile<{4 * size}xi8>
    %r1 = unpack %r0 : tile<{4 * size}xi8> -> tile<4x{t}>"""
    data, back = compute(body, [x], [((4 * size,), np.int8), ((4,), dtype)])
    assert data.tobytes() == x.tobytes()
    assert back.tobytes() == x.tobytes()


def test_pack_bits_and_nibbles():
    body = """
    %r0 = pack %x0 : tile<8xi1> -> tile<1xi8>
    %r1 = unpack %r0 : tile<1xi8> -> tile<8xi1>
    %n = unpack %r0 : tile<1xi8> -> tile<2xf4E2M1FN>
    %r2 = ftof %n : tile<2xf4E2M1FN> -> tile<2xf32>"""
    bits = np.array([1, 0, 1, 0, 0, 1, 0, 1], bool)  # 0xA5: low nibble 5, high nibble A
    data, back, floats = compute(body, [bits], [((1,), np.int8), ((8,), bool), ((2,), F)])
    assert data.view(np.uint8)[0] == 0xA5
    assert (back == bits).all()
    assert floats.tolist() == [3.0, -1.0]


# --- reductions -------------------------------------------------------------------------------


def reduce_text(ty: str, shape, axis: int, identity: str, combine: str) -> str:
    out = [extent for d, extent in enumerate(shape) if d != axis]
    return f"""
    %r0 = reduce %x0 dim={axis} identities=[{identity} : {ty}]
      : {tile_type(shape, ty)} -> {tile_type(out, ty)}
    (%e: tile<{ty}>, %a: tile<{ty}>) {{
      %s = {combine} : tile<{ty}>
      yield %s : tile<{ty}>
    }}"""


@pytest.mark.parametrize("axis", (0, 1, 2))
@pytest.mark.parametrize(
    "combine,identity,truth",
    [
        ("addf %e, %a", "0.0", np.add),
        ("mulf %e, %a", "1.0", np.multiply),
        ("maxf %e, %a", "0xFF800000", np.maximum),
        ("minf %e, %a", "0x7F800000", np.minimum),
    ],
)
def test_float_reductions(combine, identity, truth, axis):
    x = normal(4, 8, 2)
    shape = [4, 8, 2]
    out = [n for d, n in enumerate(shape) if d != axis]
    got = one(reduce_text("f32", shape, axis, identity, combine), [x], out, F)
    assert np.allclose(got, truth.reduce(x.astype(np.float64), axis=axis), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "combine,identity,truth",
    [
        ("addi %e, %a", "0", np.add),
        ("xori %e, %a", "0", np.bitwise_xor),
        ("andi %e, %a", "-1", np.bitwise_and),
        ("maxi %e, %a signed", "-2147483648", np.maximum),
    ],
)
def test_integer_reductions(combine, identity, truth):
    x = R.integers(-1000, 1000, (8, 4)).astype(np.int32)
    got = one(reduce_text("i32", [8, 4], 0, identity, combine), [x], (4,), np.int32)
    assert (got == truth.reduce(x, axis=0)).all()


def test_reduction_to_a_scalar_and_of_one_element():
    x = normal(16)
    got = one(
        reduce_text("f32", [16], 0, "0.0", "addf %e, %a").replace("%r0", "%s_")
        + "\n%r0 = reshape %s_ : tile<f32> -> tile<1xf32>",
        [x],
        (1,),
        F,
    )
    assert np.allclose(got, x.astype(np.float64).sum())
    y = normal(1, 4)
    assert (one(reduce_text("f32", [1, 4], 0, "0.0", "addf %e, %a"), [y], (4,), F) == y[0]).all()


ARGMAX = """
    %i = iota : tile<8xi32>
    %ib = reshape %i : tile<8xi32> -> tile<1x8xi32>
    %idx = broadcast %ib : tile<1x8xi32> -> tile<4x8xi32>
    %r0, %r1 = reduce %x0, %idx dim=1 identities=[0xFF800000 : f32, 2147483647 : i32]
      : tile<4x8xf32>, tile<4x8xi32> -> tile<4xf32>, tile<4xi32>
    (%e: tile<f32>, %a: tile<f32>, %ei: tile<i32>, %ai: tile<i32>) {
      %gt = cmpf greater_than ordered %e, %a : tile<f32> -> tile<i1>
      %eq = cmpf equal ordered %e, %a : tile<f32> -> tile<i1>
      %lt = cmpi less_than %ei, %ai, signed : tile<i32> -> tile<i1>
      %tie = andi %eq, %lt : tile<i1>
      %take = ori %gt, %tie : tile<i1>
      %v = select %take, %e, %a : tile<i1>, tile<f32>
      %n = select %take, %ei, %ai : tile<i1>, tile<i32>
      yield %v, %n : tile<f32>, tile<i32>
    }"""


def test_argmax():
    x = R.integers(0, 5, (4, 8)).astype(F)  # with ties: the first index wins
    value, index = compute(ARGMAX, [x], [((4,), F), ((4,), np.int32)])
    assert (value == x.max(axis=1)).all()
    assert (index == x.argmax(axis=1)).all()


def test_combiner_with_a_branch_and_an_outer_value():
    body = """
    %zero = constant <f32: 0.0> : tile<f32>
    %r0 = reduce %x0 dim=0 identities=[0.0 : f32] : tile<8x2xf32> -> tile<2xf32>
    (%e: tile<f32>, %a: tile<f32>) {
      %pos = cmpf greater_than ordered %e, %zero : tile<f32> -> tile<i1>
      %v = if %pos -> (tile<f32>) {
        yield %e : tile<f32>
      } else {
        yield %zero : tile<f32>
      }
      %w = cmpf greater_than ordered %a, %zero : tile<f32> -> tile<i1>
      %u = select %w, %a, %zero : tile<i1>, tile<f32>
      %s = addf %v, %u : tile<f32>
      yield %s : tile<f32>
    }"""
    x = np.abs(normal(8, 2))
    got = one(body, [x], (2,), F)
    assert np.allclose(got, np.maximum(x.astype(np.float64), 0).sum(axis=0))


@pytest.mark.parametrize("n", (3, 5, 6, 7, 80))
def test_extents_that_are_not_powers_of_two(n):
    """Allowed in a module marked `cuda_tile.extended`."""
    x = normal(n, 4)
    sums, prefixes = np.zeros(4, F), np.zeros((n, 4), F)
    ty, view = (
        f"tile<{n}x4xf32>",
        f"partition_view<tile=({n}x4), tensor_view<{n}x4xf32, strides=[4,1]>>",
    )
    row = "partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>"
    tensor = f"tensor_view<{n}x4xf32, strides=[4,1]>"
    text = f"""cuda_tile.module @m attributes {{cuda_tile.extended}} {{
    entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %r: tile<ptr<f32>>) {{
      %i = constant <i32: 0> : tile<i32>
      %tp = make_tensor_view %p, shape = [{n}, 4], strides = [4, 1] : {tensor}
      %tr = make_tensor_view %r, shape = [{n}, 4], strides = [4, 1] : {tensor}
      %tq = make_tensor_view %q, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
      %vp = make_partition_view %tp : {view}
      %vr = make_partition_view %tr : {view}
      %vq = make_partition_view %tq : {row}
      %x, %t0 = load_view_tko weak %vp[%i, %i] : {view}, tile<i32> -> {ty}, token
      %s = reduce %x dim=0 identities=[0.0 : f32] : {ty} -> tile<4xf32>
      (%e: tile<f32>, %a: tile<f32>) {{
        %b = addf %e, %a : tile<f32>
        yield %b : tile<f32>
      }}
      %c = scan %x dim=0 reverse=false identities=[0.0 : f32] : {ty} -> {ty}
      (%e: tile<f32>, %a: tile<f32>) {{
        %b = addf %e, %a : tile<f32>
        yield %b : tile<f32>
      }}
      %t1 = store_view_tko weak %s, %vq[%i] : tile<4xf32>, {row}, tile<i32> -> token
      %t2 = store_view_tko weak %c, %vr[%i, %i] : {ty}, {view}, tile<i32> -> token
      return
    }}
    }}"""
    interp.run(tileir.parse(text), args=[x, sums, prefixes])
    want = np.cumsum(x.astype(np.float64), axis=0)
    assert np.allclose(prefixes, want, rtol=1e-5, atol=1e-5)
    assert np.allclose(sums, want[-1], rtol=1e-5, atol=1e-5)


# --- scans ------------------------------------------------------------------------------------


def scan_text(shape, axis: int, reverse: bool, combine: str = "addf %e, %a") -> str:
    return f"""
    %r0 = scan %x0 dim={axis} reverse={str(reverse).lower()} identities=[0.0 : f32]
      : {tile_type(shape, "f32")} -> {tile_type(shape, "f32")}
    (%e: tile<f32>, %a: tile<f32>) {{
      %s = {combine} : tile<f32>
      yield %s : tile<f32>
    }}"""


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("axis", (0, 1))
def test_scan(axis, reverse):
    x = normal(4, 16)
    got = one(scan_text([4, 16], axis, reverse), [x], (4, 16), F)
    wide = x.astype(np.float64)
    want = np.cumsum(np.flip(wide, axis), axis) if reverse else np.cumsum(wide, axis)
    want = np.flip(want, axis) if reverse else want
    assert np.allclose(got, want, rtol=1e-5, atol=1e-5)


def test_scan_of_two_operands_keeps_the_order():
    """Composition of x -> m * x + b is associative but does not commute."""
    body = """
    %r0, %r1 = scan %x0, %x1 dim=0 reverse=false identities=[1.0 : f64, 0.0 : f64]
      : tile<16xf64>, tile<16xf64> -> tile<16xf64>, tile<16xf64>
    (%m: tile<f64>, %am: tile<f64>, %b: tile<f64>, %ab: tile<f64>) {
      %nm = mulf %m, %am : tile<f64>
      %t = mulf %m, %ab : tile<f64>
      %nb = addf %t, %b : tile<f64>
      yield %nm, %nb : tile<f64>, tile<f64>
    }"""
    m, b = normal(16, dtype=np.float64), normal(16, dtype=np.float64)
    slope, offset = compute(body, [m, b], [((16,), np.float64)] * 2)
    want_m, want_b = 1.0, 0.0
    for i in range(16):
        want_m, want_b = m[i] * want_m, m[i] * want_b + b[i]
        assert slope[i] == pytest.approx(want_m, rel=1e-12)
        assert offset[i] == pytest.approx(want_b, rel=1e-9, abs=1e-12)


# --- matrix products --------------------------------------------------------------------------


def mma(a, b, c, flags: str = "") -> np.ndarray:
    types = ", ".join(tile_type(x.shape, type_of(x)) for x in (a, b, c))
    return one(f"%r0 = mmaf %x0, %x1, %x2 {flags} : {types}", [a, b, c], c.shape, c.dtype)


@pytest.mark.parametrize(
    "source,result",
    [
        (np.float16, np.float16),
        (np.float16, F),
        (bf16, F),
        (F, F),
        (np.float64, np.float64),
        (ml_dtypes.float8_e4m3fn, F),
        (ml_dtypes.float8_e5m2, np.float16),
    ],
)
def test_mmaf(source, result):
    a, b, c = normal(16, 32, dtype=source), normal(32, 8, dtype=source), normal(16, 8, dtype=result)
    want = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    got = mma(a, b, c).astype(np.float64)
    assert (np.abs(got - want.astype(result).astype(np.float64)) <= 1e-12 * np.abs(want)).all()


def test_mmaf_batched_and_tf32():
    a, b, c = normal(2, 8, 16), normal(2, 16, 4), normal(2, 8, 4)
    assert np.allclose(mma(a, b, c), a.astype(float) @ b.astype(float) + c, rtol=1e-6, atol=1e-6)
    body = """
    %a = ftof %x0 : tile<8x16xf32> -> tile<8x16xtf32>
    %b = ftof %x1 : tile<16x4xf32> -> tile<16x4xtf32>
    %r0 = mmaf %a, %b, %x2 : tile<8x16xtf32>, tile<16x4xtf32>, tile<8x4xf32>"""

    def tf32(x):
        bits = x.view(np.uint32).astype(np.uint64)
        bits = (bits + 0xFFF + ((bits >> 13) & 1)) & ~np.uint64(0x1FFF)
        return bits.astype(np.uint32).view(F).astype(np.float64)

    got = one(body, [a[0], b[0], c[0]], (8, 4), F)
    assert np.allclose(got, tf32(a[0]) @ tf32(b[0]) + c[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("signs", ("signed signed", "signed unsigned", "unsigned unsigned"))
def test_mmai_wraps(signs):
    a = R.integers(-128, 128, (4, 64)).astype(np.int8)
    b = R.integers(-128, 128, (64, 8)).astype(np.int8)
    c = np.full((4, 8), 2**31 - 1000, np.int32)
    left, right = signs.split()
    x = a.astype(np.int64) if left == "signed" else a.view(np.uint8).astype(np.int64)
    y = b.astype(np.int64) if right == "signed" else b.view(np.uint8).astype(np.int64)
    text = f"%r0 = mmai %x0, %x1, %x2 {signs} : tile<4x64xi8>, tile<64x8xi8>, tile<4x8xi32>"
    got = one(text, [a, b, c], (4, 8), np.int32)
    assert (got == (x @ y + c).astype(np.int32)).all()


def test_mmaf_scaled():
    e4m3, e8m0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    a, b, c = normal(8, 64, dtype=e4m3), normal(64, 4, dtype=e4m3), normal(8, 4)
    sa = (2.0 ** R.integers(-3, 4, (8, 2))).astype(e8m0)
    sb = (2.0 ** R.integers(-3, 4, (2, 4))).astype(e8m0)
    text = """%r0 = mmaf_scaled %x0, %x1, %x2, %x3, %x4 : tile<8x64xf8E4M3FN>,
      tile<64x4xf8E4M3FN>, tile<8x4xf32>, tile<8x2xf8E8M0FNU>, tile<2x4xf8E8M0FNU>"""
    got = one(text, [a, b, c, sa, sb], (8, 4), F)
    left = a.astype(float) * np.repeat(sa.astype(float), 32, axis=1)
    right = b.astype(float) * np.repeat(sb.astype(float), 32, axis=0)
    assert np.allclose(got, left @ right + c, rtol=1e-6, atol=1e-6)
