"""The last steps inside LLVM: from a module of `llvm` and `nvvm` to LLVM IR and PTX.

LLVM ends the process where it cannot go on, so by default these run in a worker
(`tileir.compiler.worker`). What it only complains about becomes a CompilerCrash here.
"""

from __future__ import annotations

import ctypes
import functools

from mlir.dialects import gpu, llvm
from mlir.passmanager import PassManager

from tileir.compiler.crash import failure_from_diagnostics
from tileir.compiler.locations import place
from tileir.compiler.mlir_bytecode import copy
from tileir.dialects._native import function
from tileir.errors import TileError, UnsupportedError
from tileir.ir import ArrayAttr, MLIRError, Module, Operation, StringAttr


def _gpu_module(module: Module) -> Operation:
    found = [op for op in module.body.operations if op.operation.name == "gpu.module"]
    if not found:
        raise TileError("the module holds no kernels", remedy="give it an entry")
    if len(found) > 1:
        names = ", ".join(StringAttr(op.operation.attributes["sym_name"]).value for op in found)
        raise UnsupportedError(
            f"the kernels of {len(found)} modules ({names}) do not go into one program",
            location=place(found[1].location),
            remedy="put them into one cuda_tile.module, or compile each by itself",
        )
    return found[0].operation


def to_llvmir(module: Module) -> str:
    """LLVM IR of the kernels, before LLVM's optimiser. Raises CompilerCrash."""
    gpu_module = _gpu_module(module)
    # Translation to text ends the process where it fails; to bitcode, it says why.
    _run("gpu-module-to-binary{format=llvm}", copy(module))
    # Defined in the extension, whose stub is not shipped.
    translate = llvm.translate_module_to_llvmir  # pyright: ignore[reportAttributeAccessIssue]
    return translate(gpu_module)


def to_ptx(module: Module) -> str:
    """PTX of the kernels. Changes `module`. Raises CompilerCrash."""
    _gpu_module(module)
    _set_llvm_options()
    _run("emit-ptx", module)
    for op in module.body.operations:
        if op.operation.name == "gpu.binary":
            objects = ArrayAttr(op.operation.attributes["objects"])
            # Defined in the extension, whose stub is not shipped.
            binary = gpu.ObjectAttr(objects[0])  # pyright: ignore[reportAttributeAccessIssue]
            return binary.object.decode()
    raise TileError("LLVM gave no PTX")


@functools.cache
def _set_llvm_options() -> None:
    """Options of LLVM that nothing but its command line can set, for the whole process.

    Without its optimiser LLVM would copy the accumulators of matrix products while these are in
    flight; copies that are no work of ours the coalescer removes.
    """
    options = (b"tileir", b"-optimize-regalloc=true")
    strings = ctypes.POINTER(ctypes.c_char_p)
    parse = function("LLVMParseCommandLineOptions", None, ctypes.c_int, strings, ctypes.c_char_p)
    parse(len(options), (ctypes.c_char_p * len(options))(*options), None)


def _run(name: str, module: Module) -> None:
    pipeline = PassManager.parse(f"builtin.module({name})", module.context)
    try:
        pipeline.run(module.operation)
    except MLIRError as error:
        raise failure_from_diagnostics(error, module) from None
