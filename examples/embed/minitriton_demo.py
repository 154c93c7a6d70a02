"""Three kernels in the Triton-like language of minitriton.py, run against NumPy and compiled."""

from __future__ import annotations

from typing import Any

import minitriton as mt
import numpy as np

import tileir


@mt.jit
def add(x, y, out, n, BLOCK: mt.constexpr):
    offsets = mt.program_id(0) * BLOCK + mt.arange(0, BLOCK)
    mask = offsets < n
    mt.store(out + offsets, mt.load(x + offsets, mask) + mt.load(y + offsets, mask), mask)


@mt.jit
def softmax(x, out, columns, BLOCK: mt.constexpr):
    offsets = mt.arange(0, BLOCK)
    row = mt.program_id(0) * columns
    mask = offsets < columns
    values = mt.load(x + row + offsets, mask, other=-1e30)
    numerators = mt.exp(values - mt.max(values, axis=0))
    mt.store(out + row + offsets, numerators / mt.sum(numerators, axis=0), mask)


@mt.jit
def matmul(a, b, c, N, K, TM: mt.constexpr, TN: mt.constexpr, TK: mt.constexpr):
    rows = mt.program_id(0) * TM + mt.arange(0, TM)
    columns = mt.program_id(1) * TN + mt.arange(0, TN)
    total = mt.zeros((TM, TN), mt.float32)
    for k in range(0, K, TK):
        steps = k + mt.arange(0, TK)
        left = mt.load(a + rows[:, None] * K + steps[None, :])
        right = mt.load(b + steps[:, None] * N + columns[None, :])
        total = mt.dot(left, right, total)
    mt.store(c + rows[:, None] * N + columns[None, :], total.to(mt.float16))


@mt.jit
def wrong(x, out, BLOCK: mt.constexpr):
    here = mt.arange(0, BLOCK)
    mt.store(out + here, mt.load(x + here) + mt.arange(0, 2 * BLOCK))


def report(kernel: Any, args: tuple[Any, ...], got: np.ndarray, want: np.ndarray, **sizes: int):
    error = abs(got - want).max() / abs(want).max()
    program = tileir.compile(kernel.bytecode(*args, **sizes), target="sm_90a")
    (name,) = program.kernels
    print(f"{name:8} relative error {error:.0e}, {len(program.ptx.splitlines()):4} lines of PTX")


def main() -> None:
    random = np.random.default_rng(0)
    x, y, out = *random.random((2, 1000), np.float32), np.zeros(1000, np.float32)
    add[(4,)](x, y, out, 1000, BLOCK=256)
    report(add, (x, y, out, 1000), out, x + y, BLOCK=256)

    x = random.standard_normal((8, 100)).astype(np.float32)
    out = np.zeros_like(x)
    softmax[(8,)](x, out, 100, BLOCK=128)
    want = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    report(softmax, (x, out, 100), out, want, BLOCK=128)

    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((128, 64), (64, 96)))
    c, sizes = np.zeros((128, 96), np.float16), {"TM": 64, "TN": 32, "TK": 32}
    matmul[(2, 3)](a, b, c, 96, 64, **sizes)
    want = a.astype(np.float64) @ b.astype(np.float64)
    report(matmul, (a, b, c, 96, 64), c, want, **sizes)

    try:
        wrong[(1,)](x, out, BLOCK=64)
    except tileir.TileError as error:
        print(error)


if __name__ == "__main__":
    main()
