"""Says what takes the time of a program that compiles and launches kernels, and what to do.

    TILEIR_TRACE=trace.json python program.py
    tileir advise trace.json

Times are milliseconds of all processes together.
"""

from __future__ import annotations

import argparse
import json
import shutil
import textwrap
from collections.abc import Sequence

from tileir.advice import Advice, advise, table
from tileir.trace_reader import (
    PARTS,
    Span,
    by_kernel,
    by_pass,
    costs,
    launches,
    lookups,
    read_trace,
)

HELP = "say which kernels, passes and specialisations of a trace cost most, and what to do"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="trace; several are added up")
    parser.add_argument("--top", type=int, default=10, help="rows of each table (default 10)")
    parser.add_argument("--json", action="store_true", help="print the advice as JSON")


def run(options: argparse.Namespace) -> int:
    spans = [span for file in options.files for span in read_trace(file)]
    advice = advise(spans)
    if options.json:
        print(json.dumps([{"saves_ms": round(a.saves, 3), "text": a.text} for a in advice]))
        return 0
    print(report(spans, advice, options.top))
    return 0


def report(spans: Sequence[Span], advice: Sequence[Advice], top: int) -> str:
    """Tables of kernels, passes and specialisations, then the advice."""
    sections = [_kernels(spans, top), _passes(spans, top), _specializations(spans, top)]
    hits, misses = lookups(spans)
    sections.append(f"cache on disk: {hits} found, {misses} not found")
    width = min(shutil.get_terminal_size().columns, 100)
    lines = [
        textwrap.fill(
            f"{number}. {one.text} (saves {one.saves:.0f} ms)", width, subsequent_indent="   "
        )
        for number, one in enumerate(advice[:top], 1)
    ]
    sections.append("what to do\n" + ("\n".join(lines) or "nothing: little time goes anywhere"))
    return "\n\n".join(section for section in sections if section)


def _kernels(spans: Sequence[Span], top: int) -> str:
    found = by_kernel(costs(spans))
    launched = launches(spans)
    total = sum(cost.total for cost in found.values()) or 1.0
    rows = []
    for kernel, cost in list(found.items())[:top]:
        times = launched.get(kernel, [])
        rows.append([
            kernel or "(no name)", str(cost.compiled),
            *(f"{cost.parts[part]:.1f}" for part in PARTS),
            f"{cost.total:.1f}", f"{cost.total / total:.0%}", str(len(times)), f"{sum(times):.1f}",
        ])  # fmt: skip
    titles = ["kernel", "compiled", *PARTS, "total", "", "launches", "ms"]
    return table(titles, rows) if rows else ""


def _passes(spans: Sequence[Span], top: int) -> str:
    rows = by_pass(spans)
    total = sum(ms for _, _, ms in rows) or 1.0
    shown = [[name, str(n), f"{ms:.1f}", f"{ms / total:.0%}"] for name, n, ms in rows[:top]]
    return table(["pass or tool", "runs", "total", ""], shown) if shown else ""


def _specializations(spans: Sequence[Span], top: int) -> str:
    rows = [
        [f"{key.kernel}({key.specialization}) for {key.target}", f"{cost.total:.1f}"]
        for key, cost in costs(spans).items()
        if key.specialization
    ]
    return table(["specialisation", "total"], rows[:top]) if rows else ""
