"""Takes two kernels through every stage of the compiler and runs them against NumPy.

    python examples/demo.py

Writes each stage to out/demo/KERNEL/, prints its number of operations and the time it took, then
runs the kernel on the CPU, and on the GPU if there is one, and prints how far the results are
from NumPy's in float64.  `kernels.py` has the kernels' source.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tileir
from tileir.compiler import STAGES
from tileir.runtime import cuda_driver, load_program, native_target

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "out" / "demo"


@dataclass(frozen=True)
class Example:
    """A kernel with its launch: `arrays` are its parameters, the last of them the result."""

    name: str
    what: str
    grid: tuple[int, int, int]
    arrays: list[np.ndarray]
    reference: Callable[..., np.ndarray]
    tolerance: float

    @property
    def source(self) -> Path:
        return HERE / f"{self.name}.tilebc"

    def args(self, result: np.ndarray) -> list[Any]:
        """Flat entry parameters: each array's address, shape and strides in elements."""
        flat: list[Any] = []
        for array in (*self.arrays, result):
            flat += [array, *array.shape, *(stride // array.itemsize for stride in array.strides)]
        return flat

    def expected(self) -> np.ndarray:
        return self.reference(*(array.astype(np.float64) for array in self.arrays))


def matmul_bias_relu() -> Example:
    m, n, k = 512, 384, 256
    random = np.random.default_rng(0)
    a, b, bias = (random.standard_normal(shape) for shape in ((m, k), (k, n), (n,)))
    b /= np.sqrt(k)  # so that the results are of the size of the inputs
    arrays = [array.astype(np.float16) for array in (a, b, bias)]
    return Example(
        "matmul_bias_relu",
        f"relu(a @ b + bias), {m}x{k} times {k}x{n}, f16 with f32 accumulation",
        (m // 128, n // 128, 1),
        arrays,
        lambda a, b, bias: np.maximum(a @ b + bias, 0),
        tolerance=2.5e-3,  # half a unit in the last place of f16 below 8 is 2e-3
    )


def row_softmax() -> Example:
    rows, columns = 256, 1000
    x = np.random.default_rng(1).standard_normal((rows, columns)).astype(np.float16)

    def reference(x: np.ndarray) -> np.ndarray:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return Example(
        "row_softmax",
        f"softmax of {rows} rows of {columns}, f16; a row is padded to 1024",
        (rows, 1, 1),
        [x],
        reference,
        tolerance=2e-5,  # half a unit in the last place of f16 below 1/16 is 1.5e-5
    )


def count_operations(stage: str, text: str) -> int:
    """Operations of an MLIR module, or instructions of a later stage."""
    if stage == "llvmir":
        return len(re.findall(r"^  \S", text, re.M))
    if stage == "ptx":
        return len(re.findall(r"^\s+(?:@!?%p\d+ )?[a-z][^\n]*;", text, re.M))
    if stage == "sass":
        return len(re.findall(r"/\*[0-9a-f]{4,}\*/\s+\S", text))
    count = 0

    def visit(_: Any) -> Any:
        nonlocal count
        count += 1
        return WalkResult.ADVANCE

    from mlir.ir import WalkResult

    tileir.parse(text).operation.walk(visit)
    return count


def show_stages(program: Any, folder: Path) -> None:
    """Writes and counts every stage."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f"  {'stage':<10} {'operations':>10} {'ms':>8}")
    for number, stage in enumerate(STAGES):
        try:
            text = program.stage(stage)
        except tileir.ToolError as error:
            print(f"  {stage:<10} {'-':>10} {'-':>8}  {error.reason}")
            continue
        suffix = {"llvmir": ".ll", "ptx": "", "sass": ""}.get(stage, ".mlir")
        (folder / f"{number}.{stage}{suffix}").write_text(text)
        milliseconds = program.timings.get(stage, 0.0) * 1e3
        print(f"  {stage:<10} {count_operations(stage, text):>10} {milliseconds:>8.1f}")


def check(example: Example, where: str, run: Callable[[list[Any]], Any]) -> bool:
    """Runs the kernel and prints the largest error against NumPy."""
    want = example.expected()
    result = np.full(want.shape, np.nan, np.float16)
    start = time.perf_counter()
    run(example.args(result))
    milliseconds = (time.perf_counter() - start) * 1e3
    error = float(np.abs(result.astype(np.float64) - want).max())
    good = error <= example.tolerance
    print(
        f"  {where}: {'agrees with' if good else 'DIFFERS from'} NumPy, largest error {error:.1e} "
        f"(tolerance {example.tolerance:.0e}), {milliseconds:.0f} ms"
    )
    return good


def show(example: Example, device: Any) -> bool:
    print(f"\n{example.name}: {example.what}")
    target = native_target(device.capability) if device else "sm_90a"
    program = tileir.compile(example.source, target=target)
    show_stages(program, OUT / example.name)
    good = check(
        example, "interpreter", lambda args: tileir.run(example.source, None, example.grid, args)
    )
    if device:
        kernel = load_program(program)[example.name]
        good &= check(example, device.name, lambda args: kernel.launch(example.grid, args))
    return good


def main() -> int:
    try:
        device = cuda_driver().device()
        print(f"GPU: {device.name}")
    except tileir.LaunchError as error:
        device = None
        print(f"No GPU here ({error.reason}): compiling for sm_90a, running on the CPU.")
    print("Times of the first kernel include loading the compiler.")
    good = [show(make(), device) for make in (matmul_bias_relu, row_softmax)]
    print(f"\nThe stages lie in {os.path.relpath(OUT)}.")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
