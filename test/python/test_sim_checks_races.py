"""Planted races, and their repaired twins."""

from __future__ import annotations

import numpy as np
import pytest
from sim_checks_support import planted, run_text

import tileir

OUT = np.zeros(256, np.uint32)

# Each thread stores its number and loads its neighbour's.
EXCHANGE = """.shared .b32 s[256]; mov.u32 %v0, s; mad.lo.u32 %v1, %i, 4, %v0;
    st.shared.u32 [%v1], %i; {} xor.b32 %v2, %i, {}; mad.lo.u32 %v2, %v2, 4, %v0;
    ld.shared.u32 %v3, [%v2]; mad.wide.u32 %d0, %i, 4, %a; st.global.u32 [%d0], %v3;"""


def test_between_warps():
    body = EXCHANGE.format("%%", 32)
    match = r"race on byte \d+ of the shared memory.*the store at PTX line \d+ \(`st.shared"
    planted(body, "bar.sync 0;", "", match, [OUT], threads=128)
    planted(body, "bar.sync 0;", "bar.warp.sync -1;", match, [OUT], threads=128)
    planted(body, "barrier.sync 3, 128;", "membar.cta;", match, [OUT], threads=128)


def test_between_lanes():
    body = EXCHANGE.format("%%", 1)
    planted(body, "bar.warp.sync -1;", "", "(?s)race on .*bar.warp.sync between the two", [OUT])
    # A shuffle makes lanes meet, but orders no memory.
    shuffle = "shfl.sync.idx.b32 %v9, %i, 0, 31, -1;"
    planted(body, "bar.warp.sync -1;", shuffle, "race on", [OUT])
    # Only lanes that are named meet.
    half = """setp.lt.u32 %p, %i, 16; @!%p bra B; bar.warp.sync 0xFFFF; bra C;
        B: bar.warp.sync 0xFFFF0000; C:"""
    planted(EXCHANGE.format(half, "%%"), "1", "16", "race on", [OUT])


def test_a_buffer_written_again_too_early():
    """Everybody reads before the next value comes."""
    body = """.shared .b32 s; mov.u32 %v0, 0; L: setp.eq.u32 %p, %i, 0; @%p st.shared.u32 [s], %v0;
        bar.sync 0; ld.shared.u32 %v1, [s]; add.u32 %v2, %v2, %v1; %%
        add.u32 %v0, %v0, 1; setp.lt.u32 %p, %v0, 3; @%p bra L;
        mad.wide.u32 %d0, %i, 4, %a; st.global.u32 [%d0], %v0;"""
    body = "mov.u32 %v2, 0;" + body
    match = "race on .*the load at PTX line .*by thread"
    planted(body, "bar.sync 0;", "", match, [OUT], threads=128)


def test_two_writers():
    """Different values race, the same value does not."""
    body = ".shared .b32 s; and.b32 %v0, %i, %%; st.shared.u32 [s], %v0;"
    planted(body, "0", "1", "stored to with different values by the same instruction")
    body = """.shared .b32 s; setp.ge.u32 %p, %i, 32; @%p bra B; st.shared.u32 [s], 7; bra C;
        B: st.shared.u32 [s], %%; C:"""
    planted(body, "7", "8", "race on byte 0.*the store", threads=64)


def test_some_readers_are_not_waited_for():
    """Warps 1 and 2 read; only warp 1 tells the writer that it is done."""
    body = """.shared .b32 s; setp.eq.u32 %p, %i, 0; @%p st.shared.u32 [s], 1; bar.sync 0;
        setp.ne.u32 %p, %w, 0; @%p bra READ; bar.sync 1, {0}; st.shared.u32 [s], 2; ret;
        READ: ld.shared.u32 %v1, [s]; setp.gt.u32 %q, %w, {1}; @%q ret; bar.arrive 1, {0};"""
    right, wrong = body.format(96, 2), body.format(64, 1)
    planted("%%", right, wrong, "race on .*the load at PTX line .*thread", threads=96)


# --- asynchronous copies -------------------------------------------------------------------------

COPY = """.shared .align 16 .b32 s[64]; mov.u32 %v0, s; mad.lo.u32 %v1, %i, 4, %v0;
    mad.wide.u32 %d0, %i, 4, %a; mad.wide.u32 %d1, %i, 4, %b;
    cp.async.ca.shared.global [%v1], [%d0], 4; cp.async.commit_group; add.u32 %v2, %v1, 128;
    cp.async.ca.shared.global [%v2], [%d0+128], 4; cp.async.commit_group; {}
    ld.shared.u32 %v3, [{}]; st.global.u32 [%d1], %v3; cp.async.wait_all;"""


def test_copies_of_threads():
    arrays = [np.arange(64, dtype=np.uint32), OUT]
    match = "race on|uninitialised"
    planted(COPY.format("%%", "%v1"), "cp.async.wait_group 1;", "", match, arrays)
    planted(COPY.format("cp.async.wait_group %%;", "%v2"), "0", "1", match, arrays)
    # Waiting is not enough for what other lanes have copied.
    neighbour = """cp.async.wait_group 0; %% xor.b32 %v5, %i, 1; mad.lo.u32 %v5, %v5, 4, %v0;"""
    planted(COPY.format(neighbour, "%v5"), "bar.warp.sync -1;", "", "race on", arrays)


def test_a_copy_over_what_is_still_read():
    body = """.shared .align 16 .b32 s[32]; mov.u32 %v0, s; mad.lo.u32 %v1, %i, 4, %v0;
        mad.wide.u32 %d0, %i, 4, %a; st.shared.u32 [%v1], %i; bar.warp.sync -1;
        xor.b32 %v2, %i, 7; mad.lo.u32 %v2, %v2, 4, %v0; ld.shared.u32 %v3, [%v2]; %%
        cp.async.ca.shared.global [%v1], [%d0], 4; cp.async.wait_all;"""
    planted(body, "bar.warp.sync -1;", "", "race on .*the load", [OUT])


# --- global memory -------------------------------------------------------------------------------

# Block 0 writes a value and raises a flag, block 1 waits for it and reads.
HANDOVER = """mov.u32 %v0, %ctaid.x; setp.ne.u32 %p, %v0, 0; @%p bra WAIT;
    st.global.u32 [%a], 42; {write} ret;
    WAIT: {read} setp.eq.u32 %q, %v1, 0; @%q bra WAIT; {behind}
    ld.global.u32 %v2, [%a]; st.global.u32 [%a+8], %v2;"""
RELEASE = "st.release.gpu.global.u32 [%a+4], 1;"
ACQUIRE = "ld.acquire.gpu.global.u32 %v1, [%a+4];"


def handover(write: str = RELEASE, read: str = ACQUIRE, behind: str = "") -> str:
    return HANDOVER.format(write=write, read=read, behind=behind)


@pytest.mark.parametrize(
    "wrong",
    [
        handover(write="st.relaxed.gpu.global.u32 [%a+4], 1;"),
        handover(read="ld.relaxed.gpu.global.u32 %v1, [%a+4];"),
        handover(write="st.release.cta.global.u32 [%a+4], 1;", read=ACQUIRE),
        handover(write="membar.cta; st.relaxed.gpu.global.u32 [%a+4], 1;"),
        handover(write="membar.gl; st.global.u32 [%a+4], 1;"),
        handover(read="ld.volatile.global.u32 %v1, [%a+4];"),
    ],
    ids=["relaxed-write", "relaxed-read", "small-scope", "small-fence", "weak-write", "no-fence"],
)
def test_between_blocks(wrong):
    match = "race on byte [04] of parameter 0"
    planted("%%", handover(), wrong, match, [OUT], grid=2, threads=1)


@pytest.mark.parametrize(
    "right",
    [
        handover(write="membar.gl; st.relaxed.gpu.global.u32 [%a+4], 1;"),
        handover(write="fence.acq_rel.gpu; st.volatile.global.u32 [%a+4], 1;",
                 read="ld.volatile.global.u32 %v1, [%a+4];", behind="membar.gl;"),
        handover(write="atom.add.release.gpu.global.u32 %v1, [%a+4], 1;",
                 read="atom.or.acquire.gpu.global.b32 %v1, [%a+4], 0;"),
        handover(write="red.release.gpu.global.add.u32 [%a+4], 1;"),
    ],
    ids=["fence", "fences-and-volatile", "atomics", "reduction"],
)  # fmt: skip
@pytest.mark.parametrize("seed", (0, 1, 2))
def test_ways_to_hand_over(right, seed):
    out = OUT.copy()
    run_text(right.replace("atom.add.release.gpu.global", "atom.release.gpu.global.add")
             .replace("atom.or.acquire.gpu.global", "atom.acquire.gpu.global.or"),
             [out], grid=2, threads=1, seed=seed)  # fmt: skip
    assert out[2] == 42


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_a_chain_of_blocks_and_barriers(seed):
    """Each block adds its part in turn; the flag is passed on by one thread for all."""
    body = """mov.u32 %v0, %ctaid.x; setp.ne.u32 %p, %i, 0; @%p bra MEET;
        WAIT: ld.acquire.gpu.global.u32 %v1, [%b]; setp.ne.u32 %q, %v1, %v0; @%q bra WAIT;
        MEET: bar.sync 0; mad.wide.u32 %d0, %i, 4, %a; ld.global.u32 %v2, [%d0];
        add.u32 %v2, %v2, 1; st.global.u32 [%d0], %v2; {} @%p ret; add.u32 %v0, %v0, 1;
        st.release.gpu.global.u32 [%b], %v0;"""
    sums, flag = np.zeros(64, np.uint32), np.zeros(1, np.uint32)
    run_text(body.format("bar.sync 0;"), [sums, flag], grid=5, threads=64, seed=seed)
    assert (sums == 5).all()
    with pytest.raises(tileir.ExecutionError, match="race on byte .* of parameter 0"):
        run_text(body.format(""), [OUT.copy(), flag * 0], grid=5, threads=64, seed=seed)


def test_blocks_that_share_an_element():
    body = """mov.u32 %v0, %ctaid.x; mad.lo.u32 %v1, %v0, 32, %i; setp.eq.u32 %p, %v0, 1;
        @%p sub.u32 %v1, %v1, %%; mad.wide.u32 %d0, %v1, 4, %a; st.global.u32 [%d0], %v1;
        @%p st.global.u32 [%d0], 0;"""
    planted(body, "0", "1", "race on byte 124 of parameter 0.*of block", [OUT], grid=2)
    # Two reads do not race, nor do atomic updates.
    body = "{} [%a{}], 1; ld.global.u32 %v0, [%a+4];"
    clean = body.format("red.global.add.u32", "")
    planted("%%", clean, body.format("st.global.u32", "+4"), "race on", [OUT], grid=2)
