"""vprintf: C's format strings, one line of output a thread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...interp.printf import element_printer
from ..machine.addressing import locate
from ..machine.cohort import Array, Cohort, Lanes
from ..machine.faults import ThreadFault

# flags, width, precision, length, conversion
_CONVERSION = re.compile(r"%(?:(%)|([-+ #0]*)(\d*)(\.\d*)?(hh|h|ll|l|q|j|z|t|L)?(.))", re.DOTALL)
_LONGEST = 1 << 16


def print_formatted(w: Cohort, format_place: int, values_place: int, lanes: Lanes) -> None:
    """vprintf(format, values): both are generic addresses in the frame's local memory.

    The values lie one behind the other, each aligned to its size: ints, long longs, doubles.
    """
    active = w.chosen(lanes)
    formats = read_local(w, format_place, np.dtype(np.uint64))
    values = read_local(w, values_place, np.dtype(np.uint64))
    texts: dict[int, str] = {}
    for row, lane in np.argwhere(active):
        where = int(formats[row, lane])
        if where not in texts:
            texts[where] = read_string(w, where)
        one = w.select(np.array([row]), w.pc)
        only = np.zeros((1, 32), bool)
        only[0, lane] = True
        pieces = _expand(one, texts[where], int(values[row, lane]), only)
        w.launch.printed.append("".join(pieces))


def _expand(w: Cohort, text: str, values: int, only: Array) -> Iterator[str]:
    end = 0
    for match in _CONVERSION.finditer(text):
        yield text[end : match.start()]
        end = match.end()
        if match[1]:
            yield "%"
            continue
        _, flags, width, precision, length, conversion = match.groups()
        if conversion in "eEfFgGaA":
            dtype = np.dtype(np.float64)
        elif conversion in "sp" or length in ("ll", "l", "j", "z", "t", "q"):
            dtype = np.dtype(np.int64 if conversion in "di" else np.uint64)
        else:
            dtype = np.dtype(np.int32 if conversion in "dic" else np.uint32)
        values += -values % dtype.itemsize
        value = _read(w, values, dtype, only)
        values += dtype.itemsize
        if conversion == "s":
            yield f"%{flags}{width}{precision or ''}s" % read_string(w, value)
        else:
            yield element_printer(flags, width, precision or "", conversion)(value)
    yield text[end:]


def _read(w: Cohort, address: int, dtype: np.dtype[Any], only: Array) -> Any:
    """One element at a generic address, as the thread in `only` sees it."""
    places = locate(w, "generic", np.full(only.shape, address, np.uint64), dtype.itemsize, only)
    place = places[0]
    flat, lead = place.storage.typed(dtype)
    return flat[(place.offset[only] - lead) // dtype.itemsize][0].item()


def read_string(w: Cohort, address: int) -> str:
    """The C string at a generic address."""
    only = np.zeros((len(w.warps), 32), bool)
    only[0, 0] = True
    found = bytearray()
    while len(found) < _LONGEST:
        byte = _read(w, address + len(found), np.dtype(np.uint8), only)
        if byte == 0:
            return found.decode("utf-8", "replace")
        found.append(byte)
    raise ThreadFault("a format string without end")


def read_local(w: Cohort, place: int, dtype: np.dtype[Any]) -> Array:
    """An element of each thread's frame, [n, 32]."""
    memory = w.launch.local
    flat, _ = memory.typed(dtype)
    return flat[(w.threads * memory.stride + w.frame + place) // dtype.itemsize]
