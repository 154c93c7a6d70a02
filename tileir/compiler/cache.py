"""Programs compiled in this process, by what they were compiled from.

Only sources that cannot change under us have a key: bytes, text, and files by their contents.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileir.compiler.program import Program

_CAPACITY = 128


class ProgramCache:
    """The most recently used programs."""

    def __init__(self, capacity: int = _CAPACITY):
        self._capacity = capacity
        self._programs: OrderedDict[Hashable, Program] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self, source: Any, options: tuple[Hashable, ...], make: Callable[[], Program]
    ) -> Program:
        """The program made from `source` with `options`, made now if it is not there."""
        digest = _digest(source)
        if digest is None:
            return make()
        key = (digest, *options)
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
                return program
        program = make()
        with self._lock:
            self._programs[key] = program
            while len(self._programs) > self._capacity:
                self._programs.popitem(last=False)
        return program


def _digest(source: Any) -> str | None:
    """A name for the contents of a source; None for a module, which may change."""
    if isinstance(source, str) and "\n" not in source:
        source = Path(source)
    if isinstance(source, Path):
        try:
            # Errors name the file, so two files with the same contents are two sources.
            return hashlib.sha256(str(source).encode() + b"\0" + source.read_bytes()).hexdigest()
        except (OSError, ValueError):  # no file, or no file's name
            return None
    if isinstance(source, str):
        source = source.encode()
    if isinstance(source, bytes | bytearray | memoryview):
        return hashlib.sha256(source).hexdigest()
    return None
