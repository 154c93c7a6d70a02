"""Optimisation levels: how much work goes into a kernel, and what each level leaves out.

Chosen from measurements (docs/compile-time.md). Half of the time goes to ptxas, whose own levels
change it little; LLVM takes a sixth, half of it for passes that ptxas mostly does again; the rest
is passes of ours, of which those that overlap work make code that is larger, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from tileir.errors import TileError

FastCompile = Literal["min", "mid", "max"]


@dataclass(frozen=True)
class Effort:
    """What one optimisation level does.

    `llvm`: LLVM's optimisation level; at 0 it only selects instructions, and common
    subexpressions are removed before. `ptxas`: the assembler's options. `left_out`: passes that do
    not run.
    """

    llvm: int
    ptxas: tuple[str, ...]
    left_out: frozenset[str] = frozenset()


#: Passes that let the work of one block, or of several, overlap.
_OVERLAPPING = frozenset({
    "regroup-rounds", "persist-blocks", "swizzle-blocks", "overlap-products", "specialize-warps",
})  # fmt: skip

#: By optimisation level.
EFFORTS = (
    Effort(0, ("-Ofc", "mid"), _OVERLAPPING | {"pipeline-loads"}),
    Effort(0, ("-Ofc", "mid"), _OVERLAPPING),
    Effort(0, ("-O3",)),
    Effort(3, ("-O3",)),
)

#: Other names for levels, after nvcc's `--Ofast-compile`.
_LEVEL_OF: dict[FastCompile, int] = {"min": 2, "mid": 1, "max": 0}


def effort_of(opt_level: int) -> Effort:
    """What a level does."""
    return EFFORTS[opt_level]


def choose_level(opt_level: int, fast_compile: str | None) -> int:
    """The level that both options ask for. Raises TileError if they contradict one another."""
    if opt_level not in range(len(EFFORTS)):
        raise TileError(f"optimisation level must be 0 to 3, not {opt_level}")
    if fast_compile is None:
        return opt_level
    if fast_compile not in get_args(FastCompile):
        raise TileError(f"fast compile must be 'min', 'mid' or 'max', not '{fast_compile}'")
    level = _LEVEL_OF[cast(FastCompile, fast_compile)]
    if opt_level not in (3, level):
        raise TileError(
            f"fast compile '{fast_compile}' is optimisation level {level}, not {opt_level}",
            remedy="give one of the two",
        )
    return level
