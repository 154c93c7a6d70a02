"""Threads that come to a barrier again after bar.arrive: planted faults and their repaired twins.

None of these faults need show in a run: where the second arrival comes late enough, all is well.
They are to be reported on every schedule.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from gemm_support import Gemm, Product, compiled
from sim_checks_support import init, planted, run_text

import tileir
from tileir.passes.convert_tile_gpu import specialization
from tileir.passes.convert_tile_gpu.barriers import NamedBarrier

SEEDS = range(6)
AGAIN = "a thread arrives again at barrier {} of block .* its bar.arrive at PTX line .* counts"


def test_before_the_others_have_come():
    """The second arrival of warp 1 would stand for warp 0, and what comes next would be off."""
    body = """setp.eq.u32 %p, %w, 0; @%p bra A; bar.arrive 1, 64; bar.sync %%, 64; bra B;
        A: bar.sync 2, 64; bar.sync 1, 64; B:"""
    planted(body, "2", "1", AGAIN.format(1), seeds=SEEDS, threads=64)


def test_at_the_end_of_the_block():
    """Warps that do not wait for the others at its start may be at its end before they start."""
    body = """mov.u32 %v0, %%; setp.lt.u32 %p, %w, 2; @%p bra A; bar.arrive %v0, 128; bra B;
        A: bar.sync 3, 64; bar.sync %v0, 128; B: bar.sync 0;"""
    planted(body, "15", "0", AGAIN.format(0), seeds=SEEDS, threads=128)


# --- warp 1 works ahead of warp 0, in rounds -----------------------------------------------------

ROUNDS = """.shared .align 8 .b64 m; .shared .b32 n; {init}
    setp.eq.u32 %p, %i, 0; @%p st.shared.u32 [n], 0; bar.sync 0; mov.u32 %v0, 0;
    setp.eq.u32 %p, %w, 0; @%p bra TAKE;
    GIVE: bar.arrive 1, 64; {hears} add.u32 %v0, %v0, 1; setp.lt.u32 %q, %v0, {rounds};
    @%q bra GIVE; ret;
    TAKE: {takes} add.u32 %v0, %v0, 1; setp.lt.u32 %q, %v0, {rounds}; @%q bra TAKE;"""
TAKE = "bar.sync 1, 64; "
TELL = "setp.eq.u32 %p, %i, 0; @%p red.release.cta.shared.add.u32 [n], 1;"
HEAR = """setp.ne.u32 %p, %i, 32; @%p bra MEET; {{ .reg .pred w; .reg .b32 x;
    W: ld.{}.cta.shared.u32 x, [n]; setp.le.u32 w, x, %v0; @w bra W; }} MEET:"""
WAIT = """{ .reg .pred w; and.b32 %v1, %v0, 1;
    W: mbarrier.try_wait.parity.shared.b64 w, [m], %v1; @!w bra W; }"""


def rounds(hears: str, takes: str, count: int = 2) -> str:
    return ROUNDS.format(init=init("m", 32), hears=hears, takes=takes, rounds=count)


@pytest.mark.parametrize(
    ("hears", "takes", "right", "wrong"),
    [
        ("%%", f"{TAKE} bar.arrive 2, 64;", "bar.sync 2, 64;", ""),
        ("%%", f"{TAKE} mbarrier.arrive.shared.b64 _, [m];", WAIT, ""),
        ("%%", TAKE + TELL, HEAR.format("acquire"), HEAR.format("relaxed")),
        # Whoever answers must have left the phase, not only have come to it.
        ("bar.sync 2, 64;", "%%", f"{TAKE} bar.arrive 2, 64;", f"bar.arrive 2, 64; {TAKE}"),
    ],
    ids=("barrier", "mbarrier", "memory", "too early"),
)
def test_in_rounds(hears, takes, right, wrong):
    """The answer may be heard by one lane for its warp, which goes on as a whole."""
    planted(rounds(hears, takes), right, wrong, AGAIN.format("[12]"), seeds=SEEDS, threads=64)


def test_blocks_of_a_cluster_are_apart():
    body = rounds("%%", f"{TAKE} bar.arrive 2, 64;")
    match = AGAIN.format("[12]")
    planted(body, "bar.sync 2, 64;", "", match, threads=64, grid=4, cluster=2, resident=2)


def test_many_rounds():
    """More than the table of clocks has rows."""
    run_text(rounds("bar.sync 2, 64;", f"{TAKE} bar.arrive 2, 64;", 200), [], threads=64)


def test_ping_pong():
    """Each of two warps passes the turn to the other one and takes its own."""
    body = """mov.u32 %v0, 0; xor.b32 %v1, %w, 1; add.u32 %v2, %w, 8; add.u32 %v3, %v1, 8;
        setp.eq.u32 %p, %w, 1; @%p bar.arrive %v3, 64;
        GO: bar.sync %v2, 64; add.u32 %v0, %v0, 1; add.u32 %v4, %v0, %w; setp.lt.u32 %p, %v4, 4;
        @%p bar.arrive %v3, 64; %% setp.lt.u32 %q, %v0, 3; @%q bra GO;"""
    twice = "setp.eq.u32 %q, %v0, 1; @%q bar.arrive %v3, 64;"
    planted(body, "", twice, AGAIN.format("[89]"), seeds=SEEDS, threads=64)


def test_in_our_own_kernels(monkeypatch):
    """Those of the producer that do not work are done before the consumers have started. Of two
    blocks that start together one takes maps from the pool, and meets again to give them back."""
    gemm = Gemm(128, 128, 64, "f16")
    product = Product(gemm, 256, 128, 128)
    assert "bar.arrive" in compiled(gemm, "plain").ptx
    product.simulated(compiled(gemm, "plain"))
    mixed_up = SimpleNamespace(**{**NamedBarrier.__members__, "START": NamedBarrier.BLOCK})
    monkeypatch.setattr(specialization, "NamedBarrier", mixed_up)
    with pytest.raises(tileir.ExecutionError, match=AGAIN.format(0)):
        product.simulated(compiled(gemm, "plain"))


# --- one block after the other -------------------------------------------------------------------


def test_the_last_arrival_needs_no_answer():
    """The next block in its place starts afresh."""
    body = """setp.eq.u32 %p, %w, 0; @%p bra A; bar.arrive 1, 64; %% bar.sync 2, 64;
        bar.arrive 1, 64; ret; A: bar.sync 1, 64; bar.sync 2, 64;"""
    again = "bar.arrive 1, 64;"
    planted(body, "", again, AGAIN.format(1), seeds=SEEDS, threads=64, grid=4, resident=1)


def test_a_barrier_forgets_the_block_before():
    """Block 0 leaves an arrival of warp 0 behind, with which block 1 has nothing to do."""
    body = """.shared .b32 s; mov.u32 %v0, %ctaid.x; setp.ne.u32 %p, %v0, 0; @%p bra NEXT;
        setp.ne.u32 %p, %w, 0; @%p ret; bar.warp.sync -1; bar.warp.sync -1; bar.arrive 1, 96; ret;
        NEXT: setp.ne.u32 %p, %w, 0; @%p bra READ; st.shared.u32 [s], 1; %% ret;
        READ: bar.sync 1, %%; ld.shared.u32 %v1, [s];"""
    match = "race on byte 0 of the shared memory"
    for seed in SEEDS:
        options = {"threads": 96, "grid": 2, "resident": 1, "seed": seed}
        run_text(body.replace("%%", "bar.arrive 1, 96;", 1).replace("%%", "96"), [], **options)
        with pytest.raises(tileir.ExecutionError, match=match):
            run_text(body.replace("%%", "", 1).replace("%%", "64"), [], **options)
