"""Arguments and launches on a driver whose device memory is host memory."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from fake_driver import FakeDriver, array_at

from tileir.errors import LaunchError
from tileir.runtime import (
    HiddenScalar,
    Image,
    KernelInfo,
    KernelSet,
    PointerTable,
    TensorMapRecipe,
    Workspace,
)

CUBIN = b"\x7fELF fake"
POINTER = ctypes.c_uint64


def kernel(
    body: Any, parameters: tuple[str, ...], capability: tuple[int, int] = (9, 0), **fields: Any
) -> tuple[Any, FakeDriver]:
    """A kernel with one image for sm_90a whose code is `body(config, read)`."""
    driver = FakeDriver({"k": body}, capability)
    info = KernelInfo("k", parameters, (128, 1, 1), "sm_90a", **fields)
    return KernelSet([Image(CUBIN, [info])], driver)["k"], driver


def nothing(config: Any, read: Any) -> None:
    pass


class CudaArray:
    """A NumPy array presented as device memory, as CuPy would."""

    def __init__(self, array: np.ndarray, typestr: str | None = None, stream: int | None = None):
        self.array = array
        interface = array.__array_interface__
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "strides": interface["strides"],
            "typestr": typestr or interface["typestr"],
            "data": interface["data"],
            "stream": stream,
        }


class DlpackArray:
    """A NumPy array whose DLPack capsule claims CUDA memory."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (2, 0)):
        self.array, self.device = array, device
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, stream: Any = None) -> Any:
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_numpy_arrays_are_copied_in_and_back() -> None:
    def add_one(config: Any, read: Any) -> None:
        n = read(1, ctypes.c_int32)
        array_at(read(0, POINTER), (n,), np.float32)[:] += 1

    launchable, driver = kernel(add_one, ("ptr<f32>", "i32"))
    data = np.arange(5, dtype=np.float32)
    launchable.launch(1, [data, 5])
    assert data.tolist() == [1, 2, 3, 4, 5]
    assert not driver.memory
    assert driver.calls == [
        "allocate", "to_device 20", "launch k on 0", "to_host 20", "synchronize 0", "free",
    ]  # fmt: skip


def test_views_of_one_array_share_its_copy() -> None:
    seen: list[int] = []

    def body(config: Any, read: Any) -> None:
        seen.extend([read(0, POINTER), read(1, POINTER), read(2, POINTER)])
        array_at(seen[2], (1,), np.int32)[0] = -1

    launchable, driver = kernel(body, ("ptr<i32>",) * 3)
    data = np.arange(24, dtype=np.int32).reshape(4, 6)
    launchable.launch((1, 1), [data, data[1:, 2:4], data[::-1, ::-2]])
    base, inner, reverse = seen
    assert inner - base == 4 * (6 + 2)
    assert reverse - base == 4 * (3 * 6 + 5)
    assert driver.calls.count("allocate") == 1
    assert data[3, 5] == -1


def test_strided_trick_views_reach_their_owner() -> None:
    def body(config: Any, read: Any) -> None:
        array_at(read(0, POINTER), (4,), np.int16)[:] = 7

    launchable, _ = kernel(body, ("ptr<i16>",))
    data = np.zeros(4, np.int16)
    view = np.lib.stride_tricks.as_strided(data, (3, 2), (2, 2))
    launchable.launch(1, [view])
    assert data.tolist() == [7, 7, 7, 7]


def test_read_only_arrays_are_not_written_back() -> None:
    launchable, driver = kernel(nothing, ("ptr<f64>",))
    data = np.zeros(3)
    data.flags.writeable = False
    launchable.launch(1, [data])
    assert not any(call.startswith("to_host") for call in driver.calls)


def test_device_arrays_are_passed_without_copy_or_wait() -> None:
    seen: list[int] = []

    def body(config: Any, read: Any) -> None:
        seen.extend([read(0, POINTER), read(1, POINTER), read(2, POINTER)])

    launchable, driver = kernel(body, ("ptr<f32>", "ptr<f16>", "ptr<i8>"))
    first, second = np.zeros(4, np.float32), np.zeros((2, 3), np.float16)
    tensor = DlpackArray(second)
    launchable.launch(1, [CudaArray(first), tensor, 4096], stream=77)
    assert seen == [first.ctypes.data, second.ctypes.data, 4096]
    assert driver.calls == ["launch k on 77"]
    assert tensor.streams == [77]


def test_default_stream_has_the_protocols_own_number() -> None:
    launchable, _ = kernel(nothing, ("ptr<f32>",))
    tensor = DlpackArray(np.zeros(1, np.float32))
    launchable.launch(1, [tensor])
    assert tensor.streams == [1]


def test_producers_stream_is_waited_for() -> None:
    launchable, driver = kernel(nothing, ("ptr<f32>",))
    launchable.launch(1, [CudaArray(np.zeros(1, np.float32), stream=5)], stream=9)
    assert driver.calls == ["synchronize 5", "launch k on 9"]


def test_cpu_tensors_count_as_numpy_arrays() -> None:
    def body(config: Any, read: Any) -> None:
        array_at(read(0, POINTER), (2,), np.float32)[:] = 3

    launchable, _ = kernel(body, ("ptr<f32>",))
    data = np.zeros(2, np.float32)
    launchable.launch(1, [DlpackArrayOnHost(data)])
    assert data.tolist() == [3, 3]


def test_cpu_tensors_of_types_that_numpy_lacks() -> None:
    torch = pytest.importorskip("torch")

    def body(config: Any, read: Any) -> None:
        array_at(read(0, POINTER), (2,), ml_dtypes.bfloat16)[:] += 1

    launchable, _ = kernel(body, ("ptr<bf16>",))
    tensor = torch.ones(2, dtype=torch.bfloat16)
    launchable.launch(1, [tensor])
    assert tensor.tolist() == [2, 2]


class DlpackArrayOnHost:
    def __init__(self, array: np.ndarray):
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, 0),
        (12, 12),
        (type("Torch", (), {"cuda_stream": 13})(), 13),
        (type("CuPy", (), {"ptr": 14})(), 14),
        (type("Property", (), {"__cuda_stream__": (0, 15)})(), 15),
        (type("Method", (), {"__cuda_stream__": lambda self: (0, 16)})(), 16),
        (type("Bindings", (), {"__int__": lambda self: 17})(), 17),
    ],
)
def test_streams_of_other_libraries(stream: Any, handle: int) -> None:
    launchable, driver = kernel(nothing, ())
    launchable.launch(1, [], stream=stream)
    assert driver.calls == [f"launch k on {handle}"]


def test_an_object_that_is_no_stream() -> None:
    launchable, _ = kernel(nothing, ())
    with pytest.raises(LaunchError, match="dict is not a CUDA stream"):
        launchable.launch(1, [], stream={})


@pytest.mark.parametrize(
    ("type_name", "value", "data"),
    [
        ("i32", -1, b"\xff\xff\xff\xff"),
        ("i32", 0xFFFFFFFF, b"\xff\xff\xff\xff"),
        ("i8", np.int64(-128), b"\x80"),
        ("i16", np.uint16(65535), b"\xff\xff"),
        ("i64", 1 << 63, b"\0\0\0\0\0\0\0\x80"),
        ("i1", True, b"\x01"),
        ("i1", np.bool_(False), b"\x00"),
        ("f32", 1, b"\0\0\x80\x3f"),
        ("f32", np.float64(0.5), b"\0\0\0\x3f"),
        ("f32", float("inf"), b"\0\0\x80\x7f"),
        ("f64", -2.0, b"\0\0\0\0\0\0\0\xc0"),
        ("f16", 1.0, b"\x00\x3c"),
        ("bf16", 1.00390625, b"\x80\x3f"),  # halfway between two bf16: ties to even
        ("bf16", 1.01171875, b"\x82\x3f"),
        ("bf16", ml_dtypes.bfloat16(-2), b"\x00\xc0"),
        ("bf16", np.uint16(0x3F80), b"\x80\x3f"),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn(1), b"\x38"),
    ],
)
def test_scalars_are_packed_as_the_abi_wants(type_name: str, value: Any, data: bytes) -> None:
    seen: list[bytes] = []

    def body(config: Any, read: Any) -> None:
        seen.append(bytes(read(0, ctypes.c_uint8 * len(data))))

    launchable, _ = kernel(body, (type_name,))
    launchable.launch(1, [value])
    assert seen == [data]


@pytest.mark.parametrize(
    ("type_name", "value", "message"),
    [
        ("i32", 1 << 32, "parameter 0: 4294967296 does not fit i32"),
        ("i8", -129, "parameter 0: -129 does not fit i8"),
        ("i1", 2, "parameter 0: 2 does not fit i1"),
        ("i32", 1.0, "parameter 0: expected i32, found float 1.0"),
        ("i32", np.zeros(2), r"parameter 0: expected i32, found array of float64"),
        ("f32", 1e39, r"parameter 0: 1e\+39 does not fit f32"),
        ("f16", 70000.0, "parameter 0: 70000.0 does not fit f16"),
        ("bf16", 3.4e38 * 1.001, "does not fit bf16"),
        ("f32", "x", "parameter 0: expected f32, found str"),
        ("f8E5M2", 1.0, "cannot round float 1.0 to f8E5M2"),
        ("ptr<f32>", np.zeros(2), r"expected ptr<f32>, found array of float64 with shape \(2,\)"),
        ("ptr<f32>", [1.0], r"expected ptr<f32>, found list"),
        ("ptr<f32>", np.float32(1), r"expected ptr<f32>, found float32 1.0"),
        ("ptr<f32>", True, r"expected ptr<f32>, found bool True"),
        ("ptr<f32>", CudaArray(np.zeros(2)), r"expected ptr<f32>, found device array of f64"),
        ("ptr<i32>", DlpackArray(np.zeros(2, np.float32)), r"found device array of f32"),
        ("ptr<f32>", DlpackArray(np.zeros(2, np.float32), (2, 3)), "device 3.*device is 0"),
        ("ptr<f32>", DlpackArray(np.zeros(2, np.float32), (7, 0)), "DLPack device type 7"),
        ("ptr<i32>", PointerTable([np.zeros(2)]), "whose words are 64 bits"),
    ],
)
def test_wrong_arguments_name_parameter_expected_and_found(
    type_name: str, value: Any, message: str
) -> None:
    launchable, driver = kernel(nothing, (type_name,))
    with pytest.raises(LaunchError, match=message):
        launchable.launch(1, [value])
    assert not driver.memory
    assert not any(call.startswith("launch") for call in driver.calls)


def test_narrow_floats_may_come_as_raw_integers() -> None:
    launchable, _ = kernel(nothing, ("ptr<bf16>", "ptr<bf16>", "ptr<i32>", "ptr<bf16>"))
    arrays = [np.zeros(2, ml_dtypes.bfloat16), np.zeros(2, np.uint16), np.zeros(2, np.uint32)]
    launchable.launch(1, [*arrays, CudaArray(np.zeros(2, np.uint16), typestr="<V2")])


def test_argument_count() -> None:
    launchable, _ = kernel(nothing, ("i32", "f32"))
    with pytest.raises(LaunchError, match="has 2 parameters, 1 arguments.*\n.*i32, f32"):
        launchable.launch(1, [1])


def test_pointer_table_holds_device_addresses_shapes_and_strides() -> None:
    words: list[int] = []

    def body(config: Any, read: Any) -> None:
        words.extend(array_at(read(0, POINTER), (10,), np.int64).tolist())
        array_at(words[0], (1,), np.float16)[0] = 5

    launchable, driver = kernel(body, ("ptr<i64>", "i32"))
    first, second = np.zeros((2, 3), np.float16), np.zeros((4, 8), np.float16)
    on_device = CudaArray(second[:, ::2])
    launchable.launch(1, [PointerTable([first[:, ::-1], _with_shape(on_device)]), 2])
    assert words[1:5] == [2, 3, 3, -1]
    assert words[5:] == [second.ctypes.data, 4, 4, 8, 2]
    assert first[0, 2] == 5
    assert not driver.memory


def _with_shape(array: CudaArray) -> Any:
    array.shape = array.array.shape  # type: ignore[attr-defined]
    return array


def test_pointer_table_of_different_ranks() -> None:
    with pytest.raises(LaunchError, match=r"differ in rank: \[1, 2\]"):
        PointerTable([np.zeros(2), np.zeros((2, 2))])


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((1, 2, 3, 4), "one to three extents, found 4"),
        ((), "one to three extents, found 0"),
        (0, "grid x is 0, expected 1 to 2147483647"),
        ((1, 65536), "grid y is 65536, expected 1 to 65535"),
    ],
)
def test_wrong_grids(grid: Any, message: str) -> None:
    launchable, _ = kernel(nothing, ())
    with pytest.raises(LaunchError, match=message):
        launchable.launch(grid, [])


def test_errors_of_a_running_kernel_free_the_memory() -> None:
    launchable, driver = kernel(nothing, ("ptr<f32>",))
    driver.fail_synchronize = "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"
    with pytest.raises(LaunchError, match="ILLEGAL_ADDRESS"):
        launchable.launch(1, [np.zeros(1, np.float32)])
    assert not driver.memory


def test_managed_launch_computes_grid_and_hidden_parameters() -> None:
    seen: dict[str, Any] = {}

    def body(config: Any, read: Any) -> None:
        seen["config"] = config
        seen["pointer"] = read(0, POINTER)
        seen["map"] = bytes(read(2, ctypes.c_uint8 * 128))
        seen["blocks"] = read(3, ctypes.c_int32)
        seen["workspace"] = array_at(read(4, POINTER), (64,), np.uint8).tolist()

    recipe = TensorMapRecipe(
        "f16",
        0,
        ("param:1", 64),
        (["mul", "param:1", 2],),
        (64, 32),
        (1, 1),
        offset=32,
        swizzle=128,
    )
    launchable, driver = kernel(
        body,
        ("ptr<f16>", "i32"),
        launch="managed",
        cluster=(2, 1, 1),
        grid=(["min", "multiprocessors", ["mul", "grid:0", "grid:1"]], 1, 1),
        hidden=(recipe, HiddenScalar(["mul", "grid:0", "grid:1"]), Workspace(64, zeroed=True)),
    )
    launchable.launch((20, 10), [np.zeros((64, 96), np.float16), 96])
    assert seen["config"].grid == (132, 1, 1)
    assert seen["blocks"] == 200
    assert seen["workspace"] == [0] * 64
    assert seen["map"] == b"\x01" * 128
    (tensor_map,) = driver.tensor_maps
    assert tensor_map.base == seen["pointer"] + 32
    assert (tensor_map.dims, tensor_map.strides) == ((96, 64), (192,))


def test_zeros_stand_in_for_a_tensor_without_elements() -> None:
    """Whatever its address and strides: of arrays without elements they mean nothing."""
    recipe = TensorMapRecipe(
        "f16", 0, ("param:1", 64), (["mul", "param:1", 2],), (64, 32), (1, 1), offset=4, swizzle=128
    )
    launchable, driver = kernel(
        nothing, ("ptr<f16>", "i32"), launch="managed", hidden=(recipe, recipe)
    )
    empty = CudaArray(np.zeros((64, 0), np.float16))
    launchable.launch(1, [np.zeros((64, 0), np.float16), 0])
    launchable.prepare(1, [empty, 0]).start()
    assert len(driver.tensor_maps) == 4
    for tensor_map in driver.tensor_maps:
        assert (tensor_map.dims, tensor_map.strides, tensor_map.box) == ((1, 1), (16,), (64, 32))
        assert not array_at(tensor_map.base, (16,), np.uint8).any()
    assert driver.calls.count("launch k on 0") == 2


def test_a_tensor_that_is_padded_with_nan_has_elements() -> None:
    recipe = TensorMapRecipe("f16", 0, ("param:1",), (), (64,), (1,), fill="nan")
    launchable, _ = kernel(nothing, ("ptr<f16>", "i32"), launch="managed", hidden=(recipe,))
    with pytest.raises(LaunchError, match=r"tensor map: dimensions \(0,\) are not all from 1"):
        launchable.launch(1, [np.zeros(0, np.float16), 0])


def test_workspace_is_kept_per_stream_and_grows() -> None:
    addresses: list[int] = []

    def body(config: Any, read: Any) -> None:
        addresses.append(read(1, POINTER))

    launchable, driver = kernel(
        body, ("i32",), launch="managed", hidden=(Workspace(["mul", "param:0", 16]),)
    )
    for size, stream in ((4, 1), (2, 1), (4, 2), (64, 1)):
        launchable.launch(1, [size], stream=stream)
    first, second, other, grown = addresses
    assert first == second
    assert other != first
    assert set(driver.memory) == {other, grown}


def test_a_workspace_does_not_grow_while_its_stream_captures_a_graph() -> None:
    launchable, driver = kernel(
        nothing, ("i32",), launch="managed", hidden=(Workspace(["mul", "param:0", 16]),)
    )
    launchable.launch(1, [4], stream=1)
    driver.capturing.add(1)
    launchable.launch(1, [4], stream=1)
    with pytest.raises(LaunchError, match="needs 1024 bytes of workspace.*\n.*before the capture"):
        launchable.launch(1, [64], stream=1)


def test_prepared_launch_starts_with_the_same_parameters_each_time() -> None:
    seen: list[tuple[Any, int, int]] = []

    def body(config: Any, read: Any) -> None:
        seen.append((config.grid, read(0, POINTER), read(1, ctypes.c_int32)))

    launchable, _ = kernel(body, ("ptr<f32>", "i32"))
    array = np.zeros(4, np.float32)
    prepared = launchable.prepare((2, 3), [CudaArray(array), 7])
    prepared.start()
    prepared.start()
    assert seen == [((2, 3, 1), array.ctypes.data, 7)] * 2


def test_prepared_launch_refuses_what_a_launch_must_renew() -> None:
    launchable, driver = kernel(nothing, ("ptr<f32>",))
    with pytest.raises(LaunchError, match="must lie on the device\n.*use launch"):
        launchable.prepare(1, [np.zeros(4, np.float32)])
    assert not driver.memory
    launchable, _ = kernel(nothing, (), launch="managed", hidden=(Workspace(64),))
    with pytest.raises(LaunchError, match="has a workspace"):
        launchable.prepare(1, [])


def test_grid_that_the_cluster_does_not_divide() -> None:
    launchable, _ = kernel(nothing, (), cluster=(2, 1, 1))
    with pytest.raises(
        LaunchError, match="grid x of 3 blocks is not a multiple of the cluster's 2"
    ):
        launchable.launch(3, [])


def test_image_is_chosen_for_the_device() -> None:
    def image(target: str, code: bytes) -> Image:
        return Image(code, [KernelInfo("k", (), (32, 1, 1), target)])

    images = [
        image("sm_80", CUBIN + b"80"),
        image("sm_90a", CUBIN + b"90a"),
        image("sm_86", CUBIN + b"86"),
        image("sm_80", b".version 8.0"),
    ]
    wanted = {(8, 0): b"80", (8, 6): b"86", (8, 9): b"86", (9, 0): b"90a", (12, 0): b"8.0"}
    for capability, suffix in wanted.items():
        driver = FakeDriver({"k": nothing}, capability)
        KernelSet(images, driver)["k"].launch(1, [])
        assert driver.loaded[0].endswith(suffix), capability


def test_device_that_no_image_suits() -> None:
    launchable, _ = kernel(nothing, (), capability=(8, 9))
    with pytest.raises(LaunchError, match=r"capability 8.9\); there is: sm_90a cubin\n.*sm_89"):
        launchable.launch(1, [])


def test_unknown_kernel_lists_the_known_ones() -> None:
    image = Image(CUBIN, [KernelInfo("matmul", (), (32, 1, 1), "sm_90a")])
    with pytest.raises(LaunchError, match="no kernel 'softmax'\n.*matmul"):
        KernelSet([image])["softmax"]
