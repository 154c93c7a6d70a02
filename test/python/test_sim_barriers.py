"""Barriers of blocks and clusters, and mbarriers."""

from __future__ import annotations

import numpy as np
import pytest
from sim_support import module, pointers, run

import tileir
from tileir import sim

SEEDS = (0, 1, 2, 3)
HEAD = """.reg .b32 %i, %w, %v<9>; .reg .b64 %a, %b, %d<9>; .reg .pred %p, %q;
    mov.u32 %i, %tid.x; shr.u32 %w, %i, 5; ld.param.u64 %a, [p0];"""


@pytest.mark.parametrize("seed", SEEDS)
def test_reversing_through_shared_memory(seed):
    out = np.zeros((3, 256), np.uint32)
    run(f"""{HEAD} .shared .b32 s[256]; mov.u32 %v1, s; mad.lo.u32 %v2, %i, 4, %v1;
        mov.u32 %v3, %ctaid.x; mad.lo.u32 %v0, %v3, 1000, %i; st.shared.u32 [%v2], %v0;
        bar.sync 0; sub.u32 %v4, 255, %i; mad.lo.u32 %v2, %v4, 4, %v1; ld.shared.u32 %v0, [%v2];
        mad.lo.u32 %v3, %v3, 256, %i; mad.wide.u32 %a, %v3, 4, %a; st.global.u32 [%a], %v0; ret;""",
        [out], threads=256, grid=3, seed=seed)  # fmt: skip
    assert (out == np.arange(255, -1, -1) + 1000 * np.arange(3)[:, None]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_named_barriers_of_producers_and_consumers(seed):
    """Warp 0 produces 10 values one after the other for warps 1 to 3; two barriers hand over."""
    out = np.zeros((3, 10), np.uint32)
    run(f"""{HEAD} .shared .b32 s; mov.u32 %v0, 0; setp.ne.u32 %p, %w, 0; @%p bra CONSUME;
        PRODUCE: setp.gt.u32 %q, %v0, 0; @!%q bra FIRST; bar.sync 2, 128;
        FIRST: mul.lo.u32 %v1, %v0, %v0; st.shared.u32 [s], %v1; bar.arrive 1, 128;
        add.u32 %v0, %v0, 1; setp.lt.u32 %q, %v0, 10; @%q bra PRODUCE; ret;
        CONSUME: bar.sync 1, 128; ld.shared.u32 %v1, [s];
        sub.u32 %v2, %w, 1; mad.lo.u32 %v2, %v2, 10, %v0; mad.wide.u32 %b, %v2, 4, %a;
        st.global.u32 [%b], %v1; setp.lt.u32 %q, %v0, 9; @%q bar.arrive 2, 128;
        add.u32 %v0, %v0, 1; setp.lt.u32 %q, %v0, 10; @%q bra CONSUME; ret;""",
        [out], threads=128, seed=seed)  # fmt: skip
    assert (out == np.arange(10) ** 2).all()


def test_reducing_barriers():
    out = np.zeros((96, 3), np.uint32)
    run(f"""{HEAD} and.b32 %v0, %i, 3; setp.eq.u32 %p, %v0, 0; mad.wide.u32 %a, %i, 12, %a;
        bar.red.popc.u32 %v1, 0, %p; st.global.u32 [%a], %v1;
        setp.lt.u32 %p, %i, 96; barrier.cta.red.and.aligned.pred %q, 3, %p; selp.b32 %v1, 1, 0, %q;
        st.global.u32 [%a+4], %v1; setp.eq.u32 %p, %i, 77; bar.red.or.pred %q, 0, 96, %p;
        selp.b32 %v1, 1, 0, %q; st.global.u32 [%a+8], %v1; ret;""", [out], threads=96)  # fmt: skip
    assert (out == [24, 1, 1]).all()


def test_number_of_a_barrier_from_a_register():
    """Two pairs of warps meet at barriers of their own."""
    out = np.zeros(128, np.uint32)
    run(f"""{HEAD} .shared .b32 s[4]; mov.u32 %v1, s; mad.lo.u32 %v1, %w, 4, %v1;
        st.shared.u32 [%v1], %w; shr.u32 %v0, %w, 1; add.u32 %v0, %v0, 1; bar.sync %v0, 64;
        xor.b32 %v2, %w, 1; mov.u32 %v1, s; mad.lo.u32 %v1, %v2, 4, %v1; ld.shared.u32 %v2, [%v1];
        mad.wide.u32 %a, %i, 4, %a; st.global.u32 [%a], %v2; ret;""",
        [out], threads=128)  # fmt: skip
    assert (out == (np.arange(128) // 32 ^ 1)).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_reconverging_before_a_barrier(seed):
    """Lanes part in front of bar.sync, which needs the whole warp."""
    out = np.zeros(64, np.uint32)
    run(f"""{HEAD} .shared .b32 s; setp.ne.u32 %p, %i, 40; @%p bra JOIN; st.shared.u32 [s], 9;
        mov.u32 %v1, 100; WORK: sub.u32 %v1, %v1, 1; setp.ne.u32 %q, %v1, 0; @%q bra WORK;
        JOIN: bar.sync 0; ld.shared.u32 %v0, [s]; mad.wide.u32 %a, %i, 4, %a;
        st.global.u32 [%a], %v0; ret;""", [out], threads=64, seed=seed)  # fmt: skip
    assert (out == 9).all()


def test_wrong_counts():
    with pytest.raises(
        tileir.ExecutionError, match="a barrier of 48 threads: the count must be a mu"
    ):
        run(f"{HEAD} bar.sync 1, 48; ret;", [np.zeros(1)], threads=64)
    with pytest.raises(tileir.ExecutionError, match="there is no barrier 16, only 0 to 15"):
        run(f"{HEAD} mov.u32 %v0, 16; bar.sync %v0, 64; ret;", [np.zeros(1)], threads=64)
    with pytest.raises(tileir.ExecutionError, match="barrier 1 of .*: 96 threads arrived where "
                       "64 were expected"):  # fmt: skip
        run(f"{HEAD} bar.arrive 1, 64; ret;", [np.zeros(1)], threads=96)
    with pytest.raises(tileir.ExecutionError, match="(?s)deadlock.*64 threads wait for a barrier"):
        run(f"{HEAD} setp.lt.u32 %p, %w, 2; @%p bar.sync 1, 128; ret;", [np.zeros(1)], threads=128)
    with pytest.raises(tileir.ExecutionError, match="differs within a warp"):
        run(f"{HEAD} setp.lt.u32 %p, %i, 5; @%p bar.sync 0; ret;", [np.zeros(1)], threads=32)


def test_a_barrier_that_part_of_a_warp_never_reaches():
    with pytest.raises(
        tileir.ExecutionError, match="(?s)deadlock.*wait for other threads of the warp"
    ):
        run(f"""{HEAD} .shared .b64 m; mov.u64 %d0, m; setp.ne.u32 %p, %i, 0; @%p bra WAIT;
            mbarrier.init.shared.b64 [%d0], 1;
            L: mbarrier.try_wait.parity.shared.b64 %q, [%d0], 0; @!%q bra L;
            WAIT: bar.sync 0; ret;""", [np.zeros(1)])  # fmt: skip


# --- clusters ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_exchange_in_a_cluster(seed):
    """Every block reads what its neighbour in the cluster of four wrote, and writes to another."""
    out = np.zeros((8, 2), np.uint32)
    text = module(f"""{HEAD} .shared .align 8 .b32 s[2]; mov.u32 %v0, %cluster_ctarank;
        mov.u32 %v1, %ctaid.x; setp.ne.u32 %p, %i, 0; @%p bra MEET;
        mov.u32 %v2, s; st.shared.u32 [%v2], %v1; add.u32 %v3, %v0, 3; and.b32 %v3, %v3, 3;
        mapa.shared::cluster.u32 %v4, %v2, %v3; mul.lo.u32 %v5, %v1, 10;
        st.shared::cluster.u32 [%v4+4], %v5;
        MEET: barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
        @%p bra OUT; add.u32 %v3, %v0, 1; and.b32 %v3, %v3, 3; mov.u64 %d0, s;
        cvta.shared.u64 %d0, %d0; mapa.u64 %d1, %d0, %v3; ld.u32 %v6, [%d1];
        getctarank.u64 %v7, %d1; setp.ne.u32 %q, %v7, %v3; @%q trap;
        mad.wide.u32 %a, %v1, 8, %a; st.global.u32 [%a], %v6; ld.shared.u32 %v6, [s+4];
        st.global.u32 [%a+4], %v6;
        OUT: barrier.cluster.arrive; barrier.cluster.wait; ret;""", pointers(1))  # fmt: skip
    sim.run(text, "k", 8, 64, [out], cluster=4, seed=seed)
    block = np.arange(8)
    assert (out[:, 0] == block // 4 * 4 + (block + 1) % 4).all()
    assert (out[:, 1] == 10 * (block // 4 * 4 + (block + 1) % 4)).all()


def test_numbers_in_a_cluster():
    out = np.zeros((4, 4, 6), np.uint32)  # grid y, x
    text = module(""".reg .b32 %v<9>; .reg .b64 %a; ld.param.u64 %a, [p0]; mov.u32 %v0, %ctaid.x;
        mov.u32 %v1, %ctaid.y; mad.lo.u32 %v0, %v1, 4, %v0; mad.wide.u32 %a, %v0, 24, %a;
        mov.u32 %v0, %clusterid.x; st.global.u32 [%a], %v0; mov.u32 %v0, %clusterid.y;
        st.global.u32 [%a+4], %v0; mov.u32 %v0, %cluster_ctaid.x; st.global.u32 [%a+8], %v0;
        mov.u32 %v0, %cluster_ctaid.y; st.global.u32 [%a+12], %v0; mov.u32 %v0, %cluster_ctarank;
        st.global.u32 [%a+16], %v0; mov.u32 %v0, %cluster_nctarank; st.global.u32 [%a+20], %v0; ret;
        """, pointers(1), threads=1)  # fmt: skip
    sim.run(text, "k", (4, 4), None, [out], cluster=(2, 2))
    for y in range(4):
        for x in range(4):
            want = [x // 2, y // 2, x % 2, y % 2, x % 2 + 2 * (y % 2), 4]
            assert out[y, x].tolist() == want


def test_arriving_twice():
    with pytest.raises(tileir.ExecutionError, match="arrive twice without a wait"):
        run("barrier.cluster.arrive; barrier.cluster.arrive; ret;", [], grid=2, cluster=2)


# --- mbarriers -----------------------------------------------------------------------------------

WAIT = """{{ .reg .pred %d; L: mbarrier.try_wait.parity.shared::cta.b64 %d, [{at}], {parity};
    @!%d bra L; }}"""


@pytest.mark.parametrize("seed", SEEDS)
def test_ring_of_mbarriers(seed):
    """One warp fills a ring of three stages, another empties it, 20 times."""
    out = np.zeros(20, np.uint32)
    full, empty = WAIT.format(at="%v4", parity="%v2"), WAIT.format(at="%v5", parity="%v6")
    addresses = "mad.lo.u32 %v4, %v1, 8, %v3; add.u32 %v5, %v4, 24; mad.lo.u32 %v7, %v1, 4, %v3;"
    step = """add.u32 %v1, %v1, 1; setp.eq.u32 %q, %v1, 3; @%q mov.u32 %v1, 0;
        @%q xor.b32 %v2, %v2, 1; add.u32 %v0, %v0, 1; setp.lt.u32 %q, %v0, 20;"""
    run(f"""{HEAD} .shared .align 8 .b8 s[64]; mov.u32 %v3, s; setp.ne.u32 %p, %i, 0; @%p bra MEET;
        mov.u32 %v0, 0; INIT: mad.lo.u32 %v4, %v0, 8, %v3; mbarrier.init.shared.b64 [%v4], 32;
        mbarrier.init.shared.b64 [%v4+24], 32; add.u32 %v0, %v0, 1; setp.lt.u32 %q, %v0, 3;
        @%q bra INIT;
        MEET: bar.sync 0; mov.u32 %v0, 0; mov.u32 %v1, 0; mov.u32 %v2, 0;
        setp.ne.u32 %p, %w, 0; @%p bra CONSUME;
        PRODUCE: {addresses} xor.b32 %v6, %v2, 1; {empty} setp.eq.u32 %q, %i, 0;
        mul.lo.u32 %v8, %v0, %v0; @%q st.shared.u32 [%v7+48], %v8;
        mbarrier.arrive.shared.b64 %d0, [%v4]; {step} @%q bra PRODUCE; ret;
        CONSUME: {addresses} {full} ld.shared.u32 %v8, [%v7+48]; mad.wide.u32 %b, %v0, 4, %a;
        st.global.u32 [%b], %v8; mbarrier.arrive.shared.b64 _, [%v5]; {step} @%q bra CONSUME; ret;
        """, [out], threads=64, seed=seed)  # fmt: skip
    assert (out == np.arange(20) ** 2).all()


def test_tokens():
    """test_wait by token: not before all have arrived, and the count of those missing."""
    out = np.zeros(4, np.uint32)
    run(f"""{HEAD} .shared .b64 m; mbarrier.init.shared.b64 [m], 5;
        mbarrier.arrive.shared.b64 %d0, [m], 2; mbarrier.pending_count.b64 %v0, %d0;
        st.global.u32 [%a], %v0; mbarrier.test_wait.shared.b64 %p, [m], %d0;
        selp.b32 %v0, 1, 0, %p; st.global.u32 [%a+4], %v0;
        mbarrier.arrive.noComplete.shared.b64 %d1, [m], 1; mbarrier.arrive_drop.shared.b64 %d1, [m];
        mbarrier.arrive.shared.b64 %d1, [m];
        mbarrier.test_wait.shared.b64 %p, [m], %d0; selp.b32 %v0, 1, 0, %p;
        st.global.u32 [%a+8], %v0; mbarrier.arrive.shared.b64 %d1, [m];
        mbarrier.pending_count.b64 %v0, %d1; st.global.u32 [%a+12], %v0;
        mbarrier.inval.shared.b64 [m]; ret;""", [out], threads=1)  # fmt: skip
    assert out.tolist() == [5, 0, 1, 4]  # one fewer is expected after the drop


def test_transactions():
    """A phase is complete when no arrival and no byte is missing, in any order."""
    out = np.zeros(3, np.uint32)
    test = "mbarrier.test_wait.parity.shared.b64 %p, [m], 0; selp.b32 %v0, 1, 0, %p;"
    run(f"""{HEAD} .shared .b64 m; mbarrier.init.shared.b64 [m], 1;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [m], 16;
        mbarrier.arrive.expect_tx.shared.b64 _, [m], 48; {test} st.global.u32 [%a], %v0;
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [m], 8;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [m], 32; {test} st.global.u32 [%a+4], %v0;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [m], 8; {test} st.global.u32 [%a+8], %v0;
        ret;""", [out], threads=1)  # fmt: skip
    # The first phase stays open: its arrival is missing when the bytes come early.
    assert out.tolist() == [0, 0, 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_remote_arrival(seed):
    """Blocks of a cluster arrive at the mbarrier of block 0."""
    out = np.zeros(1, np.uint32)
    text = module(f"""{HEAD} .shared .align 8 .b64 m; .shared .b32 s[4]; mov.u32 %v0, m;
        mov.u32 %v2, %cluster_ctarank; setp.ne.u32 %p, %i, 0;
        @!%p mbarrier.init.shared.b64 [%v0], 4;
        barrier.cluster.arrive; barrier.cluster.wait; @%p bra OUT; mov.u32 %v3, s;
        mad.lo.u32 %v3, %v2, 4, %v3; mapa.shared::cluster.u32 %v4, %v3, 0; add.u32 %v5, %v2, 1;
        st.shared::cluster.u32 [%v4], %v5; mapa.shared::cluster.u32 %v1, %v0, 0;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%v1];
        setp.ne.u32 %q, %v2, 0; @%q bra OUT;
        W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [%v0], 0; @!%q bra W;
        ld.shared.v4.u32 {{%v4, %v5, %v6, %v7}}, [s]; add.u32 %v4, %v4, %v5; add.u32 %v6, %v6, %v7;
        add.u32 %v4, %v4, %v6; st.global.u32 [%a], %v4;
        OUT: barrier.cluster.arrive; barrier.cluster.wait; ret;""",
        pointers(1)).replace(".shared .b32 s[4]", ".shared .align 16 .b32 s[4]")  # fmt: skip
    sim.run(text, "k", 4, 32, [out], cluster=4, seed=seed)
    assert out[0] == 10


def test_faults_of_mbarriers():
    def fails(body, match, **options):
        with pytest.raises(tileir.ExecutionError, match=match):
            run(f"{HEAD} .shared .align 8 .b64 m; {body} ret;", [np.zeros(1)], **options)

    fails("mbarrier.arrive.shared.b64 _, [m];", "there is no mbarrier at byte 0 of the shared mem")
    fails(
        """setp.eq.u32 %p, %i, 0; @%p mbarrier.init.shared.b64 [m], 2; bar.sync 0;
        mbarrier.arrive.shared.b64 _, [m], 3;""",
        "3 arrivals where 2 of 2 are missing",
    )
    fails("mbarrier.init.shared.b64 [m], 0;", "count of 0, expected 1 to")
    fails(
        ".shared .align 8 .b8 n[16]; mbarrier.init.shared.b64 [n+4], 1;",
        "misaligned address: byte 4",
    )
    fails("""setp.ne.u32 %p, %i, 0; @!%p mbarrier.init.shared.b64 [m], 2; bar.sync 0;
        @!%p mbarrier.arrive.shared.b64 _, [m];
        L: mbarrier.try_wait.parity.shared.b64 %q, [m], 0; @!%q bra L;""",
        "deadlock: no thread can go on\n  32 threads wait for an mbarrier at PTX line .*: mbarrier "
        "at byte 0 .*, phase 0: 1 of 2 arrivals are missing")  # fmt: skip
