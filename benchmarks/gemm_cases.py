"""The matrix products that are timed, and the tile that the rule picks for each.

The rule is `tileir.compiler.hopper.choose_tile`; where a tile whose sizes are not powers of two, or
sums that blocks share, are predicted to be faster, those are timed as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gemm_program import Gemm

from tileir.compiler.hopper import choose_split, choose_tile

#: Shapes (M, N, K) that must be fast.
SHAPES = (
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (3000, 3000, 3000),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (8192, 8192, 1024),
    (4096, 14336, 4096),
    (4096, 4096, 14336),
    (128, 8192, 8192),
    (16, 8192, 8192),
)
#: Shapes at which hand-written kernels lose, too.
WEAK = ((4104, 4104, 4104), (512, 512, 16384), (1024, 1024, 8192), (1536, 1536, 1536))


@dataclass(frozen=True)
class Case:
    """One product of m x n x k and the programs that compute it, the rule's first."""

    group: str
    m: int
    n: int
    k: int
    programs: tuple[Gemm, ...]

    @property
    def name(self) -> str:
        first = self.programs[0]
        words = [self.group, f"{self.m}x{self.n}x{self.k}", first.dtype, f"n{'nt'[first.b == 'k']}"]
        words += [first.epilogue] if first.epilogue else []
        words += ["promoted"] if first.promote else []
        return "/".join(words)

    @property
    def flops(self) -> int:
        return 2 * self.m * self.n * self.k


def cases() -> list[Case]:
    """All cases, in the order of the table."""
    found = []
    for group, shapes in (("target", SHAPES), ("weak", WEAK)):
        for shape in shapes:
            for b in ("n", "k"):
                found.append(Case(group, *shape, _programs(shape, dtype="bf16", b=b)))
    found += [Case("f16", *([n] * 3), (_of(n, dtype="f16"),)) for n in (2048, 4096, 8192)]
    found += _other_types()
    found += _epilogues()
    return found


def _divisor(shape: tuple[int, int, int]) -> int:
    return next(d for d in (16, 8, 4, 2, 1) if all(size % d == 0 for size in shape))


def _programs(shape: tuple[int, int, int], **fields: Any) -> tuple[Gemm, ...]:
    """The rule's program, the one with an extended tile if the rule prefers that, and one whose
    blocks share sums over k."""
    divisor = _divisor(shape)
    tiles = dict.fromkeys(
        choose_tile(*shape, on_lines=divisor >= 16, extended=extended) for extended in (False, True)
    )
    programs = [Gemm(*tile, divisor=divisor, **fields) for tile in tiles]
    shared = choose_split(*shape)
    if shared is not None:
        tile, split = shared
        programs.append(Gemm(*tile, divisor=divisor, split=split, **fields))
    return tuple(programs)


def _of(size: int, **fields: Any) -> Gemm:
    return _programs((size, size, size), **fields)[0]


def _other_types() -> list[Case]:
    wide = Gemm(128, 256, 128, "f8E4M3FN", "bf16", "k")
    return [
        Case("fp8", 8192, 8192, 8192, (wide,)),
        Case("fp8", 8192, 8192, 8192, (replace(wide, bn=192, promote=True),)),
        Case("tf32", 4096, 4096, 4096, (Gemm(128, 256, 32, "tf32", "", "k"),)),
        Case("int8", 4096, 4096, 4096, (Gemm(128, 128, 128, "i8", "", "k"),)),
    ]


def _epilogues() -> list[Case]:
    words = ("", "bias_relu", "bias_residual_gelu")
    return [
        Case("epilogue", 4096, 4096, 4096, (_of(4096, dtype="bf16", epilogue=epilogue),))
        for epilogue in words
    ] + [
        Case("epilogue", 2048, 2048, 2048, (_of(2048, dtype="bf16", epilogue=epilogue),))
        for epilogue in words
    ]


#: The sweep: every tile must compile without spills and run within a factor of the best.
SWEEP = [
    Gemm(bm, bn, bk, "bf16")
    for bm in (64, 128, 256)
    for bn in (64, 128, 256)
    for bk in (32, 64, 128)
]


def hinted() -> list[Case]:
    """Programs without hints, and with all combinations that people try."""
    found = []
    for size in (2048, 4096):
        plain = _of(size, dtype="bf16")
        combinations = [
            f"num_worker_warps_per_cta = {warps}, occupancy = {occupancy}, "
            f"num_cta_in_cga = {blocks}"
            for warps in (4, 8)
            for occupancy in (1, 2)
            for blocks in (1, 2)
        ]
        programs = (plain, *(replace(plain, hints=hints) for hints in combinations))
        found.append(Case("hints", size, size, size, programs))
    return found


def peers_of(gemm: Gemm, configurations: list[dict[str, Any]]) -> list[Gemm]:
    """The program with each of the peer's tiles and hints; bk is given for 16-bit types."""
    scale = 2 if gemm.dtype in ("i8", "f8E4M3FN", "f8E5M2") else 1
    return [replace(gemm, **{**one, "bk": one["bk"] * scale}) for one in configurations]
