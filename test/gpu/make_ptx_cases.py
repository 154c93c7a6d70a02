"""Writes what the simulator's tests run, for a GPU to run too; needs no GPU.

    python test/gpu/make_ptx_cases.py out/gpu/ptx.npz [TEST FILES]

Every launch of the tests on schedule 0 becomes a case: the PTX, assembled for sm_90a, the bytes of
its parameters and arrays before, and of the arrays after the simulator ran it. `run_ptx_cases.py`
does the same on a device and compares. Tests of forms that sm_90a lacks are left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "test" / "python"
sys.path.insert(0, str(TESTS))

from tileir import sim  # noqa: E402
from tileir.compiler.toolchain import assemble  # noqa: E402
from tileir.errors import TileError  # noqa: E402
from tileir.runtime.arrays import owner  # noqa: E402
from tileir.sim import arguments  # noqa: E402
from tileir.sim.code.program import choose_kernel, lay_out  # noqa: E402
from tileir.sim.ptx import Variable, parse  # noqa: E402

FILES = ("integers", "floats", "conversions", "warp", "memory", "control", "barriers", "async",
         "tensor", "matrices")  # fmt: skip
TARGET = "sm_90a"
# The order of threads shows in their results, or a number or format that a device chooses.
UNDEFINED = {"test_special_registers", "test_runs_are_reproducible",
             "test_maps_built_by_the_kernel", "test_integer_updates[shared-max.s64]"}  # fmt: skip


class Recorder:
    """Stands in for `sim.run`: runs the simulator and keeps launches that succeed."""

    def __init__(self) -> None:
        self.cases: list[dict[str, Any]] = []
        self.blob = bytearray()
        self.refused = 0
        self.test = ""
        self._seen: set[str] = set()
        self._run = sim.run

    def pytest_runtest_setup(self, item: Any) -> None:
        self.test = item.nodeid.partition("::")[2]

    def run(self, ptx: str, kernel: str | None = None, grid: Any = 1, block: Any = None,
            args: Any = (), **options: Any) -> sim.Result:  # fmt: skip
        module = parse(ptx)
        function = module.functions[choose_kernel(module, kernel)]
        usable = self.test not in UNDEFINED
        # Without checks run those kernels that read what nobody wrote, or do not wait.
        usable &= options.get("checks", True) is True
        usable &= (
            not options.get("seed") and not options.get("observers") and "memory" not in options
        )
        parameters = [p for p in function.parameters if isinstance(p, Variable)]
        usable = usable and ptx not in self._seen and len(parameters) == len(args)
        owners: list[np.ndarray] = []
        described = [
            _described(p, value, owners) for p, value in zip(parameters, args, strict=False)
        ]
        before = [array.copy() for array in owners]
        result = self._run(ptx, kernel, grid, block, args, **options)
        if usable and owners and all(one is not None for one in described) and not result.printed:
            self._seen.add(ptx)
            self._keep(ptx, function, parameters, grid, block, options, described, owners, before)
        return result

    def _keep(self, ptx: str, function: Any, parameters: Any, grid: Any, block: Any,
              options: dict[str, Any], described: list[Any], owners: list[np.ndarray],
              before: list[np.ndarray]) -> None:  # fmt: skip
        try:
            cubin = assemble(ptx, TARGET, 1).cubin
        except TileError:
            self.refused += 1
            return
        offsets, size = lay_out(parameters)
        self.cases.append(
            {
                "test": self.test,
                "ptx": ptx,
                "kernel": function.name,
                "grid": _three(grid),
                "block": _three(block or function.directives["reqntid"]),
                "cluster": _three(options.get("cluster") or 1),
                "shared": options.get("shared", 0),
                "bytes": size,
                "parameters": [
                    {"offset": offsets[p.name, id(p)], **one}
                    for p, one in zip(parameters, described, strict=True)
                ],
                "cubin": self._put(cubin),
                "arrays": [
                    {
                        "type": array.dtype.name,
                        "before": self._put(old.tobytes()),
                        "after": self._put(array.tobytes()),
                    }
                    for array, old in zip(owners, before, strict=True)
                ],
            }
        )

    def _put(self, data: bytes) -> list[int]:
        """(start, size) in the blob."""
        start = len(self.blob)
        self.blob += data
        return [start, len(data)]


def _three(extents: Any) -> list[int]:
    found = [extents] if isinstance(extents, int) else list(extents)
    return [*found, 1, 1][:3]


def _described(parameter: Variable, value: Any, owners: list[np.ndarray]) -> Any:
    """A parameter as JSON: bytes, an address in an array, or a tensor map; None for others."""
    try:
        return _describe(parameter, value, owners)
    except TileError:  # a test of wrong arguments
        return None


def _describe(parameter: Variable, value: Any, owners: list[np.ndarray]) -> Any:
    if isinstance(value, sim.MappedTensor):
        place = _place(value.array, owners)
        map_ = value.map
        return place and {
            "map": [map_.dtype, map_.dims, map_.strides, map_.box, map_.element_strides,
                    map_.swizzle, map_.fill], **place,
        }  # fmt: skip
    if isinstance(value, np.ndarray) and value.ndim:
        return _place(value, owners)
    if isinstance(value, (bytes, int, float, np.generic)):
        data = value if isinstance(value, bytes) else arguments.scalar_bytes(parameter, value, 0)
        return {"data": data.hex()}
    return None


def _place(array: np.ndarray, owners: list[np.ndarray]) -> dict[str, int] | None:
    whole = owner(array)
    if not whole.flags.c_contiguous:
        return None
    index = next((k for k, one in enumerate(owners) if one is whole), len(owners))
    if index == len(owners):
        owners.append(whole)
    start = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return {"array": index, "start": start}


def main(target: str, files: list[str]) -> int:
    recorder = Recorder()
    sim.run = recorder.run
    chosen = files or [str(TESTS / f"test_sim_{name}.py") for name in FILES]
    status = pytest.main(["-q", "-p", "no:cacheprovider", *chosen], plugins=[recorder])
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(recorder.cases).encode(), np.uint8)
    np.savez_compressed(path, cases=text, blob=np.frombuffer(bytes(recorder.blob), np.uint8))
    print(
        f"{len(recorder.cases)} cases, {path.stat().st_size} bytes; {recorder.refused} do not "
        f"assemble for {TARGET}"
    )
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
