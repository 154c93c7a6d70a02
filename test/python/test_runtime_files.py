"""Metadata, bundles, cases: what is written is read back, what is wrong is named."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_driver import FakeDriver, array_at
from kernel_cases import FOLDER, case_names, load_case, perf_names

from tileir.errors import LaunchError
from tileir.runtime import (
    Bundle,
    HiddenScalar,
    KernelInfo,
    TensorMap,
    TensorMapRecipe,
    Workspace,
    native_target,
    write_bundle,
)
from tileir.runtime.__main__ import main
from tileir.runtime.cases import Case

CUBIN = b"\x7fELF fake"
INFO = KernelInfo(
    "mm",
    ("ptr<f16>", "i32", "i32"),
    (384, 1, 1),
    "sm_90a",
    cluster=(2, 1, 1),
    shared_bytes=1024,
    dynamic_shared_bytes=200_000,
    launch="managed",
    grid=(["min", "multiprocessors", "grid:0"], 1, 1),
    hidden=(
        TensorMapRecipe("f16", 0, ("param:1", "param:2"), (["mul", "param:1", 2],), (64, 64),
                        (1, 1), swizzle=128),
        Workspace(["mul", "grid:0", 4], zeroed=True),
        HiddenScalar("grid:0"),
    ),
    ptx_version="8.0",
    registers=168,
    spill_bytes=0,
)  # fmt: skip


def test_metadata_survives_json() -> None:
    assert KernelInfo.from_json(json.loads(json.dumps(INFO.to_json()))) == INFO


def test_fields_with_a_default_may_be_missing() -> None:
    small = {"schema": 1, "name": "k", "parameters": [], "target": "sm_80"}
    assert KernelInfo.from_json(small) == KernelInfo("k", (), (1, 1, 1), "sm_80")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema 2; this version of tileir reads up to 1"),
        ({"name": None}, "'name' should be str, found None"),
        ({"block": [1, 2]}, "kernel 'mm': 'block' should be three positive integers"),
        ({"block": [0, 1, 1]}, "three positive integers"),
        ({"launch": "other"}, "'launch' should be one of plain, managed, found 'other'"),
        ({"launch": "plain"}, "plain launch mode has no hidden parameters"),
        ({"registers": "many"}, "'registers' should be int"),
        ({"grid": ["param:9", 1, 1]}, "'param:9' is not an expression"),
        ({"grid": [["pow", 2, 3], 1, 1]}, "is not an expression"),
        ({"grid": [1]}, "'grid' should be three expressions"),
        ({"hidden": [{"kind": "magic"}]}, "unknown hidden parameter"),
        ({"hidden": [{"kind": "tensor_map"}]}, "tensor map's base|malformed tensor map"),
        ({"hidden": [{"kind": "workspace", "bytes": None}]}, "'None' is not an expression"),
    ],
)
def test_malformed_metadata_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        KernelInfo.from_json({**INFO.to_json(), **change})


def test_metadata_that_is_no_object() -> None:
    with pytest.raises(LaunchError, match="not a JSON object"):
        KernelInfo.from_json([1])


def test_deep_expressions_are_refused() -> None:
    expression: Any = 1
    for _ in range(1000):
        expression = ["add", expression, 1]
    with pytest.raises(LaunchError, match="nested too deeply"):
        KernelInfo.from_json({**INFO.to_json(), "grid": [expression, 1, 1]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": 8}, "not a multiple of 16"),
        ({"dims": (0, 4)}, "not all from 1 to 2"),
        ({"strides": (100,)}, "multiples of 16"),
        ({"strides": ()}, "needs 1 strides"),
        ({"box": (512, 1)}, "not 1 to 256"),
        ({"box": (4, 1)}, "inner 8 bytes are not a multiple of 16"),
        ({"box": (128, 1)}, "inner 256 bytes exceed the swizzle of 128"),
        ({"swizzle": 48}, "swizzle 48 is not one of"),
        ({"fill": "one"}, "fill 'one' is not one of"),
        ({"dtype": "i16", "fill": "nan"}, "only floating-point"),
        ({"element_strides": (9, 1)}, "not all from 1 to 8"),
    ],
)
def test_tensor_map_rules(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "dtype": "f16", "base": 1024, "dims": (128, 64), "strides": (256,), "box": (64, 8),
        "element_strides": (1, 1), "swizzle": 128, "fill": "zero",
    }  # fmt: skip
    TensorMap(**good)
    with pytest.raises(LaunchError, match=message):
        TensorMap(**{**good, **change})


def program(target: str = "sm_90a", *names: str) -> Any:
    kernels = {n: KernelInfo(n, ("ptr<f32>",), (64, 1, 1), target) for n in names or ("k",)}
    return SimpleNamespace(cubin=CUBIN + target.encode(), ptx=".version 8.0", kernels=kernels)


def test_bundle_round_trip(tmp_path: Path) -> None:
    def fill(config: Any, read: Any) -> None:
        import ctypes

        array_at(read(0, ctypes.c_uint64), (3,), np.float32)[:] = 4

    path = tmp_path / "b.tileir"
    write_bundle(path, [program("sm_90a", "k", "l"), program("sm_80")], ptx=True)
    driver = FakeDriver({"k": fill})
    bundle = Bundle.load(path, driver)
    assert bundle.names() == ["k", "l"]
    assert "l" in bundle
    assert bundle.producer.startswith("tileir ")
    assert [image.target for image in bundle.images] == ["sm_90a", "sm_90a", "sm_80", "sm_80"]
    data = np.zeros(3, np.float32)
    for _ in range(2):
        bundle["k"].launch(1, [data])
    assert data.tolist() == [4, 4, 4]
    assert driver.loaded == [CUBIN + b"sm_90a"]


def test_equal_bundles_are_equal_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_bundle(tmp_path / name, [program()])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_damaged_bundles(tmp_path: Path) -> None:
    path = tmp_path / "b"
    with pytest.raises(LaunchError, match="cannot read bundle"):
        Bundle.load(path)
    path.write_bytes(b"no zip at all")
    with pytest.raises(LaunchError, match="cannot read bundle"):
        Bundle.load(path)
    write_bundle(path, [program()])
    whole = path.read_bytes()
    for cut in range(0, len(whole), 37):
        path.write_bytes(whole[:cut])
        with pytest.raises(LaunchError, match="cannot read bundle"):
            Bundle.load(path)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({}, "no tileir bundle"),
        ({"format": "tileir-bundle", "schema": 9, "images": []}, "schema 9; .*reads up to 1"),
        ({"format": "tileir-bundle", "schema": 1, "images": [{"file": "x"}]}, "cannot read"),
        ({"format": "tileir-bundle", "schema": 1, "images": 3}, "cannot read"),
    ],
)
def test_wrong_manifests(tmp_path: Path, manifest: Any, message: str) -> None:
    path = tmp_path / "b"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
    with pytest.raises(LaunchError, match=message):
        Bundle.load(path)


def test_command_line_lists_a_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b"
    write_bundle(path, [program("sm_90a", "softmax")])
    assert main([str(path), "--list"]) == 0
    assert "softmax" in capsys.readouterr().out
    assert main([str(tmp_path / "missing"), "--list"]) == 1
    assert "error: cannot read bundle" in capsys.readouterr().err


def test_runtime_imports_without_mlir_and_ml_dtypes() -> None:
    script = (
        "import sys\n"
        "for name in ('mlir', 'ml_dtypes', 'cuda', 'rich'): sys.modules[name] = None\n"
        "import tileir.runtime, tileir.runtime.__main__\n"
        "from tileir.runtime.cases import Case\n"
        "case = Case.load(sys.argv[1]); args = case.args()\n"
        "print(args[0].dtype, case.compare(args).passed)\n"
        "try: tileir.runtime.cuda_driver()\n"
        "except tileir.LaunchError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(FOLDER / "rms_norm_bf16_even.npz")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[0] == "uint16 False"
    assert "cuda-bindings is not installed" in done.stdout


def test_native_targets() -> None:
    assert [native_target(c) for c in ((8, 0), (8, 9), (9, 0), (10, 0), (12, 1))] == [
        "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_121a",
    ]  # fmt: skip


def store_expected(case: Case, args: list[Any]) -> None:
    for index, want in zip(case.outputs, case.expected, strict=True):
        target = args[index]
        exact = want.dtype.kind != "f" and want.dtype != target.dtype
        target[...] = want.view(target.dtype) if exact else want.astype(target.dtype)


def test_there_are_34_cases_and_14_large_shapes() -> None:
    assert (len(case_names()), len(perf_names())) == (34, 14)
    assert not list((FOLDER / "perf").glob("*.npz")), "large shapes come without arrays"


@pytest.mark.parametrize("name", case_names())
def test_cases_accept_the_expected_results_only(name: str) -> None:
    case = load_case(name)
    args = case.args()
    assert not case.compare(args).passed, "the initial content is no result"
    store_expected(case, args)
    assert case.compare(args).passed
    inputs = [i for i in range(len(args)) if i not in case.outputs and args[i].ndim]
    args[inputs[0]].flat[0] = 3
    assert not case.compare(args).passed, "an input was overwritten"


def test_cases_guard_the_padding_of_outputs() -> None:
    case = load_case("axpy_2d_f16_edge")
    args = case.args()
    store_expected(case, args)
    (output,) = case.outputs
    rows, columns = args[output].shape
    padding = args[output].base.reshape(rows, -1)[:, columns:]
    assert padding.shape[1] > 0
    padding[2, 1] = 0
    assert "elements changed that the kernel must not write" in case.compare(args).failures[0]


def test_a_wrong_value_and_a_nan_are_found() -> None:
    case = load_case("matmul_f16_even")
    for wrong in (1e3, np.nan):
        args = case.args()
        store_expected(case, args)
        args[case.outputs[0]][1, 1] = wrong
        result = case.compare(args)
        assert "1 of 16384 outside tolerance" in result.failures[0]
