"""Kernels as PyTorch operations on a GPU: values and times beside PyTorch's own.

    python benchmarks/torch_ops.py [--size 4096] [--json FILE]

For vector addition and relu(a @ b + bias) of examples/torch_ops.py, forward alone and with the
backward pass: eager, under torch.compile (without graph breaks) and as a CUDA graph. Errors are the
largest against float64, relative to the largest value. A time is the median of many runs, each
with a cold L2 cache, by CUDA events; "call" is what the host needs for a call of a small operation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import torch_ops  # pyright: ignore[reportMissingImports]

Tensors = Sequence[torch.Tensor]
Function = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Case:
    """An operation of ours, PyTorch's for the same, and arguments that require gradients."""

    name: str
    ours: Function
    torch: Function
    arguments: tuple[torch.Tensor, ...]
    tolerance: float


def cases(size: int) -> list[Case]:
    def tensor(*shape: int, dtype: torch.dtype) -> torch.Tensor:
        values = torch.randn(*shape, device="cuda", dtype=torch.float64)
        return values.to(dtype).requires_grad_()

    length, bf16 = 4 * size * size, torch.bfloat16
    vectors = tensor(length, dtype=torch.float32), tensor(length, dtype=torch.float32)
    a, b = tensor(size, size, dtype=bf16), tensor(size, size, dtype=bf16)
    bias = tensor(size, dtype=bf16)
    return [
        Case(f"add, {length} f32", torch_ops.add, torch.add, vectors, 1e-7),
        Case(
            f"relu(a @ b + bias), {size}x{size}x{size} bf16",
            torch_ops.matmul_bias_relu,
            lambda a, b, bias: torch.relu(torch.addmm(bias, a, b)),
            (a, b, bias),
            # Gradients differ by whole values where a sum rounds to zero in bf16 and is none.
            2.5e-2,
        ),
    ]


# ---- what is run ---------------------------------------------------------------------------------


def forward(function: Function) -> Callable[[Tensors], Tensors]:
    def run(arguments: Tensors) -> Tensors:
        with torch.no_grad():
            return (function(*arguments),)

    return run


def forward_and_backward(function: Function) -> Callable[[Tensors], Tensors]:
    def run(arguments: Tensors) -> Tensors:
        result = function(*arguments)
        return (result, *torch.autograd.grad(result, arguments, torch.ones_like(result)))

    return run


def graphed(run: Callable[[Tensors], Tensors], arguments: Tensors) -> Callable[[Tensors], Tensors]:
    """The launches of `run` as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run(arguments)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = run(arguments)

    def replay(_: Tensors) -> Tensors:
        graph.replay()
        return results

    return replay


# ---- measuring -----------------------------------------------------------------------------------


def milliseconds(run: Callable[[], Any], repeat: int = 50) -> float:
    """Median time on the device; the L2 cache is overwritten before each run."""
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    for _ in range(5):
        run()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeat)]
    for start, end in events:
        flush.zero_()
        start.record()
        run()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in events)


def call_microseconds(function: Function, arguments: Tensors, repeat: int = 2000) -> float:
    """Time of the host for a call, the device being idle most of the time."""
    with torch.no_grad():
        for _ in range(20):
            function(*arguments)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeat):
            function(*arguments)
        seconds = time.perf_counter() - start
    torch.cuda.synchronize()
    return seconds / repeat * 1e6


def error(results: Tensors, reference: Tensors) -> float:
    """The largest error of any result, relative to the largest value of that result."""
    return max(
        ((got.double() - want).abs().max() / want.abs().max()).item()
        for got, want in zip(results, reference, strict=True)
    )


def measure(case: Case) -> list[dict[str, Any]]:
    rows = []
    for what, wrap in (("forward", forward), ("forward + backward", forward_and_backward)):
        exact = [argument.detach().double().requires_grad_() for argument in case.arguments]
        reference = [result.detach() for result in wrap(case.torch)(exact)]
        del exact
        ours, theirs = wrap(case.ours), wrap(case.torch)
        compiled = wrap(torch.compile(case.ours, fullgraph=True))
        variants = {
            "tileir": ours,
            "tileir, torch.compile": compiled,
            "tileir, CUDA graph": graphed(ours, case.arguments),
            "PyTorch": theirs,
            "PyTorch, torch.compile": wrap(torch.compile(case.torch, fullgraph=True)),
            "PyTorch, CUDA graph": graphed(theirs, case.arguments),
        }
        for name, run in variants.items():
            results = run(case.arguments)
            row = {
                "case": case.name,
                "pass": what,
                "variant": name,
                "error": error(results, reference),
                "ms": milliseconds(lambda run=run: run(case.arguments)),
            }
            rows.append(row)
            good = row["error"] <= case.tolerance
            print(
                f"  {what:<19} {name:<24} {row['ms']:8.3f} ms   error {row['error']:.1e}"
                f"{'' if good else '  TOO LARGE'}",
                flush=True,
            )
        same = all(map(torch.equal, ours(case.arguments), variants["tileir, CUDA graph"](())))
        print(f"  {what:<19} eager and CUDA graph are {'bit-equal' if same else 'DIFFERENT'}")
    return rows


def host_time() -> dict[str, float]:
    """Microseconds for a call of addition of two small vectors."""
    x, y = torch.randn(1024, device="cuda"), torch.randn(1024, device="cuda")
    out = torch.empty_like(x)

    def launch_alone(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        torch_ops.tileir.torch.launch((1,), torch_ops.add_kernel, (x, y, out, 1024))
        return out

    functions = {
        "tileir.torch.launch": launch_alone,
        "operation of tileir": torch_ops.add,
        "torch.add": torch.add,
    }
    return {name: call_microseconds(function, (x, y)) for name, function in functions.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="PyTorch operations of tileir on a GPU.")
    parser.add_argument("--size", type=int, default=4096, help="rows and columns (%(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("there is no GPU", file=sys.stderr)
        return 1
    torch.manual_seed(0)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    rows: list[dict[str, Any]] = []
    chosen = cases(arguments.size)
    for case in chosen:
        print(case.name)
        rows += measure(case)
    calls = host_time()
    print("call of a small operation, host time")
    for name, microseconds in calls.items():
        print(f"  {name:<24} {microseconds:8.1f} us")
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "calls": calls}, indent=1))
    limits = {case.name: case.tolerance for case in chosen}
    return 0 if all(row["error"] <= limits[row["case"]] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
