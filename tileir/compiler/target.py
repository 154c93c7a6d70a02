"""GPU architectures that the compiler knows, and what each one has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tileir.errors import UnsupportedError

#: The lowest PTX version that has each architecture. A driver refuses PTX newer than itself, so
#: the lowest that works is the right one. (PTX ISA, release notes.)
_PTX_VERSION = {
    80: 70, 86: 71, 87: 74, 88: 90, 89: 78, 90: 80, 100: 86, 103: 88, 110: 90, 120: 87, 121: 88,
}  # fmt: skip

#: Shared memory that one block may use, in KiB. (CUDA C++ Programming Guide, compute capabilities.)
#: The system takes another one for each block.
_SHARED_KIB = {
    80: 163, 86: 99, 87: 163, 88: 99, 89: 99, 90: 227, 100: 227, 103: 227, 110: 227, 120: 99,
    121: 99,
}  # fmt: skip


#: Architecture-specific variants (a) and family-specific ones (f). (PTX ISA, `.target`.)
_FIRST_WITH_SUFFIX = {"": 80, "a": 90, "f": 100}


@dataclass(frozen=True)
class Target:
    """One architecture: `sm_90a` has capability 90 and the suffix `a`."""

    capability: int
    suffix: str

    @staticmethod
    def parse(name: str) -> Target:
        """The target called `name`. From sm_90 on, a bare number means its `a` variant.

        Raises UnsupportedError for an architecture that is not known.
        """
        match = re.fullmatch(r"sm_([0-9]{1,4})([af]?)", name) if isinstance(name, str) else None
        capability, suffix = (int(match[1]), match[2]) if match else (-1, "")
        if capability not in _PTX_VERSION or capability < _FIRST_WITH_SUFFIX[suffix]:
            known = ", ".join(f"sm_{c}{'a' if c >= 90 else ''}" for c in _PTX_VERSION)
            raise UnsupportedError(f"unknown target '{name}'", remedy=f"choose one of {known}")
        return Target(capability, suffix or ("a" if capability >= 90 else ""))

    def __str__(self) -> str:
        return f"sm_{self.capability}{self.suffix}"

    @property
    def ptx_version(self) -> int:
        """Lowest PTX ISA version for this target, times ten; family targets need 8.8."""
        version = _PTX_VERSION[self.capability]
        return max(version, 88) if self.suffix == "f" else version

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that one block may use."""
        return self.shared_bytes_of(1)

    def shared_bytes_of(self, blocks: int) -> int:
        """Bytes of shared memory that each of so many blocks of a multiprocessor may use."""
        return (_SHARED_KIB[self.capability] + 1) * 1024 // blocks - 1024

    @property
    def hint_key(self) -> str:
        """The key of this architecture in `optimization_hints`."""
        return f"sm_{self.capability}"
