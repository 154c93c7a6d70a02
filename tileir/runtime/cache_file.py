"""One entry of the cache in a file: facts as JSON, then sections of bytes, all under a checksum.

    tileir-cache 1\\n            what this is
    SHA-256                     32 bytes, of all that follows
    length of the header        8 bytes, little endian
    header                      {"kind", "key", "created", "facts", "sections": [[name, size], ...]}
    sections

Nothing in it is executed or unpickled when it is read.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MAGIC = b"tileir-cache 1\n"
_DIGEST_BYTES = 32
_START = len(_MAGIC) + _DIGEST_BYTES
_LENGTH_BYTES = 8
#: Bytes from which `read_header` can tell what a file of the usual kind is.
HEAD_BYTES = 1 << 18


class Damaged(Exception):
    """The bytes are no entry, or not the one that was looked for."""


@dataclass(frozen=True)
class Entry:
    """What is kept under one key. `facts` are JSON values, `sections` bytes by name."""

    kind: str
    key: str
    facts: Mapping[str, Any]
    sections: Mapping[str, bytes] = field(default_factory=dict)
    created: float = 0.0


def pack(entry: Entry) -> bytes:
    """The file of an entry."""
    header = json.dumps(
        {
            "kind": entry.kind,
            "key": entry.key,
            "created": entry.created or time.time(),
            "facts": entry.facts,
            "sections": [[name, len(data)] for name, data in entry.sections.items()],
        }
    ).encode()
    body = len(header).to_bytes(_LENGTH_BYTES, "little") + header
    body += b"".join(entry.sections.values())
    return _MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytes, kind: str, key: str) -> Entry:
    """The entry in a file. Raises Damaged where any bit is not as it was written, or where it is
    another entry than the one wanted."""
    view = memoryview(data)
    if view[: len(_MAGIC)] != _MAGIC:
        raise Damaged
    if hashlib.sha256(view[_START:]).digest() != view[len(_MAGIC) : _START]:
        raise Damaged
    entry, sizes, position = read_header(data)
    if (entry.kind, entry.key) != (kind, key):
        raise Damaged
    sections = {}
    for name, size in sizes:
        sections[name] = bytes(view[position : position + size])
        position += size
    if position != len(view):
        raise Damaged
    return Entry(entry.kind, entry.key, entry.facts, sections, entry.created)


def read_header(data: bytes) -> tuple[Entry, list[tuple[str, int]], int]:
    """What the start of a file says, unverified: the entry without its sections, their sizes and
    where they start. Raises Damaged."""
    try:
        if data[: len(_MAGIC)] != _MAGIC:
            raise Damaged
        start = _START + _LENGTH_BYTES
        end = start + int.from_bytes(data[_START:start], "little")
        if end > len(data):
            raise Damaged
        header = json.loads(data[start:end])
        sizes = [(str(name), int(size)) for name, size in header["sections"]]
        if any(size < 0 for _, size in sizes) or not isinstance(header["facts"], dict):
            raise Damaged
        entry = Entry(
            str(header["kind"]), str(header["key"]), header["facts"],
            created=float(header["created"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise Damaged from error
    return entry, sizes, end
