"""Matrix products of narrow types on Hopper's warpgroups."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gemm_support import (
    LAUNCHES,
    Gemm,
    Launch,
    Product,
    assert_fast,
    compiled,
    gemm_id,
    numpy_type,
    simulate,
)

import tileir

FP8 = "f8E4M3FN"
#: Tiles of whole panels, of half of one, and of several.
TILES = [
    Gemm(128, 128, 128, "i8", "", "k"),
    Gemm(64, 64, 64, "i8", "", "k"),
    Gemm(128, 128, 128, FP8, "bf16", "k"),
    Gemm(64, 256, 256, "f8E5M2", "f32", "k"),
    Gemm(64, 32, 32, "tf32", "", "k"),
    Gemm(128, 128, 64, "tf32", "", "k"),
]
#: Sums of 128 of K on their own: one, two of them in a round, and in parts of 128 columns.
PROMOTED = [
    Gemm(128, 128, 128, FP8, "bf16", "k", promote=True),
    Gemm(64, 64, 256, FP8, "f32", "k", promote=True),
    Gemm(64, 256, 128, "f8E5M2", "f32", "k", promote=True),
    Gemm(64, 64, 64, "f16", "f32", promote=True),
]
#: Tiles of the size that is fast, which must leave no register spilled.
LARGE = [
    Gemm(128, 128, 128, "i8", "", "k"),
    Gemm(128, 256, 128, FP8, "bf16", "k"),
    Gemm(128, 128, 128, FP8, "bf16", "k", promote=True),
    Gemm(128, 256, 128, FP8, "bf16", "k", promote=True),
    Gemm(128, 256, 32, "tf32", "", "k"),
    Gemm(128, 256, 32, "f32", "", "k"),
]


def check(gemm: Gemm, launch, m: int, n: int, k: int) -> None:
    product, program = Product(gemm, m, n, k), compiled(gemm, launch)
    assert "wgmma.mma_async" in program.ptx and "cp.async.bulk.tensor" in program.ptx
    np.testing.assert_array_equal(product.simulated(program), product.want)
    np.testing.assert_array_equal(product.interpreted(), product.want)


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("gemm", TILES, ids=gemm_id)
def test_narrow_types(gemm, launch):
    """Two rounds and a bit, and tiles that stand out of the result."""
    check(gemm, launch, gemm.bm + 32, gemm.bn + 16, 2 * gemm.bk + 16)


@pytest.mark.parametrize("gemm", PROMOTED, ids=gemm_id)
def test_promoted(gemm):
    assert "promoted" in compiled(gemm).stage("tile_gpu")
    check(gemm, "managed", gemm.bm + 32, gemm.bn, 2 * gemm.bk + 16)


@pytest.mark.parametrize(
    "gemm", [Gemm(128, 256, 64, "bf16"), Gemm(128, 192, 128, FP8, "bf16", "k", promote=True)],
    ids=gemm_id,
)  # fmt: skip
def test_descriptors_are_uniform(gemm):
    """The instructions of a round follow each other at once: none waits until a value goes from
    the registers of threads to those that a warp shares."""
    _, *between, _ = re.split("[HQ]GMMA", compiled(gemm).stage("sass"))
    assert len(between) == 3
    assert not any("R2UR" in code for code in between)


def test_sums_of_8_bit_floats_are_promoted_unless_fast():
    gemm = Gemm(64, 64, 128, FP8, "f32", "k")
    exact = gemm.text().replace(" fast_acc", "")
    assert "promoted" not in compiled(gemm).stage("tile_gpu")
    assert "promoted" in tileir.compile(exact, "sm_90a", isolate=False).stage("tile_gpu")


@pytest.mark.parametrize("launch", ["managed", pytest.param("plain", marks=pytest.mark.slow)])
@pytest.mark.parametrize("gemm", LARGE, ids=gemm_id)
def test_large_tiles_are_fast(gemm, launch):
    assert_fast(compiled(gemm, launch))


@pytest.mark.parametrize("gemm", [LARGE[0], Gemm(128, 128, 128, FP8, "bf16", "k")], ids=gemm_id)
def test_ping_pong(gemm):
    assert "replicas 2" in compiled(gemm).stage("tile_gpu")


#: Operands of one panel, of two, and of three, of which both blocks of a pair fetch a half.
PAIRS = [
    Gemm(128, 128, 64, "bf16", divisor=8),
    Gemm(192, 192, 64, "bf16", divisor=8),
    Gemm(192, 192, 64, "bf16", b="k", divisor=8),
]


@pytest.mark.parametrize("gemm", PAIRS, ids=gemm_id)
def test_pairs_of_blocks(gemm):
    """Rows of 400 and 280 bytes, two rounds and a bit."""
    product, program = Product(gemm, 2 * gemm.bm, 200, 136), compiled(gemm, "managed")
    assert "multicast" in program.ptx
    np.testing.assert_array_equal(product.simulated(program), product.want)


@pytest.mark.parametrize(
    "signs", [("unsigned", "signed"), ("signed", "unsigned"), ("unsigned",) * 2]
)
def test_signs(signs):
    gemm = Gemm(64, 32, 64, "i8", "", "k")
    r = np.random.default_rng(1)
    types = [np.uint8 if sign == "unsigned" else np.int8 for sign in signs]
    limits = [np.iinfo(type_) for type_ in types]
    a, b = (
        r.integers(limit.min, limit.max, shape, type_, endpoint=True)
        for limit, type_, shape in zip(limits, types, ((64, 96), (32, 96)), strict=True)
    )
    c = np.zeros((64, 32), np.int32)
    args = [x for y in (a, b, c) for x in (y.view(np.int8) if y is not c else y,
                                           *y.shape, y.shape[1], 1)]  # fmt: skip
    text = gemm.text().replace("signed signed", " ".join(signs))
    tileir.run(text, gemm.name, (1, 1, 1), args, backend="sim", target="sm_90a")
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32).T)
    assert tileir.compile(text, "sm_90a", cache=False).cubin  # its PTX says the version it needs


# ---- f32 rounded to tf32 -------------------------------------------------------------------------


def rounded(x: np.ndarray) -> np.ndarray:
    """f32 to 10 bits of mantissa, to nearest, ties to even."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, 11)), exponent - 11)


@pytest.mark.parametrize("launch", LAUNCHES)
def test_rounding_to_tf32_on_the_way(launch):
    """Tensor accesses round; an identity matrix shows to what. Every value is a tie or near one."""
    gemm = Gemm(64, 32, 32, "f32", b="k", divisor=16)
    r = np.random.default_rng(0)
    near = r.integers(-1, 2, (64, 32))
    a = (1 + r.integers(0, 1 << 10, (64, 32)) / 1024 + (4096 + near) * 2.0**-23).astype(np.float32)
    b, c = np.eye(32, dtype=np.float32), np.full((64, 32), np.nan, np.float32)
    args = [x for y in (a, b, c) for x in (y, *y.shape, y.shape[1], 1)]
    program = compiled(gemm, launch)
    assert "cp.async.bulk.tensor" in program.ptx and "cvt.rna.tf32" not in program.ptx
    simulate(program, (1, 1, 1), args)
    np.testing.assert_array_equal(c, rounded(a))


def test_rounding_to_tf32_without_tensor_accesses():
    """Rows that are no multiples of 16 bytes are rounded in registers."""
    gemm = Gemm(64, 32, 32, "f32", b="k", divisor=1)
    r = np.random.default_rng(0)
    a = r.standard_normal((64, 35)).astype(np.float32)
    b, c = np.eye(32, 35, dtype=np.float32), np.full((64, 32), np.nan, np.float32)
    args = [x for y in (a, b, c) for x in (y, *y.shape, y.shape[1], 1)]
    program = compiled(gemm)
    assert "cp.async.bulk.tensor" not in program.ptx
    simulate(program, (1, 1, 1), args)
    np.testing.assert_array_equal(c, rounded(a[:, :32]))


def with_outer_operand(gemm: Gemm) -> str:
    """The program, whose A is loaded in a loop around the loop over B's tiles: each tile of A is
    multiplied by all of them."""
    text = gemm.text()
    found = re.search(
        r"( *%sum = for .*\n)( *%at, .*\n)( *%bt, .*\n)( *%next .*\n)( *continue.*\n)", text
    )
    assert found, "the program has a loop"
    loop, a, b, product, end = found.groups()
    inner = loop.replace("%sum", "%inner").replace("%acc = %zero", "%acc = %outer")
    outer = loop.replace("%k in", "%o in").replace("%acc = %zero", "%outer = %zero")
    lines = [
        outer,
        a.replace("%k]", "%o]"),
        inner,
        b,
        product,
        end,
        "}\n",
        end.replace("%next", "%inner"),
    ]
    return text.replace(found[0], "".join(lines))


@pytest.mark.parametrize("launch", LAUNCHES)
def test_operand_of_an_outer_loop(launch: Launch) -> None:
    """It has a buffer beside the producer's ring, which leaves no room for a ring of its own."""
    gemm = Gemm(128, 128, 64, "f16", "f32")
    program = tileir.compile(
        with_outer_operand(gemm), "sm_90a", launch=launch, isolate=False, cache=False
    )
    product = Product(gemm, 144, 144, 208)
    padded = np.zeros((2, 256, 144))
    padded[0, :208], padded[1, :208] = product.a.T, product.b
    a, b = (each.reshape(4, 64, 144).sum(0) for each in padded)
    np.testing.assert_array_equal(product.simulated(program), a.T @ b)


# ---- the left operand in registers ---------------------------------------------------------------

CHAIN = """
cuda_tile.module @kernels {{
  entry @chain(%a: tile<ptr<{t}>>, %b: tile<ptr<{t}>>, %c: tile<ptr<{t}>>, %d: tile<ptr<{acc}>>) {{
    %zero = constant <i32: 0> : tile<i32>
    %empty1 = constant <{acc}: {nil}> : tile<64x{k}x{acc}>
    %empty2 = constant <{acc}: {nil}> : tile<64x{n}x{acc}>
    {a}
    {b}
    {c}
    %p = {mma} %a_l, %b_l, %empty1{signs} : tile<64x{k}x{t}>, tile<{k}x{k}x{t}>, tile<64x{k}x{acc}>
    %q = {narrow} %p : tile<64x{k}x{acc}> -> tile<64x{k}x{t}>
    %r = {mma} %q, %c_l, %empty2{signs} : tile<64x{k}x{t}>, tile<{k}x{n}x{t}>, tile<64x{n}x{acc}>
    {d}
    %t = store_view_tko weak %r, %d_v[%zero, %zero] : tile<64x{n}x{acc}>, {dv}, tile<i32> -> token
    return
  }}
}}
"""


def view(
    name: str, shape: tuple[int, int], element: str, *, transposed: bool = False
) -> tuple[str, str]:
    """A view of a whole matrix in memory, as `name`_v: its type and the text that makes it."""
    rows, columns = shape
    tensor = f"tensor_view<{rows}x{columns}x{element}, strides=[{columns},1]>"
    tile, dims = (
        (f"{columns}x{rows}", ", dim_map=[1, 0]") if transposed else (f"{rows}x{columns}", "")
    )
    type_ = f"partition_view<tile=({tile}), {tensor}{dims}>"
    lines = [
        f"%{name}_p = assume div_by<16>, %{name} : tile<ptr<{element}>>",
        f"%{name}_t = make_tensor_view %{name}_p, shape = [{rows}, {columns}], "
        f"strides = [{columns}, 1] : {tensor}",
        f"%{name}_v = make_partition_view %{name}_t : {type_}",
    ]
    return type_, "\n".join(lines)


def load(name: str, shape: tuple[int, int], element: str, *, transposed: bool = False) -> str:
    """Loads a whole matrix as `name`_l."""
    type_, text = view(name, shape, element, transposed=transposed)
    tile = "x".join(map(str, reversed(shape) if transposed else shape))
    return (
        f"{text}\n%{name}_l, %{name}_k = load_view_tko weak %{name}_v[%zero, %zero] : {type_}, "
        f"tile<i32> -> tile<{tile}x{element}>, token"
    )


def chain(element: str, k: int, n: int) -> str:
    """D = narrow(A B) C with B and C along k in memory."""
    is_integer = element == "i8"
    acc = "i32" if is_integer else "f32"
    stored, store = view("d", (64, n), acc)
    return CHAIN.format(
        t=element, acc=acc, k=k, n=n, nil="0" if is_integer else "0.0",
        a=load("a", (64, k), element), b=load("b", (k, k), element, transposed=True),
        c=load("c", (n, k), element, transposed=True), d=store, dv=stored,
        mma="mmai" if is_integer else "mmaf", signs=" signed signed" if is_integer else "",
        narrow="trunci" if is_integer else "ftof",
    )  # fmt: skip


@pytest.mark.parametrize("element", [FP8, "f8E5M2", "tf32", "i8", "bf16"])
def test_left_operand_in_registers(element):
    """What the first product gives is small enough to be exact when narrow."""
    k, n = 64, 32
    text = chain(element, k, n)
    r = np.random.default_rng(0)
    a = np.zeros((64, k))
    a[np.arange(64), r.permutation(64)] = r.integers(1, 3, 64)
    b, c = r.integers(-2, 3, (k, k)), r.integers(-2, 3, (n, k))
    d = np.zeros((64, n), np.int32 if element == "i8" else np.float32)
    arrays = [x.astype(numpy_type(element)) for x in (a, b, c)]
    program = tileir.compile(text, "sm_90a", isolate=False, cache=False)
    assert "wgmma.mma_async" in program.ptx and "mma.sync" not in program.ptx
    tileir.run(text, "chain", (1, 1, 1), [*arrays, d], backend="sim", target="sm_90a")
    np.testing.assert_array_equal(d, a @ b.T @ c.T)
