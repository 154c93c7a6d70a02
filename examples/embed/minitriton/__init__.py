"""A Triton-like language that emits Tile IR bytecode, without MLIR on its side.

    @mt.jit
    def add(x, y, out, n, BLOCK: mt.constexpr):
        offsets = mt.program_id(0) * BLOCK + mt.arange(0, BLOCK)
        mask = offsets < n
        mt.store(out + offsets, mt.load(x + offsets, mask) + mt.load(y + offsets, mask), mask)

    add[(4,)](x, y, out, n, BLOCK=256)          # NumPy arrays; backend="cuda" launches on a GPU
    add.bytecode(x, y, out, n, BLOCK=256)       # bytes, for tileir.compile or anything else

`jit.py` specialises and launches; `compiler.py` walks the tree of a kernel and gives operations to
`tileir.bytecode.FileBuilder`; `language.py` has the functions that kernels call. A value is one of
the builder's, or a Python number as long as it is known at compile time. Operations carry their
place in the kernel's file, which bytecode keeps: what the verifier, the compiler or the interpreter
say points at the kernel's source.
"""

from minitriton.compiler import float16, float32, int32
from minitriton.jit import constexpr, jit
from minitriton.language import arange, dot, exp, load, max, maximum, program_id, store, sum, zeros

__all__ = [
    "arange", "constexpr", "dot", "exp", "float16", "float32", "int32", "jit", "load", "max",
    "maximum", "program_id", "store", "sum", "zeros",
]  # fmt: skip
