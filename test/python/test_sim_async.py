"""Copies that go on beside their threads: cp.async and bulk copies, and waits for them."""

from __future__ import annotations

import numpy as np
import pytest
from sim_support import run
from test_sim_barriers import SEEDS, WAIT

import tileir

HEAD = """.reg .b32 %i, %v<9>; .reg .b64 %a, %b, %d<9>; .reg .pred %p, %q;
    mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1];"""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", (4, 8, 16))
def test_small_copies(seed, size):
    x, y = np.arange(64 * size, dtype=np.uint8), np.zeros(64 * size, np.uint8)
    level = "cg" if size == 16 else "ca"
    run(f"""{HEAD} .shared .align 16 .b8 s[1024]; mov.u32 %v0, s; mad.lo.u32 %v0, %i, {size}, %v0;
        mad.wide.u32 %a, %i, {size}, %a; mad.wide.u32 %b, %i, {size}, %b;
        cp.async.{level}.shared.global [%v0], [%a], {size}; cp.async.commit_group;
        cp.async.wait_group 0; ld.shared.u32 %v1, [%v0]; st.global.u32 [%b], %v1;
        ld.shared.u32 %v1, [%v0+{size - 4}]; st.global.u32 [%b+{size - 4}], %v1; ret;""",
        [x, y], threads=64, seed=seed)  # fmt: skip
    want = x.reshape(64, size)
    got = y.reshape(64, size)
    assert (got[:, :4] == want[:, :4]).all() and (got[:, -4:] == want[:, -4:]).all()


def test_zero_fill():
    """The source size says how many bytes are read; no byte is read for 0."""
    x, y = np.arange(1, 65, dtype=np.uint32), np.full(128, 7, np.uint32)
    run(f"""{HEAD} .shared .align 16 .b8 s[512]; mov.u32 %v0, s; mad.lo.u32 %v0, %i, 16, %v0;
        mad.wide.u32 %a, %i, 16, %a; mad.wide.u32 %b, %i, 16, %b;
        setp.lt.u32 %p, %i, 16; selp.b32 %v1, 16, 0, %p; setp.eq.u32 %q, %i, 3; @%q mov.u32 %v1, 8;
        cp.async.cg.shared.global.L2::128B [%v0], [%a], 16, %v1; cp.async.wait_all;
        ld.shared.v4.u32 {{%v1, %v2, %v3, %v4}}, [%v0];
        st.global.v4.u32 [%b], {{%v1, %v2, %v3, %v4}}; ret;""", [x, y])  # fmt: skip
    want = np.concatenate([x, np.zeros(64, np.uint32)])
    want[14:16] = 0
    assert (y == want).all()
    with pytest.raises(tileir.ExecutionError, match="out of bounds: 16 bytes at byte 256 of para"):
        run(f"""{HEAD} .shared .align 16 .b8 s[512]; mov.u32 %v0, s; mad.wide.u32 %a, %i, 16, %a;
            cp.async.cg.shared.global [%v0], [%a], 16; ret;""", [x, y])  # fmt: skip


def test_ignoring_the_source():
    x, y = np.arange(128, dtype=np.uint32), np.full(32, 7, np.uint32)
    run(f"""{HEAD} .shared .align 16 .b8 s[128]; mov.u32 %v0, s; mad.lo.u32 %v0, %i, 4, %v0;
        mad.wide.u32 %a, %i, 4, %a; mad.wide.u32 %b, %i, 4, %b; setp.lt.u32 %p, %i, 5;
        cp.async.ca.shared.global [%v0], [%a], 4, %p; cp.async.wait_all; ld.shared.u32 %v1, [%v0];
        st.global.u32 [%b], %v1; ret;""", [x, y])  # fmt: skip
    assert (y == np.where(np.arange(32) < 5, 0, np.arange(32))).all()


def test_a_missing_wait_shows():
    """Copies complete as late as possible: what nobody waited for is not there yet."""
    x, y = np.arange(96, dtype=np.uint32), np.zeros(96, np.uint32)
    body = f"""{HEAD} .shared .align 16 .b8 s[384]; mov.u32 %v0, s; mad.lo.u32 %v0, %i, 4, %v0;
        mad.wide.u32 %a, %i, 4, %a; mad.wide.u32 %b, %i, 4, %b;
        cp.async.ca.shared.global [%v0], [%a], 4; cp.async.commit_group;
        cp.async.ca.shared.global [%v0+128], [%a+128], 4; cp.async.commit_group;
        cp.async.ca.shared.global [%v0+256], [%a+256], 4; cp.async.commit_group;
        cp.async.wait_group {{}};
        ld.shared.u32 %v1, [%v0]; st.global.u32 [%b], %v1; ld.shared.u32 %v1, [%v0+128];
        st.global.u32 [%b+128], %v1; ld.shared.u32 %v1, [%v0+256];
        st.global.u32 [%b+256], %v1; ret;"""
    for allowed in range(4):
        run(body.replace("{}", str(allowed)), [x, y], checks=False)
        there = np.arange(96) < 32 * (3 - allowed)
        assert (y == np.where(there, x, 0xFFFFFFFF)).all()


def test_the_end_of_a_block_completes_no_copies_of_others():
    """Block 0 ends; block 1, which copied in step with it, has not waited and sees nothing."""
    x, y = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    run(f"""{HEAD} .shared .align 16 .b8 s[128]; mov.u32 %v0, s; mad.lo.u32 %v0, %i, 4, %v0;
        mad.wide.u32 %a, %i, 4, %a; mad.wide.u32 %b, %i, 4, %b;
        cp.async.ca.shared.global [%v0], [%a], 4; mov.u32 %v1, %ctaid.x; setp.ne.u32 %p, %v1, 0;
        @%p bra ON; cp.async.wait_all; ret;
        ON: ld.shared.u32 %v1, [%v0]; st.global.u32 [%b], %v1; ret;""",
        [x, y], grid=2, checks=False)  # fmt: skip
    assert (y == 0xFFFFFFFF).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_copies_that_arrive_at_an_mbarrier(seed):
    """A warp fetches, another one waits for the mbarrier that its copies arrive at."""
    x, y = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    for variant, count in ((".noinc", 32), ("", 1)):
        extra = "" if variant else "@%q mbarrier.arrive.shared.b64 _, [m];"
        run(f"""{HEAD} .shared .align 16 .b8 s[128]; .shared .align 8 .b64 m; mov.u32 %v2, m;
            setp.eq.u32 %q, %i, 0; @%q mbarrier.init.shared.b64 [m], {count}; bar.sync 0;
            mov.u32 %v0, s; and.b32 %v1, %i, 31; mad.lo.u32 %v0, %v1, 4, %v0;
            setp.ge.u32 %p, %i, 32; @%p bra READ; mad.wide.u32 %a, %i, 4, %a;
            cp.async.ca.shared.global [%v0], [%a], 4;
            cp.async.mbarrier.arrive{variant}.shared::cta.b64 [m]; {extra} ret;
            READ: {WAIT.format(at="%v2", parity="0")} mad.wide.u32 %b, %v1, 4, %b;
            ld.shared.u32 %v3, [%v0]; st.global.u32 [%b], %v3; ret;""", [x, y], threads=64,
            seed=seed)  # fmt: skip
        assert (y == x).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_bulk_copies(seed):
    """Global to shared by an mbarrier, shared to global by a group."""
    x, y = np.arange(256, dtype=np.uint32), np.zeros(256, np.uint32)
    run(f"""{HEAD} .shared .align 16 .b8 s[1024]; .shared .align 8 .b64 m; mov.u32 %v0, s;
        mov.u32 %v1, m; setp.ne.u32 %p, %i, 0; @%p bra MEET; mbarrier.init.shared.b64 [%v1], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 1024;
        cp.async.bulk.prefetch.L2.global [%a], 1024;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%v0], [%a], 1024, [%v1];
        MEET: bar.sync 0; {WAIT.format(at="%v1", parity="0")}
        mad.lo.u32 %v2, %i, 4, %v0; ld.shared.u32 %v3, [%v2]; add.u32 %v3, %v3, 1;
        st.shared.u32 [%v2], %v3; fence.proxy.async.shared::cta; bar.sync 0; @%p bra DONE;
        cp.async.bulk.global.shared::cta.bulk_group [%b], [%v0], 1024;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE: ret;""",
        [x, y], threads=256, seed=seed)  # fmt: skip
    assert (y == x + 1).all()


def test_bulk_groups():
    """wait_group.read lets the source be overwritten; the target is there after wait_group."""
    out, seen = np.zeros(8, np.uint32), np.zeros(3, np.uint32)
    body = """{} .shared .align 16 .b32 s[4]; mov.u32 %v0, s; st.shared.u32 [%v0], 5;
        fence.proxy.async;
        cp.async.bulk.global.shared::cta.bulk_group [%a], [%v0], 16; cp.async.bulk.commit_group;
        {} st.shared.u32 [%v0], 6; ld.global.u32 %v1, [%a]; st.global.u32 [%b], %v1;
        cp.async.bulk.wait_group 0; ld.global.u32 %v1, [%a]; st.global.u32 [%b+4], %v1; ret;"""
    wait = "cp.async.bulk.wait_group.read 0;"
    run(body.format(HEAD, wait), [out, seen], threads=1, checks=False)
    assert seen[:2].tolist() == [0, 5]
    out[:] = 0
    # Now the source changes too early.
    run(body.format(HEAD, ""), [out, seen], threads=1, checks=False)
    assert seen[:2].tolist() == [0, 6]


def test_bulk_reductions_and_copies_in_a_cluster():
    x = np.arange(8, dtype=np.uint32)
    y = np.full(8, 100, np.uint32)
    run(f"""{HEAD} .shared .align 16 .b32 s[8]; .shared .align 8 .b64 m; mov.u32 %v0, s;
        mov.u32 %v1, m; mov.u32 %v2, %cluster_ctarank; setp.ne.u32 %q, %v2, 0;
        mbarrier.init.shared.b64 [%v1], 1; fence.mbarrier_init.release.cluster;
        mad.wide.u32 %d0, %i, 4, %a; mad.lo.u32 %v3, %i, 4, %v0; ld.global.u32 %v4, [%d0];
        @!%q st.shared.u32 [%v3], %v4; barrier.cluster.arrive; barrier.cluster.wait;
        @%q bra RECEIVE; mapa.shared::cluster.u32 %v5, %v0, 1; mapa.shared::cluster.u32 %v6, %v1, 1;
        setp.ne.u32 %p, %i, 0; fence.proxy.async; bar.warp.sync 0xff;
        @!%p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
            [%v5], [%v0], 32, [%v6];
        bra OUT;
        RECEIVE: setp.ne.u32 %p, %i, 0; @!%p mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 32;
        {WAIT.format(at="%v1", parity="0")} @%p bra OUT;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b], [%v0], 32;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%b], [%v0], 32;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
        OUT: barrier.cluster.arrive; barrier.cluster.wait; ret;""".replace(
            "mbarrier.init.shared.b64 [%v1], 1; fence.mbarrier_init.release.cluster;",
            "setp.eq.u32 %p, %i, 0; @%p mbarrier.init.shared.b64 [%v1], 1; "
            "fence.mbarrier_init.release.cluster;"),
        [x, y], threads=8, grid=2, cluster=2)  # fmt: skip
    assert (y == 100 + x).all()


def test_bulk_multicast():
    x, y = np.arange(16, dtype=np.uint32), np.zeros((4, 16), np.uint32)
    run(f"""{HEAD} .reg .b16 %h; .shared .align 16 .b8 s[64]; .shared .align 8 .b64 m;
        mov.u32 %v0, s; mov.u32 %v1, m; mov.u32 %v2, %cluster_ctarank;
        mbarrier.init.shared.b64 [%v1], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 64;
        barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %p, %v2, 1; mov.b16 %h, 11;
        @!%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
            [%v0], [%a], 64, [%v1], %h;
        setp.eq.u32 %q, %v2, 2; @%q bra OUT; {WAIT.format(at="%v1", parity="0")}
        mad.wide.u32 %b, %v2, 64, %b; ld.shared.u32 %v3, [%v0+60]; st.global.u32 [%b], %v3;
        OUT: barrier.cluster.arrive; barrier.cluster.wait; ret;""", [x, y], threads=1, grid=4,
        cluster=4)  # fmt: skip
    assert y[:, 0].tolist() == [15, 15, 0, 15]


def test_wrong_sizes():
    x = np.zeros(64, np.uint32)
    start = f"""{HEAD} .shared .align 16 .b8 s[64]; .shared .align 8 .b64 m; mov.u32 %v0, s;
        mov.u32 %v1, m; mbarrier.init.shared.b64 [%v1], 1; fence.proxy.async;"""
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    with pytest.raises(
        tileir.ExecutionError, match="a bulk copy of 24 bytes: the size must be a mul"
    ):
        run(f"{start} {copy} [%v0], [%a], 24, [%v1]; ret;", [x, x], threads=1)
    with pytest.raises(tileir.ExecutionError, match="out of bounds: 16 bytes at byte 64 of shared"):
        run(f"{start} {copy} [%v0], [%a], 80, [%v1]; ret;", [x, x], threads=1)
    with pytest.raises(tileir.ExecutionError, match="misaligned address: byte 8 of parameter 0"):
        run(f"{start} {copy} [%v0], [%a+8], 16, [%v1]; ret;", [x, x], threads=1)
    with pytest.raises(tileir.ExecutionError, match="(?s)deadlock.*mbarrier"):
        run(f"""{start} mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 80;
            {copy} [%v0], [%a], 64, [%v1]; {WAIT.format(at="%v1", parity="0")} ret;""", [x, x],
            threads=1)  # fmt: skip
