"""C format strings applied to tiles.

A tile of one element, whatever its rank, prints as printf prints its value. A larger tile prints
every element with the same conversion, in row-major order, in nested brackets on one line:
`[1, 2, 3, 4]`, `[[1, 2], [3, 4]]`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .faults import Fault
from .numerics import integers
from .numerics.formats import Format, IntFormat, PointerFormat, Tile
from .numerics.rounding import to_float64

# flags, width, precision, length modifier, conversion
_CONVERSION = re.compile(r"%(?:(%)|([-+ #0]*)(\d*)(\.\d*)?(hh|h|ll|l|q|j|z|t|L)?(.))", re.DOTALL)


def compile_format(text: str, formats: Sequence[Format]) -> Callable[..., str]:
    """A function from tiles, one per conversion, to text."""
    pieces: list[str | Callable[[Tile], str]] = []
    end = 0
    remaining = iter(formats)
    for match in _CONVERSION.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        if match[1]:
            pieces.append("%")
        else:
            pieces.append(_printer(match, next(remaining)))
    pieces.append(text[end:])

    def apply(*tiles: Tile) -> str:
        values = iter(tiles)
        return "".join(p if isinstance(p, str) else p(next(values)) for p in pieces)

    return apply


def _printer(match: re.Match[str], fmt: Format) -> Callable[[Tile], str]:
    _, flags, width, precision, _, conversion = match.groups()
    one = element_printer(flags, width, precision or "", conversion)
    read = _reader(conversion, fmt)

    def show(tile: Tile) -> str:
        values = read(np.asarray(tile))
        return one(values.item()) if values.size == 1 else _nest(values.tolist(), one)

    return show


def _nest(values: Any, one: Callable[[Any], str]) -> str:
    if isinstance(values, list):
        return "[" + ", ".join(_nest(value, one) for value in values) + "]"
    return one(values)


def _reader(conversion: str, fmt: Format) -> Callable[[Tile], Tile]:
    """Tile to the Python numbers that the conversion prints."""
    if conversion in "eEfFgGaA":
        if isinstance(fmt, (IntFormat, PointerFormat)):
            return lambda tile: tile.astype(np.float64)
        return lambda tile: to_float64(tile, fmt)
    if conversion in "dic" and isinstance(fmt, IntFormat):
        # i1 prints as 0 and 1, like a C bool that is passed to printf.
        signed = fmt.bits > 1
        return lambda tile: integers.read(tile, fmt, signed)
    if isinstance(fmt, IntFormat):
        return lambda tile: integers.as_unsigned(tile, fmt)
    if isinstance(fmt, PointerFormat):
        return lambda tile: tile.view(np.uint64)
    return lambda tile: np.trunc(to_float64(tile, fmt)).astype(np.int64)


def element_printer(
    flags: str, width: str, precision: str, conversion: str
) -> Callable[[Any], str]:
    if conversion in "sn":

        def refuse(_: Any) -> str:
            raise Fault(f"%{conversion} cannot print a tile", "use a number conversion")

        return refuse
    if conversion == "p":
        return lambda value: f"{value:#x}".rjust(int(width or 0))
    if conversion == "c":
        return lambda value: chr(value & 255).rjust(int(width or 0))
    if conversion in "aA":
        return lambda value: _hexadecimal(value, flags, width, precision, conversion)
    if conversion in "diuoxX":
        return lambda value: _integer(value, flags, width, precision, conversion)
    plain = f"%{flags}{width}{precision}{conversion}"
    unpadded = f"%{flags.replace('0', '')}{width}{precision}{conversion}"
    return lambda value: (plain if math.isfinite(value) else unpadded) % value


def _integer(value: int, flags: str, width: str, precision: str, conversion: str) -> str:
    base = {"o": "o", "x": "x", "X": "X"}.get(conversion, "d")
    digits = f"{abs(value):{base}}"
    if precision:
        digits = "" if precision in (".", ".0") and value == 0 else digits
        digits = digits.rjust(int(precision[1:] or 0), "0")
        flags = flags.replace("0", "")
    prefix = ""
    if conversion in "di":
        prefix = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    elif "#" in flags and conversion == "o" and not digits.startswith("0"):
        digits = "0" + digits
    elif "#" in flags and conversion in "xX" and value != 0:
        prefix = "0" + conversion
    return _pad(digits, prefix, flags, width)


def _hexadecimal(value: float, flags: str, width: str, precision: str, conversion: str) -> str:
    """%a: one hexadecimal digit, a fraction, a binary exponent."""
    sign = "-" if math.copysign(1, value) < 0 else "+" if "+" in flags else " " * (" " in flags)
    if not math.isfinite(value):
        body = "inf" if math.isinf(value) else "nan"
        flags = flags.replace("0", "")
        prefix = sign
    else:
        lead, tail, exponent = _hex_digits(abs(value), precision)
        point = "." if tail or "#" in flags else ""
        body, prefix = f"{lead}{point}{tail}p{exponent:+d}", sign + "0x"
    text = _pad(body, prefix, flags, width)
    return text.upper() if conversion == "A" else text


def _hex_digits(value: float, precision: str) -> tuple[int, str, int]:
    """(leading digit, fraction digits, binary exponent)."""
    fraction, exponent = math.frexp(value)
    if value == 0:
        exponent = 1
    elif exponent < -1021:  # subnormal: C keeps the exponent and a leading 0
        fraction, exponent = math.ldexp(fraction, exponent + 1021), -1021
    scaled = int(math.ldexp(fraction, 53))  # 1 + 52 bits
    if precision:
        places = int(precision[1:] or 0)
        if places < 13:
            unit = 1 << (52 - 4 * places)
            low = scaled % unit
            scaled -= low
            if 2 * low > unit or (2 * low == unit and scaled // unit % 2):
                scaled += unit
        tail = f"{scaled % (1 << 52):013x}".ljust(places, "0")[:places]
    else:
        tail = f"{scaled % (1 << 52):013x}".rstrip("0")
    return scaled >> 52, tail, exponent - 1


def _pad(body: str, prefix: str, flags: str, width: str) -> str:
    missing = max(0, int(width or 0) - len(prefix) - len(body))
    if "-" in flags:
        return prefix + body + " " * missing
    if "0" in flags:
        return prefix + "0" * missing + body
    return " " * missing + prefix + body
