"""The tile_gpu dialect in Python: operations and enumerations, generated from TableGen, and what
tells its types apart."""

from __future__ import annotations

from mlir import ir

from ._native import Handle, function, wrap
from ._tile_gpu_enum_gen import *
from ._tile_gpu_ops_gen import *
from ._tile_gpu_ops_gen import _Dialect

#: `typeid` of a tile and of a buffer. Passes ask for it a thousand times a kernel; to print a type
#: takes ten times as long.
TILE_ID: ir.TypeID = wrap(ir.TypeID, function("tileirTypeIDOfTile", Handle)())
BUFFER_ID: ir.TypeID = wrap(ir.TypeID, function("tileirTypeIDOfBuffer", Handle)())
