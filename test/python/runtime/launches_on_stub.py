"""Launches through the native launcher; test_cuda_launches.py runs this file on the stub."""

from __future__ import annotations

import copy
import ctypes
import enum
import gc
import struct
import sys
import threading
import weakref
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cuda import (
    DeviceArray,
    FakeKernel,
    Launch,
    Parameter,
    Stub,
    exchange_capsule,
    flat,
    zeros,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tileir.errors import LaunchError
from tileir.runtime import TensorMapRecipe, Workspace, cuda_driver, forms, launcher
from tileir.runtime.array_view import view
from tileir.runtime.jit import launch
from tileir.runtime.specialize import rule_of, specialize
from tileir.signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    ScalarParameter,
    TupleParameter,
)

STREAM = 0x40
CAPTURING = 0x80
DEVICE_1 = 0x140
stub = Stub()
native: Any = launcher.native()


@pytest.fixture(autouse=True)
def fresh() -> None:
    stub.lines()
    stub.capture(False)


def only_launch() -> Launch:
    (found,) = stub.launches()
    return found


def constants(*names: str) -> list[Parameter]:
    return [Parameter(name, constant=True) for name in names]


# ---- arrays --------------------------------------------------------------------------------------


def test_three_arrays() -> None:
    kernel = FakeKernel("a", "b", "out")
    a, b, out = zeros(32, 48), zeros(5, dtype=np.float16), zeros(dtype=np.int64)
    for repeat in range(3):
        launch(STREAM, (3, 4, 5), kernel, (a, b, out))
        assert only_launch() == Launch((3, 4, 5), STREAM, 0, 1, False, (*flat(a, b, out), 0)), (
            repeat
        )
    assert len(kernel.signatures) == 1
    assert kernel.signatures[0].parameters == (
        ArrayParameter("f32", 2, 32, 16, (16, 16), (4, 1), (None, None), (None, 1)),
        ArrayParameter("f16", 1, 32, 16, (1,), (1,), (None,), (1,)),
        ArrayParameter("i64", 0, 32, 16),
    )


def test_numbers_of_python_and_numpy() -> None:
    wide = Parameter("l", scalar=SimpleNamespace(dtype=SimpleNamespace(ir="i64")))
    kernel = FakeKernel("i", wide, "f", "b", "n")
    for numpy in (int, np.int64, np.uint8):
        launch(STREAM, 1, kernel, (numpy(7), numpy(8), 1.5, True, numpy(9)))
    launch(STREAM, 1, kernel, (-1, 2**40, np.float64(1.5), np.bool_(True), np.int8(-9)))
    half = struct.unpack("<I", struct.pack("<f", 1.5))[0]
    lines = [one.words[:-1] for one in stub.launches()]
    assert lines == [(7, 8, half, 1, 9)] * 3 + [(2**32 - 1, 2**40, half, 1, 2**32 - 9)]
    assert len(kernel.signatures) == 1
    assert kernel.signatures[0].parameters == tuple(
        ScalarParameter(dtype) for dtype in ("i32", "i64", "f32", "i1", "i32")
    )


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def test_constants_are_told_apart_by_type_and_value() -> None:
    kernel = FakeKernel(*constants("c"))
    values: list[Any] = [
        1, True, 1.0, "1", None, 0, False, 0.0, -0.0, 2**70, (1, 2), (1, True), (1, (2,)), "",
        Color.RED, Color.BLUE, np.float32, float("nan"), b"1",
    ]  # fmt: skip
    for _ in range(2):
        for value in values:
            launch(STREAM, 1, kernel, (value,))
    numbers = [one.words[-1] for one in stub.launches()]
    assert numbers == [*range(len(values))] * 2
    assert [one.parameters[0] for one in kernel.signatures] == [*map(ConstantParameter, values)]


def test_numpy_constants_are_the_numbers_that_they_are() -> None:
    kernel = FakeKernel(*constants("c"))
    launch(STREAM, 1, kernel, (np.int32(4),))
    assert kernel.signatures[0].parameters == (ConstantParameter(4),)


def test_none_is_a_constant() -> None:
    kernel = FakeKernel("bias")
    launch(STREAM, 1, kernel, (None,))
    launch(STREAM, 1, kernel, (zeros(4),))
    assert kernel.signatures[0].parameters == (ConstantParameter(None),)
    assert len(kernel.signatures) == 2


def test_tuples() -> None:
    kernel = FakeKernel("t")
    a = zeros(16)
    launch(STREAM, 1, kernel, ((a, (3, 1.0), ()),))
    assert only_launch().words == (*flat(a), 3, 0x3F800000, 0)
    assert kernel.signatures[0].parameters == (
        TupleParameter(
            (
                ArrayParameter("f32", 1, 32, 16, (16,), (1,), (None,), (1,)),
                TupleParameter((ScalarParameter("i32"), ScalarParameter("f32"))),
                TupleParameter(()),
            )
        ),
    )


def test_items_of_tuples_have_annotations_of_their_own() -> None:
    items = (Parameter("t[0]", constant=True), Parameter("t[1]"))
    kernel = FakeKernel(Parameter("t", items=items))
    for pair in ((1, 5), (2, 6), (2, 7)):
        launch(STREAM, 1, kernel, (pair,))
    assert [one.words for one in stub.launches()] == [(5, 0), (6, 1), (7, 1)]


def pinned(**dims: tuple[int, ...]) -> Any:
    return SimpleNamespace(**{"static_shape_dims": (), "static_stride_dims": (), **dims})


@pytest.mark.parametrize("dim", [0, -2])
def test_pinned_extents(dim: int) -> None:
    kernel = FakeKernel(Parameter("a", array=pinned(static_shape_dims=(dim,))))
    for rows, columns in ((32, 48), (32, 64), (48, 48), (32, 48)):
        launch(STREAM, 1, kernel, (zeros(rows, columns),))
    assert [one.words[-1] for one in stub.launches()] == [0, 0, 1, 0]
    assert [one.parameters[0].static_shape for one in kernel.signatures] == [  # type: ignore[union-attr]
        (32, None),
        (48, None),
    ]


def test_where_strides_are_pinned_no_others_are() -> None:
    kernel = FakeKernel(Parameter("a", array=pinned(static_stride_dims=(0,))))
    launch(STREAM, 1, kernel, (zeros(32, 48),))
    assert kernel.signatures[0].parameters[0].static_strides == (48, None)  # type: ignore[union-attr]


def test_extents_of_64_bits() -> None:
    array = SimpleNamespace(static_shape_dims=(), static_stride_dims=())
    kernel = FakeKernel(Parameter("a", array=array, index_bits=64))
    large = DeviceArray(np.lib.stride_tricks.as_strided(np.zeros(4), (2**33,), (0,)))
    launch(STREAM, 1, kernel, (large,))
    assert only_launch().words == (large.address, 2**33, 0, 0)
    with pytest.raises(LaunchError) as caught:
        launch(STREAM, 1, FakeKernel("a"), (large,))
    assert str(caught.value) == (
        "kernel 'fake', parameter 'a': extent 8589934592 of dimension 0 does not fit int32\n"
        "  annotate it: a: ct.IndexedWithInt64"
    )


def test_negative_strides() -> None:
    reversed_rows = DeviceArray(np.zeros((4, 8), np.float32)[::-1])
    remedy = "\n  pass a copy, x[::-1].copy() say, or the array"
    for index_bits in (32, 64):
        kernel = FakeKernel(Parameter("a", index_bits=index_bits), "l")
        second = (zeros(4), [zeros(4, 8), reversed_rows])
        for args, name in (((reversed_rows, 1), "a"), (second, "l")):
            with pytest.raises(LaunchError) as caught:
                launch(STREAM, 1, kernel, args)
            reason = f"kernel 'fake', parameter '{name}': stride -8 of dimension 0 is negative"
            assert str(caught.value).startswith(reason + remedy)
    assert not stub.launches()


def test_arrays_that_are_passed_twice() -> None:
    kernel = FakeKernel("a", "b", "c")
    x, y, empty = zeros(16), zeros(16), zeros(0)
    calls = [(x, y, zeros(16)), (x, y, x), (y, x, y), (x, x, y), (x, (y, y), x), (empty, y, empty)]
    for _ in range(2):
        for args in calls:
            launch(STREAM, 1, kernel, args)
    assert [one.words[-1] for one in stub.launches()] == [0, 1, 1, 2, 3, 0] * 2
    groups = [
        [array.alias_groups for array in arrays_of(one.parameters)] for one in kernel.signatures
    ]
    none, first, second = (), ("address 0",), ("address 1",)
    assert groups == [
        [none] * 3,
        [first, none, first],
        [first, first, none],
        [first, second, second, first],
    ]


def arrays_of(parameters: Any) -> list[ArrayParameter]:
    items = [getattr(one, "items", (one,)) for one in parameters]
    return [array for group in items for array in group]


# ---- lists ---------------------------------------------------------------------------------------


def table_at(address: int, words: int) -> list[int]:
    return list((ctypes.c_int64 * words).from_address(address))


def test_lists_of_arrays() -> None:
    kernel = FakeKernel("l")
    arrays = [zeros(32, 48), zeros(5, 16), DeviceArray(zeros(32, 48).array[:, ::3])]
    launch(STREAM, 1, kernel, (arrays,))
    table, count, _ = only_launch().words
    assert count == 3
    assert table_at(table, 15) == [word for array in arrays for word in array.words]
    # What holds for all of them.
    assert kernel.signatures[0].parameters == (
        ListParameter(
            ArrayParameter("f32", 2, 32, 16, (1, 16), (4, 1), (None, None), (None, None))
        ),
    )


def test_the_same_list_is_not_copied_again_on_a_stream() -> None:
    kernel = FakeKernel("l")
    arrays = [zeros(32), zeros(16)]
    for stream in (STREAM, STREAM, STREAM + 1):
        launch(stream, 1, kernel, (arrays,))
    first, second, other = (one.words[0] for one in stub.launches())
    assert first == second != other
    launch(STREAM, 1, kernel, (arrays[::-1],))
    assert only_launch().words[0] not in (first, other)


def test_lists_in_a_graph_are_written_once_and_kept() -> None:
    kernel = FakeKernel("l")
    arrays = [zeros(32), zeros(16)]
    stub.capture(True)
    for _ in range(2):
        launch(CAPTURING, 1, kernel, (arrays,))
    stub.capture(False)
    launch(STREAM, 1, kernel, (arrays,))
    lines = stub.lines()
    assert all(line.startswith("log_") for line in lines), "nothing unsafe while capturing"
    first, second, outside = (Launch.parse(line).words[0] for line in lines)
    assert first == second != outside
    assert table_at(first, 6) == [word for array in arrays for word in array.words]


# ---- specialisations -----------------------------------------------------------------------------


@st.composite
def some_arrays(draw: st.DrawFn) -> DeviceArray:
    """Arrays that differ in what specialisation asks."""
    rank = draw(st.integers(0, 6))
    shape = [draw(st.sampled_from([0, 1, 2, 16, 17, 32])) for _ in range(rank)]
    strides = [draw(st.sampled_from([0, 1, 2, 4, 8, 16, 32, 512, 8192])) for _ in range(rank)]
    dtype: Any = draw(st.sampled_from([np.float16, np.float32, np.uint8]))
    base = np.zeros(1, dtype)
    bytes_ = [stride * base.itemsize for stride in strides]
    array = np.lib.stride_tricks.as_strided(base, shape, bytes_)
    return DeviceArray(array, address=draw(st.sampled_from([4096, 4096 + 8, 8192])))


RULES = [
    Parameter("a"),
    Parameter("l"),
    Parameter("p", array=pinned(static_shape_dims=(0,), static_stride_dims=(-1,))),
    Parameter("t"),
]
kernel_of_all = FakeKernel(*RULES)


@settings(max_examples=300, deadline=None)
@given(some_arrays(), st.lists(some_arrays(), min_size=1, max_size=3), some_arrays(), some_arrays())
def test_native_keys_are_as_fine_as_signatures(
    a: DeviceArray, items: list[DeviceArray], p: DeviceArray, t: DeviceArray
) -> None:
    kinds = {(array.dtype, len(array.shape)) for array in items}
    args = (a, items if len(kinds) == 1 else items[:1], p, (t, 1))
    stub.lines()
    launch(STREAM, 1, kernel_of_all, args)
    number = only_launch().words[-1]
    rules = [rule_of(parameter) for parameter in RULES]
    expected = specialize("fake", rules, args, _view)
    found = kernel_of_all.signatures[number].parameters
    for index, wanted in enumerate(expected.signature.parameters):
        assert found[index] == wanted


def _view(value: Any, name: str) -> Any:
    """The array as NumPy has it, but for its address."""
    from dataclasses import replace

    if not isinstance(value, DeviceArray):
        return None
    found = view(value.array, name)
    assert found is not None
    return replace(found, address=value.address)


# ---- where -------------------------------------------------------------------------------------


class TorchStream:
    def __init__(self, handle: int):
        self.cuda_stream = handle


class CupyStream:
    def __init__(self, handle: int):
        self.ptr = handle


class NumbaStream:
    def __init__(self, handle: int):
        self.handle = ctypes.c_void_p(handle)


class ProtocolStream:
    def __init__(self, handle: int):
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


def test_streams_of_all_kinds() -> None:
    kernel = FakeKernel("a")
    array = zeros(16)
    for kind in (TorchStream, CupyStream, NumbaStream, ProtocolStream, int):
        for handle in (0, 0x41, 0x42):
            launch(kind(handle), 1, kernel, (array,))
    launch(None, 1, kernel, (array,))
    assert [one.stream for one in stub.launches()] == [0, 0x41, 0x42] * 5 + [0]


@pytest.mark.parametrize("stream", ["main", -1, object(), 1.5j])
def test_what_is_no_stream(stream: Any) -> None:
    with pytest.raises(LaunchError, match=r"is not a CUDA stream|is not the handle of a CUDA"):
        launch(stream, 1, FakeKernel("a"), (zeros(4),))


def test_a_stream_of_another_device() -> None:
    kernel = FakeKernel("a")
    here, there = zeros(16), zeros(16, device=1)
    for _ in range(2):
        launch(DEVICE_1, 1, kernel, (there,))
        launch(STREAM, 1, kernel, (here,))
    assert [one.device for one in stub.launches()] == [1, 0, 1, 0]
    assert len(kernel.signatures) == 2  # compiled for each device, as they may differ


def test_the_default_stream_follows_the_arrays() -> None:
    kernel = FakeKernel("a")
    for device in (0, 1, 1, 0):
        launch(0, 1, kernel, (zeros(16, device=device),))
    assert [one.device for one in stub.launches()] == [0, 1, 1, 0]
    assert cuda_driver().device().ordinal == 0, "the current device stays"


def test_arrays_and_stream_on_different_devices() -> None:
    with pytest.raises(LaunchError) as caught:
        launch(DEVICE_1, 1, FakeKernel("a"), (zeros(16),))
    assert str(caught.value) == (
        "kernel 'fake': the arrays lie on device 0, the stream belongs to device 1\n"
        "  launch on a stream of the arrays' device"
    )


def test_arrays_on_several_devices() -> None:
    with pytest.raises(LaunchError, match="its arrays lie on devices 0, 1\n.*move them"):
        launch(0, 1, FakeKernel("a", "b"), (zeros(16), zeros(16, device=1)))


def test_threads_without_a_context() -> None:
    kernel = FakeKernel("a")
    errors: list[BaseException] = []

    def work() -> None:
        try:
            launch(0, 1, kernel, (zeros(16, device=1),))
            launch(0, 1, kernel, (zeros(16),))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not errors
    assert [one.device for one in stub.launches()] == [1, 0]


def test_many_threads() -> None:
    kernel = FakeKernel("a", *constants("c"))
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for turn in range(200):
                launch(STREAM, 1, kernel, (zeros(16), (turn * seed) % 20))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 3, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(kernel.signatures) >= len(set(kernel.signatures)) == 20
    assert kernel._dispatcher.specialisations == 20  # type: ignore[attr-defined]


# ---- what is launched --------------------------------------------------------------------------


def test_nothing_unsafe_happens_while_a_graph_is_captured() -> None:
    kernel = FakeKernel("a")
    stub.capture(True)
    launch(CAPTURING, 1, kernel, (zeros(16),))  # compiles and loads
    launch(CAPTURING, 1, kernel, (zeros(16),))
    assert [line.split()[0] for line in stub.lines()] == ["log_8_4_4_4"] * 2


def test_programmatic_dependent_launch() -> None:
    kernel = FakeKernel("a")
    launch(STREAM, 1, kernel, (zeros(16),), programmatic_dependent_launch=True)
    launch(STREAM, 1, kernel, (zeros(16),))
    assert [one.programmatic for one in stub.launches()] == [True, False]


def test_recipes_of_grid_and_cluster() -> None:
    kernel = FakeKernel(
        "a",
        grid=(["mul", 2, ["ceildiv", "param:1", 16]], ["min", "multiprocessors", "grid:1"], 1),
        cluster=(["max", 1, ["sub", "grid:2", 1]], 1, 1),
    )
    launch(STREAM, (9, 200, 3), kernel, (zeros(33),))
    found = only_launch()
    assert (found.grid, found.cluster) == ((6, 132, 1), 2)
    launch(STREAM, (9, 7, 1), kernel, (zeros(33),))
    found = only_launch()
    assert (found.grid, found.cluster) == ((6, 7, 1), 1)


def map_recipe(base: int = 0) -> TensorMapRecipe:
    """Of a matrix: param 0 is its address, 1 and 2 its extents, 3 its row stride."""
    return TensorMapRecipe(
        "f32", base, ("param:2", "param:1"), (["mul", 4, "param:3"],), (32, ["min", 64, "param:1"]),
        (1, 1), offset=["mul", 64, "grid:1"], swizzle=128,
    )  # fmt: skip


def test_tensor_maps_are_encoded_once_for_the_same_array() -> None:
    kernel = FakeKernel("a", hidden=(map_recipe(),))
    a, b = zeros(32, 48), zeros(32, 64)
    for array in (a, a, b, a, b):
        launch(STREAM, 1, kernel, (array,))
    lines = stub.lines()
    assert lines.count("encode") == 2
    # The first word of the map, as the stub encodes it, is the type: FLOAT32.
    assert [Launch.parse(line).words[-2] for line in lines if line != "encode"] == [7] * 5
    launch(STREAM, (1, 2), kernel, (a,))
    assert stub.lines()[0] == "encode", "another offset"


def test_tensors_without_elements() -> None:
    """What the driver refuses: it gets a map of zeros, and the kernel is launched as any other."""
    kernel = FakeKernel("a", hidden=(replace(map_recipe(), box=(32, 32)),))
    launch(STREAM, 1, kernel, (zeros(32, 48),))
    usual = only_launch()
    for array in (zeros(32, 48)[:0], zeros(32, 48)[:, :0], zeros(32, 48)):
        launch(STREAM, 1, kernel, (array,))
        found = only_launch()
        assert (found.grid, found.stream, found.device) == (usual.grid, STREAM, usual.device)
        assert found.words[:5] == array.words
        assert found.words[-2] == usual.words[-2], "the type of the map's elements"
    assert len(set(kernel.signatures)) == 1
    with pytest.raises(LaunchError, match="grid x is 0, expected 1 to"):
        launch(STREAM, 0, kernel, (zeros(32, 48)[:0],))


def test_a_tensor_map_that_cannot_be() -> None:
    kernel = FakeKernel("a", hidden=(map_recipe(),))
    launch(STREAM, 1, kernel, (zeros(32, 48),))
    with pytest.raises(
        LaunchError, match=r"tensor map: byte strides \(196,\) are not all multiples"
    ):
        launch(STREAM, 1, kernel, (zeros(32, 49),))
    odd = DeviceArray(zeros(32, 48).array, address=4100)
    with pytest.raises(LaunchError, match="tensor map: address .* is not a multiple of 16"):
        launch(STREAM, 1, kernel, (odd,))


def test_workspaces() -> None:
    kernel = FakeKernel("a", hidden=(Workspace(["mul", 256, "param:1"], zeroed=True),))
    launch(STREAM, 1, kernel, (zeros(4),))
    address = only_launch().words[-2]
    ctypes.memset(address, 1, 1024)
    launch(STREAM, 1, kernel, (zeros(4),))
    assert only_launch().words[-2] == address
    assert ctypes.string_at(address, 1024) == bytes(1024)
    launch(STREAM + 1, 1, kernel, (zeros(4),), programmatic_dependent_launch=True)
    found = only_launch()
    assert found.words[-2] != address, "streams do not share"
    assert not found.programmatic, "launches that share memory do not overlap"
    stub.capture(True)
    with pytest.raises(LaunchError, match="launch it once on the stream before the capture"):
        launch(CAPTURING, 1, kernel, (zeros(4),))


@pytest.mark.parametrize(
    "grid", [7, (7,), (7, 1), (7, 1, 1), [7, 1], np.int32(7), (np.int64(7), 1), np.array([7, 1])]
)
def test_grids(grid: Any) -> None:
    launch(STREAM, grid, FakeKernel("a"), (zeros(4),))
    assert only_launch().grid == (7, 1, 1)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (0, "grid x is 0, expected 1 to 2147483647"),
        ((1, 65536), "grid y is 65536, expected 1 to 65535"),
        ((1, 1, 1, 1), "a grid has one to three extents, found 4"),
        ((), "a grid has one to three extents, found 0"),
        (1.5, "a grid is one to three whole numbers, not 1.5"),
        ("12", "a grid is one to three whole numbers"),
        (2**70, "grid x is"),
    ],
)
def test_wrong_grids(grid: Any, message: str) -> None:
    kernel = FakeKernel("a")
    for _ in range(2):
        with pytest.raises(LaunchError) as caught:
            launch(STREAM, grid, kernel, (zeros(4),))
        assert str(caught.value).startswith(message)
        launch(STREAM, 1, kernel, (zeros(4),))


# ---- arrays of other libraries -----------------------------------------------------------------


class CudaArray:
    """As Numba and CuPy present arrays."""

    def __init__(self, array: np.ndarray, stream: int | None = None, **changes: Any):
        self._interface = {
            "version": 3, "shape": array.shape, "strides": array.strides, "stream": stream,
            "data": (array.ctypes.data, False), "typestr": array.dtype.str, **changes,
        }  # fmt: skip

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._interface


class DlpackArray:
    """As JAX presents arrays; it notes the stream that it is asked for."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (2, 0)):
        self.array, self.device = array, device
        self.streams: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, stream: int | None = None) -> Any:
        assert stream is not None
        self.streams.append(stream)
        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        tensor = pointer(capsule, b"dltensor")
        assert tensor is not None
        (ctypes.c_int32 * 2).from_address(tensor + 8)[:] = self.device
        return capsule


@pytest.mark.parametrize("strides", ["given", "none"])
def test_cuda_array_interface(strides: str) -> None:
    array = zeros(32, 48)
    changes = {} if strides == "given" else {"strides": None}
    kernel = FakeKernel("a")
    for _ in range(2):
        launch(STREAM, 1, kernel, (CudaArray(array.array, **changes),))
        assert only_launch().words == (*flat(array), 0)


def test_the_stream_of_an_interface_is_waited_for() -> None:
    launch(STREAM, 1, FakeKernel("a"), (CudaArray(zeros(4).array, stream=STREAM),))
    launch(STREAM, 1, FakeKernel("a"), (CudaArray(zeros(4).array, stream=1),))
    assert len(stub.launches()) == 2


def test_dlpack_producers_are_told_the_stream() -> None:
    array = zeros(32, 48)
    producer = DlpackArray(array.array)
    kernel = FakeKernel("a")
    for stream in (0, STREAM, STREAM):
        launch(stream, 1, kernel, (producer,))
    assert [one.words for one in stub.launches()] == [(*flat(array), 0)] * 3
    assert set(producer.streams) == {1, STREAM}


def test_libraries_that_make_capsules() -> None:
    """As PyTorch before it had a table of functions."""

    class Tensor:
        def __init__(self, array: np.ndarray):
            self.producer = DlpackArray(array)

    def form_of(kind: type) -> tuple[int, Any]:
        if kind is not Tensor:
            return forms.form_of(kind)
        return forms.Form.CAPSULE, lambda tensor: tensor.producer.__dlpack__(stream=1)

    array = zeros(32, 48)
    native.use_forms(form_of)
    try:
        launch(STREAM, 1, FakeKernel("a"), (Tensor(array.array),))
    finally:
        native.use_forms(forms.form_of)
    assert only_launch().words == (*flat(array), 0)


def test_tables_of_functions_of_another_version() -> None:
    old, table = exchange_capsule()
    new, kept = exchange_capsule(major=2, previous=ctypes.addressof(table))

    class Newer(DeviceArray):
        __dlpack_c_exchange_api__ = new

    array = zeros(32)
    launch(STREAM, 1, FakeKernel("a"), (Newer(array.array),))
    assert only_launch().words == (*flat(array), 0)
    assert (old, kept) is not None


def test_numpy_arrays_are_copied_and_the_launch_waits() -> None:
    kernel = FakeKernel("a", "n")
    array = np.arange(6, dtype=np.float32)
    launch(STREAM, 1, kernel, (array, 3))
    address, *rest = only_launch().words
    assert address != array.ctypes.data and rest == [6, 1, 3, 0]
    mixed = zeros(16)
    launch(STREAM, 1, FakeKernel("a", "b"), (array, mixed))
    assert only_launch().words[3:6] == flat(mixed)


def test_wrappers_without_memory() -> None:
    kernel = FakeKernel("a")
    launch(STREAM, 1, kernel, (DeviceArray(np.zeros((0, 3), np.float32), address=0),))
    with pytest.raises(LaunchError):
        launch(STREAM, 1, kernel, (DeviceArray(np.zeros(3, np.float32), address=0),))


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            (zeros(4),),
            "kernel 'fake' takes 2 arguments, 1 were given\n  parameters: a, n",
        ),
        (
            (zeros(4), 2**31),
            "kernel 'fake', parameter 'n': 2147483648 does not fit int32\n"
            "  integers of Python and NumPy are int32 unless annotated: n: ct.ScalarInt64",
        ),
        (
            (zeros(4), 1e39),
            "kernel 'fake', parameter 'n': 1e+39 does not fit float32\n"
            "  pass it in an array of float64",
        ),
        (
            (zeros(4), {"a": 1}),
            "kernel 'fake', parameter 'n': dict cannot be passed to a kernel\n"
            "  pass an array (PyTorch, CuPy, JAX, NumPy, DLPack, __cuda_array_interface__), a "
            "number, a tuple or a list of arrays; or annotate it: n: ct.Constant",
        ),
        (
            (zeros(4), [1, 2]),
            "kernel 'fake', parameter 'n[0]': lists hold arrays, this is int 1\n"
            "  pass numbers in a tuple",
        ),
        (
            (zeros(4), []),
            "kernel 'fake', parameter 'n': an empty list does not tell the type of its arrays\n"
            "  pass no list",
        ),
        (
            (zeros(4), [zeros(4), zeros(4, 4)]),
            "kernel 'fake', parameter 'n[1]': 2-dimensional f32 in a list that begins with "
            "1-dimensional f32\n  the arrays of a list must have one type and rank",
        ),
        (
            (np.zeros(4, np.complex64), 1),
            "kernel 'fake', parameter 'a': kernels have no elements of type complex64\n"
            "  convert the array, to float32 say",
        ),
        (5, "kernel 'fake': arguments are a tuple, not int\n"),
    ],
)
def test_wrong_arguments(args: Any, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        launch(STREAM, 1, FakeKernel("a", "n"), args)
    assert str(caught.value).startswith(message)


def test_constants_must_be_hashable() -> None:
    with pytest.raises(LaunchError, match="'c': a list cannot be a constant: it is not hashable"):
        launch(STREAM, 1, FakeKernel(*constants("c")), ([1],))


def test_defaults() -> None:
    kernel = FakeKernel("a", Parameter("n", default=5))
    launch(STREAM, 1, kernel, (zeros(4),))
    launch(STREAM, 1, kernel, (zeros(4), 6))
    assert [one.words[-2] for one in stub.launches()] == [5, 6]


def test_only_kernels_are_launched() -> None:
    def plain(a: Any) -> None:
        pass

    with pytest.raises(LaunchError, match="takes a kernel, not plain\n.*@ct.kernel"):
        launch(STREAM, 1, plain, (zeros(4),))


def test_errors_of_the_device_name_what_was_launched() -> None:
    native.recent()
    driver: Any = cuda_driver()
    driver.synchronize(0)
    launch(STREAM, 1, FakeKernel("a"), (zeros(4),))
    assert native.recent() == ["log_8_4_4_4"]
    assert "launched since the last synchronisation: log_8_4_4_4" in str(driver.error("call", 700))
    driver.synchronize(0)
    assert native.recent() == []


# ---- objects ---------------------------------------------------------------------------------


def test_copies_of_kernels_have_dispatchers_of_their_own() -> None:
    kernel = FakeKernel("a")
    launch(STREAM, 1, kernel, (zeros(4),))
    other = copy.copy(kernel)
    other.signatures = []
    launch(STREAM, 1, other, (zeros(4),))
    assert len(other.signatures) == 1 and len(kernel.signatures) == 1


def test_kernels_are_collected() -> None:
    kernel = FakeKernel("a")
    launch(STREAM, 1, kernel, (zeros(4),))
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None


def test_launches_keep_nothing() -> None:
    kernel = FakeKernel("a", "l", "t", *constants("c"))
    args = (zeros(4), [zeros(4)], (1, zeros(8)), Color.RED)
    stream = TorchStream(STREAM)

    def counts() -> list[int]:
        return [sys.getrefcount(one) for one in (*args, args, stream, kernel)]

    launch(stream, (1, 1), kernel, args)
    before = counts()
    for _ in range(1000):
        launch(stream, (1, 1), kernel, args)
    assert counts() == before
    stub.lines()


def test_errors_keep_nothing() -> None:
    kernel = FakeKernel("a", "n")
    array = zeros(4)
    before = sys.getrefcount(array)
    for rest in (({},), (2**40,), ()) * 20:
        with pytest.raises(LaunchError):
            launch(STREAM, 1, kernel, (array, *rest))
    gc.collect()
    assert sys.getrefcount(array) == before


def test_descriptions_are_checked() -> None:
    for description in (
        (),
        ("k", 1, (1, 1, 1), 0, 1, [[(0, 1)]], [[(0, 1)]] * 3, [], print),
        ("k", 1, (1, 1, 1), 0, 1, [[(4, 0)]] * 3, [[(0, 1)]] * 3, [], print),
        ("k", 1, (1, 1, 1), 0, 1, [[(1, 1)]] * 3, [[(0, 1)]] * 3, [], print),
        ("k", 1, (1, 1, 1), 0, 1, [[(0, 1)] * 2] * 3, [[(0, 1)]] * 3, [], print),
        ("k", 1, (1, 1, 1), 0, 1, [[(99, 1)]] * 3, [[(0, 1)]] * 3, [], print),
    ):
        with pytest.raises((TypeError, ValueError)):
            native.Plan(*description)


def test_pytorch_tensors() -> None:
    torch = pytest.importorskip("torch")
    kernel = FakeKernel("a")
    tensor = torch.arange(6, dtype=torch.bfloat16)
    launch(STREAM, 1, kernel, (tensor,))  # on the CPU: copied
    assert only_launch().words[1:] == (6, 1, 0)
    assert kernel.signatures[0].parameters[0].dtype == "bf16"  # type: ignore[union-attr]
    launch(STREAM, 1, FakeKernel("a"), (torch.ones(4, requires_grad=True),))
    assert only_launch().words[1:] == (4, 1, 0)
