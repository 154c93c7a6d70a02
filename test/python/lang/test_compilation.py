"""Signatures by hand, names of entries, exported files."""

import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileir
import tileir.lang as ct
from tileir.lang import compilation
from tileir.lang.compilation import ArrayConstraint, KernelSignature, ScalarConstraint
from tileir.lang.mangling import demangle, mangle
from tileir.lang.signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    ScalarParameter,
    TupleParameter,
)


@ct.kernel
def add(a, b, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(a, (i,), (TILE,)) + ct.load(b, (i,), (TILE,)))


VECTOR = ArrayConstraint(
    ct.float32, 1, stride_constant=[1], shape_divisible_by=16, base_addr_divisible_by=16
)


def test_export():
    """Two signatures in one file, each under its name."""
    signatures = [KernelSignature([VECTOR] * 3 + [tile]) for tile in (128, 256)]
    text, bytecode = io.BytesIO(), io.BytesIO()
    compilation.export_kernel(add, signatures, text, output_format="mlir")
    compilation.export_kernel(add, signatures, bytecode, output_format="tileir_bytecode")
    name = "add_Kt2" + "_A1f32_1i16t1_p16" * 3
    for data in (text.getvalue().decode(), bytecode.getvalue()):
        module = tileir.parse(data)
        a, b = (np.arange(304, dtype=np.float32) for _ in range(2))
        for tile in (128, 256):
            out = np.zeros_like(a)
            words = [word for array in (a, b, out) for word in (array, 304, 1)]
            grid = (math.ceil(304 / tile), 1, 1)
            tileir.run(module, f"{name}_I{tile}", grid, words, backend="interp")
            np.testing.assert_array_equal(out, a + b)


def test_export_to_ptx(tmp_path):
    signature = KernelSignature([VECTOR] * 3 + [128], symbol="add_128")
    path = tmp_path / "add.ptx"
    compilation.export_kernel(add, [signature], path, gpu_code="sm_90", output_format="ptx")
    assert ".entry add_128(" in path.read_text()


def test_export_refuses():
    signature = KernelSignature([VECTOR] * 3 + [128])
    with pytest.raises(ValueError, match="gpu_code"):
        compilation.export_kernel(add, [signature], io.BytesIO(), output_format="cubin")
    with pytest.raises(ValueError, match="one or more"):
        compilation.export_kernel(add, [], io.BytesIO(), output_format="mlir")
    with pytest.raises(ValueError, match="rank 2"):
        ArrayConstraint(ct.float32, 2, stride_constant=[1])
    with pytest.raises(ValueError, match="negative"):
        ArrayConstraint(ct.float32, 1, stride_lower_bound_incl=-1)


def test_alias_groups_keep_order():
    """Arrays that may share memory are ordered as one array is."""

    @ct.kernel
    def through(a, b):
        ct.store(b, (0,), ct.load(a, (0,), (4,)))
        ct.store(a, (1,), ct.load(b, (0,), (4,)))

    apart = ArrayConstraint(ct.float32, 1, stride_constant=[1])
    shared = ArrayConstraint(ct.float32, 1, stride_constant=[1], alias_groups=["x"])
    loads_that_wait = []
    for array in (apart, shared):
        text = str(through.trace(KernelSignature([array, array]).signature))
        [_, load, *_] = (line for line in text.splitlines() if "load_view_tko" in line)
        [root] = (line.split()[0] for line in text.splitlines() if "make_token" in line)
        loads_that_wait.append(f"token = {root} " not in load)
    assert loads_that_wait == [True, True]
    [_, store] = (line for line in text.splitlines() if "store_view_tko" in line)
    assert f"token = {root} " not in store


@pytest.mark.parametrize(
    ("parameter", "code"),
    [
        (ScalarConstraint(ct.bool_), "Sb8"),
        (ConstantParameter(-3), "I_3"),
        (ConstantParameter(True), "B1"),
        (ConstantParameter(0.5), "F3fe0000000000000"),
        (ConstantParameter(None), "Cn_"),
        (ConstantParameter("a_K é"), "Cs_a___k_20_e9_z"),
        (ConstantParameter(ct.float8_e4m3fn), "Cd_f8m3fn"),
        (TupleParameter((ScalarParameter("i32"), ConstantParameter(2))), "T2Si32I2"),
        (ListParameter(ArrayParameter("f16", 1, static_strides=(1,))), "LA1f16_1t1"),
        (
            ArrayParameter(
                "bf16", 3, 64, 16, (1, 16, 1), (8, 8, 1), (None, None, 1), (None, None, 1), False
            ),
            "A3bf16_2i16_3v8l0_4s1t1_p16iw",
        ),
    ],
)
def test_codes(parameter, code):
    assert mangle("f", "t2", [parameter]) == f"f_Kt2_{code}"
    assert demangle(f"f_Kt2_{code}") == ("f", "t2", (parameter,))


_DIMENSION = st.tuples(
    st.sampled_from([1, 16]), st.sampled_from([1, 8]), st.none() | st.integers(0, 40)
)


@given(
    st.lists(_DIMENSION, max_size=4),
    st.sampled_from(["f16", "u8", "i1", "f8E5M2"]),
    st.booleans(),
    st.text(max_size=8) | st.integers() | st.floats(allow_nan=False) | st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_names_can_be_read_back(dimensions, dtype, disjoint, constant):
    array = ArrayParameter(
        dtype,
        len(dimensions),
        shape_divisible_by=tuple(extent for extent, _, _ in dimensions),
        stride_divisible_by=tuple(stride for _, stride, known in dimensions),
        static_shape=tuple(known for _, _, known in dimensions),
        disjoint=disjoint,
    )
    parameters = (array, ConstantParameter(constant), TupleParameter((array,)))
    assert demangle(mangle("a_K_b", "t2", parameters)) == ("a_K_b", "t2", parameters)


@pytest.mark.parametrize("name", ["add", "add_Kt2_", "add_Kt2_A1f99", "add_Kt2_X", "add_Kt2_I"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="name of an entry|unknown dtype"):
        demangle(name)
