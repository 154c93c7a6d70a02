"""Matrix products from benchmarks/gemm_program.py, run on the CPU in both launch modes."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ml_dtypes
import numpy as np

import tileir
from tileir import sim
from tileir.compiler.program import Program
from tileir.runtime.expressions import Environment, evaluate
from tileir.runtime.metadata import HiddenParameter, Workspace
from tileir.runtime.tensor_map import ZEROS, TensorMapRecipe

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from gemm_program import Gemm

Launch = Literal["plain", "managed"]
LAUNCHES: tuple[Launch, ...] = ("plain", "managed")
_NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "tf32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8, "i32": np.int32,
}  # fmt: skip


def numpy_type(element: str) -> np.dtype[Any]:
    return np.dtype(_NUMPY[element])


def gemm_id(gemm: Gemm) -> str:
    """What tests of a product are called by."""
    return gemm.name


def compiled(gemm: Gemm, launch: Launch = "managed") -> Program:
    return tileir.compile(gemm.text(), "sm_90a", launch=launch, isolate=False, cache=False)


def assert_fast(program: Program) -> None:
    """No registers spilled, and ptxas lets products overlap (remarks C7500 and up)."""
    assert program.cubin
    (kernel,) = program.kernels.values()
    assert kernel.spill_bytes == 0
    assert not [remark for remark in program.remarks if "(C75" in remark], program.remarks


class Product:
    """A product of small integers, of which every sum is exact in every type, and its epilogue
    (`gelu` aside)."""

    def __init__(self, gemm: Gemm, m: int, n: int, k: int, seed: int = 0):
        r = np.random.default_rng(seed)
        self.gemm, self.shape = gemm, (m, n)
        low, high = (-128, 128) if gemm.dtype == "i8" else (-3, 4)
        element = numpy_type(gemm.dtype)
        a, b = (r.integers(low, high, size) for size in ((m, k), (k, n)))
        want = a.astype(np.int64) @ b.astype(np.int64)
        #: arrays of the epilogue, in the order of the parameters
        self.others = []
        for word, size in (("bias", (n,)), ("residual", (m, n))):
            if word in gemm.epilogue:
                other = r.integers(-100, 101, size)
                want += other
                self.others.append(other.astype(numpy_type(gemm.output)))
        want = np.maximum(want, 0) if "relu" in gemm.epilogue else want
        self.want = want.astype(np.float64).astype(numpy_type(gemm.output))
        self.a = a.astype(element)
        self.b = np.ascontiguousarray((b.T if gemm.b == "k" else b).astype(element))

    def result(self) -> np.ndarray:
        """An array that the kernel is to fill."""
        return np.full(self.shape, 77, numpy_type(self.gemm.output))

    def arguments(self) -> tuple[list[Any], np.ndarray]:
        """The flat parameters, and the result among them."""
        c = self.result()
        args: list[Any] = []
        for array in (self.a, self.b, c, *self.others, *self._scratch()):
            args += [array, *array.shape, *(s // array.itemsize for s in array.strides)]
        return args, c

    def _scratch(self) -> list[np.ndarray]:
        """Parts of sums, and counters that earlier launches have left behind."""
        gemm = self.gemm
        if gemm.split == 1:
            return []
        parts = np.full(gemm.parts_shape(*self.shape), np.nan, np.float32)
        return [parts, np.full(gemm.tiles(*self.shape), 5 * gemm.split, np.int32)]

    def interpreted(self) -> np.ndarray:
        args, c = self.arguments()
        grid = self.gemm.grid(*self.shape)
        tileir.run(self.gemm.text(), self.gemm.name, grid, args, backend="interp")
        return c

    def simulated(self, program: Program, seed: int = 0) -> np.ndarray:
        args, c = self.arguments()
        simulate(program, self.gemm.grid(*self.shape), args, seed)
        return c


# ---- sizes that nothing divides ------------------------------------------------------------------


@dataclass(frozen=True)
class RaggedGemm(Gemm):
    """A product of any sizes, of which only the strides of rows are as aligned as `divisor` says.

    `a`: "k" for A of [M][K], "m" for A of [K][M]. `b_divisor` divides the stride of B's rows, in
    elements; 0 for as much as a tensor memory access needs.
    """

    a: str = "k"
    b_divisor: int = 0

    @property
    def name(self) -> str:
        words = [super().name, "am" if self.a == "m" else ""]
        words += [f"bdiv{self.b_divisor}"] if self.b_divisor else []
        return "_".join(filter(None, words))

    def text(self) -> str:
        text = re.sub(r"div_by<\d+>, (%\w+_d\d_p)", r"div_by<1>, \1", super().text())
        if self.b_divisor:
            text = re.sub(r"div_by<\d+>, (%b_s0_p)", rf"div_by<{self.b_divisor}>, \1", text)
        if self.a == "m":
            tensor = f"tensor_view<?x?x{self.dtype}, strides=[?,1]>"
            tile = f"tile=({self.bm}x{self.bk}), padding_value = zero, {tensor}"
            assert (self.bm, self.bk) != (self.bk, self.bn), "A's tiles look like B's"
            text = text.replace(tile, f"{tile}, dim_map=[1, 0]")
            text = text.replace("%rounds = divi %a_d1", "%rounds = divi %a_d0")
        return text


class RaggedProduct(Product):
    """The rows of all matrices are parts of longer ones, which hold other numbers."""

    gemm: RaggedGemm

    def __init__(self, gemm: RaggedGemm, m: int, n: int, k: int, seed: int = 0):
        super().__init__(gemm, m, n, k, seed)
        a = self.a.T if gemm.a == "m" else self.a
        spare = gemm.b_divisor or 16
        self.a, self.b = in_longer_rows(a, 16), in_longer_rows(self.b, spare)
        self.others = [in_longer_rows(x, 16) if x.ndim == 2 else x for x in self.others]

    def result(self) -> np.ndarray:
        return in_longer_rows(super().result(), 16)


def in_longer_rows(matrix: np.ndarray, multiple: int) -> np.ndarray:
    """The matrix, in rows of the next odd multiple of so many elements that hold sevens."""
    rows, columns = matrix.shape
    count = columns // multiple + 1
    longer = np.full((rows, (count | 1) * multiple), 7, matrix.dtype)
    longer[:, :columns] = matrix
    return longer[:, :columns]


# ---- running them --------------------------------------------------------------------------------


def simulate(program: Program, grid: tuple[int, int, int], args: list[Any], seed: int = 0) -> None:
    """Launches the only kernel of a program as `tileir.runtime` does, on two multiprocessors."""
    ((name, kernel),) = program.kernels.items()
    values = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in args]
    environment = Environment(values, grid, 2)
    zeros = np.zeros(ZEROS, np.uint8)
    hidden = [_hidden(one, environment, zeros) for one in kernel.hidden]
    launched = tuple(evaluate(one, environment) for one in kernel.grid) or grid
    cluster = tuple(evaluate(one, environment) for one in kernel.cluster)
    sim.run(
        program.ptx, name, launched, kernel.block, cluster=cluster, args=[*args, *hidden],
        memory=[zeros], seed=seed,
    )  # fmt: skip
    assert not zeros.any(), "something was stored to a tensor without elements"


def _hidden(parameter: HiddenParameter, environment: Environment, zeros: np.ndarray) -> Any:
    if isinstance(parameter, TensorMapRecipe):
        return parameter.instantiate(environment, lambda: zeros.ctypes.data)
    if isinstance(parameter, Workspace):
        return np.zeros(evaluate(parameter.bytes, environment), np.uint8)
    return evaluate(parameter.value, environment)
