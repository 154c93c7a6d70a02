"""Traces read back: slices, and what they cost by kernel, specialisation and pass."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tileir.errors import ToolError

#: What a compilation consists of, in order.
PARTS = ("front end", "passes", "LLVM", "ptxas")
_PART_OF_NAME = {
    "front end": "front end",
    "LLVM": "LLVM",
    "read module": "LLVM",
    "ptxas": "ptxas",
}


@dataclass(frozen=True)
class Span:
    """A slice of a trace; times in milliseconds."""

    name: str
    category: str
    start: float
    duration: float
    process: int
    facts: dict[str, Any]

    @property
    def part(self) -> str | None:
        """The part of a compilation that this is, None if it is none or holds several."""
        return "passes" if self.category == "pass" else _PART_OF_NAME.get(self.name)

    @property
    def key(self) -> Key:
        texts = (self.facts.get(name, "") for name in ("kernel", "specialization", "target"))
        return Key(*map(str, texts))


class Key(NamedTuple):
    """What is compiled: a kernel for the facts of its arguments and a target."""

    kernel: str
    specialization: str
    target: str


@dataclass
class Cost:
    """Milliseconds by part, and how often it was compiled and launched."""

    parts: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    compiled: int = 0
    processes: set[int] = field(default_factory=set)

    @property
    def total(self) -> float:
        return sum(self.parts.values())


def read_trace(path: str | Path) -> list[Span]:
    """The slices of a file in Chrome's format. Raises ToolError for any other file."""
    try:
        content = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise ToolError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise ToolError(f"{path} is no trace: {error}", remedy=_REMEDY) from None
    events = content.get("traceEvents") if isinstance(content, dict) else content
    if not isinstance(events, list):
        raise ToolError(f"{path} is no trace: it has no list of events", remedy=_REMEDY)
    try:
        return [_span(event) for event in events if event.get("ph") == "X"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ToolError(f"{path} is no trace: {error!r} in an event", remedy=_REMEDY) from None


_REMEDY = "write one with TILEIR_TRACE=FILE, or the option --trace of the tools"


def _span(event: dict[str, Any]) -> Span:
    return Span(
        str(event["name"]),
        str(event.get("cat", "")),
        float(event["ts"]) / 1e3,
        float(event.get("dur", 0)) / 1e3,
        int(event.get("pid", 0)),
        dict(event.get("args") or {}),
    )


def costs(spans: Iterable[Span]) -> dict[Key, Cost]:
    """What each specialisation cost to compile, the dearest first."""
    found: defaultdict[Key, Cost] = defaultdict(Cost)
    for span in spans:
        if span.part is None:
            continue
        cost = found[span.key]
        cost.parts[span.part] += span.duration
        if span.name == "LLVM":
            cost.compiled += 1
            cost.processes.add(span.process)
    return dict(sorted(found.items(), key=lambda item: -item[1].total))


def by_kernel(found: dict[Key, Cost]) -> dict[str, Cost]:
    """Costs of kernels, all specialisations together, the dearest first."""
    merged: defaultdict[str, Cost] = defaultdict(Cost)
    for key, cost in found.items():
        into = merged[key.kernel]
        for part, ms in cost.parts.items():
            into.parts[part] += ms
        into.compiled += cost.compiled
        into.processes |= cost.processes
    return dict(sorted(merged.items(), key=lambda item: -item[1].total))


def by_pass(spans: Iterable[Span]) -> list[tuple[str, int, float]]:
    """Names of passes, of LLVM and ptxas; how often each ran, and milliseconds, most first."""
    times: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for span in spans:
        if span.part is not None:
            times[span.name] += span.duration
            counts[span.name] += 1
    longest = sorted(times.items(), key=lambda item: -item[1])
    return [(name, counts[name], total) for name, total in longest]


def launches(spans: Iterable[Span]) -> dict[str, list[float]]:
    """Milliseconds that each launch of a kernel took the host."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for span in spans:
        if span.category == "launch" and span.name != "load":
            found[span.key.kernel].append(span.duration)
    return dict(found)


def lookups(spans: Iterable[Span]) -> tuple[int, int]:
    """Hits in the cache on disk, and specialisations that were looked for in vain."""
    found = [
        span for span in spans if span.name == "cache lookup" and span.facts.get("kind") == "kernel"
    ]
    hits = [span for span in found if span.facts.get("hit")]
    # A miss is looked for again behind the lock of those who compile.
    return len(hits), len({(span.process, span.key) for span in found if span not in hits})


def overlap(spans: Sequence[Span]) -> float:
    """How many compilations ran at once, on average over the time in which any did."""
    intervals = sorted((s.start, s.start + s.duration) for s in spans if s.part is not None)
    busy, end = 0.0, float("-inf")
    for start, stop in intervals:
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return sum(stop - start for start, stop in intervals) / busy if busy else 0.0
