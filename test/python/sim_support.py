"""Small PTX kernels for the simulator's tests, from the text of their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tileir import sim

bf16 = ml_dtypes.bfloat16


def f32(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def f16(values: Any) -> np.ndarray:
    return np.array(values, np.float16)


# PTX register type of a NumPy dtype's bits.
_BITS = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}


def module(body: str, parameters: str = "", *, name: str = "k", threads: int = 0, around: str = "",
           target: str = "sm_90a") -> str:  # fmt: skip
    """A module with one entry; `around` stands in front of it."""
    required = f".reqntid {threads}, 1, 1" if threads else ""
    return f"""
.version 8.6
.target {target}
.address_size 64
{around}
.visible .entry {name}({parameters})
{required}
{{
{body}
}}
"""


def pointers(count: int) -> str:
    return ", ".join(f".param .u64 p{i}" for i in range(count))


def elementwise(body: str, inputs: Sequence[np.dtype[Any]], outputs: Sequence[np.dtype[Any]],
                declare: str = "", target: str = "sm_90a") -> str:  # fmt: skip
    """A kernel `k(p0, p1, ..., n)`: thread i computes %r0, ... from %a0, ..., element i of each.

    Elements of one byte are in the low bits of 16-bit registers. %i is the thread's number, %t0
    to %t9 are 32-bit temporaries, %d0 to %d9 64-bit, %h0 to %h9 16-bit, %q0 to %q9 predicates.
    """
    lines = [
        ".reg .b32 %i, %n, %x, %y, %t<10>; .reg .b64 %at, %d<10>; .reg .b16 %h<10>;",
        ".reg .pred %out, %q<10>;",
        declare,
    ]
    for letter, types in (("a", inputs), ("r", outputs)):
        lines += [f".reg .{_BITS[t.itemsize]} %{letter}{k};" for k, t in enumerate(types)]
    count = len(inputs) + len(outputs)
    lines += [
        "mov.u32 %x, %ctaid.x; mov.u32 %y, %ntid.x; mov.u32 %i, %tid.x;",
        f"mad.lo.u32 %i, %x, %y, %i; ld.param.u32 %n, [p{count}];",
        "setp.ge.u32 %out, %i, %n; @%out bra END;",
    ]
    for k, t in enumerate(inputs):
        lines += _at(k, t), f"ld.global.b{8 * t.itemsize} %a{k}, [%at];"
    lines.append(body)
    for k, t in enumerate(outputs):
        lines += _at(len(inputs) + k, t), f"st.global.b{8 * t.itemsize} [%at], %r{k};"
    lines.append("END: ret;")
    return module("\n".join(lines), f"{pointers(count)}, .param .u32 p{count}", target=target)


def _at(k: int, t: np.dtype[Any]) -> str:
    return f"ld.param.u64 %at, [p{k}]; mad.wide.u32 %at, %i, {t.itemsize}, %at;"


def compute(body: str, inputs: Sequence[np.ndarray], outputs: Sequence[Any], declare: str = "",
            threads: int = 128) -> list[np.ndarray]:  # fmt: skip
    """Runs an elementwise kernel; arrays are of rank 1 and equal length."""
    arrays = [np.ascontiguousarray(x) for x in inputs]
    n = len(arrays[0])
    results = [np.zeros(n, dtype) for dtype in outputs]
    text = elementwise(body, [x.dtype for x in arrays], [x.dtype for x in results], declare)
    sim.run(text, "k", -(-n // threads), threads, [*arrays, *results, n])
    return results


def one(body: str, inputs: Sequence[np.ndarray], dtype: Any, declare: str = "") -> np.ndarray:
    """The single result %r0."""
    return compute(body, inputs, [dtype], declare)[0]


def run(body: str, args: Sequence[Any], *, threads: Any = 32, grid: Any = 1, around: str = "",
        parameters: str | None = None, **options: Any) -> sim.Result:  # fmt: skip
    """Runs a kernel whose parameters are pointers p0, p1, ... unless said otherwise."""
    given = pointers(len(args)) if parameters is None else parameters
    return sim.run(module(body, given, around=around), "k", grid, threads, args, **options)


def same_bits(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bits; any NaN equals any other."""
    assert got.dtype == want.dtype and got.shape == want.shape
    unsigned = f"u{got.dtype.itemsize}"
    equal = got.view(unsigned) == want.view(unsigned)
    if got.dtype.kind in "fV":
        equal |= np.isnan(got) & np.isnan(want)
    bad = np.argwhere(~equal)
    assert len(bad) == 0, [(tuple(map(int, i)), got[tuple(i)], want[tuple(i)]) for i in bad[:4]]
