"""A matrix product in Triton: the usual kernel with grouped tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def _matmul(
    a, b, c, m, n, k, a_m, a_k, b_k, b_n, c_m,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    rows, columns = tl.cdiv(m, BM), tl.cdiv(n, BN)
    first = block // (GROUP * columns) * GROUP
    height = tl.minimum(rows - first, GROUP)
    place = block % (GROUP * columns)
    i, j = first + place % height, place // height
    row, column, inner = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN), tl.arange(0, BK)
    at = a + (row % m)[:, None] * a_m + inner[None, :] * a_k
    bt = b + inner[:, None] * b_k + (column % n)[None, :] * b_n
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        x = tl.load(at, mask=inner[None, :] < left, other=0.0)
        y = tl.load(bt, mask=inner[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        at += BK * a_k
        bt += BK * b_k
    ct = c + row[:, None] * c_m + column[None, :]
    tl.store(ct, total.to(c.dtype.element_ty), mask=(row[:, None] < m) & (column[None, :] < n))


def launcher(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, config: list[int]
) -> Callable[[], Any] | None:
    """A launch of the product with (block m, block n, block k, stages, warps); None if it does not
    compile."""
    bm, bn, bk, stages, warps = config
    m, k = a.shape
    n = b.shape[1]
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)

    def launch() -> Any:
        return _matmul[grid](
            a, b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0),
            BM=bm, BN=bn, BK=bk, GROUP=8, num_stages=stages, num_warps=warps,
        )  # fmt: skip

    try:
        launch()
    except triton.runtime.errors.OutOfResources:
        return None
    return launch
