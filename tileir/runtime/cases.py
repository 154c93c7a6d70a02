"""Test cases on disk: the arguments of one launch and what it must compute.

A case is two files, `NAME.json` (symbol, grid, parameters, outputs, tolerances) and `NAME.npz`
(`buffer0`, `buffer1`, ...: the memory behind the array arguments; `expected0`, ...: the results).
Array parameters are views of the buffers, so padding around a view is kept and checked as well.
Only NumPy is needed to load, run and compare one.

Parameter kinds in the JSON:

    {"kind": "array", "dtype": "f16", "buffer": 0, "offset": 0, "shape": [..], "strides": [..]}
    {"kind": "scalar", "dtype": "i32", "value": 64}

Offsets and strides count elements; `outputs` lists the parameters whose arrays are results.
`rtol` and `atol` hold for all of them, unless `judgements` gives each output a label and a
tolerance of its own:

    {"label": "addf f32 zero", "ulps": 0}

`printed`, where present, is the text that the kernel must print.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..errors import LaunchError
from .dtypes import storage_dtype, to_float64
from .tolerance import Tolerance

FORMAT = 1


@dataclass(frozen=True)
class Comparison:
    """How far a result is from the expected one.

    `worst` is the largest error as a fraction of what is allowed (0 when nothing is allowed and
    nothing differs), `error` the largest absolute error, `failures` one line per wrong output.
    """

    worst: float
    error: float
    failures: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.failures


class Case:
    """One launch with known results; `args()` makes fresh arguments, `compare` judges them."""

    def __init__(self, description: dict[str, Any], data: dict[str, np.ndarray]):
        if description.get("format") != FORMAT:
            raise LaunchError(
                f"case format {description.get('format')} is not {FORMAT}, the one known here"
            )
        self.description = description
        self.name: str = description["name"]
        self.symbol: str = description["symbol"]
        self.grid: tuple[int, int, int] = tuple(description["grid"])
        self.parameters: list[dict[str, Any]] = description["parameters"]
        self.outputs: list[int] = description["outputs"]
        self.rtol: float = description.get("rtol", 0.0)
        self.atol: float = description.get("atol", 0.0)
        self.judgements: list[dict[str, Any]] = description.get("judgements", [])
        self.printed: str | None = description.get("printed")
        self._data = data

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads `NAME.json` and, where it exists, the `NAME.npz` beside it."""
        path = Path(path)
        arrays = path.with_suffix(".npz")
        try:
            description = json.loads(path.with_suffix(".json").read_text())
            if not arrays.exists():
                return cls(description, {})
            with np.load(arrays, allow_pickle=False) as archive:
                return cls(description, dict(archive))
        except (OSError, ValueError, KeyError) as error:
            raise LaunchError(f"cannot load case {path}: {error}") from error

    def args(self) -> list[Any]:
        """Fresh arguments, in the order of the kernel's parameters: arrays and NumPy scalars."""
        buffers: dict[int, np.ndarray] = {}
        return [self._argument(parameter, buffers) for parameter in self.parameters]

    def _argument(self, parameter: dict[str, Any], buffers: dict[int, np.ndarray]) -> Any:
        dtype = storage_dtype(parameter["dtype"])
        if parameter["kind"] == "scalar":
            return dtype.type(parameter["value"])
        number = parameter["buffer"]
        if number not in buffers:
            buffers[number] = self._data[f"buffer{number}"].view(dtype).copy()
        return np.ndarray(
            shape=parameter["shape"],
            dtype=dtype,
            buffer=buffers[number],
            offset=parameter["offset"] * dtype.itemsize,
            strides=[stride * dtype.itemsize for stride in parameter["strides"]],
        )

    @property
    def expected(self) -> list[np.ndarray]:
        """The expected arrays, one per output; float64 where rounding is a matter of tolerance."""
        return [self._data[f"expected{k}"] for k in range(len(self.outputs))]

    def compare(self, args: list[Any]) -> Comparison:
        """Judges `args`, made by `args()` and then written by the kernel."""
        worst = error = 0.0
        failures: list[str] = []
        for k, (index, want) in enumerate(zip(self.outputs, self.expected, strict=True)):
            dtype = self.parameters[index]["dtype"]
            if self.judgements:
                one = judge(self.judgements[k], args[index], want, dtype)
                name = self.judgements[k]["label"]
            else:
                one = self._compare_output(args[index], want, dtype)
                name = f"output {k}"
            worst, error = max(worst, one.worst), max(error, one.error)
            failures += [f"{name}: {line}" for line in one.failures]
        failures += self._changed_elsewhere(args)
        return Comparison(worst, error, failures)

    def _compare_output(self, got: np.ndarray, want: np.ndarray, dtype: str) -> Comparison:
        if got.dtype.kind in "iub" and want.dtype.kind in "iub" and want.dtype == got.dtype:
            wrong = int((got != want).sum())
            lines = [f"{wrong} of {got.size} integers differ"] if wrong else []
            return Comparison(0.0 if not wrong else float("inf"), 0.0, lines)
        have = to_float64(got, dtype)
        wanted = want.astype(np.float64) if want.dtype.kind == "f" else to_float64(want, dtype)
        finite = np.isfinite(wanted)
        if not np.array_equal(have[~finite], wanted[~finite], equal_nan=True):
            return Comparison(float("inf"), float("inf"), ["NaN or infinity pattern differs"])
        difference = np.abs(have[finite] - wanted[finite])
        allowed = self.atol + self.rtol * np.abs(wanted[finite])
        if difference.size == 0:
            return Comparison(0.0, 0.0)
        bad = ~(difference <= allowed)  # a NaN among the results is bad too
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(difference == 0, 0.0, difference / allowed)
        lines = []
        if bad.any():
            lines.append(
                f"{int(bad.sum())} of {want.size} outside tolerance "
                f"(rtol {self.rtol:g}, atol {self.atol:g}), worst |error| {difference.max():.3g}"
            )
        return Comparison(float(ratio.max()), float(difference.max()), lines)

    def _changed_elsewhere(self, args: list[Any]) -> list[str]:
        """Memory that the kernel had no business to write: inputs, and padding of outputs."""
        allowed: dict[int, np.ndarray] = {}
        owners: dict[int, tuple[int, np.ndarray]] = {}
        for index, parameter in enumerate(self.parameters):
            if parameter["kind"] != "array":
                continue
            buffer = args[index].base
            owners[parameter["buffer"]] = (index, buffer)
            mask = allowed.setdefault(parameter["buffer"], np.zeros(buffer.shape, bool))
            if index in self.outputs:
                view = np.ndarray(
                    args[index].shape, bool, mask, parameter["offset"], parameter["strides"]
                )
                view[...] = True
        lines = []
        for number, (index, buffer) in owners.items():
            before = self._data[f"buffer{number}"]
            changed = (buffer.view(before.dtype) != before) & ~allowed[number]
            if before.dtype.kind == "f":
                changed &= ~(np.isnan(before) & np.isnan(buffer.view(before.dtype)))
            if changed.any():
                lines.append(
                    f"parameter {index}: {int(changed.sum())} elements changed that the kernel "
                    "must not write"
                )
        return lines


_SHOWN = 3


def judge(judgement: dict[str, Any], got: np.ndarray, want: np.ndarray, dtype: str) -> Comparison:
    """Judges one output by a tolerance of its own; shows the first elements that are wrong."""
    ratios = Tolerance.from_json(judgement).errors(got, want, dtype)
    wrong = np.argwhere(~(ratios <= 1))
    worst = float(ratios.max(initial=0.0))
    if not len(wrong):
        return Comparison(worst, 0.0)
    examples = "; ".join(
        f"[{', '.join(map(str, place))}] is {_shown(got[tuple(place)])}, "
        f"should be {_shown(want[tuple(place)])}"
        for place in wrong[:_SHOWN]
    )
    return Comparison(worst, 0.0, [f"{len(wrong)} of {ratios.size} wrong: {examples}"])


def _shown(value: Any) -> str:
    """A number, and its bits where they may matter."""
    bits = int.from_bytes(np.asarray(value).tobytes(), "little")
    return f"{value!s} ({bits:#x})"
