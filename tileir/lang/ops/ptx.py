"""Instructions of PTX on each element."""

from __future__ import annotations

import re
from typing import Any

from tileir.ir import StringAttr

from ..builder import current_builder
from ..dtypes import DType, bfloat16, float16, float32, float64
from ..errors import TileTypeError, TileValueError
from ..values import Tile
from .common import as_tile, broadcast, broadcast_shapes, dtype_argument, dtype_of_operand, operand

_PLACEHOLDER = re.compile(r"\$(\$|\d+)?")


def inline_ptx(ptx: str, /, *operands: Any, dtype: Any = None) -> Tile:
    """The result of PTX instructions applied to each element: for what the language lacks.

        ct.inline_ptx("tanh.approx.f32 $0, $1;", x)
        ct.inline_ptx(".reg .b32 t; and.b32 t, $1, 255; popc.b32 $0, t;", n, dtype=ct.int32)

    `$0` is the register of the result, `$1`, `$2`, ... those of the operands, which broadcast but
    keep their dtypes; `$$` is a dollar sign. The result has `dtype`, by default that of the first
    operand. Dtypes of 16, 32 and 64 bits have registers; convert others first. The instructions
    may declare registers; they must not access memory, nor depend on which thread runs them.

    On the CPU the simulator runs them. Such a kernel has no place in Tile IR bytecode.
    """
    if not isinstance(ptx, str):
        raise TileTypeError("inline_ptx() begins with the text of the instructions")
    if not operands:
        raise TileTypeError(
            "inline_ptx() needs an operand, which gives the result its shape",
            remedy="pass ct.zeros(shape, ct.int32), for example",
        )
    given = [operand(value, f"operands[{i}]") for i, value in enumerate(operands)]
    shape = broadcast_shapes(*(each.shape for each in given if isinstance(each, Tile)), ())
    target = dtype_of_operand(given[0]) if dtype is None else dtype_argument(dtype)
    _check_placeholders(ptx, len(given))
    for each in given:
        _check_register(dtype_of_operand(each), "an operand")
    _check_register(target, "the result")
    tiles = [broadcast(as_tile(each, "operands"), shape) for each in given]
    builder = current_builder()
    builder.extended = True
    return builder.tile(
        "cuda_tile.inline_ptx",
        target,
        shape,
        [tile.value for tile in tiles],
        {"ptx": StringAttr.get(ptx)},
    )


def _check_register(dtype: DType, what: str) -> None:
    if dtype in (float16, bfloat16, float32, float64):
        return
    if not dtype.is_integer or dtype.bitwidth < 16:
        raise TileTypeError(
            f"{what} of inline_ptx() is {dtype}, which has no registers of its own",
            remedy="convert it: .astype(ct.int32), for example",
        )


def _check_placeholders(ptx: str, count: int) -> None:
    named = [found[1] for found in _PLACEHOLDER.finditer(ptx) if found[1] != "$"]
    for each in named:
        if each is None or int(each) > count:
            shown = "$" if each is None else f"${each}"
            raise TileValueError(
                f"'{shown}' names no register: $0 is the result, $1 to ${count} are the operands"
            )
    if "0" not in named:
        raise TileValueError("the instructions must set the result, $0")
