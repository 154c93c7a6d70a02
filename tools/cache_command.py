"""Looks after the cache of compiled kernels.

tileir cache ls [TEXT ...]     entries whose name, kind or key contains one of the texts
tileir cache rm TEXT ...       removes those; --all removes everything
tileir cache stats             how many there are, how large, and what they save
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

from tileir.errors import CacheError
from tileir.runtime.disk_cache import DiskCache, Stored, disk_cache

HELP = "list and remove compiled kernels that are kept on disk"
_KEY_SHOWN = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ls|rm|stats")
    for name, action, explanation in (
        ("ls", _list, "list entries, those used last first"),
        ("rm", _remove, "remove entries"),
        ("stats", _stats, "sum up"),
    ):
        command = actions.add_parser(name, help=explanation)
        command.set_defaults(action=action)
        if name != "stats":
            command.add_argument("texts", nargs="*", metavar="TEXT", help="part of name or key")
        if name == "rm":
            command.add_argument("--all", action="store_true", help="everything")
        else:
            command.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    cache = disk_cache()
    if cache is None:
        raise CacheError(
            "the cache is switched off", remedy="TILEIR_CACHE_DIR and TILEIR_CACHE_SIZE say so"
        )
    return options.action(cache, options)


def _chosen(stored: Sequence[Stored], texts: Sequence[str]) -> list[Stored]:
    def fields(one: Stored) -> tuple[str, ...]:
        return one.entry.kind, one.entry.key, _title(one)

    return [
        one
        for one in stored
        if not texts or any(text in field for text in texts for field in fields(one))
    ]


def _list(cache: DiskCache, options: argparse.Namespace) -> int:
    chosen = _chosen(cache.entries(), options.texts)
    if options.json:
        print(json.dumps([_as_json(one) for one in chosen], indent=1))
        return 0
    now = time.time()
    for one in chosen:
        print(
            f"{one.entry.key[:_KEY_SHOWN]}  {one.entry.kind:<7} {_size(one.size):>9}  "
            f"{_seconds(one):6.2f} s  {_age(now - one.used):>5}  {_title(one)}"
        )
    return 0


def _remove(cache: DiskCache, options: argparse.Namespace) -> int:
    if not options.texts and not options.all:
        raise CacheError("nothing to remove", remedy="give part of a name or key, or --all")
    chosen = _chosen(cache.entries(), [] if options.all else options.texts)
    for one in chosen:
        cache.remove(one.entry)
    size = sum(one.size for one in chosen)
    print(f"{len(chosen)} entries removed, {_size(size)}")
    return 0


def _stats(cache: DiskCache, options: argparse.Namespace) -> int:
    stored = cache.entries()
    size = sum(one.size for one in stored)
    kinds = {one.entry.kind for one in stored}
    seconds = sum(_seconds(one) for one in stored)
    facts: dict[str, Any] = {
        "folder": str(cache.folder),
        "entries": len(stored),
        "bytes": size,
        "limit": cache.limit,
        "kinds": {kind: sum(one.entry.kind == kind for one in stored) for kind in sorted(kinds)},
        "seconds": round(seconds, 3),
    }
    if options.json:
        print(json.dumps(facts, indent=1))
        return 0
    counts = ", ".join(f"{count} {kind}" for kind, count in facts["kinds"].items())
    print(f"folder   {cache.folder}")
    print(f"entries  {len(stored)}{f' ({counts})' if counts else ''}")
    print(f"size     {_size(size)} of {_size(cache.limit)}")
    print(f"saves    {seconds:.1f} s of compilation")
    return 0


def _seconds(one: Stored) -> float:
    """What it took to make an entry."""
    seconds = one.entry.facts.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _title(one: Stored) -> str:
    """What an entry is of. Nobody has verified it: it may hold anything."""
    title = str(one.entry.facts.get("title", ""))
    return "".join(character if character.isprintable() else "?" for character in title)


def _as_json(one: Stored) -> dict[str, Any]:
    entry = one.entry
    return {
        "kind": entry.kind, "key": entry.key, "bytes": one.size, "used": one.used,
        "created": entry.created, "facts": entry.facts,
    }  # fmt: skip


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("the last unit returns")


def _age(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
