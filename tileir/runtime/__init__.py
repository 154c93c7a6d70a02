"""Launching compiled kernels: metadata, arguments, bundles, the CUDA driver.

    from tileir.runtime import Bundle
    Bundle.load("kernels.tileir")["matmul"].launch((64, 64), args)

This package needs NumPy, and cuda-bindings to launch; no MLIR, no compiler.
"""

from __future__ import annotations

from .arrays import PointerTable, owner
from .bundle import Bundle, write_bundle
from .driver import cuda_driver
from .metadata import HiddenScalar, KernelInfo, Workspace
from .module import Image, Kernel, KernelSet, load_program
from .targets import native_target
from .tensor_map import TensorMap, TensorMapRecipe

__all__ = [
    "Bundle",
    "HiddenScalar",
    "Image",
    "Kernel",
    "KernelInfo",
    "KernelSet",
    "PointerTable",
    "TensorMap",
    "TensorMapRecipe",
    "Workspace",
    "cuda_driver",
    "load_program",
    "native_target",
    "owner",
    "write_bundle",
]
