"""The matrix products that are timed, and the tile that the rule picks for each.

The rule is that of docs/hopper.md: stream narrow products, 128x128 tiles for K up to 2048, 128x256
beyond, smaller tiles where those would leave multiprocessors idle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gemm_program import Gemm

#: Shapes (M, N, K) and the tile (bm, bn, bk) for 16-bit types.
SHAPES = {
    (512, 512, 512): (64, 64, 64),
    (1024, 1024, 1024): (64, 128, 64),
    (2048, 2048, 2048): (128, 128, 64),
    (3000, 3000, 3000): (128, 256, 64),
    (4096, 4096, 4096): (128, 256, 64),
    (8192, 8192, 8192): (128, 256, 64),
    (8192, 8192, 1024): (128, 128, 64),
    (4096, 14336, 4096): (128, 256, 64),
    (4096, 4096, 14336): (128, 256, 64),
    (128, 8192, 8192): (128, 64, 64),
    (16, 8192, 8192): (64, 64, 128),
}
#: Shapes at which hand-written kernels lose, too.
WEAK = {
    (4104, 4104, 4104): (128, 256, 64),
    (512, 512, 16384): (128, 128, 64),
    (1024, 1024, 8192): (64, 128, 64),
    (1536, 1536, 1536): (128, 128, 64),
}


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
    for group, table in (("target", SHAPES), ("weak", WEAK)):
        for shape, tile in table.items():
            for b in ("n", "k"):
                base = Gemm(*tile, dtype="bf16", b=b, divisor=_divisor(shape))
                found.append(Case(group, *shape, (base,)))
    found += [Case("f16", *([n] * 3), (_of(n, dtype="f16"),)) for n in (2048, 4096, 8192)]
    found += _other_types()
    found += _epilogues()
    return found


def _divisor(shape: tuple[int, int, int]) -> int:
    return next(d for d in (16, 8, 4, 2, 1) if all(size % d == 0 for size in shape))


def _of(size: int, **fields: object) -> Gemm:
    return replace(Gemm(*SHAPES[size, size, size]), **fields)


def _other_types() -> list[Case]:
    wide = Gemm(128, 256, 128, "f8E4M3FN", "bf16", "k")
    return [
        Case("fp8", 8192, 8192, 8192, (wide,)),
        Case("fp8", 8192, 8192, 8192, (replace(wide, bn=128, promote=True),)),
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


def peers_of(gemm: Gemm, configurations: list[dict[str, Any]]) -> list[Gemm]:
    """The program with each of the peer's tiles and hints; bk is given for 16-bit types."""
    scale = 2 if gemm.dtype in ("i8", "f8E4M3FN", "f8E5M2") else 1
    return [replace(gemm, **{**one, "bk": one["bk"] * scale}) for one in configurations]
