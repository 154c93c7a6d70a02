"""Checks and times the contenders of h200.py's cases on the GPU; speaks to h200.py by lines."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from gemm_cases import Case, peers_of
from gemm_program import Gemm
from h200 import PEERS, chosen

from tileir.runtime import Bundle, Kernel

_TORCH = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32,
    "i8": torch.int8, "i32": torch.int32, "f8E4M3FN": torch.float8_e4m3fn,
}  # fmt: skip
#: Relative error (Frobenius norm) beside PyTorch's product of the same operands in float32.
_TOLERANCE = {"f16": 1e-3, "bf16": 5e-3, "tf32": 2e-3, "i8": 0.0, "f8E4M3FN": 1e-2}
#: And of each element, beside itself and the root of the mean square of all.
_ELEMENT_TOLERANCE = {
    "f16": 2**-8, "bf16": 2**-8, "tf32": 2**-6, "i8": 0.0, "f8E4M3FN": 2**-3,
}  # fmt: skip
#: Microseconds that a visit to a contender lasts.
_VISIT = 15_000


@dataclass
class Contender:
    name: str
    launch: Callable[[], Any]
    times: list[list[float]] = field(default_factory=list)

    @property
    def us(self) -> float:
        return statistics.median(time for visit in self.times for time in visit)

    @property
    def range(self) -> tuple[float, float]:
        medians = [statistics.median(visit) for visit in self.times]
        return min(medians), max(medians)


class Data:
    """Operands of a case, in both layouts of B, and what the result should be.

    All contenders write the same output: with another, small products are faster or slower by 4 %.
    """

    def __init__(self, case: Case):
        gemm = case.programs[0]
        self.case = case
        self.a = _random((case.m, case.k), gemm.dtype)
        self.b_t = _random((case.n, case.k), gemm.dtype)
        self.b = self.b_t.t() if gemm.b == "k" else self.b_t.t().contiguous()
        out = _TORCH[gemm.output]
        self.bias = torch.randn(case.n, device="cuda").to(out) if "bias" in gemm.epilogue else None
        has_residual = "residual" in gemm.epilogue
        self.residual = torch.randn(case.m, case.n, device="cuda").to(out) if has_residual else None
        self.reference = self._reference(gemm)
        self.out = torch.empty((case.m, case.n), device="cuda", dtype=out)

    def _reference(self, gemm: Gemm) -> torch.Tensor:
        torch.backends.cuda.matmul.allow_tf32 = False
        wide = torch.float64 if gemm.dtype == "i8" else torch.float32
        total = self.a.to(wide) @ self.b.to(wide)
        if self.bias is not None:
            total += self.bias.to(wide)
        if self.residual is not None:
            total += self.residual.to(wide)
        if "relu" in gemm.epilogue:
            total.relu_()
        if "gelu" in gemm.epilogue:
            total = torch.nn.functional.gelu(total, approximate="tanh")
        torch.backends.cuda.matmul.allow_tf32 = True
        return total

    def scratch(self, gemm: Gemm) -> list[torch.Tensor]:
        """Where blocks that share a tile leave their sums, and the tiles' counters."""
        if gemm.split == 1:
            return []
        m, n = self.case.m, self.case.n
        counters = torch.zeros(gemm.tiles(m, n), device="cuda", dtype=torch.int32)
        return [torch.empty(gemm.parts_shape(m, n), device="cuda"), counters]

    def poison(self) -> None:
        """Fills the output with what no right result has."""
        self.out.fill_(float("nan") if self.out.dtype.is_floating_point else -7777777)

    def errors(self) -> tuple[float, int]:
        """Relative error of the output, NaN if some of it was not written, and how many elements
        are wrong: a few hardly show in the error of all."""
        tolerance = _ELEMENT_TOLERANCE[self.case.programs[0].dtype]
        difference = self.out.to(self.reference.dtype) - self.reference
        norm = self.reference.norm()
        scale = norm / self.reference.numel() ** 0.5
        right = difference.abs() <= tolerance * (self.reference.abs() + scale)
        return (difference.norm() / norm).item(), int((~right).sum())


def _random(shape: tuple[int, int], dtype: str) -> torch.Tensor:
    if dtype == "i8":
        return torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
    return torch.randn(shape, device="cuda").to(_TORCH[dtype])


# ---- contenders -------------------------------------------------------------------------------


def of_bundle(label: str, kernel: Kernel, gemm: Gemm, data: Data) -> Contender:
    """A kernel of a bundle with the parameters of a Gemm program."""
    case = data.case
    b = data.b_t if gemm.b == "k" else data.b
    arrays = [data.a, b, data.out]
    arrays += [one for one in (data.bias, data.residual) if one is not None]
    arrays += data.scratch(gemm)
    args: list[Any] = []
    for array in arrays:
        args += [array.data_ptr(), *array.shape, *array.stride()]
    stream = torch.cuda.current_stream()
    prepared = kernel.prepare(gemm.grid(case.m, case.n), args, stream=stream)

    def launch(keep: Any = arrays) -> None:
        prepared.start()

    return Contender(f"{label} {gemm.name}", launch)


def cublas(data: Data) -> list[Contender]:
    """What PyTorch calls for the product, with its own epilogue where it has one."""
    gemm, a, b, out = data.case.programs[0], data.a, data.b, data.out
    if gemm.dtype == "f8E4M3FN":
        one, fast = torch.ones((), device="cuda"), not gemm.promote
        launch = lambda: torch._scaled_mm(  # noqa: E731
            a, b, one, one, out_dtype=out.dtype, use_fast_accum=fast, out=out
        )
    elif gemm.dtype == "i8":
        launch = lambda: torch._int_mm(a, b, out=out)  # noqa: E731
    elif gemm.epilogue == "bias_relu":
        launch = lambda: torch._addmm_activation(data.bias, a, b, out=out)  # noqa: E731
    else:
        launch = lambda: torch.mm(a, b, out=out)  # noqa: E731
    name = "cuBLAS" if gemm.epilogue in ("", "bias_relu") else "cuBLAS without epilogue"
    return [Contender(name, launch)]


def triton(data: Data) -> list[Contender]:
    import triton_gemm

    gemm = data.case.programs[0]
    if gemm.dtype not in ("f16", "bf16") or gemm.epilogue:
        return []
    found = []
    for config in PEERS["triton"]["gemm"]:
        launch = triton_gemm.launcher(data.a, data.b, data.out, config)
        if launch is not None:
            name = "triton " + "x".join(map(str, config))
            found.append(Contender(name, launch))
    return found


class Contenders:
    def __init__(self, folder: Path):
        self.bundles = {
            label: Bundle.load(folder / f"{label}.tileir")
            for label in ("managed", "plain", "tileiras")
            if (folder / f"{label}.tileir").exists()
        }
        self.hand_written = folder / "hand_written"

    def of(self, data: Data) -> tuple[list[Contender], list[list[Contender]]]:
        """Those that are all timed, and groups of which only the fastest is."""
        fixed = []
        for gemm in data.case.programs:
            for label in ("managed", "plain"):
                if gemm.name in self.bundles[label]:
                    fixed.append(of_bundle(label, self.bundles[label][gemm.name], gemm, data))
        if data.case.group in ("sweep", "hints"):
            return [one for one in fixed if one.name.startswith("managed")], []
        fixed += cublas(data)
        return fixed, [self._tileiras(data), triton(data), self._hand_written(data)]

    def _tileiras(self, data: Data) -> list[Contender]:
        bundle = self.bundles.get("tileiras")
        if bundle is None:
            return []
        peers = peers_of(data.case.programs[0], PEERS["tileiras"]["gemm"])
        found = [gemm for gemm in peers if gemm.name in bundle]
        return [of_bundle("tileiras", bundle[gemm.name], gemm, data) for gemm in found]

    def _hand_written(self, data: Data) -> list[Contender]:
        if not self.hand_written.exists():
            return []
        import hand_written

        gemm, case = data.case.programs[0], data.case
        b = data.b_t if gemm.b == "k" else data.b
        found = []
        for kernel in hand_written.kernels(self.hand_written, gemm, (case.m, case.n, case.k)):
            launch = kernel.launcher(data.a, b, data.out, data.bias)
            found.append(Contender(f"hand-written {kernel.name}", launch))
        return found


# ---- timing -----------------------------------------------------------------------------------


class Timer:
    """Times launches by events, the second-level cache full of something else before each."""

    def __init__(self) -> None:
        self._flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def visit(self, contender: Contender, launches: int) -> list[float]:
        events = []
        for _ in range(launches):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self._flush.zero_()
            start.record()
            contender.launch()
            end.record()
            events.append((start, end))
        torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e3 for start, end in events]

    def best(self, group: list[Contender]) -> list[Contender]:
        """The fastest of a group by a few launches, as a list; nothing of nothing."""
        if not group:
            return []
        return [min(group, key=lambda one: statistics.median(self.visit(one, 7)))]

    def rounds(self, contenders: list[Contender], rounds: int) -> None:
        estimates = {one.name: statistics.median(self.visit(one, 3)) for one in contenders}
        for _ in range(rounds):
            for one in random.sample(contenders, len(contenders)):
                launches = max(5, min(50, int(_VISIT / estimates[one.name])))
                self.visit(one, 2)
                one.times.append(self.visit(one, launches))


def checked(
    contenders: list[Contender], data: Data, wrong: list[dict[str, Any]]
) -> list[Contender]:
    """Those that give the right result; the others are written down."""
    tolerance = _TOLERANCE[data.case.programs[0].dtype]
    good = []
    for one in contenders:
        try:
            data.poison()
            one.launch()
            torch.cuda.synchronize()
            exempt = one.name.endswith("without epilogue")
            error, elements = (0.0, 0) if exempt else data.errors()
        except Exception as problem:
            wrong.append({"name": one.name, "wrong": f"{type(problem).__name__}: {problem}"[:300]})
            continue
        if error <= tolerance and not elements:
            good.append(one)
        else:
            reason = f"relative error {error:.3g}, {elements} elements wrong"
            wrong.append({"name": one.name, "wrong": reason})
    return good


def measure(case: Case, sources: Contenders, timer: Timer, rounds: int) -> dict[str, Any]:
    data = Data(case)
    fixed, groups = sources.of(data)
    wrong: list[dict[str, Any]] = []
    contenders = checked(fixed, data, wrong)
    for group in groups:
        contenders += timer.best(checked(group, data, wrong))
    timer.rounds(contenders, rounds)
    ours = next((one for one in contenders if one.name.startswith("managed")), None)
    rows = [
        {
            "name": one.name,
            "us": round(one.us, 3),
            "range": [round(time, 3) for time in one.range],
            "tflops": round(case.flops / one.us / 1e6, 1),
            "ratio": round(one.us / ours.us, 4) if ours is not None else None,
        }
        for one in contenders
    ]
    return {"case": case.name, "contenders": rows + wrong}


def say(kind: str, data: Any) -> None:
    print(f"@{kind} {json.dumps(data)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("start", type=int)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    sources, timer = Contenders(Path(options.folder)), Timer()
    for index, case in enumerate(chosen(options.only)):
        if index < options.start:
            continue
        say("row", measure(case, sources, timer, options.rounds))
        say("done", index)
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
