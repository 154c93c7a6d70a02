"""Python's collector of cyclic garbage, which rests while a module is compiled.

Passes make tens of thousands of short-lived objects and next to no cycles. The collector would look
for some every few hundred objects, and now and then through all that the process holds: a tenth of
the time of passes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from types import TracebackType

#: Seconds after which threads that compile without a break have garbage collected nevertheless.
_LONGEST = 1.0


class CollectorPause(contextlib.ContextDecorator):
    """Keeps the collector from running while any thread is inside a `with` statement on it, or in
    a function that it decorates. Pauses nest. Who had switched the collector off finds it off
    afterwards.
    """

    def __init__(self, longest: float = _LONGEST) -> None:
        self._longest = longest
        self._lock = threading.Lock()
        self._inside = 0
        self._was_enabled = False
        self._since = 0.0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
                self._since = time.monotonic()
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._inside == 0:
                return  # forked inside: see `forget`
            self._inside -= 1
            if not self._was_enabled:
                return
            if self._inside == 0:
                gc.enable()
                return
            is_due = time.monotonic() - self._since > self._longest
            if is_due:
                self._since = time.monotonic()
        if is_due:  # outside the lock: finalisers may compile
            gc.collect()

    def forget(self) -> None:
        """In a forked child: the threads that were inside are not there."""
        self._lock = threading.Lock()
        if self._inside and self._was_enabled:
            gc.enable()
        self._inside = 0


#: The pause that all compilations of this process share.
collector_pause = CollectorPause()
os.register_at_fork(after_in_child=collector_pause.forget)
