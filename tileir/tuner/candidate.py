"""One configuration of a kernel, as far as it can be known before it is compiled."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import TileError
from ..runtime.array_view import view
from ..runtime.launch import normalize_grid
from ..runtime.specialize import Specialization, rule_of, specialize, with_defaults
from .result import Failure

T = TypeVar("T")


@dataclass(frozen=True)
class Candidate(Generic[T]):
    """A launch to be measured."""

    config: T
    kernel: Any
    grid: tuple[int, int, int]
    specialization: Specialization
    target: str

    @property
    def opt_level(self) -> int:
        return self.kernel.hints.level(self.target.rstrip("af"))

    def module(self) -> bytes:
        """The kernel as MLIR bytecode of cuda_tile. Raises TileError."""
        buffer = io.BytesIO()
        traced = self.kernel.trace(self.specialization.signature, self.target)
        traced.operation.write_bytecode(buffer)
        return buffer.getvalue()


@dataclass(frozen=True)
class Launches(Generic[T]):
    """What a search is about: how to launch the kernel for a configuration."""

    kernel: Callable[[T], Any]
    grid: Callable[[T], Any]
    args: Callable[[T], Sequence[Any]]
    hints: Callable[[T], Mapping[str, Any]]
    target: str
    stream: int = 0

    def candidate(self, config: T) -> Candidate[T] | Failure[T]:
        """The launch for a configuration, or what is wrong with it. Errors of the functions that
        the user gave are the user's, and go through, but for those of kernels and arguments."""
        try:
            kernel = self.kernel(config)
            hints = {name: hint for name, hint in self.hints(config).items() if hint is not None}
            if hints:
                kernel = kernel.replace_hints(**hints)
            rules = [rule_of(info) for info in kernel.parameters]
            whole = with_defaults(kernel.name, rules, tuple(self.args(config)))
            found = specialize(
                kernel.name, rules, whole, lambda value, name: view(value, name, self.stream)
            )
            return Candidate(config, kernel, normalize_grid(self.grid(config)), found, self.target)
        except (TileError, ValueError) as error:
            return Failure(config, type(error), str(error))
