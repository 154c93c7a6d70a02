"""Products of matrices without elements, whose tensor maps no tensor can be in."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from gemm_support import LAUNCHES, Gemm, Product, compiled, gemm_id, simulate
from test_sim_tensor import load_mapped

import tileir
import tileir.lang as ct
from tileir.runtime import TensorMapRecipe
from tileir.runtime.expressions import Environment
from tileir.runtime.tensor_map import ZEROS
from tileir.signature import ArrayParameter, ConstantParameter, Signature, array_facts

BF16 = ml_dtypes.bfloat16
FP8 = "f8E4M3FN"
#: One warpgroup, two that take turns, two that share a tile, an epilogue's tile from the ring.
GEMMS = [
    Gemm(64, 64, 64, "bf16"),
    Gemm(128, 128, 64, "bf16", epilogue="bias_residual_relu"),
    Gemm(128, 256, 64, "bf16", "f32"),
    Gemm(128, 128, 128, FP8, "bf16", "k", promote=True),
]


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("gemm", GEMMS, ids=gemm_id)
def test_sums_of_nothing(gemm, launch):
    """K = 0: zeros, to which the epilogue does what it does."""
    product, program = Product(gemm, gemm.bm + 16, gemm.bn + 16, 0), compiled(gemm, launch)
    assert "cp.async.bulk.tensor" in program.ptx
    np.testing.assert_array_equal(product.simulated(program), product.want)


@ct.kernel
def persistent(a, b, residual, c, size: ct.Constant[int], depth: ct.Constant[int]):
    across = ct.num_tiles(c, 1, (size, size))
    count = ct.num_tiles(c, 0, (size, size)) * across
    for number in range(ct.bid(0), count, ct.num_blocks(0)):
        i, j = number // across, number % across
        total = ct.zeros((size, size), ct.float32)
        for k in range(ct.num_tiles(a, 1, (size, depth))):
            left = ct.load(a, (i, k), (size, depth), padding_mode=ct.PaddingMode.ZERO)
            right = ct.load(b, (k, j), (depth, size), padding_mode=ct.PaddingMode.ZERO)
            total = ct.mma(left, right, total)
        total = total + ct.load(residual, (i, j), (size, size), padding_mode=ct.PaddingMode.ZERO)
        ct.store(c, (i, j), total.astype(c.dtype))


def array_parameter(array: np.ndarray) -> ArrayParameter:
    return array_facts("bf16", 2, array.ctypes.data, *sizes_and_strides(array))


def sizes_and_strides(array: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Extents, and strides in elements."""
    return array.shape, tuple(stride // array.itemsize for stride in array.strides)


def flat(array: np.ndarray) -> list[Any]:
    """The parameters that an array becomes."""
    shape, strides = sizes_and_strides(array)
    return [array, *shape, *strides]


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("shape", [(0, 144, 64), (144, 0, 64), (144, 144, 0), (0, 0, 0)])
def test_blocks_that_find_no_tile(shape, launch):
    """A grid that does not depend on the sizes: blocks end without a copy if M or N is 0."""
    m, n, k = shape
    r = np.random.default_rng(0)
    a, b, residual, c = (
        r.integers(-3, 4, size).astype(BF16)
        for size in ((144, 64), (64, 144), (144, 144), (144, 144))
    )
    facts = *map(array_parameter, (a, b, residual, c)), ConstantParameter(64), ConstantParameter(64)
    text = str(persistent.trace(Signature(facts), "sm_90a"))
    program = tileir.compile(text, "sm_90a", launch=launch, isolate=False, cache=False)
    assert "cp.async.bulk.tensor" in program.ptx
    arrays = a[:m, :k], b[:k, :n], residual[:m, :n], c[:m, :n]
    left, right, added = (array.astype(np.float32) for array in arrays[:3])
    want = c.copy()
    want[:m, :n] = left @ right + added
    simulate(program, (2, 1, 1), [word for array in arrays for word in flat(array)])
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize("start", [(0, 0), (0, 16), (8, 0), (64, 64), (-8, -16)])
@pytest.mark.parametrize("dtype", ["bf16", "f32", FP8])
def test_boxes_of_nothing_are_padding(start, dtype):
    """Loads that a program guards are done without the guard, and read padding."""
    element = {"bf16": 2, "f32": 4, FP8: 1}[dtype]
    recipe = TensorMapRecipe(dtype, 0, (0, 64), (7,), (64 // element, 8), (1, 1), swizzle=64)
    zeros = np.zeros(ZEROS, np.uint8)
    found = recipe.instantiate(Environment([3], (1, 1, 1), 1), lambda: zeros.ctypes.data)
    assert not load_mapped(found, 64 * 8, start, memory=[zeros]).any()
