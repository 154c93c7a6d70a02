"""The table of who waits for what when no thread can go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .cohort import Cohort

if TYPE_CHECKING:
    from .launch import Launch

_ROWS = 12
_DETAILS = 4
_TEXT = 90


class Waiting(NamedTuple):
    """Threads that wait for `what`; `details` say what is missing."""

    cohort: Cohort
    what: str
    details: Sequence[str] = ()


def table(launch: Launch, waiting: Sequence[Waiting]) -> str:
    """One row for each group of threads: how many, where, what for, what is missing."""
    lines = [_row(launch, one) for one in waiting[:_ROWS]]
    if len(waiting) > _ROWS:
        lines.append(f"and {len(waiting) - _ROWS} more groups of threads")
    if launch.pending:
        lines.append(f"{len(launch.pending)} asynchronous operations are under way")
    return "\n  ".join(["deadlock: no thread can go on", *lines])


def _row(launch: Launch, one: Waiting) -> str:
    cohort = one.cohort
    site = launch.code.site_of_block(cohort.pc)
    first = launch.thread_name(int(cohort.threads[cohort.active][0]))
    number = f"{cohort.count} threads wait" if cohort.count > 1 else "1 thread waits"
    text = site.text if len(site.text) <= _TEXT else f"{site.text[: _TEXT - 3]}..."
    place = f"{site.location}, " if site.location else ""
    row = f"{number} for {one.what} at PTX line {site.line} ({place}`{text}`), from {first} on"
    details = [*one.details[:_DETAILS]]
    if len(one.details) > _DETAILS:
        details.append(f"and {len(one.details) - _DETAILS} more")
    return ": ".join([row, "; ".join(details)]) if details else row
