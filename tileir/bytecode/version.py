"""Versions of the bytecode format."""

from __future__ import annotations

from typing import NamedTuple

from tileir.errors import BytecodeError


class Version(NamedTuple):
    """Major and minor number; ordered, printed `13.3`."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


V13_1, V13_2, V13_3, V13_4, V13_5 = SUPPORTED = tuple(Version(13, minor) for minor in range(1, 6))


def parse_version(text: str | Version) -> Version:
    """The version that `text` (`"13.3"`) names; `BytecodeError` unless it is a supported one."""
    for version in SUPPORTED:
        if str(text) == str(version):
            return version
    raise BytecodeError(
        f"bytecode version {text} is not supported",
        remedy=f"choose one of {', '.join(map(str, SUPPORTED))}",
    )
