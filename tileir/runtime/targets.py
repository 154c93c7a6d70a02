"""Which compiled images run on which device."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import LaunchError

_TARGET = re.compile(r"sm_(\d+)(\d)([af]?)")


@dataclass(frozen=True)
class ImageTarget:
    """What an image was compiled for: `sm_90a` is major 9, minor 0, suffix `a`.

    Suffix `a` ties code to one architecture, `f` to a family (one major version).
    """

    major: int
    minor: int
    suffix: str = ""

    @classmethod
    def parse(cls, name: str) -> ImageTarget:
        """The target called `name`. Raises LaunchError if that is no target's name."""
        match = _TARGET.fullmatch(name)
        if match is None:
            raise LaunchError(f"'{name}' is not a target name", remedy="for example sm_90a")
        return cls(int(match[1]), int(match[2]), match[3])

    def runs_cubin_on(self, capability: tuple[int, int]) -> bool:
        """Whether machine code for this target runs on a device of that compute capability."""
        if self.suffix == "a":
            return capability == (self.major, self.minor)
        return capability[0] == self.major and capability[1] >= self.minor

    def runs_ptx_on(self, capability: tuple[int, int]) -> bool:
        """Whether the driver can compile PTX for this target for the device."""
        if self.suffix:
            return self.runs_cubin_on(capability)
        return capability >= (self.major, self.minor)

    def closeness(self) -> tuple[int, int, bool]:
        """Sorts the targets that run on one device: the largest fits it best."""
        return (self.major, self.minor, self.suffix == "a")


def native_target(capability: tuple[int, int]) -> str:
    """The target to compile for, given a device: the `a` variant where there is one."""
    major, minor = capability
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")
