"""Winners of searches in the cache on disk.

The key is everything that has a say in who wins: the kernel's source and hints, the configurations,
what the caller says distinguishes calls, the device, and the compiler. An entry is used only if its
configuration is among those to choose from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from ..runtime import disk_cache
from ..runtime.cache_file import Entry
from ..runtime.compiler_identity import compiler_identity
from ..runtime.content import NoContent, content_of
from .result import TuningResult

_KIND = "tuning"


def winner_key(kernel: Any, configs: Sequence[Any], call: Any, device: str) -> str | None:
    """The key of a search on disk; None if something in it has no content, such as a function in
    the kernel's closure."""
    try:
        parts = (
            compiler_identity(), kernel.name, kernel.source, repr(kernel.hints),
            *(repr(config) for config in configs), content_of(call), device,
        )  # fmt: skip
    except NoContent:
        return None
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def find_winner(key: str | None, configs: Sequence[Any]) -> Any | None:
    """The configuration that won, None if that is not known."""
    entry = disk_cache.look_up(_KIND, key) if key else None
    if entry is None:
        return None
    named = entry.facts.get("config")
    return next((config for config in configs if repr(config) == named), None)


def keep_winner(key: str | None, kernel: Any, device: str, result: TuningResult[Any]) -> None:
    """Keeps the best configuration of a search."""
    if key is None:
        return
    best = result.best
    facts = {
        "title": f"{kernel.name} on {device}: {best.config}, {best.mean_us:.2f} {result.unit}",
        "config": repr(best.config),
        "us": best.mean_us,
        "measured": len(result.successes),
        "failed": len(result.failures),
        "seconds": round(result.seconds, 3),
    }
    disk_cache.keep(Entry(_KIND, key, facts))
