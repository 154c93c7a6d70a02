"""Launching compiled kernels: metadata, arguments, bundles, the CUDA driver.

This package needs NumPy, and cuda-bindings to launch; no MLIR, no compiler.
"""

from __future__ import annotations

from .arrays import PointerTable, owner

__all__ = ["PointerTable", "owner"]
