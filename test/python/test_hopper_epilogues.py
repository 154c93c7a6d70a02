"""Epilogues of products on Hopper, simulated, beside NumPy in float64."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gemm_support import (
    LAUNCHES,
    Gemm,
    Launch,
    Product,
    assert_fast,
    compiled,
    numpy_type,
    simulate,
)

import tileir
from tileir.compiler.program import Program

RESIDUAL = Gemm(128, 128, 64, "bf16", epilogue="bias_residual")
GELU = Gemm(128, 256, 64, "bf16", epilogue="bias_residual_gelu")


def fetched(program: Program) -> bool:
    """Whether the residual comes through the ring: registers get it by ldmatrix or pairs."""
    return "take_tile" in program.stage("tile_gpu")


def compile_text(text: str, launch: Launch = "managed") -> Program:
    return tileir.compile(text, "sm_90a", launch=launch, isolate=False, cache=False)


class Case:
    """A product of random matrices with a bias and a residual, and what it should be."""

    def __init__(self, gemm: Gemm, m: int, n: int, k: int, residual: str | None = None):
        r = np.random.default_rng(m + n + k)
        low = numpy_type(gemm.output)
        self.gemm, self.c = gemm, np.full((m, n), np.nan, low)
        self.a, self.b = (r.normal(size=s).astype(numpy_type(gemm.dtype)) for s in ((m, k), (k, n)))
        self.bias = r.normal(size=n).astype(low)
        self.residual = r.normal(size=(m, n)).astype(numpy_type(residual or gemm.output))

    def total(self, residual: np.ndarray | None = None) -> np.ndarray:
        """What GELU sees, in float64."""
        a, b, bias = (x.astype(np.float64) for x in (self.a, self.b, self.bias))
        added = self.residual if residual is None else residual
        return a @ b + bias + added.astype(np.float64)

    def want(self, residual: np.ndarray | None = None) -> np.ndarray:
        """In float64."""
        total = self.total(residual)
        if "gelu" in self.gemm.epilogue:
            total *= (1 + np.tanh(np.sqrt(2 / np.pi) * (total + 0.044715 * total**3))) / 2
        return total

    def run(self, program: Program, seed: int = 0) -> np.ndarray:
        args: list[Any] = []
        b = self.b if self.gemm.b == "n" else np.ascontiguousarray(self.b.T)
        for array in (self.a, b, self.c, self.bias, self.residual):
            args += [array, *array.shape, *(s // array.itemsize for s in array.strides)]
        simulate(program, self.gemm.grid(len(self.a), self.b.shape[1]), args, seed)
        return self.c.astype(np.float64)


def assert_close(got: np.ndarray, want: np.ndarray) -> None:
    """bf16 has 8 bits; GELU's tanh is good for 11, of numbers up to the operand."""
    np.testing.assert_allclose(got, want, rtol=2**-8, atol=2**-8)


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize(
    ("gemm", "shape"),
    [
        (GELU, (144, 528, 208)),
        (Gemm(128, 128, 64, "bf16", epilogue="bias_residual_gelu"), (400, 272, 144)),
        (Gemm(128, 128, 64, "bf16", b="k", epilogue="bias_residual"), (16, 272, 80)),
    ],
    ids=["wide", "ping-pong", "low"],
)
def test_residual_comes_through_the_ring(gemm, shape, launch):
    """More tiles than multiprocessors and parts of tiles; rows of operands that no box reaches."""
    case, program = Case(gemm, *shape), compiled(gemm, launch)
    assert fetched(program)
    assert_fast(program)
    assert_close(case.run(program), case.want())


@pytest.mark.parametrize("seed", [1, 2])
def test_in_any_order(seed):
    """Warps take turns in other ways."""
    case, program = Case(RESIDUAL, 272, 272, 64), compiled(RESIDUAL)
    assert_close(case.run(program, seed), case.want())


@pytest.mark.parametrize("residual", ["bf16", "f32"])
def test_stages_go_back_behind_a_fence(residual):
    """Without it, the next tile's operands could overwrite what is being read: by matrices of
    16-bit elements, by pairs of wider ones."""
    case = Case(RESIDUAL, 272, 272, 512, residual)
    program = compile_text(with_residual_of(RESIDUAL, residual))
    assert fetched(program)
    fence = re.compile(r"fence\.proxy\.async\.shared::cta;(?=\s*bar\.warp\.sync)")
    assert_close(case.run(program), case.want())
    program.ptx, count = fence.subn("", program.ptx)
    assert count
    with pytest.raises(tileir.ExecutionError, match="overwritten through the async proxy here"):
        case.run(program)


# ---- other types and shapes ---------------------------------------------------------------------


def with_residual_of(gemm: Gemm, element: str) -> str:
    """The program, its residual of another type."""
    lines = []
    for line in gemm.text().splitlines():
        if re.search(r"%v?res(_\w+)? =|%res_l,|make_partition_view %res_t", line):
            line = line.replace(gemm.output, element)
        if line.lstrip().startswith("%with_res") and element == "f32":
            line = line.replace("%res_f", "%res_l")
        if not (line.lstrip().startswith("%res_f =") and element == "f32"):
            lines.append(line)
    before = f"%res: tile<ptr<{gemm.output}>>"
    return "\n".join(lines).replace(before, before.replace(gemm.output, element))


@pytest.mark.parametrize("gemm", [GELU, RESIDUAL], ids=["wide", "ping-pong"])
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_residual_of_another_type(gemm, element):
    """One of 128x256xf32 takes three of four stages."""
    case = Case(gemm, 144, 272, 144, element)
    program = compile_text(with_residual_of(gemm, element))
    assert fetched(program)
    assert_fast(program)
    assert_close(case.run(program), case.want())


def with_column(gemm: Gemm) -> str:
    """The program, the residual's first column instead of all of it."""
    shape = f"{gemm.bm}x{gemm.bn}"
    text = gemm.text()
    lines = []
    for line in text.splitlines():
        if re.search(r"%vres =|%res_l,|%res_f =", line):
            line = line.replace(f"tile=({shape})", f"tile=({gemm.bm}x1)")
            line = line.replace("[%i, %j]", "[%i, %c0]").replace(f"<{shape}x", f"<{gemm.bm}x1x")
        if "%res_f =" in line:
            line = line.replace("%res_f =", "%res_n =")
            wide = f"tile<{shape}xf32>"
            lines += [line, f"%res_f = broadcast %res_n : tile<{gemm.bm}x1xf32> -> {wide}"]
            continue
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("gemm", [GELU, RESIDUAL], ids=["wide", "ping-pong"])
def test_column(gemm):
    """Rows and columns are loaded before the products."""
    case, program = Case(gemm, 144, 272, 80), compile_text(with_column(gemm))
    assert not fetched(program)
    assert_fast(program)
    assert_close(case.run(program), case.want(case.residual[:, :1]))


def with_transposed_residual(gemm: Gemm) -> str:
    """The program, which loads an f32 residual's tile in the other order and permutes it."""
    text = with_residual_of(gemm, "f32")
    wide, tall = f"{gemm.bm}x{gemm.bn}", f"{gemm.bn}x{gemm.bm}"
    lines = []
    for line in text.splitlines():
        if re.search(r"%vres =|%res_l,", line):
            line = line.replace(f"tile=({wide})", f"tile=({tall})").replace("[%i, %j]", "[%j, %i]")
            line = line.replace(f"tile<{wide}xf32>", f"tile<{tall}xf32>")
        lines.append(line.replace("%res_l :", "%res_p :"))
        if line.lstrip().startswith("%res_l,"):
            lines.append(f"%res_p = permute %res_l [1, 0] : tile<{tall}xf32> -> tile<{wide}xf32>")
    return "\n".join(lines)


@pytest.mark.parametrize("gemm", [GELU, RESIDUAL], ids=["wide", "ping-pong"])
def test_residual_that_is_taken_transposed(gemm: Gemm) -> None:
    """Its registers are loaded slice by slice, too: all at once, they would not fit."""
    case = Case(gemm, 144, 272, 80)
    case.residual = np.random.default_rng(1).normal(size=(272, 144)).astype(np.float32)
    program = compile_text(with_transposed_residual(gemm))
    assert_fast(program)
    assert_close(case.run(program), case.want(case.residual.T))


def with_total(gemm: Gemm, tiles_below: int) -> str:
    """The program, which stores what GELU sees, too: in C, so many tiles further down."""
    tile, low = f"tile<{gemm.bm}x{gemm.bn}xf32>", f"tile<{gemm.bm}x{gemm.bn}x{gemm.output}>"
    store = re.search(r" *%done = store_view_tko weak %low.*\n", text := gemm.text())
    assert store, "the program stores its result"
    second = f"""%far = constant <i32: {tiles_below}> : tile<i32>
    %deep = addi %i, %far : tile<i32>
    %total = ftof %with_res : {tile} -> {low}
    """ + store[0].lstrip().replace("%done", "%also").replace("%low", "%total").replace(
        "%i,", "%deep,"
    )
    text = text.replace("%rows = divi %c_d0", "%rows = divi %a_d0")
    return text.replace(store[0], f"    {second}{store[0]}")


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("bn", [128, 256], ids=["ping-pong", "wide"])
def test_two_results_leave_together(bn: int, launch: Launch) -> None:
    """Slice by slice: neither of both, which come from the same registers, is held meanwhile."""
    gemm = Gemm(128, bn, 64, "bf16", epilogue="bias_residual_gelu")
    case = Case(gemm, 144, 272, 80)
    case.c = np.full((256 + 144, 272), np.nan, case.c.dtype)
    program = compile_text(with_total(gemm, 2), launch)
    assert_fast(program)
    assert program.ptx.count("cp.async.bulk.commit_group") == 4
    got = case.run(program)
    assert_close(got[:144], case.want())
    assert_close(got[256:], case.total())


def test_stages_of_a_residual_go_back_before_other_work() -> None:
    """Added to accumulators, it needs no registers; until it is, the other set of warps, whose turn
    it is, gets no operands."""
    given_back, _, rest = compiled(replace(GELU, bn=128)).ptx.partition("tanh.approx")
    assert "ldmatrix" in given_back
    assert "ldmatrix" not in rest


def test_bf16_is_widened_by_one_instruction():
    """A bf16 is the upper half of an f32: shifted if it lies in the lower half of a register."""
    sass = compiled(RESIDUAL).stage("sass")
    assert "PRMT" not in sass.partition("HGMMA")[2]


def test_values_that_are_used_twice_take_no_longer() -> None:
    """Each step of an epilogue sees the one before twice: a walk along all paths would not end."""
    steps, text = 40, GELU.text()
    found = re.search(r"(%gelu) = .* : (.*)\n", text)
    assert found, "the program has a GELU"
    last, tile = found[1], found[2]
    lines = []
    for step in range(steps):
        lines.append(f"%step{step} = mulf {last}, {last} : {tile}")
        last = f"%step{step}"
    rest = text[found.end() :].replace("%gelu", last)
    program = compile_text("\n".join([text[: found.end()], *lines, rest]))
    products = program.stage("nvgpu").count("arith.mulf")
    usual = compile_text(text).stage("nvgpu").count("arith.mulf")
    assert products - usual == steps * GELU.bm * GELU.bn // 256


@pytest.mark.parametrize("launch", LAUNCHES)
@pytest.mark.parametrize("size", [64, 128])
def test_memory_of_the_heap(size: int, launch: Launch) -> None:
    """Those who share it meet: the consumers, of two sets in turns one, without the producer."""
    gemm = Gemm(size, size, 64, "f16", "f32")
    scalar, tile = "tile<f32>", f"tile<{size}x{size}xf32>"
    store = "%done = store_view_tko weak"
    text = gemm.text().replace(
        f"{store} %sum",
        f"""%cell = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
    %seven = constant <f32: 7.0> : {scalar}
    %put = store_ptr_tko weak %cell, %seven token = %token : tile<ptr<f32>>, {scalar} -> token
    %got, %read = load_ptr_tko weak %cell token = %put : tile<ptr<f32>> -> {scalar}, token
    %one = reshape %got : {scalar} -> tile<1x1xf32>
    %all = broadcast %one : tile<1x1xf32> -> {tile}
    %more = addf %sum, %all : {tile}
    {store} %more""",
    )
    program = compile_text(text, launch)
    assert "tile_gpu.specialize" in program.stage("tile_gpu")
    # Several tiles a block, and longer sums than the ring: the producer is not done yet.
    product = Product(gemm, 5 * size, size, 20 * 64)
    np.testing.assert_array_equal(product.simulated(program), product.want + 7)
