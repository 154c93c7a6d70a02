"""Printing, against the C library."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from interp_support import run

from tileir.errors import ExecutionError
from tileir.interp.numerics.formats import BF16, F16, F32, F64, I1, I8, I16, I32, I64
from tileir.interp.printf import compile_format

LIBC = ctypes.CDLL(None)
FLAGS = ("", "-", "+", " ", "#", "0", "-+", "#0")


def c_prints(form: str, value) -> str:
    buffer = ctypes.create_string_buffer(512)
    LIBC.snprintf(buffer, 512, form.encode(), value)
    return buffer.value.decode()


@pytest.mark.parametrize("conversion", "eEfFgGaA")
def test_floats_print_as_in_c(conversion):
    values = (0.0, -0.0, 1.0, -2.5, 3.14159, 1e10, 1e-10, 5e-324, np.inf, -np.inf, np.nan, 0.1)
    for flags, width, precision in itertools.product(FLAGS, ("", "12"), ("", ".0", ".3", ".10")):
        form = f"<%{flags}{width}{precision}{conversion}>"
        for value in values:
            got = compile_format(form, [F64])(np.float64(value))
            assert got == c_prints(form, ctypes.c_double(value)), form


@pytest.mark.parametrize("conversion", "diuoxX")
def test_integers_print_as_in_c(conversion):
    for flags, width, precision in itertools.product(FLAGS, ("", "12"), ("", ".0", ".3", ".10")):
        form = f"<%{flags}{width}{precision}{conversion}>"
        for value in (0, 1, -1, 255, -(2**31), 2**31 - 1):
            got = compile_format(form, [I32])(np.int32(value))
            assert got == c_prints(form, ctypes.c_int(value)), form


def test_narrow_formats():
    assert compile_format("%d %u %x", [I8, I8, I8])(*[np.int8(-1)] * 3) == "-1 255 ff"
    assert compile_format("%d", [I1])(np.bool_(True)) == "1"
    assert compile_format("%hd", [I16])(np.int16(-5)) == "-5"
    assert compile_format("%lld %llu", [I64, I64])(*[np.int64(-1)] * 2) == f"-1 {2**64 - 1}"
    assert compile_format("%.2f", [F16])(np.float16(0.5)) == "0.50"
    assert compile_format("%g", [BF16])(BF16.dtype.type(3)) == "3"
    assert compile_format("%c%%", [I32])(np.int32(65)) == "A%"


def test_tiles_print_in_brackets():
    tile = np.arange(4, dtype=np.float32)
    assert compile_format("t=%.1f!", [F32])(tile) == "t=[0.0, 1.0, 2.0, 3.0]!"
    assert compile_format("%d", [I32])(np.arange(4, dtype=np.int32).reshape(2, 2)) == (
        "[[0, 1], [2, 3]]"
    )
    assert compile_format("%d", [I32])(np.full((1, 1), 7, np.int32)) == "7"


def test_lines_of_a_kernel():
    body = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %f = itof %x signed : tile<i32> -> tile<f32>
    %t0 = print_tko "a " -> token
    %t1 = print_tko "x=%i %5.2f 100%%\\n\\n", %x, %f token=%t0 : tile<i32>, tile<f32> -> token"""
    assert run("", body, grid=2) == ["a x=0  0.00 100%", "", "a x=1  1.00 100%", ""]
    assert run("", "") == []


def test_old_print_has_no_token():
    assert run(
        "",
        'print "hi %d\\n", %c : tile<i32>'.replace(
            "print", "%c = constant <i32: 3> : tile<i32>\nprint", 1
        ),
    ) == ["hi 3"]


def test_strings_cannot_be_printed():
    body = '%c = constant <i32: 3> : tile<i32>\n%t = print_tko "%s", %c : tile<i32> -> token'
    with pytest.raises(ExecutionError, match="%s cannot print a tile"):
        run("", body)
