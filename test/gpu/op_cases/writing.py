"""From kernels of the battery to files: what they must give, and the cases on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tileir
from tileir import interp
from tileir.runtime.cases import FORMAT
from tileir.runtime.dtypes import element

from .kernel import Argument, Kernel


def module_text(kernels: Sequence[Kernel], name: str = "battery") -> str:
    """One module with all the kernels."""
    globals_ = "\n".join(dict.fromkeys(line for k in kernels for line in k.globals))
    entries = "\n".join(k.text() for k in kernels)
    return f"cuda_tile.module @{name} {{\n{globals_}\n{entries}\n}}\n"


def _buffer(argument: Argument) -> np.ndarray:
    """The memory behind an array, and the array as a view of it, `offset` elements in."""
    flat = argument.array.reshape(-1)
    memory = np.zeros(argument.offset + flat.size, flat.dtype)
    memory[argument.offset :] = flat
    return memory


def _argument(argument: Argument, memory: np.ndarray | None) -> Any:
    if memory is None:
        return argument.array
    return memory[argument.offset :].reshape(argument.array.shape)


def interpret(kernel: Kernel, module: Any = None) -> tuple[list[Any], str]:
    """The arguments after a run on the interpreter, and what was printed. Raises a TileError for
    a kernel with undefined behaviour."""
    if module is None:
        module = tileir.parse(module_text([kernel]), name=f"{kernel.name}.mlir")
    memories = [_buffer(a) if a.pointer else None for a in kernel.arguments]
    args = [_argument(a, m) for a, m in zip(kernel.arguments, memories, strict=True)]
    lines = interp.run(module, kernel.name, kernel.grid, args)
    return args, "".join(f"{line}\n" for line in lines)


def write_case(kernel: Kernel, folder: Path, module: Any = None) -> None:
    """Writes NAME.json and NAME.npz, as `tileir.runtime.cases` reads them."""
    results, printed = interpret(kernel, module)
    parameters, data = [], {}
    for index, argument in enumerate(kernel.arguments):
        if not argument.pointer:
            value = argument.array.item()
            parameters.append({"kind": "scalar", "dtype": argument.element, "value": value})
            continue
        array = argument.array
        data[f"buffer{index}"] = _raw(_buffer(argument), argument.element)
        parameters.append(
            {
                "kind": "array",
                "dtype": argument.element,
                "buffer": index,
                "offset": argument.offset,
                "shape": list(array.shape),
                "strides": [int(np.prod(array.shape[d + 1 :], dtype=int))
                            for d in range(array.ndim)],
            }
        )  # fmt: skip
    judgements = []
    for number, judgement in enumerate(kernel.judgements):
        argument = kernel.arguments[judgement.argument]
        expected = judgement.expected
        if expected is None:
            expected = results[judgement.argument]
        if judgement.tolerance.exact:
            expected = _raw(np.asarray(expected, argument.array.dtype), argument.element)
        else:
            expected = np.asarray(expected, np.float64)
        data[f"expected{number}"] = expected
        judgements.append({"label": judgement.label, **judgement.tolerance.to_json()})
    description = {
        "format": FORMAT,
        "name": kernel.name,
        "symbol": kernel.name,
        "grid": list(kernel.grid),
        "parameters": parameters,
        "outputs": [j.argument for j in kernel.judgements],
        "judgements": judgements,
    }
    if kernel.prints:
        description["printed"] = printed
    (folder / f"{kernel.name}.json").write_text(json.dumps(description))
    np.savez_compressed(folder / f"{kernel.name}.npz", **data)


def _raw(array: np.ndarray, name: str) -> np.ndarray:
    """Elements as NumPy's own types: narrow floats as unsigned integers of their size."""
    return array.view(np.dtype(element(name).raw))
