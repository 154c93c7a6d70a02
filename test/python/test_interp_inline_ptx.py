"""PTX in a program, against NumPy: in the interpreter, in the simulator, through ptxas."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import tileir
from tileir import interp
from tileir.errors import BytecodeError, ToolError, UnsupportedError


def module(text: str, element: str = "f32", *, result: str | None = None) -> str:
    """A kernel that applies `text` to the elements of two arrays of 256."""
    result = result or element
    array = "tensor_view<256x{}, strides=[1]>"
    given, made = array.format(element), array.format(result)
    view = "partition_view<tile=(256), {}>"
    load = f"load_view_tko weak %{{}}[%zero] : {view.format(given)}, tile<i32> -> {{}}, token"
    tile, out = f"tile<256x{element}>", f"tile<256x{result}>"
    return f"""
cuda_tile.module @kernels attributes {{cuda_tile.extended}} {{
  entry @k(%p: tile<ptr<{element}>>, %q: tile<ptr<{element}>>, %r: tile<ptr<{result}>>) {{
    %zero = constant <i32: 0> : tile<i32>
    %pt = make_tensor_view %p, shape = [256], strides = [1] : {given}
    %qt = make_tensor_view %q, shape = [256], strides = [1] : {given}
    %rt = make_tensor_view %r, shape = [256], strides = [1] : {made}
    %pv = make_partition_view %pt : {view.format(given)}
    %qv = make_partition_view %qt : {view.format(given)}
    %rv = make_partition_view %rt : {view.format(made)}
    %x, %t1 = {load.format("pv", tile)}
    %y, %t2 = {load.format("qv", tile)}
    %z = inline_ptx "{text}"(%x, %y) : ({tile}, {tile}) -> {out}
    %t3 = store_view_tko weak %z, %rv[%zero] : {out}, {view.format(made)}, tile<i32> -> token
    return
  }}
}}
"""


def operands(dtype: type, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    values = random.integers(-1000, 1000, (2, 256))
    return values[0].astype(dtype), values[1].astype(dtype)


CASES = {
    "declares registers": (
        "f32",
        ".reg .f32 t; sub.rn.f32 t, $1, $2; mul.rn.f32 $0, t, 0f40000000;",
        lambda x, y: (x - y) * np.float32(2),
    ),
    "sums of differences": (
        "i32",
        "sad.s32 $0, $1, $2, 7;",
        lambda x, y: np.abs(x - y) + 7,
    ),
    "halves": ("f16", "min.f16 $0, $1, $2;", np.minimum),
    "64 bits": ("i64", "mul.lo.s64 $0, $1, $2;", np.multiply),
    "doubles": ("f64", "fma.rn.f64 $0, $1, $2, 0d3FF0000000000000;", lambda x, y: x * y + 1),
    "16 bits": ("i16", "and.b16 $0, $1, $2;", np.bitwise_and),
}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64} | {
    f"i{bits}": getattr(np, f"int{bits}") for bits in (16, 32, 64)
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["interp", "sim"])
def test_values(name: str, backend: Literal["interp", "sim"]) -> None:
    element, text, reference = CASES[name]
    x, y = operands(NUMPY[element])
    out = np.zeros_like(x)
    tileir.run(module(text, element), grid=(1, 1, 1), args=[x, y, out], backend=backend)
    np.testing.assert_array_equal(out, reference(x, y))


def test_result_of_another_type() -> None:
    x, y = operands(np.float32)
    out = np.zeros(256, np.int32)
    text = "cvt.rni.s32.f32 $0, $2;"
    interp.run(tileir.parse(module(text, result="i32")), "k", (1, 1, 1), [x, y, out])
    np.testing.assert_array_equal(out, y.astype(np.int32))


def test_an_instruction_that_the_simulator_lacks_is_named() -> None:
    source = tileir.parse(module("nonsense.f32 $0, $1;"))
    x, y = operands(np.float32)
    with pytest.raises(UnsupportedError, match="inline_ptx.*nonsense"):
        interp.run(source, "k", (1, 1, 1), [x, y, np.zeros_like(x)])


def test_ptxas_says_what_is_wrong() -> None:
    with pytest.raises(ToolError, match="nonsense"):
        tileir.compile(module("nonsense.f32 $0, $1;"), cache=False).cubin  # noqa: B018


def test_bytecode_cannot_hold_it() -> None:
    with pytest.raises(BytecodeError, match=r"cuda_tile\.extended"):
        tileir.write_bytecode(tileir.parse(module("neg.f32 $0, $1;")))
