"""The progress of a search, shown where somebody looks."""

from __future__ import annotations

import sys
from typing import Any

from .result import Failure, Measurement


class Progress:
    """Counts, and shows nothing."""

    def __init__(self) -> None:
        self.total = self.finished = self.failures = 0

    def expect(self, count: int) -> None:
        """So many more configurations will be measured."""
        self.total += count
        self._show("measuring", None)

    def refine(self, count: int) -> None:
        """The fastest are measured again."""
        self.total += count
        self._show("measuring the fastest again", None)

    def done(self, best: Measurement[Any] | None) -> None:
        self.finished += 1
        self._show(None, best)

    def failed(self, failure: Failure[Any]) -> None:
        self.finished += 1
        self.failures += 1
        self._show(None, None)

    def _show(self, what: str | None, best: Measurement[Any] | None) -> None:
        pass

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class ProgressBar(Progress):
    """A bar on standard error: how many of how many, how many failed, the best so far."""

    def __init__(self, title: str):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        super().__init__()
        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("{task.fields[note]}"),
            console=Console(file=sys.stderr), transient=True,
        )  # fmt: skip
        self._title = title
        self._task = self._bar.add_task(title, total=0, note="")
        self._best = ""

    def _show(self, what: str | None, best: Measurement[Any] | None) -> None:
        if best is not None:
            self._best = f"best {best.mean_us:.2f}: {best.config}"
        failed = f"{self.failures} failed  " if self.failures else ""
        if what is not None:
            self._bar.update(self._task, description=f"{self._title}: {what}")
        self._bar.update(
            self._task, total=self.total, completed=self.finished, note=failed + self._best
        )

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def progress_for(title: str, quiet: bool) -> Progress:
    """A bar if standard error is a terminal and `rich` is installed, unless `quiet`."""
    if quiet or not sys.stderr.isatty():
        return Progress()
    try:
        return ProgressBar(title)
    except ImportError:
        return Progress()
