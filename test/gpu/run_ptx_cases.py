"""Runs the cases of `make_ptx_cases.py` on a GPU and compares with the simulator.

    python test/gpu/run_ptx_cases.py out/gpu/ptx.npz [--json FILE] [--only SUBSTRING] [--limit 90]

Needs NumPy, ml_dtypes and cuda-bindings, and tileir as it lies in the checkout. Bits must be
equal, any NaN like any other; where an instruction approximates, or sums floats in a matrix unit,
values must be close. Cases run in a worker process; one that hangs or breaks the context costs
itself alone. What differs is printed at once, and the rows so far go to FILE whenever a worker
ends and at the end, at the latest after `--limit` seconds. Exit code 0 if all cases ran and agree.
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tileir.errors import TileError  # noqa: E402
from tileir.runtime.driver import LaunchConfig, cuda_driver  # noqa: E402
from tileir.runtime.launch import ParameterBlock  # noqa: E402
from tileir.runtime.tensor_map import TensorMap  # noqa: E402

_PATIENCE = 5.0  # seconds for one case
_START_PATIENCE = 40.0  # seconds until a worker begins its first case
_APPROXIMATE = re.compile(r"\.approx|div\.full|ex2|lg2")
_TANH = re.compile(r"tanh\.approx")
_EIGHT_BITS = re.compile(r"mma\S*\.e[45]m[23]\.")
_MATRIX = re.compile(r"(wgmma\.mma_async|mma\.sync)\S*\.(f64|f32|f16)\.")
_PACKED = re.compile(r"\.approx\S*\.(b?f16)x2")
_FLOATS = {"float16", "bfloat16", "float32", "float64"}


class Cases:
    """The cases of a file, and their bytes."""

    def __init__(self, path: str):
        with np.load(path) as arrays:
            self.cases: list[dict[str, Any]] = json.loads(arrays["cases"].tobytes())
            self._blob = arrays["blob"]

    def bytes(self, place: list[int]) -> np.ndarray:
        start, size = place
        return self._blob[start : start + size]


def run_case(cases: Cases, case: dict[str, Any]) -> dict[str, Any]:
    """Launches one case; how its arrays differ from what the simulator left."""
    driver = cuda_driver()
    device_arrays = []
    for one in case["arrays"]:
        data = np.ascontiguousarray(cases.bytes(one["before"]))
        address = driver.allocate(max(256, data.nbytes))
        driver.copy_to_device(address, data.ctypes.data, data.nbytes, 0)
        device_arrays.append(address)
    parameters = [_parameter(driver, one, device_arrays) for one in case["parameters"]]
    config = LaunchConfig(
        tuple(case["grid"]), tuple(case["block"]), tuple(case["cluster"]), case["shared"]
    )
    library = driver.load(cases.bytes(case["cubin"]).tobytes(), case["test"])
    function = driver.function(library, case["kernel"], config)
    block = ParameterBlock(parameters)
    driver.launch(function, case["kernel"], config, block.address, 0)
    differences = []
    for address, one in zip(device_arrays, case["arrays"], strict=True):
        after = np.ascontiguousarray(cases.bytes(one["after"]))
        got = np.empty_like(after)
        driver.copy_to_host(got.ctypes.data, address, got.nbytes, 0)
        driver.synchronize(0)
        differences.append(_difference(got, after, one["type"], case["ptx"]))
    for address in device_arrays:
        driver.free(address)
    return {"differs": [text for text in differences if text]}


def _parameter(driver: Any, one: dict[str, Any], device_arrays: list[int]) -> tuple[bytes, int]:
    if "data" in one:
        data = bytes.fromhex(one["data"])
        alignment = one["offset"] & -one["offset"] or 64
        return data, min(alignment, 64)
    address = device_arrays[one["array"]] + one["start"]
    if "map" not in one:
        return address.to_bytes(8, "little"), 8
    dtype, dims, strides, box, steps, swizzle, fill = one["map"]
    map_ = TensorMap(
        dtype, address, tuple(dims), tuple(strides), tuple(box), tuple(steps), swizzle, fill
    )
    return driver.encode_tensor_map(map_), 64


def _difference(got: np.ndarray, want: np.ndarray, dtype: str, ptx: str) -> str:
    """Where the device's bytes differ, in words; empty if they agree."""
    packed = _PACKED.search(ptx)
    if packed and dtype == "uint32":  # pairs in registers of 32 bits
        dtype = {"f16": "float16", "bf16": "bfloat16"}[packed[1]]
    if dtype not in _FLOATS:
        unit = np.dtype(dtype) if not dtype.startswith(("float8", "bool")) else np.dtype(np.uint8)
        a, b = got.view(unit), want.view(unit)
        wrong = np.flatnonzero(a != b)
    else:
        a, b = _floats(got, dtype), _floats(want, dtype)
        raw = f"u{np.dtype(dtype).itemsize}" if dtype != "bfloat16" else "u2"
        equal = (got.view(raw) == want.view(raw)) | (np.isnan(a) & np.isnan(b))
        tolerance = _tolerance(dtype, ptx)
        if tolerance:
            largest = np.abs(b[np.isfinite(b)]).max(initial=0.0) if _MATRIX.search(ptx) else 0.0
            with np.errstate(all="ignore"):
                equal |= np.abs(a - b) <= tolerance * (np.abs(b) + largest) + min(
                    tolerance, 2.0**-20
                )
        wrong = np.flatnonzero(~equal)
    if not len(wrong):
        return ""
    shown = ", ".join(f"[{i}] device {a[i]} simulator {b[i]}" for i in wrong[:4])
    return f"{len(wrong)} of {len(a)}: {shown}"


def _floats(data: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return data.view(dtype).astype(np.float64)


def _tolerance(dtype: str, ptx: str) -> float:
    """Relative to the value, for products also to the largest; zero where bits must agree.

    Matrix units of Hopper add products of 8-bit floats with about 13 bits; `tanh.approx.f32` is
    right to 2^-11 by the PTX manual.
    """
    if _EIGHT_BITS.search(ptx):
        return 2.0**-8
    if _TANH.search(ptx):
        return 2.0**-8 if dtype in ("float16", "bfloat16") else 2.0**-10
    if _MATRIX.search(ptx):
        if dtype == "float64":
            return 2.0**-48
        return 2.0**-9 if dtype in ("float16", "bfloat16") else 2.0**-12
    if _APPROXIMATE.search(ptx):
        return 2.0**-8 if dtype in ("float16", "bfloat16") else 2.0**-20
    return 0.0


def worker(path: str, numbers: list[int]) -> None:
    """Runs cases, a line of JSON before and behind each; stops when the context may be broken."""
    cases = Cases(path)
    print(json.dumps({"device": cuda_driver().device().name}), flush=True)
    for number in numbers:
        print(json.dumps({"begin": number}), flush=True)
        try:
            row = run_case(cases, cases.cases[number])
        except TileError as error:
            row = {"error": str(error)[:300]}
        print(
            json.dumps({"number": number, "test": cases.cases[number]["test"], **row}), flush=True
        )
        if "error" in row:
            return


def rows_of_worker(path: str, numbers: list[int], until: float) -> Iterator[dict[str, Any]]:
    """Rows of one worker, the last of them for the case at which it hung, died or gave up."""
    command = [sys.executable, "-u", __file__, path, "--worker", ",".join(map(str, numbers))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_forward, args=(process.stdout, found), daemon=True).start()
    begun, patience = None, _START_PATIENCE
    try:
        while True:
            left = until - time.monotonic()
            line = found.get(timeout=max(0.1, min(patience, left)))
            if line is None:
                break
            row = json.loads(line)
            if "device" in row:
                print(row["device"], flush=True)
                patience = _PATIENCE
            elif "begin" in row:
                begun = row["begin"]
            else:
                yield row
                begun = None
        if begun is not None:
            process.wait()
            yield {"number": begun, "error": f"the worker ended with code {process.returncode}"}
        elif patience == _START_PATIENCE:
            raise SystemExit("the worker ended before its first case")
    except queue.Empty:
        if patience == _START_PATIENCE:
            raise SystemExit("the worker does not reach its first case") from None
        if begun is not None:
            yield {"number": begun, "error": "no answer in time"}
    finally:
        process.kill()
        process.wait()


def _forward(stream: IO[str], found: queue.Queue[str | None]) -> None:
    for line in stream:
        found.put(line)
    found.put(None)


def run_all(path: str, only: str, limit: float, target: str | None) -> list[dict[str, Any]]:
    until = time.monotonic() + limit
    cases = Cases(path).cases
    numbers = [n for n, case in enumerate(cases) if only in case["test"]]
    print(f"{len(numbers)} cases", flush=True)
    rows: list[dict[str, Any]] = []
    while numbers and time.monotonic() < until:
        for row in rows_of_worker(path, numbers, until):
            numbers.remove(row["number"])
            rows.append(row)
            if row.get("differs") or "error" in row:
                print(json.dumps(row), flush=True)
        if target:
            Path(target).write_text(json.dumps(rows))
    print(f"{len(numbers)} cases did not run" if numbers else "all ran", flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--worker")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds for everything")
    options = parser.parse_args()
    if options.worker is not None:
        worker(options.path, [int(number) for number in options.worker.split(",")])
        return 0
    rows = run_all(options.path, options.only, options.limit, options.json)
    good = sum(not (row.get("differs") or "error" in row) for row in rows)
    print(f"{good} of {len(rows)} cases agree", flush=True)
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
