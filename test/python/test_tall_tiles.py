"""Products whose tiles are taller than wide: computed as their transposes where they have 64
columns, and stored through shared memory all the same."""

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
    assert_fast,
    compiled,
    gemm_id,
)

import tileir

FP8 = "f8E4M3FN"
SLOW_PLAIN = ["managed", pytest.param("plain", marks=pytest.mark.slow)]


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


# ---- other ways to compile them ------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize(
    "gemm",
    [
        RaggedGemm(128, 64, 64, "bf16"),
        RaggedGemm(128, 64, 32, "f16", "f32", "k"),
        RaggedGemm(256, 64, 32, "bf16", b="k", epilogue="bias_residual_relu"),
    ],
    ids=gemm_id,
)
def test_lower_levels(gemm, level):
    """Without a producer, results leave from registers."""
    program = tileir.compile(
        gemm.text(), "sm_90a", launch="managed", opt_level=level, isolate=False, cache=False
    )
    product = RaggedProduct(gemm, gemm.bm + 19, gemm.bn + 7, gemm.bk + 9)
    np.testing.assert_array_equal(product.simulated(program), product.want)


@pytest.mark.parametrize(
    "gemm",
    [
        Gemm(128, 64, 32, "bf16", divisor=1),
        Gemm(256, 64, 32, "bf16", b="k", divisor=2, epilogue="bias_residual"),
        Gemm(128, 64, 64, "i8", b="k", divisor=4),
    ],
    ids=gemm_id,
)
def test_rows_that_start_anywhere(gemm):
    """No tensor memory accesses: neither loads nor stores."""
    product, program = Product(gemm, gemm.bm + 4, gemm.bn + 4, 140), compiled(gemm)
    assert "cp.async.bulk.tensor" not in program.ptx
    np.testing.assert_array_equal(product.simulated(program), product.want)


@pytest.mark.parametrize(
    "gemm",
    [
        Gemm(128, 64, 64, "bf16", divisor=8),
        Gemm(128, 64, 32, "f16", b="k", divisor=8, epilogue="residual"),
        Gemm(256, 64, 64, "f16", divisor=8),
    ],
    ids=gemm_id,
)
def test_pairs_of_blocks(gemm):
    product, program = Product(gemm, 5 * gemm.bm - 8, 3 * gemm.bn - 8, 104), compiled(gemm)
    assert "multicast" in program.ptx
    np.testing.assert_array_equal(product.simulated(program), product.want)


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("rows", [128, 256])
def test_numbers_of_warpgroups(rows, warps):
    """One warpgroup, or two beside each other in the transposed product."""
    gemm = Gemm(rows, 64, 64, "bf16", hints=f"num_worker_warps_per_cta = {warps}")
    product, program = Product(gemm, rows + 16, 80, 80), compiled(gemm)
    (kernel,) = program.kernels.values()
    assert kernel.block == (32 * warps + 128, 1, 1)
    assert f"m64n{4 * rows // warps}k16" in program.ptx
    np.testing.assert_array_equal(product.simulated(program), product.want)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("rows", [128, 256])
def test_reductions(rows, dim):
    """Of rows, which several threads and no two warps share, and of columns, the other way round:
    each element less the sum of its row or column in the tile."""
    gemm = Gemm(rows, 64, 64, "f16", "f32")
    shape, kept, broadcast = (
        f"{rows}x64xf32",
        f"{(64, rows)[dim]}xf32",
        ("1x64xf32", f"{rows}x1xf32")[dim],
    )
    less = f"""%sums = reduce %sum dim={dim} identities=[0.0 : f32]
      : tile<{shape}> -> tile<{kept}> (%e: tile<f32>, %f: tile<f32>) {{
        %ef = addf %e, %f : tile<f32>
        yield %ef : tile<f32>
      }}
    %flat = reshape %sums : tile<{kept}> -> tile<{broadcast}>
    %all = broadcast %flat : tile<{broadcast}> -> tile<{shape}>
    %less = subf %sum, %all : tile<{shape}>
    """
    text = gemm.text()
    at = text.index("%done = store_view_tko weak %sum")
    text = text[:at] + less + text[at:].replace("%sum", "%less", 1)
    program = tileir.compile(text, "sm_90a", launch="managed", isolate=False, cache=False)
    assert "wgmma.mma_async" in program.ptx
    product = Product(gemm, rows, 64, 80)
    want = product.want - product.want.sum(axis=dim, keepdims=True)
    np.testing.assert_array_equal(product.simulated(program), want)
