"""The language of kernels: `import tileir.lang as ct`.

    @ct.kernel
    def add(a, b, out, TILE: ct.Constant[int]):
        i = ct.bid(0)
        ct.store(out, (i,), ct.load(a, (i,), (TILE,)) + ct.load(b, (i,), (TILE,)))

How it works: an interpreter (`interpreter.py`) walks the syntax tree of the kernel.  What is known
at compile time it computes with Python; what is known only at run time is a `Tile` (`values.py`),
and the functions and operators that take tiles append operations of the `cuda_tile` dialect.
Control flow on run-time values (`branches.py`, `loops.py`, `returns.py`) becomes regions; functions
that the kernel calls are walked where they are called.

How an operation is added: it is an ordinary Python function in a module of `ops/`, exported here.

    def exp(x: Tile) -> Tile:
        builder = current_builder()              # where operations go
        if not x.dtype.is_float:                 # arguments: Tiles, Arrays, or Python's values
            raise TileTypeError(f"exp() needs floats, not {x.dtype}", remedy="x.astype(...)")
        return builder.tile("cuda_tile.exp", x.dtype, x.shape, [x.value])

* An error needs no place: the interpreter knows the expression. Any exception but a `TileError` is
  reported as a fault of ours.
* `builder.op(name, result types, operands, attributes)` takes the generic form of the operation,
  with `operandSegmentSizes` where it has several groups of operands; types and attributes come from
  `builder.types`, which makes each once.
* An operation with a region: `block = builder.new_block(types)`, `with builder.inside(block): ...`,
  then the operation with `regions=1` and `block.append_to(op.regions[0])`. A function that the
  kernel passes, such as a combiner, is called by `current_interpreter().call(function, args)`.
* Memory: make the operation with `builder.memory.root` as its token, then tell
  `builder.memory.access(op, effect, array.names, position of the token among the operands)`; the
  tokens are put in order when the kernel is complete.
* What a kernel needs once (block numbers) is made under `with builder.at_entry()` and kept in
  `builder.once`; nothing else may be kept, since code is traced into blocks that may be dropped.
* Python's built-in functions with run-time arguments: `@replaces(min)` on our function.
* Python's numbers are constants of loose type; `Tile.loose` marks what came of them on several
  paths, which promotes as they do.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from tileir.errors import CompilerCrash as TileCompilerExecutionError
from tileir.errors import CompileTimeout as TileCompilerTimeoutError
from tileir.errors import TileError

from . import compilation
from .annotations import (
    ArrayAnnotation,
    Constant,
    ConstantAnnotation,
    IndexedWithInt64,
    ListAnnotation,
    ScalarAnnotation,
    ScalarInt64,
)
from .arrays import (
    Array,
)
from .dtypes import (
    DType,
    bfloat16,
    bool_,
    float4_e2m1fn,
    float8_e4m3fn,
    float8_e5m2,
    float8_e5m3fnu,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    tfloat32,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .enums import (
    MemoryOrder,
    MemoryScope,
    PaddingMode,
    RoundingMode,
)
from .errors import (
    TileInternalError,
    TileRecursionError,
    TileSourceError,
    TileStaticAssertionError,
    TileStaticEvalError,
    TileSyntaxError,
    TileTypeError,
    TileUnsupportedFeatureError,
    TileValueError,
)
from .errors import TileStaticEvalError as StaticException
from .kernel import (
    ByTarget,
    Hints,
    Kernel,
    function,
    kernel,
)
from .lists import (
    ArrayList,
)
from .ops.arithmetic import (
    abs,
    add,
    cdiv,
    divmod,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    negative,
    pow,
    sub,
    truediv,
)
from .ops.atomics import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)
from .ops.bitwise import (
    bitwise_and,
    bitwise_lshift,
    bitwise_not,
    bitwise_or,
    bitwise_rshift,
    bitwise_xor,
)
from .ops.casts import (
    astype,
    bitcast,
    pack_to_bytes,
    unpack_from_bytes,
)
from .ops.comparison import (
    equal,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    not_equal,
)
from .ops.construct import (
    arange,
    astile,
    full,
    ones,
    zeros,
)
from .ops.control import (
    assume_divisible_by,
    grid_dependency_control_launch_dependents,
    grid_dependency_control_wait,
)
from .ops.gather import (
    RawArrayMemory,
    gather,
    scatter,
)
from .ops.grid import (
    bid,
    num_blocks,
)
from .ops.indexing import (
    Slice,
    load_advanced_indexing,
    store_advanced_indexing,
)
from .ops.math import (
    atan2,
    ceil,
    cos,
    cosh,
    exp,
    exp2,
    floor,
    log,
    log2,
    rsqrt,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from .ops.matmul import (
    matmul,
    mma,
    mma_scaled,
)
from .ops.memory import (
    TiledView,
    load,
    num_tiles,
    store,
)
from .ops.printing import (
    assert_,
    print,
    printf,
)
from .ops.reduce import (
    argmax,
    argmin,
    cumprod,
    cumsum,
    max,
    min,
    prod,
    reduce,
    scan,
    sum,
)
from .ops.selection import (
    where,
)
from .ops.shape import (
    broadcast_to,
    cat,
    expand_dims,
    extract,
    insert,
    permute,
    reshape,
    transpose,
)
from .signature import (
    Signature,
)
from .static import (
    ensure_constant,
    static_assert,
    static_eval,
    static_exception,
    static_iter,
)
from .values import (
    Scalar,
    Tile,
)

if _TYPE_CHECKING:
    from tileir.runtime.jit import launch
    from tileir.torch import jit

    from . import tune
    from .autotuned import Config, autotune
from .ops import debugging  # noqa: F401  (what `breakpoint` means in kernels)
from .ops.activations import gelu, relu, sigmoid, silu, softmax
from .ops.epilogue import dot, epilogue
from .ops.hints import align, prefetch
from .ops.histogram import histogram
from .ops.ptx import inline_ptx
from .ops.raster import swizzle, swizzle2d
from .ops.threads import block_dim, grid_dim, tid

__all__ = [
    "Array",
    "ArrayAnnotation",
    "ArrayList",
    "ByTarget",
    "Config",
    "Constant",
    "ConstantAnnotation",
    "DType",
    "Hints",
    "IndexedWithInt64",
    "Kernel",
    "ListAnnotation",
    "MemoryOrder",
    "MemoryScope",
    "PaddingMode",
    "RawArrayMemory",
    "RoundingMode",
    "Scalar",
    "ScalarAnnotation",
    "ScalarInt64",
    "Signature",
    "Slice",
    "StaticException",
    "Tile",
    "TileCompilerExecutionError",
    "TileCompilerTimeoutError",
    "TileError",
    "TileInternalError",
    "TileRecursionError",
    "TileSourceError",
    "TileStaticAssertionError",
    "TileStaticEvalError",
    "TileSyntaxError",
    "TileTypeError",
    "TileUnsupportedFeatureError",
    "TileValueError",
    "TiledView",
    "abs",
    "add",
    "align",
    "arange",
    "argmax",
    "argmin",
    "assert_",
    "assume_divisible_by",
    "astile",
    "astype",
    "atan2",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "autotune",
    "bfloat16",
    "bid",
    "bitcast",
    "bitwise_and",
    "bitwise_lshift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_rshift",
    "bitwise_xor",
    "block_dim",
    "bool_",
    "broadcast_to",
    "cat",
    "cdiv",
    "ceil",
    "compilation",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "divmod",
    "dot",
    "ensure_constant",
    "epilogue",
    "equal",
    "exp",
    "exp2",
    "expand_dims",
    "extract",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e5m3fnu",
    "float8_e8m0fnu",
    "floor",
    "floordiv",
    "full",
    "function",
    "gather",
    "gelu",
    "greater",
    "greater_equal",
    "grid_dependency_control_launch_dependents",
    "grid_dependency_control_wait",
    "grid_dim",
    "histogram",
    "inline_ptx",
    "insert",
    "int16",
    "int32",
    "int64",
    "int8",
    "isnan",
    "jit",
    "kernel",
    "launch",
    "less",
    "less_equal",
    "load",
    "load_advanced_indexing",
    "log",
    "log2",
    "matmul",
    "max",
    "maximum",
    "min",
    "minimum",
    "mma",
    "mma_scaled",
    "mod",
    "mul",
    "negative",
    "not_equal",
    "num_blocks",
    "num_tiles",
    "ones",
    "pack_to_bytes",
    "permute",
    "pow",
    "prefetch",
    "print",
    "printf",
    "prod",
    "reduce",
    "relu",
    "reshape",
    "rsqrt",
    "scan",
    "scatter",
    "sigmoid",
    "silu",
    "sin",
    "sinh",
    "softmax",
    "sqrt",
    "static_assert",
    "static_eval",
    "static_exception",
    "static_iter",
    "store",
    "store_advanced_indexing",
    "sub",
    "sum",
    "swizzle",
    "swizzle2d",
    "tan",
    "tanh",
    "tfloat32",
    "tid",
    "transpose",
    "truediv",
    "tune",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "unpack_from_bytes",
    "where",
    "zeros",
]

# What needs a driver or PyTorch, and what few programs need, is imported when it is first used.
_LAZY = {
    "Config": "tileir.lang.autotuned",
    "autotune": "tileir.lang.autotuned",
    "jit": "tileir.torch",
    "launch": "tileir.runtime.jit",
}


def __getattr__(name: str) -> _Any:
    if name == "tune":
        return _import_module("tileir.lang.tune")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(_LAZY[name]), name)
    return value
