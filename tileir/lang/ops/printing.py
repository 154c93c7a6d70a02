"""Printing at run time, one line a block, and checks that print."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..builder import current_builder
from ..calls import REPLACEMENTS, replaces
from ..dtypes import DType, float64
from ..errors import TileTypeError, TileValueError
from ..memory_order import EVERYTHING, Effect
from ..values import FormattedString, Tile, describe, is_runtime
from .casts import convert
from .common import as_tile

#: A conversion of C's printf.
_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?(?P<length>hh|h|ll|l|j|z|t|L)?"
    r"(?P<letter>.)?",
    re.DOTALL,
)
_INTEGER_LETTERS = frozenset("diuoxX")
_FLOAT_LETTERS = frozenset("eEfFgGaA")
#: A format specification of Python: fill and alignment, sign, ...
_SPECIFICATION = re.compile(
    r"(?:(?P<fill>.)?(?P<align>[<>^=]))?(?P<sign>[-+ ])?(?P<alternate>\#)?(?P<zero>0)?"
    r"(?P<width>\d+)?(?P<group>[,_])?(?P<precision>\.\d+)?(?P<letter>[a-zA-Z%])?"
)


def emit_print(
    text: str, tiles: Sequence[Tile], attributes: Mapping[str, str] | None = None
) -> None:
    """The operation that prints `tiles` by a format of C, with further `attributes`."""
    builder = current_builder()
    types = builder.types
    from tileir.ir import StringAttr

    op = builder.op(
        "cuda_tile.print_tko",
        (types.token,),
        (*(tile.value for tile in tiles), builder.memory.root),
        {
            "str": StringAttr.get(text),
            **{name: StringAttr.get(value) for name, value in (attributes or {}).items()},
            "operandSegmentSizes": types.segments(len(tiles), 1),
        },
    )
    # Prints stay in order with each other and with what they may tell about.
    builder.memory.access(op, Effect.ATOMIC, EVERYTHING, len(tiles))


def printf(format: Any, *args: Any) -> None:
    """Prints values with a format of C's printf, conversions `d i u o x X e E f F g G a A`.

    Tiles print all their elements, `printf` ends no line by itself.
    """
    if not isinstance(format, str):
        raise TileTypeError(
            f"'format' must be a string known at compile time, got {describe(format)}",
            remedy="use ct.print(...) for f-strings",
        )
    tiles = [as_tile(value, f"args[{i}]") for i, value in enumerate(args)]
    used = 0
    for found in _CONVERSION.finditer(format):
        letter = found["letter"]
        if found[0] == "%%":
            continue
        if letter is None or letter not in _INTEGER_LETTERS | _FLOAT_LETTERS:
            raise TileValueError(
                f"printf() knows no conversion '{found[0]}'",
                remedy="write %% for a percent sign, %d for integers, %f for floats",
            )
        if used == len(tiles):
            raise TileValueError(f"printf() has no value for the conversion '{found[0]}'")
        _check_conversion(found[0], letter, tiles[used])
        used += 1
    if used < len(tiles):
        raise TileValueError(f"printf() got {len(tiles)} values for {used} conversions")
    emit_print(format, tiles)


def _check_conversion(text: str, letter: str, tile: Tile) -> None:
    if (letter in _FLOAT_LETTERS) != tile.dtype.is_float:
        wanted = "floats" if letter in _FLOAT_LETTERS else "integers"
        raise TileTypeError(f"the conversion '{text}' is for {wanted}, got {describe(tile)}")


@replaces(builtins.print)
def print(*args: Any, sep: str = " ", end: str = "\n") -> None:
    """Prints values as Python's `print` does, also in f-strings: `print(f"x = {x:.3f}")`."""
    for text, name in ((sep, "sep"), (end, "end")):
        if not isinstance(text, str):
            raise TileTypeError(f"'{name}' must be a string, got {describe(text)}")
    pieces: list[str] = []
    tiles: list[Tile] = []
    for i, value in enumerate(args):
        if i:
            pieces.append(_escape(sep))
        _append(value, pieces, tiles)
    pieces.append(_escape(end))
    emit_print("".join(pieces), tiles)


print.always = True  # type: ignore[attr-defined]


def _escape(text: str) -> str:
    return text.replace("%", "%%")


def _append(value: Any, pieces: list[str], tiles: list[Tile], spec: str = "") -> None:
    """The text of a value, with conversions for what is known only at run time."""
    if isinstance(value, FormattedString):
        for part in value.parts:
            if isinstance(part, str):
                pieces.append(_escape(part))
            else:
                _append(part[0], pieces, tiles, part[1])
    elif isinstance(value, Tile):
        conversion, tile = _conversion(value, spec)
        pieces.append(conversion)
        tiles.append(tile)
    elif isinstance(value, tuple) and is_runtime(value):
        pieces.append("(")
        for i, item in enumerate(value):
            pieces.append(", " if i else "")
            _append(item, pieces, tiles)
        pieces.append(",)" if len(value) == 1 else ")")
    elif is_runtime(value):
        raise TileTypeError(
            f"{describe(value)} cannot be printed", remedy="load a tile of it and print that"
        )
    else:
        pieces.append(_escape(str(value)))


def print_format(tile: Tile) -> str:
    """The conversion of C that prints a tile as it is."""
    letter = "f" if tile.dtype.is_float else "d"
    length, letter = _length(tile.dtype, letter)
    return f"%{length}{letter}"


def _conversion(tile: Tile, spec: str) -> tuple[str, Tile]:
    """The conversion of C for a format specification of Python, and the tile to print."""
    found = _SPECIFICATION.fullmatch(spec)
    if found is None:
        raise TileValueError(f"the format '{spec}' is not known")
    letter = found["letter"] or ("f" if tile.dtype.is_float else "d")
    if found["align"] == "^" or found["group"] or (found["fill"] or " ") not in " 0":
        raise TileValueError(
            f"the format '{spec}' cannot be printed from a kernel",
            remedy="width, precision, sign and the letters d x X o e E f F g G are known",
        )
    if letter in _FLOAT_LETTERS and not tile.dtype.is_float:
        tile = convert(tile, float64)
    known = _FLOAT_LETTERS if tile.dtype.is_float else _INTEGER_LETTERS - {"i", "u"}
    if letter not in known or (found["precision"] and not tile.dtype.is_float):
        raise TileTypeError(f"the format '{spec}' does not fit {describe(tile)}")
    flags = (found["sign"] or "").replace("-", "") + (found["alternate"] or "")
    if found["align"] == "<":
        flags += "-"
    elif found["zero"] or found["fill"] == "0":
        flags += "0"
    length, letter = _length(tile.dtype, letter)
    width = found["width"] or ""
    return f"%{flags}{width}{found['precision'] or ''}{length}{letter}", tile


def _length(dtype: DType, letter: str) -> tuple[str, str]:
    """The modifier for the width of a value, and the letter for its sign."""
    if dtype.is_float:
        return "", letter
    if letter == "d" and not dtype.signed and not dtype.is_bool:
        letter = "u"
    return "ll" if dtype.bitwidth == 64 else "", letter


def assert_(cond: Any, /, message: Any = None) -> None:
    """Stops the kernel with `message`, printed by each block where an element of `cond` is False.

    For debugging: it takes time. What can be known at compile time belongs in `static_assert`.
    """
    text = "" if message is None else message
    if not isinstance(text, str):
        raise TileTypeError(f"'message' must be a constant string, got {describe(text)}")
    tile = as_tile(cond, "cond")
    if not tile.dtype.is_bool:
        raise TileTypeError(
            f"'cond' must be of booleans, got {describe(tile)}", remedy="compare it: x != 0"
        )
    from tileir.ir import StringAttr

    current_builder().op("cuda_tile.assert", (), (tile.value,), {"message": StringAttr.get(text)})


REPLACEMENTS[ast.Assert] = assert_
