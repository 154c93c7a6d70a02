"""Products whose sums over k several blocks share, which meet at a counter (split-k)."""

from __future__ import annotations

import numpy as np
import pytest
from gemm_support import LAUNCHES, Gemm, Launch, Product, assert_fast, compiled, gemm_id

import tileir

SPLIT = [
    Gemm(64, 128, 64, "bf16", split=4),
    Gemm(128, 128, 64, "f16", b="k", split=2),
    Gemm(64, 64, 64, "f16", "", "k", "bias_relu", split=3),
]


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("gemm", SPLIT, ids=gemm_id)
def test_split(gemm: Gemm, launch: Launch) -> None:
    """Rounds that the blocks cannot share evenly, and tiles that stand out of the result."""
    product = Product(gemm, gemm.bm + 16, gemm.bn + 16, 5 * gemm.bk + 16)
    program = compiled(gemm, launch)
    np.testing.assert_array_equal(product.simulated(program), product.want)


@pytest.mark.parametrize("gemm", SPLIT, ids=gemm_id)
def test_interpreted(gemm: Gemm) -> None:
    product = Product(gemm, gemm.bm + 16, gemm.bn + 16, 5 * gemm.bk + 16)
    np.testing.assert_array_equal(product.interpreted(), product.want)


@pytest.mark.parametrize("gemm", SPLIT, ids=gemm_id)
def test_a_producer_fetches_the_operands(gemm: Gemm) -> None:
    """Loads of the parts wait for the counter; those of operands for nothing."""
    program = compiled(gemm)
    assert_fast(program)
    assert "cp.async.bulk.tensor.2d.shared" in program.ptx
    assert "wgmma.wait_group.sync.aligned 1" in program.ptx


@pytest.mark.parametrize("order", ["relaxed", "acquire", "release"])
def test_half_an_order_is_a_race(order: str) -> None:
    """The counter's order is that of the PTX: with less the simulator finds what may go wrong."""
    gemm = SPLIT[2]
    text = gemm.text().replace("acq_rel device", f"{order} device")
    program = tileir.compile(text, "sm_90a", launch="managed", isolate=False, cache=False)
    with pytest.raises(tileir.TileError, match="race"):
        Product(gemm, 64, 64, 5 * gemm.bk).simulated(program)
