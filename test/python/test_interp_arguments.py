"""Arguments, grids and kernel names: what does not fit is named."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from interp_support import kernel, run

import tileir
from tileir import interp
from tileir.errors import LaunchError
from tileir.runtime import PointerTable

PARAMETERS = "%p: tile<ptr<f32>>, %n: tile<i32>, %s: tile<f16>, %t: tile<ptr<i64>>"
GOOD = [np.zeros(4, np.float32), 3, 0.5, PointerTable([])]


@pytest.mark.parametrize(
    "index,value,message",
    [
        (0, np.zeros(4), "parameter 0: expected ptr<f32>, found array of float64 with shape (4,)"),
        (0, 1.5, "parameter 0: expected ptr<f32>, found float 1.5"),
        (0, PointerTable([]), "parameter 0: expected ptr<f32>, found a PointerTable"),
        (1, 0.5, "parameter 1: expected i32, found float 0.5"),
        (1, 2**32, "parameter 1: 4294967296 does not fit i32"),
        (1, np.zeros(2, np.int32), "parameter 1: expected i32, found array of int32"),
        (2, "x", "parameter 2: expected f16, found str"),
        (3, np.zeros(4, np.int32), "parameter 3: expected ptr<i64>, found array of int32"),
    ],
)
def test_wrong_argument(index, value, message):
    args = list(GOOD)
    args[index] = value
    with pytest.raises(LaunchError) as caught:
        run(PARAMETERS, "", args)
    assert message in caught.value.reason
    assert caught.value.location == "k.mlir:3:1"


def test_wrong_number_of_arguments():
    with pytest.raises(LaunchError) as caught:
        run(PARAMETERS, "", GOOD[:2])
    assert caught.value.reason == "the kernel has 4 parameters, 2 arguments were given"
    assert caught.value.remedy == "parameters: ptr<f32>, i32, f16, ptr<i64>"


@pytest.mark.parametrize("grid", (0, (1, 2, 3, 4), (), (1, -1)))
def test_wrong_grid(grid):
    with pytest.raises(LaunchError, match="grid"):
        run("", "", [], grid)


def test_choice_of_the_kernel():
    two = "entry @a() { return }\nentry @b() { return }"
    module = tileir.parse(f"cuda_tile.module @m {{ {two} }}")
    with pytest.raises(LaunchError, match="the module has 2 kernels"):
        interp.run(module)
    with pytest.raises(LaunchError, match="there is no kernel 'c'"):
        interp.run(module, "c")
    assert interp.run(module, "b") == []
    assert interp.Interpreter(module).kernels == ["a", "b"]


def prints(ty: str, value, form: str = "%d") -> str:
    body = f'%t = print_tko "{form}", %x : tile<{ty}> -> token'
    return run(f"%x: tile<{ty}>", body, [value])[0]


def test_scalars():
    assert prints("i32", 7) == prints("i32", np.int32(7)) == prints("i32", np.array(7)) == "7"
    assert prints("i32", 2**32 - 1) == prints("i32", np.uint32(2**32 - 1)) == "-1"
    assert prints("i8", -128) == "-128"
    assert prints("i1", True) == prints("i1", np.bool_(True)) == "1"
    assert prints("f32", 0.5, "%g") == prints("f32", np.float32(0.5), "%g") == "0.5"
    assert prints("bf16", ml_dtypes.bfloat16(1.5), "%g") == "1.5"
    assert prints("f64", 0.1, "%.17g") == "0.10000000000000001"


class Foreign:
    """An array of another library, which shares its memory by protocol."""

    def __init__(self, array: np.ndarray):
        self.__array_interface__ = array.__array_interface__
        self.keep = array


def test_arrays_of_other_libraries():
    x = np.zeros(1, np.int32)
    body = """
    %c = constant <i32: 5> : tile<i32>
    %t = store_ptr_tko weak %p, %c : tile<ptr<i32>>, tile<i32> -> token"""
    run("%p: tile<ptr<i32>>", body, [Foreign(x)])
    assert x[0] == 5
    run("%p: tile<ptr<i32>>", body, [x.view(np.uint32)])


def test_empty_arrays():
    module = kernel("%p: tile<ptr<f32>>, %q: tile<ptr<f32>>", "")
    interp.run(module, args=[np.zeros(0, np.float32), np.zeros((3, 0), np.float32)])


def test_reuse_of_an_interpreter():
    module = kernel(
        "%p: tile<ptr<i32>>, %v: tile<i32>",
        """
    %t = store_ptr_tko weak %p, %v : tile<ptr<i32>>, tile<i32> -> token""",
    )
    machine = interp.Interpreter(module)
    for value in (1, 2):
        x = np.zeros(1, np.int32)
        machine.run("k", 1, [x, value])
        assert x[0] == value
    assert "def launch(run, v1, v2):" in machine.source()
