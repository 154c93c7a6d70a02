"""Runs the cases of `make_ptx_cases.py` on a GPU and compares with the simulator.

    python test/gpu/run_ptx_cases.py out/gpu/ptx.npz [--json FILE] [--only SUBSTRING] [--jobs 8]

Needs NumPy, ml_dtypes and cuda-bindings, and tileir as it lies in the checkout. Bits must be
equal, any NaN like any other; where an instruction approximates, or sums floats in a matrix unit,
values must be close. A case that hangs or breaks the context costs itself alone; one that the
driver's assembler refuses (the simulator takes some forms that a target lacks) is counted apart.
Exit code 0 if all others agree.
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tileir.errors import TileError  # noqa: E402
from tileir.runtime.driver import LaunchConfig, cuda_driver  # noqa: E402
from tileir.runtime.launch import ParameterBlock  # noqa: E402
from tileir.runtime.tensor_map import TensorMap  # noqa: E402

_PATIENCE = 30.0  # seconds for one case, compilation included
_START_PATIENCE = 120.0  # seconds until a worker begins its first case
_APPROXIMATE = re.compile(r"\.approx|div\.full|ex2|lg2")
_TANH = re.compile(r"tanh\.approx")
_EIGHT_BITS = re.compile(r"mma\S*\.e[45]m[23]\.")
_MATRIX = re.compile(r"(wgmma\.mma_async|mma\.sync)\S*\.(f32|f16)\.")
_FLOATS = {"float16", "bfloat16", "float32", "float64"}


def run_case(case: dict[str, Any], arrays: Any, number: int) -> dict[str, Any]:
    """Launches one case; how its arrays differ from what the simulator left."""
    driver = cuda_driver()
    device_arrays, results = [], []
    for k, _ in enumerate(case["types"]):
        data = np.ascontiguousarray(arrays[f"{number}_{k}_before"])
        address = driver.allocate(max(256, data.nbytes))
        driver.copy_to_device(address, data.ctypes.data, data.nbytes, 0)
        device_arrays.append(address)
    parameters = [_parameter(driver, one, device_arrays) for one in case["parameters"]]
    config = LaunchConfig(
        tuple(case["grid"]), tuple(case["block"]), tuple(case["cluster"]), case["shared"]
    )
    library = driver.load(case["ptx"].encode() + b"\0", case["test"])
    function = driver.function(library, case["kernel"], config)
    block = ParameterBlock(parameters)
    driver.launch(function, case["kernel"], config, block.address, 0)
    for k, dtype in enumerate(case["types"]):
        after = arrays[f"{number}_{k}_after"]
        got = np.empty_like(after)
        driver.copy_to_host(got.ctypes.data, device_arrays[k], got.nbytes, 0)
        driver.synchronize(0)
        results.append(_difference(got, after, dtype, case["ptx"]))
    for address in device_arrays:
        driver.free(address)
    return {"differs": [text for text in results if text]}


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
                equal |= np.abs(a - b) <= tolerance * (np.abs(b) + largest) + 2.0**-20
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
        return 2.0**-9 if dtype in ("float16", "bfloat16") else 2.0**-12
    if _APPROXIMATE.search(ptx):
        return 2.0**-8 if dtype in ("float16", "bfloat16") else 2.0**-20
    return 0.0


def worker(path: str, numbers: list[int]) -> None:
    """Runs cases, one line of JSON before and one after each; stops when the context may break."""
    with np.load(path) as arrays:
        cases = json.loads(bytes(arrays["cases"]))
        loaded = dict(arrays)
    for number in numbers:
        print(json.dumps({"begin": number}), flush=True)
        try:
            row = run_case(cases[number], loaded, number)
        except TileError as error:
            row = {"error": str(error)[:300]}
        print(json.dumps({"number": number, "test": cases[number]["test"], **row}), flush=True)
        if "error" in row and "cannot load" not in row["error"]:
            return


def run_cases(path: str, numbers: list[int]) -> list[dict[str, Any]]:
    """The rows of these cases, from as many workers, one after another, as it takes."""
    rows: list[dict[str, Any]] = []
    while numbers:
        command = [sys.executable, __file__, path, "--worker", ",".join(map(str, numbers))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        found: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_lines, args=(process.stdout, found), daemon=True).start()
        begun, finished, patience = None, False, _START_PATIENCE
        while not finished:
            try:
                line = found.get(timeout=patience)
            except queue.Empty:
                process.kill()
                rows.append({"number": begun, "error": "no answer in time"})
                break
            finished = line is None
            row = json.loads(line) if line else {}
            if "begin" in row:
                begun, patience = row["begin"], _PATIENCE
            elif row:
                rows.append(row)
        process.wait()
        answered = {row["number"] for row in rows}
        if begun not in answered:
            rows.append({"number": begun, "error": f"worker ended with code {process.returncode}"})
        if begun is None:
            break
        numbers = numbers[numbers.index(begun) + 1 :]
    return rows


def _lines(stream: IO[str], found: queue.Queue[str | None]) -> None:
    for line in stream:
        found.put(line)
    found.put(None)


def run_all(path: str, only: str, jobs: int) -> list[dict[str, Any]]:
    with np.load(path) as arrays:
        cases = json.loads(bytes(arrays["cases"]))
    numbers = [n for n, case in enumerate(cases) if only in case["test"]]
    parts = [numbers[job::jobs] for job in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda part: run_cases(path, part), parts)
    return sorted((row for rows in found for row in rows), key=lambda row: row["number"] or 0)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--worker")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=8, help="processes; most time is compilation")
    options = parser.parse_args()
    if options.worker is not None:
        worker(options.path, [int(number) for number in options.worker.split(",")])
        return 0
    rows = run_all(options.path, options.only, options.jobs)
    refused = [row for row in rows if "cannot load" in row.get("error", "")]
    bad = [row for row in rows if row.get("differs") or "error" in row and row not in refused]
    for row in [*refused[:5], *bad]:
        print(json.dumps(row))
    agree = len(rows) - len(bad) - len(refused)
    print(f"{len(rows)} cases: {agree} agree, {len(bad)} do not, {len(refused)} do not assemble")
    if options.json:
        Path(options.json).write_text(json.dumps(rows))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
