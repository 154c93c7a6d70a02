"""PTX instructions applied to each element: the simulator runs them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .formats import Number, Tile

_THREADS = 128
_PLACEHOLDER = re.compile(r"\$(\$|\d+)")


class InlinePtx:
    """A function of tiles from the text of an `inline_ptx`.

    `formats` are those of the result and the operands. Each element is a thread of a kernel that
    loads its operands, runs the text and stores the result. Raises `ParseError` or
    `UnsupportedError` for text that the simulator does not know.
    """

    def __init__(self, text: str, formats: Sequence[Number]):
        # Only kernels with inline PTX need the simulator.
        from ...sim import Simulator

        self._dtypes = [fmt.dtype for fmt in formats]
        self._simulator = Simulator(_kernel(text, formats), checks=False, name="inline_ptx")

    def __call__(self, *operands: Tile) -> Tile:
        given = np.broadcast_arrays(*operands)
        shape, count = given[0].shape, given[0].size
        blocks = -(-count // _THREADS)
        padded = [np.zeros(blocks * _THREADS, _bits(dtype)) for dtype in self._dtypes]
        for array, operand in zip(padded[1:], given, strict=True):
            array[:count] = np.ascontiguousarray(operand).reshape(-1).view(array.dtype)
        self._simulator.run("elements", grid=blocks, args=padded)
        return padded[0][:count].view(self._dtypes[0]).reshape(shape)[()]


def _bits(dtype: np.dtype) -> np.dtype:
    """The integers that registers of this width hold."""
    return np.dtype(f"int{8 * dtype.itemsize}")


def _kernel(text: str, formats: Sequence[Number]) -> str:
    widths = [fmt.memory_bits for fmt in formats]
    replace = {"$": "$"} | {str(k): f"%value{k}" for k in range(len(widths))}
    body = _PLACEHOLDER.sub(lambda found: replace[found[1]], text)
    parameters = ", ".join(f".param .u64 array{k}" for k in range(len(widths)))
    registers = "\n".join(f".reg .b{bits} %value{k};" for k, bits in enumerate(widths))
    loads = "\n".join(
        _address(k, bits) + f"ld.global.b{bits} %value{k}, [%address];"
        for k, bits in enumerate(widths[1:], start=1)
    )
    return f"""\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry elements({parameters}) .reqntid {_THREADS}
{{
.reg .b32 %thread, %block;
.reg .b64 %index, %address;
{registers}
mov.u32 %thread, %tid.x;
mov.u32 %block, %ctaid.x;
mad.lo.u32 %thread, %block, {_THREADS}, %thread;
cvt.u64.u32 %index, %thread;
{loads}
{{
{body}
}}
{_address(0, widths[0])}st.global.b{widths[0]} [%address], %value0;
ret;
}}
"""


def _address(number: int, bits: int) -> str:
    """Instructions that point %address to this thread's element of an array."""
    return (
        f"ld.param.u64 %address, [array{number}];\n"
        f"mad.lo.u64 %address, %index, {bits // 8}, %address;\n"
    )
