"""Room for deep nesting: Python's limit on recursion, raised while kernels are traced.

The interpreter needs about fifteen of Python's frames for each call in a kernel.  They are Python
functions all the way, which take no space on the C stack.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LIMIT = 50_000
_lock = threading.Lock()
_users = 0
_before = 0


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raises the limit, which all threads share, until the last that wants it has left."""
    global _users, _before
    with _lock:
        if _users == 0:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, _LIMIT))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.setrecursionlimit(_before)
