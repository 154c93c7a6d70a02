"""split-tile changes no bit of a result: the interpreter runs kernels before and after.

A kernel that the pass leaves alone is unchanged, and a remark says why. Compiled kernels with
tiles far beyond the registers of a block do not spill.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_cases import case_names, load_case
from split_tile_generator import Kernel

import tileir
from tileir import interp
from tileir.compiler.run_passes import run_passes
from tileir.dialects.diagnostics import RemarkCollector

CLEANED = ["canonicalize", "cse"]


def split(module: Any, budget: int) -> list[str]:
    """Splits the kernels of a module, products into parts of any size; returns the remarks."""
    with RemarkCollector(module.context) as remarks:
        run_passes(module, [*CLEANED, f"split-tile{{budget={budget} rows=1 columns=1}}"])
    assert module.operation.verify()
    return remarks.texts


def bits(args: Sequence[Any]) -> list[bytes]:
    return [np.ascontiguousarray(a).tobytes() for a in args if isinstance(a, np.ndarray)]


# ---- kernels that people write ------------------------------------------------------------------

#: Budgets for which a kernel is split, of those that are tried; all others must be refused.
SPLIT = {
    "axpy_2d_f16_aligned": {512, 128, 32},
    "axpy_2d_f16_edge": {128, 32},
    "batched_matmul_edge": {128},
    "batched_matmul_even": {512},
    "flash_attention_fwd_causal_edge": {512, 32},
    "flash_attention_fwd_causal_gqa": {512},
    "flash_attention_fwd_full": {512, 32},
    "flash_attention_fwd_full_edge": {128},
    "gather_rows_embedding_bf16": {512, 128, 32},
    "gather_rows_embedding_f32": {128, 32},
    "matmul_f16_edge": {512},
    "matmul_f16_even": {32},
    "matmul_f16_f32_out": {512},
    "matmul_fused_bias_relu_edge": {512},
    "matmul_fused_bias_relu_even": {512},
    "online_softmax_chunked_edge": {128},
    "online_softmax_chunked_even": {128},
    "persistent_matmul_edge": {128},
    "persistent_matmul_even": {512},
    "rms_norm_bf16_edge": {128},
    "rms_norm_bf16_even": {128},
    "row_cumsum_edge": {32},
    "transpose_2d_f16": {512, 128, 32},
    "transpose_2d_f32_edge": {128, 32},
    "transpose_2d_i32_edge": {32},
    "vector_add_f32_edge": {32},
    "vector_add_f32_even": {128, 32},
    "vector_add_f32_one_tile": {32},
}


@pytest.mark.parametrize("name", case_names())
def test_public_kernel(name):
    case = load_case(name)
    expected = case.args()
    interp.run(tileir.read_bytecode(case.bytecode), case.symbol, case.grid, expected)
    cleaned = tileir.read_bytecode(case.bytecode)
    run_passes(cleaned, CLEANED)
    was_split = set()
    for budget in (512, 128, 32):
        module = tileir.read_bytecode(case.bytecode)
        remarks = split(module, budget)
        if not any("slices, one after another" in text for text in remarks):
            assert str(module) == str(cleaned)
            continue
        was_split.add(budget)
        args = case.args()
        interp.run(module, case.symbol, case.grid, args)
        assert bits(args) == bits(expected), budget
    assert was_split == SPLIT.get(name, set())


# ---- random kernels -----------------------------------------------------------------------------


def check_random_kernel(random: Any) -> None:
    kernel = Kernel(random)
    words = 2 * int(np.prod(kernel.shape))  # pointers take two
    budget = max(1, words // random.choice((1, 2, 4, 8, 16)))
    expected = kernel.args()
    interp.run(tileir.parse(kernel.text), "k", kernel.grid, expected)
    cleaned, module = tileir.parse(kernel.text), tileir.parse(kernel.text)
    run_passes(cleaned, CLEANED)
    remarks = split(module, budget)
    if not any("slices, one after another" in text for text in remarks):
        assert str(module) == str(cleaned)
        assert not remarks or "are not split: " in remarks[0]
        return
    run_passes(module, CLEANED)
    args = kernel.args()
    interp.run(module, "k", kernel.grid, args)
    assert bits(args) == bits(expected)


RELAXED = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


@settings(max_examples=25, **RELAXED)
@given(st.randoms(use_true_random=True))
def test_random_kernel(random):
    check_random_kernel(random)


@pytest.mark.slow
@settings(max_examples=1000, **RELAXED)
@given(st.randoms(use_true_random=True))
def test_many_random_kernels(random):
    check_random_kernel(random)


# ---- slices outside a tensor --------------------------------------------------------------------

COPY = """
cuda_tile.module @m {
entry @k(%p: tile<ptr<f32>>, %m: tile<i32>, %q: tile<ptr<f32>>, %n: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %a = make_tensor_view %p, shape = [%m], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %b = make_tensor_view %q, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %av = make_partition_view %a : partition_view<tile=(16), PADDING tensor_view<?xf32, strides=[1]>>
  %bv = make_partition_view %b : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>
  %t, %t0 = load_view_tko weak %av[%x]
    : partition_view<tile=(16), PADDING tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token
  %u = addf %t, %t : tile<16xf32>
  %t1 = store_view_tko weak %u, %bv[%x]
    : tile<16xf32>, partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
  return
}
}
"""  # noqa: E501


@pytest.mark.parametrize("kind, value", [("zero", 0.0), ("nan", np.nan), ("neg_inf", -np.inf)])
@pytest.mark.parametrize("loaded", (17, 20, 32))
@pytest.mark.parametrize("stored", (17, 25, 32))
def test_sizes_that_differ(loaded, stored, kind, value):
    """What lies outside the tensor that is loaded is padding, wherever slices end."""
    module = tileir.parse(COPY.replace("PADDING", f"padding_value = {kind},"))
    assert "in 4 slices" in split(module, 4)[0]
    x, y = np.arange(loaded, dtype=np.float32), np.zeros(stored, np.float32)
    interp.run(module, "k", 2, [x, loaded, y, stored])
    padded = np.concatenate([x, np.full(32 - loaded, value, np.float32)])
    np.testing.assert_array_equal(y, 2 * padded[:stored])


# ---- compiled kernels ---------------------------------------------------------------------------

ELEMENTWISE = """
entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %n16 = assume div_by<16>, %n : tile<i32>
  %p16 = assume div_by<16>, %p : tile<ptr<f32>>
  %q16 = assume div_by<16>, %q : tile<ptr<f32>>
  %a = make_tensor_view %p16, shape = [%m, %n16], strides = [%n16, 1] : tile<i32> -> TENSOR
  %b = make_tensor_view %q16, shape = [%m, %n16], strides = [%n16, 1] : tile<i32> -> TENSOR
  %av = make_partition_view %a : partition_view<tile=(ROWSxCOLUMNS), TENSOR>
  %bv = make_partition_view %b : partition_view<tile=(STORED), TENSOR>
  %t, %t0 = load_view_tko weak %av[%x, %y]
    : partition_view<tile=(ROWSxCOLUMNS), TENSOR>, tile<i32> -> tile<ROWSxCOLUMNSxf32>, token
  %u = OPERATION
  %t1 = store_view_tko weak %u, %bv[INDEX]
    : tile<STOREDxf32>, partition_view<tile=(STORED), TENSOR>, tile<i32> -> token
  return
}
"""

GEMM = """
entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f32>>,
         %m: tile<i32>, %n: tile<i32>, %o: tile<i32>, %m2: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %start = constant <f32: 0.0> : tile<256x256xf32>
  %p16 = assume div_by<16>, %p : tile<ptr<f16>>
  %q16 = assume div_by<16>, %q : tile<ptr<f16>>
  %n16 = assume div_by<16>, %n : tile<i32>
  %o16 = assume div_by<16>, %o : tile<i32>
  %a = make_tensor_view %p16, shape = [%m, %o16], strides = [%o16, 1] : tile<i32> -> F16
  %b = make_tensor_view %q16, shape = [%o16, %n16], strides = [%n16, 1] : tile<i32> -> F16
  %c = make_tensor_view %r, shape = [%m2, %n16], strides = [%n16, 1] : tile<i32> -> F32
  %av = make_partition_view %a : partition_view<tile=(256x64), padding_value = zero, F16>
  %bv = make_partition_view %b : partition_view<tile=(64x256), padding_value = zero, F16>
  %cv = make_partition_view %c : partition_view<tile=(256x256), F32>
  %k:2 = get_index_space_shape %av
    : partition_view<tile=(256x64), padding_value = zero, F16> -> tile<i32>
  %acc = for %i in (%zero to %k#1, step %one) : tile<i32>
      iter_values(%s = %start) -> (tile<256x256xf32>) {
    %v, %t0 = load_view_tko weak %av[%x, %i]
      : partition_view<tile=(256x64), padding_value = zero, F16>, tile<i32> -> tile<256x64xf16>, token
    %w, %t1 = load_view_tko weak %bv[%i, %y]
      : partition_view<tile=(64x256), padding_value = zero, F16>, tile<i32> -> tile<64x256xf16>, token
    %d = mmaf %v, %w, %s : tile<256x64xf16>, tile<64x256xf16>, tile<256x256xf32>
    continue %d : tile<256x256xf32>
  }
  %t2 = store_view_tko weak %acc, %cv[%x, %y]
    : tile<256x256xf32>, partition_view<tile=(256x256), F32>, tile<i32> -> token
  return
}
"""  # noqa: E501


def elementwise(rows: int, columns: int) -> str:
    types = f"tile<{rows}x{columns}xf32>"
    text = ELEMENTWISE.replace("OPERATION", f"exp %t : {types}").replace("INDEX", "%x, %y")
    return _sized(text, rows, columns, f"{rows}x{columns}")


def transpose(rows: int, columns: int) -> str:
    types = f"tile<{rows}x{columns}xf32> -> tile<{columns}x{rows}xf32>"
    text = ELEMENTWISE.replace("OPERATION", f"permute %t [1, 0] : {types}")
    return _sized(text.replace("INDEX", "%y, %x"), rows, columns, f"{columns}x{rows}")


def _sized(text: str, rows: int, columns: int, stored: str) -> str:
    for name, value in (
        ("ROWSxCOLUMNS", f"{rows}x{columns}"),
        ("STORED", stored),
        ("TENSOR", "tensor_view<?x?xf32, strides=[?,1]>"),
    ):
        text = text.replace(name, value)
    return text


def gemm() -> str:
    tensor = "tensor_view<?x?x{}, strides=[?,1]>"
    return GEMM.replace("F16", tensor.format("f16")).replace("F32", tensor.format("f32"))


@pytest.mark.parametrize(
    "source, slices",
    [
        pytest.param(gemm(), 2, id="gemm-256x256x64"),
        pytest.param(elementwise(512, 512), 8, id="elementwise-512x512"),
        pytest.param(elementwise(4096, 4096), 512, id="elementwise-4096x4096"),
        pytest.param(transpose(1024, 1024), 32, id="transpose-1024x1024"),
    ],
)
def test_no_spills(source, slices):
    program = tileir.compile(source, target="sm_90a")
    assert f"in {slices} slices" in program.remarks[0]
    assert program.remarks[0].startswith("<text>:")
    assert program.cubin
    assert program.kernels["k"].spill_bytes == 0


# ---- documentation ------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "split-tile.md").read_text()


def test_page_shows_what_is_printed():
    before, after = re.findall(r"^```mlir\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    module = tileir.parse(before, name="exp.mlir")
    with RemarkCollector(module.context) as remarks:
        run_passes(module, ["split-tile", *CLEANED])
    assert str(module).rstrip() == after.rstrip()
    assert f"    {remarks.texts[0]}\n" in PAGE
