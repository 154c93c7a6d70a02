"""Loops over k whose rounds are put together, or divided, to fetch lines of 128 bytes: right for
all counts of rounds, and the same to the bit."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gemm_support import (
    LAUNCHES,
    Gemm,
    Product,
    RaggedGemm,
    RaggedProduct,
    compiled,
    gemm_id,
    numpy_type,
    simulate,
)

from tileir.passes.regroup_rounds import RegroupRounds

FP8 = "f8E4M3FN"


def depths(gemm: Gemm) -> set[int]:
    """How deep the operands of the program's products are once it is compiled."""
    text = compiled(gemm).stage("tile_gpu")
    return {int(depth) for depth in re.findall(r"tile_gpu\.dot .*? : \S+<\d+x(\d+)x", text)}


# ---- how deep rounds are -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gemm", "depth"),
    [
        (Gemm(64, 64, 16, "bf16"), 64),
        (Gemm(64, 64, 32, "bf16", b="k"), 64),
        (Gemm(64, 64, 64, "bf16"), 64),
        (Gemm(64, 64, 128, "bf16", b="k"), 64),
        (Gemm(128, 128, 32, "f16", "f32"), 64),
        (Gemm(64, 32, 8, "tf32", b="k"), 32),
        (Gemm(64, 64, 32, "i8", b="k"), 128),
        (Gemm(64, 64, 64, FP8, "bf16", "k"), 128),
        # f32 is rounded on its way; sums of their own are the program's.
        (Gemm(64, 64, 16, "f32", b="k"), 16),
        (Gemm(64, 64, 64, FP8, "f32", "k", promote=True), 64),
        # Rows that start anywhere are not fetched by tensor accesses.
        (Gemm(64, 64, 32, "bf16", divisor=2), 32),
    ],
    ids=lambda x: x.name if isinstance(x, Gemm) else str(x),
)
def test_a_round_fetches_a_line(gemm, depth):
    assert depths(gemm) == {depth}


# ---- every count of rounds -----------------------------------------------------------------------

#: Two, four and eight of the program's rounds in one, and two for one.
REGROUPED = [
    RaggedGemm(64, 64, 32, "bf16"),
    RaggedGemm(64, 64, 16, "bf16", b="k"),
    RaggedGemm(128, 64, 32, "f16", "f32"),
    RaggedGemm(64, 64, 16, "f16", "f32", a="m"),
    RaggedGemm(64, 64, 16, "tf32", b="k"),
    RaggedGemm(64, 32, 8, "tf32", b="k"),
    RaggedGemm(128, 64, 32, "i8", b="k"),
    RaggedGemm(64, 64, 64, FP8, "bf16", "k"),
    RaggedGemm(64, 64, 128, "bf16"),
    RaggedGemm(64, 64, 256, "bf16", b="k"),
]


def sizes(gemm: Gemm) -> list[int]:
    """Of k: less than a round, one round to nine of them, and one element or more beyond."""
    return [1, gemm.bk - 1, *(gemm.bk * n for n in range(1, 10)), gemm.bk + 1, 5 * gemm.bk + 3]


@pytest.mark.parametrize("gemm", REGROUPED, ids=gemm_id)
def test_every_count_of_rounds(gemm):
    program = compiled(gemm)
    for k in sizes(gemm):
        product = RaggedProduct(gemm, gemm.bm, gemm.bn - 3, k)
        np.testing.assert_array_equal(product.simulated(program), product.want, err_msg=f"k = {k}")


@pytest.mark.parametrize("launch", ["managed", pytest.param("plain", marks=pytest.mark.slow)])
@pytest.mark.parametrize("gemm", REGROUPED[:2] + REGROUPED[4:8], ids=gemm_id)
def test_several_tiles(gemm, launch):
    """The rounds of one tile follow those of another."""
    program = compiled(gemm, launch)
    for k in (gemm.bk, 3 * gemm.bk + 1):
        product = RaggedProduct(gemm, 3 * gemm.bm + 1, gemm.bn + 1, k)
        np.testing.assert_array_equal(product.simulated(program), product.want, err_msg=f"k = {k}")


@pytest.mark.parametrize(
    "gemm",
    [
        Gemm(64, 64, 32, "bf16", epilogue="bias_residual_relu"),
        Gemm(128, 128, 32, "f16", b="k", epilogue="bias_residual"),
        Gemm(128, 64, 16, "bf16", epilogue="residual"),
    ],
    ids=gemm_id,
)
def test_epilogues(gemm):
    product = Product(gemm, gemm.bm + 16, gemm.bn + 16, 48)
    np.testing.assert_array_equal(product.simulated(compiled(gemm)), product.want)


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("b", ["n", "k"])
def test_one_operand_that_tensor_accesses_cannot_fetch(b, launch):
    """B's rows start at multiples of 8 bytes: nothing before the tensor may be read."""
    gemm = RaggedGemm(64, 64, 32, "bf16", b=b, b_divisor=4)
    product = RaggedProduct(gemm, 69, 71, 96)
    np.testing.assert_array_equal(product.simulated(compiled(gemm, launch)), product.want)


def test_what_fits_still_fits():
    """Where only one operand comes through the ring, deeper rounds would not leave room for the
    other."""
    compiled(RaggedGemm(128, 64, 32, "bf16", b_divisor=4))


# ---- the same to the bit -------------------------------------------------------------------------


def random_product(gemm: Gemm, m: int, n: int, k: int) -> Product:
    """Of numbers whose sums depend on their order."""
    product = Product(gemm, m, n, k)
    r = np.random.default_rng(1)
    product.a, product.b = (
        r.standard_normal(x.shape).astype(numpy_type(gemm.dtype)) for x in (product.a, product.b)
    )
    return product


def bits(gemm: Gemm, product: Product) -> np.ndarray:
    args, c = product.arguments()
    simulate(compiled(gemm), gemm.grid(*product.shape), args)
    assert np.isfinite(c.astype(np.float64)).all()
    return c.view(f"u{c.itemsize}")


FLOATS = [
    Gemm(64, 64, 32, "bf16", "f32"),
    Gemm(128, 64, 16, "bf16", "f32", "k"),
    Gemm(64, 64, 32, "f16", "f32", "k"),
    Gemm(64, 64, 8, "tf32", "", "k"),
    Gemm(64, 64, 32, FP8, "f32", "k"),
    Gemm(64, 64, 128, "bf16", "f32"),
    Gemm(64, 64, 256, "f16", "f32", "k"),
]


@pytest.mark.parametrize("gemm", FLOATS, ids=gemm_id)
def test_the_same_bits_without_regrouping(gemm, monkeypatch):
    """One round, and odd and even numbers of rounds."""
    products = [random_product(gemm, 64, 64, count * gemm.bk) for count in (1, 3, 4, 7)]
    regrouped = [bits(gemm, product) for product in products]
    before = depths(gemm)
    monkeypatch.setattr(RegroupRounds, "apply", lambda self, module: None)
    assert depths(gemm) == {gemm.bk} != before
    for product, found in zip(products, regrouped, strict=True):
        np.testing.assert_array_equal(found, bits(gemm, product))


@pytest.mark.parametrize("b", ["n", "k"])
def test_the_same_bits_as_of_deeper_tiles(b):
    """The 32-deep program and the 64-deep one; another order of k gives others."""
    shallow, deep = (Gemm(64, 64, depth, "bf16", "f32", b) for depth in (32, 64))
    product = random_product(shallow, 64, 64, 256)
    found = bits(shallow, product)
    np.testing.assert_array_equal(found, bits(deep, product))
    product.a = np.ascontiguousarray(product.a[:, ::-1])
    product.b = np.ascontiguousarray(product.b[:, ::-1] if b == "k" else product.b[::-1])
    assert (found != bits(shallow, product)).any()


def test_infinity_and_nan_stay_where_they_are():
    """Zeros that are put in front meet zeros only, not an infinity, which would give NaN."""
    gemm = Gemm(64, 64, 32, "bf16", "f32")
    product = random_product(gemm, 64, 64, 96)
    product.a[3, 0], product.a[5, 95], product.a[7, 31] = np.inf, -np.inf, np.nan
    args, c = product.arguments()
    simulate(compiled(gemm), gemm.grid(64, 64), args)
    a, b = product.a.astype(np.float64), product.b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        want = a @ b
    np.testing.assert_array_equal(np.isnan(c), np.isnan(want))
    np.testing.assert_array_equal(np.isposinf(c), np.isposinf(want))
    np.testing.assert_array_equal(np.isneginf(c), np.isneginf(want))
