"""Matrix products with tiles of all sizes on Hopper: how many warpgroups, and nothing spilled."""

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

# ---- sizes that are no powers of two -------------------------------------------------------------

#: (tile, warpgroups that compute)
EXTENDED = [
    (Gemm(192, 192, 64, "bf16"), 3),
    (Gemm(192, 192, 64, "bf16", b="k"), 3),
    (Gemm(192, 128, 64, "bf16"), 3),
    (Gemm(192, 96, 64, "bf16"), 3),
    (Gemm(192, 96, 64, "bf16", b="k"), 3),
    (Gemm(128, 192, 64, "bf16"), 2),
    (Gemm(128, 80, 64, "f16", b="k"), 2),
    (Gemm(192, 192, 128, "f8E4M3FN", "bf16", "k"), 3),
    (Gemm(192, 192, 128, "f8E4M3FN", "bf16", "k", promote=True), 3),
]


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize(
    ("gemm", "groups"), EXTENDED, ids=lambda x: x.name if isinstance(x, Gemm) else str(x)
)
def test_extended_tiles_are_fast(gemm, groups, launch):
    """A warpgroup for each 64 rows, and a producer beside them."""
    program = compiled(gemm, launch)
    assert_fast(program)
    (kernel,) = program.kernels.values()
    assert kernel.block == (128 * (groups + 1), 1, 1)
    assert "computed in" not in " ".join(program.remarks)
    producer, consumer = {2: (40, 232), 3: (32, 160)}[groups]
    for action, registers in (("dec", producer), ("inc", consumer)):
        assert re.search(rf"setmaxnreg.{action}.sync.aligned.u32\s+{registers};", program.ptx)


@pytest.mark.parametrize("launch", ["managed", pytest.param("plain", marks=pytest.mark.slow)])
@pytest.mark.parametrize("gemm", [EXTENDED[i][0] for i in (0, 4, 6, 8)], ids=gemm_id)
def test_extended_tiles(gemm, launch):
    product = Product(gemm, gemm.bm + 16, gemm.bn + 16, 2 * gemm.bk + 16)
    program = compiled(gemm, launch)
    np.testing.assert_array_equal(product.simulated(program), product.want)


# ---- the sweep -----------------------------------------------------------------------------------

SIZES = (64, 128, 256)
SWEEP = [
    (Gemm(bm, bn, bk, "bf16", b=b), launch)
    for bm in SIZES
    for bn in SIZES
    for bk in (32, 64, 128)
    for b in ("n", "k")
    for launch in LAUNCHES
]
#: Those that always run: small, wide, deep, and in slices.
SAMPLE = {
    ("gemm_64x64x32_bf16_nn", "managed"),
    ("gemm_64x256x128_bf16_nt", "plain"),
    ("gemm_128x128x128_bf16_nn", "plain"),
    ("gemm_256x256x64_bf16_nt", "managed"),
}


def sweep() -> list:
    return [
        pytest.param(
            gemm, launch, id=f"{gemm.name}-{launch}",
            marks=() if (gemm.name, launch) in SAMPLE else (pytest.mark.slow,),
        )
        for gemm, launch in SWEEP
    ]  # fmt: skip


@pytest.mark.parametrize(("gemm", "launch"), sweep())
def test_no_tile_spills(gemm, launch):
    program = compiled(gemm, launch)
    assert_fast(program)
    assert "wgmma.mma_async" in program.ptx and "cp.async.bulk.tensor" in program.ptx


# ---- one operand that tensor memory accesses cannot fetch ----------------------------------------

#: Rows of B start at multiples of 8 bytes.
BESIDE = [
    RaggedGemm(bm, bn, 64, "bf16", b=b, b_divisor=4)
    for bm, bn in ((64, 64), (128, 64), (128, 128), (128, 256), (256, 128))
    for b in ("n", "k")
]


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("gemm", BESIDE, ids=gemm_id)
def test_one_operand_of_two(gemm, launch):
    """Both are copied by the warps that multiply, which fits and does not spill."""
    program = compiled(gemm, launch)
    assert_fast(program)
    assert "wgmma.mma_async" in program.ptx and "cp.async.ca" in program.ptx
    assert "cp.async.bulk.tensor" not in program.ptx


def test_one_operand_of_two_is_right():
    gemm = BESIDE[6]
    product = RaggedProduct(gemm, gemm.bm + 5, gemm.bn + 7, 200)
    np.testing.assert_array_equal(product.simulated(compiled(gemm)), product.want)


# ---- hints ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("warps", (4, 8, 16))
@pytest.mark.parametrize("columns", (128, 256))
def test_hints_do_not_spill(columns, warps):
    """A warpgroup holds 64x256 accumulators; a block has registers for three and a producer."""
    gemm = Gemm(128, columns, 64, "bf16", hints=f"num_worker_warps_per_cta = {warps}")
    program = compiled(gemm)
    assert_fast(program)
    (kernel,) = program.kernels.values()
    honoured = (columns, warps) in ((128, 4), (128, 8), (256, 8))
    assert kernel.block == (32 * (4 + (warps if honoured else 8)), 1, 1)
    ignored = f"8 warps compute, not {warps} as num_worker_warps_per_cta asks for"
    assert any(ignored in remark for remark in program.remarks) != honoured


# ---- deep tiles ----------------------------------------------------------------------------------


@pytest.mark.parametrize("launch", LAUNCHES)
def test_occupancy(launch):
    """So many blocks fit on a multiprocessor, which has 228 KiB of shared memory, 1 KiB of it taken
    by the system for each block, and 65,536 registers; results are right."""
    gemm = Gemm(64, 64, 64, "bf16", hints="occupancy = 3")
    program = compiled(gemm, launch)
    assert program.cubin, "machine code tells how many registers are used"
    (kernel,) = program.kernels.values()
    assert kernel.registers is not None
    assert 3 * (kernel.shared_bytes + kernel.dynamic_shared_bytes + 1024) <= 228 * 1024
    assert 3 * kernel.block[0] * kernel.registers <= 65536
    assert "3 blocks share a multiprocessor" in " ".join(program.remarks)
    product = Product(gemm, 80, 144, 144)
    np.testing.assert_array_equal(product.simulated(program), product.want)


def test_one_stage():
    """Where two rounds' tiles do not fit, the next are fetched when this one has been read."""
    gemm = Gemm(128, 128, 256, "bf16")
    program, product = compiled(gemm), Product(gemm, 144, 136, 528)
    assert "stages = 2" not in program.stage("tile_gpu")
    np.testing.assert_array_equal(product.simulated(program), product.want)


@pytest.mark.parametrize(
    "gemm", [Gemm(128, 256, 256, "bf16"), Gemm(256, 256, 256, "bf16")], ids=gemm_id
)
def test_deep_tiles_do_not_spill(gemm):
    assert_fast(compiled(gemm))


@pytest.mark.parametrize(
    ("gemm", "needed", "fitting"),
    [
        (Gemm(128, 128, 512, "bf16"), 262144, Gemm(128, 128, 256, "bf16")),
        (Gemm(64, 64, 2048, "f16"), 524288, Gemm(64, 64, 512, "f16")),
    ],
    ids=lambda x: x.name if isinstance(x, Gemm) else str(x),
)
def test_too_much_shared_memory(gemm, needed, fitting):
    """sm_90 has 227 KiB for a block."""
    with pytest.raises(tileir.ResourceError) as caught:
        compiled(gemm)
    error = caught.value
    assert f"needs {needed} bytes of shared memory, sm_90a has {227 * 1024}" in error.reason
    shape = f"{fitting.bm}x{fitting.bn}x{fitting.bk}"
    assert error.remedy == f"a product of {shape} fits"
    line = next(i for i, text in enumerate(gemm.text().splitlines(), 1) if "mmaf" in text)
    assert error.location is not None and error.location.startswith(f"<text>:{line}:")
    assert_fast(compiled(fitting))


def test_small_rings_keep_the_registers_of_a_multiprocessor() -> None:
    """A is doubled in registers, and only B comes through a ring: two blocks would have room, but
    for their registers, which ptxas must know (C7508)."""
    gemm = Gemm(128, 32, 64, "f16", "f32")
    twice = "%twice = addf %at, %at : tile<128x64xf16>\n%next = mmaf %twice"
    program = tileir.compile(
        gemm.text().replace("%next = mmaf %at", twice), "sm_90a", isolate=False, cache=False
    )
    assert "setmaxnreg" in program.ptx
    assert_fast(program)


# ---- epilogues -----------------------------------------------------------------------------------


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize(
    "gemm",
    [
        Gemm(128, 256, 64, "bf16", epilogue="bias_residual"),
        Gemm(128, 256, 64, "bf16", epilogue="bias_residual_gelu"),
        Gemm(192, 192, 64, "bf16", epilogue="bias_residual_gelu"),
        Gemm(128, 128, 64, "bf16", epilogue="bias_residual_gelu"),
    ],
    ids=gemm_id,
)
def test_epilogues_do_not_spill(gemm, launch):
    """They are computed slice by slice, as results leave. In plain launches, neither the search for
    maps nor what it found costs registers there."""
    assert_fast(compiled(gemm, launch))


@pytest.mark.parametrize("launch", ["managed", pytest.param("plain", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "gemm",
    [
        Gemm(128, 128, 64, "bf16", epilogue="bias_residual_relu"),
        Gemm(64, 128, 64, "f16", epilogue="residual"),
        Gemm(192, 96, 64, "bf16", epilogue="bias_residual_relu"),
    ],
    ids=gemm_id,
)
def test_epilogues(gemm, launch):
    product = Product(gemm, gemm.bm + 16, gemm.bn + 48, 80)
    np.testing.assert_array_equal(product.simulated(compiled(gemm, launch)), product.want)
