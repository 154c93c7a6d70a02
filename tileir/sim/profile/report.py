"""A profile as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .kinds import matrix_work
from .sites import Accesses

if TYPE_CHECKING:
    from .profiler import Profile

_TEXT = 44


def report(profile: Profile) -> str:
    """Tables of instructions, bytes, accesses to global and shared memory, tensor cores."""
    parts = [
        _instructions(profile),
        _bytes(profile),
        _global(profile),
        _shared(profile),
        _matrices(profile),
    ]
    return "\n\n".join(part for part in parts if part)


def _instructions(profile: Profile) -> str:
    rows = [[kind, str(count)] for kind, count in sorted(profile.instructions.items())]
    total = str(sum(profile.instructions.values()))
    return _table(["instructions", "warps"], [*rows, ["all", total]])


def _bytes(profile: Profile) -> str:
    spaces = sorted({space for space, _ in profile.bytes})
    rows = [[s, *(str(profile.bytes[s, way]) for way in ("read", "written"))] for s in spaces]
    return _table(["bytes", "read", "written"], rows)


def _global(profile: Profile) -> str:
    rows = [
        [
            _text(one), one.location, str(one.requests), str(one.bytes_per_lane),
            f"{one.sectors_per_request:.1f}", f"{min(1.0, one.sector_use):.0%}",
        ]
        for one in profile.accesses
        if one.space == "global"
    ]  # fmt: skip
    header = ["global memory", "at", "requests", "bytes a lane", "sectors a request", "used"]
    return _table(header, rows)


def _shared(profile: Profile) -> str:
    rows = [
        [
            _text(one), one.location, str(one.requests), str(one.bytes_per_lane),
            str(one.wavefronts), str(one.conflicts),
        ]
        for one in profile.shared
    ]  # fmt: skip
    header = ["shared memory", "at", "requests", "bytes a lane", "wavefronts", "conflicts"]
    return _table(header, rows)


def _matrices(profile: Profile) -> str:
    work: dict[str, list[int]] = {}
    for site, count in profile.executed.items():
        each = matrix_work(site)
        if each and count:
            found = work.setdefault(site.opcode, [0, 0])
            found[0] += count
            found[1] += count * each
    rows = [[opcode, str(count), str(done)] for opcode, (count, done) in sorted(work.items())]
    return _table(["tensor cores", "warps", "operations"], rows)


def _text(one: Accesses) -> str:
    text = one.site.text
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 3]}..."


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Words to the left, numbers to the right; nothing without rows."""
    if not rows:
        return ""
    numbers = [all(row[k][:1].isdigit() for row in rows) for k in range(len(header))]
    width = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    lines = []
    for row in (header, *rows):
        cells = [
            cell.rjust(size) if number else cell.ljust(size)
            for cell, size, number in zip(row, width, numbers, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
