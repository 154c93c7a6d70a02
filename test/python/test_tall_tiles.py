"""Products whose tiles are taller than wide: computed as their transposes where they have 64
columns, and stored through shared memory all the same."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gemm_support import (
    LAUNCHES,
    Gemm,
    RaggedGemm,
    RaggedProduct,
    assert_fast,
    compiled,
)

FP8 = "f8E4M3FN"
SLOW_PLAIN = ["managed", pytest.param("plain", marks=pytest.mark.slow)]


def gemm_id(gemm: Gemm) -> str:
    return gemm.name


#: Tiles of 64 columns, and the columns of the instructions that compute them transposed.
TRANSPOSED = [
    (RaggedGemm(128, 64, 64, "bf16"), 128),
    (RaggedGemm(128, 64, 64, "bf16", b="k"), 128),
    (RaggedGemm(256, 64, 64, "bf16"), 128),
    (RaggedGemm(256, 64, 64, "bf16", b="k"), 128),
    (RaggedGemm(128, 64, 64, "f16", "f32"), 128),
    (RaggedGemm(128, 64, 32, "tf32", b="k"), 128),
    (RaggedGemm(128, 64, 32, "f32", b="k"), 128),
    (RaggedGemm(128, 64, 128, "i8", b="k"), 128),
    (RaggedGemm(256, 64, 128, "i8", b="k"), 128),
    (RaggedGemm(128, 64, 128, FP8, "bf16", "k"), 128),
    (RaggedGemm(128, 64, 128, FP8, "f32", "k", promote=True), 128),
    (RaggedGemm(192, 64, 64, "bf16"), 96),
]
#: Others that are tall, whose rows are those of instructions; and operands along m.
OTHERS = [
    RaggedGemm(256, 128, 64, "bf16"),
    RaggedGemm(256, 128, 64, "bf16", b="k"),
    RaggedGemm(256, 128, 64, "f16", "f32", "k"),
    RaggedGemm(192, 128, 64, "bf16"),
    RaggedGemm(128, 64, 32, "bf16", a="m"),
    RaggedGemm(128, 64, 32, "f16", b="k", a="m"),
    RaggedGemm(256, 64, 128, "f16", "f32", a="m"),
]
EPILOGUES = [
    RaggedGemm(128, 64, 64, "bf16", epilogue="bias_residual_relu"),
    RaggedGemm(128, 64, 64, "f16", b="k", epilogue="residual"),
    RaggedGemm(256, 64, 64, "f16", epilogue="bias_residual"),
    RaggedGemm(256, 64, 64, "bf16", epilogue="bias"),
    RaggedGemm(256, 128, 64, "bf16", b="k", epilogue="bias_residual_relu"),
    RaggedGemm(128, 64, 32, "tf32", "bf16", "k", epilogue="residual"),
    RaggedGemm(128, 64, 128, FP8, "f16", "k", epilogue="bias_residual"),
]


def check(gemm: RaggedGemm, launch) -> None:
    """Tiles that stand out of the result on both sides, two rounds and a bit, and all of several
    tiles, after each other on one multiprocessor."""
    for m, n, k in ((gemm.bm + 19, gemm.bn + 7, 2 * gemm.bk + 9), (3 * gemm.bm, 2 * gemm.bn, 24)):
        product = RaggedProduct(gemm, m, n, k)
        np.testing.assert_array_equal(product.simulated(compiled(gemm, launch)), product.want)


@pytest.mark.parametrize(("gemm", "columns"), TRANSPOSED, ids=lambda x: getattr(x, "name", ""))
def test_instructions_are_wide(gemm, columns):
    """PTX ISA: the shape of wgmma is m64nNkK, and N is the tile's height where it is transposed."""
    found = set(re.findall(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k", compiled(gemm).ptx))
    assert found == {str(columns)}


@pytest.mark.parametrize("launch", SLOW_PLAIN)
@pytest.mark.parametrize("gemm", [gemm for gemm, _ in TRANSPOSED] + OTHERS, ids=gemm_id)
def test_products(gemm, launch):
    check(gemm, launch)


@pytest.mark.parametrize("launch", SLOW_PLAIN)
@pytest.mark.parametrize("gemm", EPILOGUES, ids=gemm_id)
def test_epilogues(gemm, launch):
    check(gemm, launch)


@pytest.mark.parametrize("gemm", [TRANSPOSED[0][0], OTHERS[0], EPILOGUES[0]], ids=gemm_id)
def test_the_interpreter_agrees(gemm):
    """That the numbers wanted are those of the program."""
    product = RaggedProduct(gemm, gemm.bm + 19, gemm.bn + 7, 2 * gemm.bk + 9)
    np.testing.assert_array_equal(product.interpreted(), product.want)


#: 16-bit results, whose matrices stmatrix transposes; and 32-bit ones.
@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize(
    ("gemm", "matrices"),
    [
        (Gemm(128, 64, 64, "bf16"), True),
        (Gemm(256, 64, 64, "f16"), True),
        (Gemm(128, 64, 64, "f16", "f32"), False),
        (Gemm(256, 64, 128, "i8", b="k"), False),
    ],
    ids=lambda x: x.name if isinstance(x, Gemm) else "",
)
def test_results_leave_by_tensor_accesses(gemm, matrices, launch):
    program = compiled(gemm, launch)
    assert "cp.async.bulk.tensor.2d.global.shared" in program.ptx
    assert bool(re.search(r"stmatrix\.sync\.aligned\S*\.trans", program.ptx)) == matrices
    assert_fast(program)
