"""Kernels as PyTorch operations.

    import tileir.torch

    @tileir.torch.op("demo::scale", backward=scale_backward)
    def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
        y = torch.empty_like(x)
        tileir.torch.launch((ct.cdiv(x.numel(), 1024),), scale_kernel, (x, y, factor, 1024))
        return y

An `op` is a `torch.library` operation: it works under autograd, `torch.compile` without graph
breaks and in CUDA graphs. `jit` makes a differentiable function of a pair of kernels without a
host function. On CPU tensors kernels run through the interpreter. See docs/pytorch.md.

This package needs PyTorch; nothing else in `tileir` imports it.
"""

from __future__ import annotations

from .jit import JitKernel, jit
from .launching import launch
from .ops import op

__all__ = ["JitKernel", "jit", "launch", "op"]
