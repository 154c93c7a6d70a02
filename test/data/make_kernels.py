"""Writes the test cases of kernels/: bytecode by cuda.tile, arguments and expected arrays.

    python test/data/make_kernels.py [--check]

Needs cuda-tile 1.7.0, NumPy and ml_dtypes; no GPU.  The result does not depend on where this
runs: `--check` makes everything anew in memory and compares it with what is checked in.
See kernels/README.md for the files.
"""

from __future__ import annotations

import argparse
import inspect
import io
import json
import os
import sys
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("CUDA_TILE_CACHE_DIR", "off")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "kernels" / "source"))

import common  # noqa: E402
import kernels  # noqa: E402
import numpy as np  # noqa: E402
from cuda.tile._passes import ast2hir  # noqa: E402
from cuda.tile.compilation import export_kernel  # noqa: E402

BYTECODE_VERSION = "13.3"
ARCHITECTURE = "sm_90"
SEED = 0
# The IR's names of NumPy's element types (integers have no sign there; the arrays keep theirs).
IR_NAME = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
           "int32": "i32", "int64": "i64", "bool": "i1"}  # fmt: skip


def neutral_source_names() -> None:
    """Makes debug information name /kernels/kernels.py, wherever the checkout lies."""
    real = inspect.getfile

    def getfile(function: Any) -> str:
        name = PurePath(real(function))
        folder = "/kernels" if name.name == "kernels.py" else "/cuda/tile"
        return f"{folder}/{name.name}"

    ast2hir.inspect = SimpleNamespace(**{**vars(inspect), "getfile": getfile})


def export(case: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    export_kernel(
        case["kernel"],
        [case["signature"]],
        buffer,
        gpu_code=ARCHITECTURE,
        output_format="tileir_bytecode",
        bytecode_version=BYTECODE_VERSION,
    )
    return buffer.getvalue()


def raw(array: np.ndarray) -> np.ndarray:
    """The narrow floats as integers: .npz files know NumPy's own types only."""
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


def describe(flat: list[Any], buffers: list[np.ndarray]) -> list[dict[str, Any]]:
    """JSON for the entry's parameters; the memory behind the arrays is appended to `buffers`."""
    parameters = []
    for value in flat:
        dtype = IR_NAME[value.dtype.name]
        if not isinstance(value, np.ndarray):
            parameters.append({"kind": "scalar", "dtype": dtype, "value": value.item()})
            continue
        root, offset = common.owner(value)
        number = next((k for k, known in enumerate(buffers) if known is root), len(buffers))
        if number == len(buffers):
            buffers.append(root)
        parameters.append(
            {"kind": "array", "dtype": dtype, "buffer": number, "offset": int(offset),
             "shape": list(value.shape), "strides": list(common.element_strides(value))}
        )  # fmt: skip
    return parameters


def output_parameters(case: dict[str, Any]) -> list[int]:
    """Positions of the outputs' pointers among the flat parameters."""
    args = case["sample"]
    flat = case["expand"](args)
    return [
        next(i for i, value in enumerate(flat) if value is args[output])
        for output in case["outputs"]
    ]


def case_files(case: dict[str, Any], with_data: bool) -> dict[str, Any]:
    """The case as {suffix: bytes, text or dict of arrays}."""
    args = case["args"](SEED) if with_data else case["sample"]
    buffers: list[np.ndarray] = []
    description = {
        "format": 1,
        "name": case["name"],
        "symbol": case["symbol"],
        "grid": list(case["grid"]),
        "parameters": describe(case["expand"](args), buffers),
        "outputs": output_parameters(case),
        "rtol": case["rtol"],
        "atol": case["atol"],
        "reason": case["reason"],
    }
    files: dict[str, Any] = {".tilebc": export(case), ".json": to_json(description)}
    if with_data:
        # Expected values come from unmodified arguments: some kernels work in place.
        expected = case["reference"](case["args"](SEED))
        files[".npz"] = {
            **{f"buffer{k}": raw(root).reshape(-1) for k, root in enumerate(buffers)},
            **{f"expected{k}": raw(np.asarray(want)) for k, want in enumerate(expected)},
        }
    return files


def to_json(description: dict[str, Any]) -> str:
    """One line per field and per parameter."""
    lines = []
    for key, value in description.items():
        if key == "parameters":
            rows = ",\n".join(f"  {json.dumps(parameter)}" for parameter in value)
            lines.append(f' "parameters": [\n{rows}\n ]')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(stem: Path, suffix: str, content: Any) -> None:
    path = stem.parent / (stem.name + suffix)
    if suffix == ".npz":
        np.savez_compressed(path, **content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)


def same(stem: Path, suffix: str, content: Any) -> bool:
    path = stem.parent / (stem.name + suffix)
    if not path.exists():
        return False
    if suffix == ".npz":
        with np.load(path) as stored:
            return set(stored) == set(content) and all(
                # The last bits of float64 results depend on the BLAS.
                np.allclose(stored[name], value, rtol=1e-12, atol=1e-12, equal_nan=True)
                for name, value in content.items()
            )
    return (path.read_bytes() if isinstance(content, bytes) else path.read_text()) == content


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    options = parser.parse_args()
    neutral_source_names()
    differing = count = 0
    for folder, cases, with_data in (
        (HERE / "kernels", kernels.cases(), True),
        (HERE / "kernels" / "perf", kernels.perf_cases(), False),
    ):
        folder.mkdir(exist_ok=True)
        for case in cases:
            count += 1
            for suffix, content in case_files(case, with_data).items():
                stem = folder / case["name"]
                if not options.check:
                    write(stem, suffix, content)
                elif not same(stem, suffix, content):
                    differing += 1
                    print(f"{stem.name}{suffix} differs")
    print(f"{count} cases, {differing} files differ" if options.check else f"{count} cases written")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
