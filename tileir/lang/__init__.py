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

from .annotations import (
    ArrayAnnotation,
    Constant,
    ConstantAnnotation,
    ListAnnotation,
    ScalarAnnotation,
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
from .kernel import ByTarget, Hints, Kernel, function, kernel
from .ops.memory import bid, load, store
from .signature import Signature
from .static import ensure_constant, static_assert, static_eval, static_exception, static_iter

__all__ = [
    "ArrayAnnotation",
    "ByTarget",
    "Constant",
    "ConstantAnnotation",
    "Hints",
    "Kernel",
    "ListAnnotation",
    "ScalarAnnotation",
    "Signature",
    "TileInternalError",
    "TileRecursionError",
    "TileSourceError",
    "TileStaticAssertionError",
    "TileStaticEvalError",
    "TileSyntaxError",
    "TileTypeError",
    "TileUnsupportedFeatureError",
    "TileValueError",
    "bid",
    "ensure_constant",
    "function",
    "kernel",
    "load",
    "static_assert",
    "static_eval",
    "static_exception",
    "static_iter",
    "store",
]
