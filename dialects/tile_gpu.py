"""The tile_gpu dialect in Python: operations and enumerations, generated from TableGen."""

from __future__ import annotations

from ._tile_gpu_enum_gen import *
from ._tile_gpu_ops_gen import *
from ._tile_gpu_ops_gen import _Dialect
