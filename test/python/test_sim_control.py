"""Branches, divergence, loops, calls, exits, and schedules."""

from __future__ import annotations

import numpy as np
import pytest
from sim_support import module, one, pointers, run

import tileir
from tileir import sim

SEEDS = (0, 1, 2, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_loop_with_a_different_count_in_each_thread(seed):
    """The Collatz steps of each number."""
    x = np.arange(1, 201, dtype=np.uint32)
    out = np.zeros_like(x)
    run(
        """.reg .b32 %i, %n, %k, %t; .reg .b64 %a, %b; .reg .pred %p, %q;
        mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1];
        mad.wide.u32 %a, %i, 4, %a; mad.wide.u32 %b, %i, 4, %b; ld.global.u32 %n, [%a];
        mov.u32 %k, 0;
        LOOP: setp.eq.u32 %p, %n, 1; @%p bra DONE; add.u32 %k, %k, 1; and.b32 %t, %n, 1;
        setp.eq.u32 %q, %t, 0; @%q bra EVEN; mad.lo.u32 %n, %n, 3, 1; bra.uni LOOP;
        EVEN: shr.u32 %n, %n, 1; bra LOOP;
        DONE: st.global.u32 [%b], %k; ret;""",
        [x, out],
        threads=200,
        seed=seed,
    )

    def steps(n):
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
        return count

    assert out.tolist() == [steps(n) for n in x.tolist()]


def test_nested_divergence_keeps_registers_apart():
    x = np.arange(96, dtype=np.uint32)
    body = """mov.u32 %r0, 1; setp.lt.u32 %q0, %a0, 40; @!%q0 bra HIGH;
        and.b32 %t0, %a0, 3; setp.eq.u32 %q1, %t0, 0; @%q1 bra FOUR;
        mad.lo.u32 %r0, %a0, 2, %r0; bra JOIN;
        FOUR: mad.lo.u32 %r0, %a0, 5, %r0; setp.gt.u32 %q2, %a0, 20; @!%q2 bra JOIN;
        add.u32 %r0, %r0, 1000; bra JOIN;
        HIGH: sub.u32 %r0, %a0, 40; JOIN: add.u32 %r0, %r0, %a0;"""
    want = (
        np.where(x < 40, np.where(x % 4 == 0, 5 * x + 1 + 1000 * (x > 20), 2 * x + 1), x - 40) + x
    )
    assert (one(body, [x], np.uint32) == want).all()


def test_early_exit():
    """Threads that exit leave the others alone; barriers do not wait for warps of them."""
    out = np.zeros(128, np.uint32)
    run(""".reg .b32 %i; .reg .b64 %a; .reg .pred %p; mov.u32 %i, %tid.x;
        setp.ge.u32 %p, %i, 70; @%p exit; bar.sync 0;
        ld.param.u64 %a, [p0]; mad.wide.u32 %a, %i, 4, %a; st.global.u32 [%a], 1; ret;""",
        [out], threads=128)  # fmt: skip
    assert (out == (np.arange(128) < 70)).all()


def test_indexed_branch():
    x = np.arange(64, dtype=np.uint32)
    body = """and.b32 %t0, %a0, 3; TABLE: .branchtargets A, B, C, B;
        brx.idx %t0, TABLE; A: mov.u32 %r0, 10; bra DONE; B: mov.u32 %r0, 20; bra DONE;
        C: mov.u32 %r0, 30; DONE:"""
    assert (one(body, [x], np.uint32) == np.array([10, 20, 30, 20])[x & 3]).all()


def test_scopes():
    """Registers and labels of inner scopes hide those outside."""
    x = np.arange(40, dtype=np.uint32)
    body = """mov.u32 %t0, 5;
        { .reg .b32 %t0; mov.u32 %t0, %a0; L: setp.lt.u32 %q0, %t0, 3; @!%q0 bra M;
          add.u32 %t0, %t0, 1; bra L; M: mov.u32 %r0, %t0; }
        { .reg .b32 %t0; L: mov.u32 %t0, 100; add.u32 %r0, %r0, %t0; }
        add.u32 %r0, %r0, %t0;"""
    assert (one(body, [x], np.uint32) == np.maximum(x, 3) + 105).all()


CALLS = """
.func (.param .b32 r) square(.param .b32 x)
{
    .reg .b32 %a; ld.param.b32 %a, [x]; mul.lo.u32 %a, %a, %a; st.param.b32 [r], %a; ret;
}
.func (.param .b64 r) factorial(.param .b32 n)
{
    .reg .b32 %n, %m; .reg .b64 %a, %b; .reg .pred %p;
    ld.param.b32 %n, [n]; setp.gt.u32 %p, %n, 1; @%p bra MORE; mov.u64 %a, 1; bra DONE;
    MORE: sub.u32 %m, %n, 1;
    { .param .b32 q; st.param.b32 [q], %m; .param .b64 s; call.uni (s), factorial, (q);
      ld.param.b64 %b, [s]; }
    cvt.u64.u32 %a, %n; mul.lo.u64 %a, %a, %b;
    DONE: st.param.b64 [r], %a; ret;
}
.func fill(.param .b64 at, .param .align 8 .b8 pair[8])
{
    .reg .b64 %a; .reg .b32 %v, %w; ld.param.b64 %a, [at]; ld.param.v2.b32 {%v, %w}, [pair];
    add.u32 %v, %v, %w; st.u32 [%a], %v; ret;
}
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_calls(seed):
    """Results, recursion to a different depth in each thread, structs by value, local memory."""
    out = np.zeros((32, 3), np.uint64)
    run(""".reg .b32 %i, %v; .reg .b64 %a, %b, %l; .local .align 8 .b8 buffer[16];
        mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; mad.wide.u32 %a, %i, 24, %a;
        { .param .b32 q; st.param.b32 [q], %i; .param .b32 s; call.uni (s), square, (q);
          ld.param.b32 %v, [s]; } st.global.u32 [%a], %v;
        rem.u32 %v, %i, 20;
        { .param .b32 q; st.param.b32 [q], %v; .param .b64 s; call.uni (s), factorial, (q);
          ld.param.b64 %b, [s]; } st.global.u64 [%a+8], %b;
        mov.u64 %l, buffer; cvta.local.u64 %b, %l; add.u64 %b, %b, 8;
        { .param .b64 q; st.param.b64 [q], %b; .param .align 8 .b8 s[8];
          st.param.v2.b32 [s], {%i, 1000}; call.uni fill, (q, s); }
        ld.local.u32 %v, [buffer+8]; st.global.u32 [%a+16], %v; ret;""", [out], around=CALLS,
        seed=seed)  # fmt: skip
    i = np.arange(32)
    fact = [1]
    for k in range(1, 20):
        fact.append(fact[-1] * k)
    assert (out[:, 0] == i * i).all() and (out[:, 2] == i + 1000).all()
    assert out[:, 1].tolist() == [fact[k % 20] for k in range(32)]


def test_endless_recursion():
    around = ".func f() { call.uni f, (); ret; }"
    with pytest.raises(tileir.ExecutionError, match="calls are nested 256 deep"):
        run("call.uni f, (); ret;", [], around=around)


def test_printing():
    around = """.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
        .global .align 1 .b8 text[22] = {105, 61, 37, 100, 32, 120, 61, 37, 46, 50, 102, 32, 113,
        61,
        37, 108, 108, 120, 37, 37, 10, 0};"""  # fmt: skip
    result = run(""".reg .b32 %i, %z; .reg .b64 %a, %b, %w; .reg .f64 %d; .reg .pred %p;
        .local .align 8 .b8 v[24]; mov.u32 %i, %tid.x; setp.gt.u32 %p, %i, 1; @%p ret;
        cvt.rn.f64.u32 %d, %i; mul.f64 %d, %d, 0d3FE0000000000000; mov.u64 %w, 0xABCDEF0123;
        neg.s32 %i, %i; st.local.u32 [v], %i; st.local.f64 [v+8], %d; st.local.u64 [v+16], %w;
        mov.u64 %a, text; cvta.global.u64 %a, %a; mov.u64 %b, v; cvta.local.u64 %b, %b;
        { .param .b64 f; st.param.b64 [f], %a; .param .b64 q; st.param.b64 [q], %b; .param .b32 s;
          call.uni (s), vprintf, (f, q); ld.param.b32 %z, [s]; } ret;""",
        [], around=around)  # fmt: skip
    assert result.printed == ["i=0 x=0.00 q=abcdef0123%", "i=-1 x=0.50 q=abcdef0123%"]


def test_trap():
    with pytest.raises(tileir.ExecutionError, match=r"trap, at PTX line.*thread \(5, 0, 0\)"):
        run(""".reg .b32 %i; .reg .pred %p; mov.u32 %i, %tid.x; setp.eq.u32 %p, %i, 5;
            @%p trap; ret;""", [])  # fmt: skip


# --- threads that wait for memory ----------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_spin_lock_between_blocks(seed):
    """Every block adds to a plain counter under a lock."""
    lock, count = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    run(
        """.reg .b32 %i, %o, %v; .reg .b64 %l, %c; .reg .pred %p; mov.u32 %i, %tid.x;
        ld.param.u64 %l, [p0]; ld.param.u64 %c, [p1]; setp.ne.u32 %p, %i, 0; @%p ret;
        SPIN: atom.acquire.gpu.global.cas.b32 %o, [%l], 0, 1; setp.ne.u32 %p, %o, 0; @%p bra SPIN;
        ld.global.u32 %v, [%c]; add.u32 %v, %v, 1; nanosleep.u32 20; st.global.u32 [%c], %v;
        st.release.gpu.global.u32 [%l], 0; ret;""",
        [lock, count],
        grid=12,
        seed=seed,
    )
    assert count[0] == 12 and lock[0] == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_spin_lock_between_lanes(seed):
    """Independent threads: the lane that holds the lock goes on although others spin."""
    lock, count = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    run(
        """.reg .b32 %o, %v; .reg .b64 %l, %c; .reg .pred %p;
        ld.param.u64 %l, [p0]; ld.param.u64 %c, [p1];
        SPIN: atom.global.cas.b32 %o, [%l], 0, 1; setp.ne.u32 %p, %o, 0; @%p bra SPIN;
        ld.volatile.global.u32 %v, [%c]; add.u32 %v, %v, 1; st.volatile.global.u32 [%c], %v;
        membar.gl; atom.global.exch.b32 %o, [%l], 0; ret;""",
        [lock, count],
        threads=64,
        seed=seed,
    )
    assert count[0] == 64


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_hand_over_in_turn(seed):
    """Block k waits for block k + 1; fewer blocks are resident than there are."""
    flags = np.zeros(9, np.uint32)
    flags[8] = 1
    body = """.reg .b32 %b, %v; .reg .b64 %a; .reg .pred %p; mov.u32 %b, %ctaid.x;
        ld.param.u64 %a, [p0]; mad.wide.u32 %a, %b, 4, %a;
        WAIT: ld.acquire.gpu.global.u32 %v, [%a+{}]; setp.eq.u32 %p, %v, 0; @%p bra WAIT;
        add.u32 %v, %v, 1; st.release.gpu.global.u32 [%a], %v; ret;"""
    run(body.format(4), [flags], grid=8, threads=1, seed=seed)
    assert flags.tolist() == list(range(9, 0, -1))
    order = np.zeros(9, np.uint32)
    order[0] = 1
    text = body.format(0).replace(
        "st.release.gpu.global.u32 [%a]", "st.release.gpu.global.u32 [%a+4]"
    )
    run(text, [order], grid=8, threads=1, seed=seed, resident=2)
    assert order.tolist() == list(range(1, 10))


def test_waiting_for_blocks_that_cannot_start():
    flags = np.zeros(4, np.uint32)
    body = """.reg .b32 %b, %v; .reg .b64 %a; .reg .pred %p; mov.u32 %b, %ctaid.x;
        ld.param.u64 %a, [p0]; mad.wide.u32 %a, %b, 4, %a;
        WAIT: ld.acquire.gpu.global.u32 %v, [%a+4]; setp.eq.u32 %p, %v, 0; @%p bra WAIT; ret;"""
    with pytest.raises(tileir.ExecutionError, match="deadlock: no thread can go on\n  2 threads "
                       "wait for a change of memory.*ld.acquire"):  # fmt: skip
        run(body, [flags], grid=3, threads=1, resident=2)


def test_a_counter_that_gives_up_is_not_waited_for():
    """A poll with a limit: nobody will ever set the flag."""
    flag = np.zeros(1, np.uint32)
    with pytest.raises(tileir.ExecutionError, match="deadlock"):
        run(
            """.reg .b32 %i, %v; .reg .b64 %a; .reg .pred %p; ld.param.u64 %a, [p0]; mov.u32 %i, 0;
            W: ld.acquire.gpu.global.u32 %v, [%a]; setp.ne.u32 %p, %v, 0; @%p bra D;
            add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 100000000; @%p bra W; trap; D: ret;""",
            [flag],
        )


# Thread 0 looks with an atomic that changes nothing, and tells the block what it saw.
LOOK = """.reg .b32 %i, %n, %o; .reg .b64 %a, %c; .reg .pred %p, %q; .shared .b32 seen;
    mov.u32 %i, %tid.x; setp.ne.u32 %p, %i, 0; ld.param.u64 %a, [p0]; mov.u32 %n, 0;
    SPIN: bar.sync 0; @%p bra MEET; {atomic} st.shared.u32 [seen], %o; {by_one}
    MEET: bar.sync 0; ld.shared.u32 %o, [seen]; {by_all} ret;"""
ATOMICS = (
    "atom.acq_rel.gpu.global.add.u32 %o, [%a], 0;",
    "atom.acq_rel.gpu.global.cas.b32 %o, [%a], 1, 1;",
)


@pytest.mark.parametrize("atomic", ATOMICS)
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_one_thread_polls_for_its_block_with_atomics(atomic, seed):
    """Nobody will ever set the flag; who does not see that runs until the clock stops it."""
    body = LOOK.format(
        atomic=atomic,
        by_one="mov.u64 %c, %clock64; setp.gt.u64 %q, %c, 100000; @%q trap;",
        by_all="setp.eq.u32 %q, %o, 0; @%q bra SPIN;",
    )
    match = "(?s)deadlock: no thread can go on.*wait.* for a change of memory at PTX line .*atom"
    with pytest.raises(tileir.ExecutionError, match=match):
        run(body, [np.zeros(1, np.uint32)], threads=64, seed=seed)


def test_looking_often_is_no_deadlock():
    """The loop ends on its own, though nothing in memory ever changes."""
    by_all = "add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 700; @%q bra SPIN;"
    run(LOOK.format(atomic=ATOMICS[0], by_one="", by_all=by_all), [np.zeros(1, np.uint32)])


def test_long_loops_of_atomics_are_no_deadlock():
    x = np.arange(2000, dtype=np.uint32)[::-1].copy()
    best = np.full(1, 5000, np.uint32)
    run(
        """.reg .b32 %i, %v, %o; .reg .b64 %a, %b; .reg .pred %p; ld.param.u64 %a, [p0];
        ld.param.u64 %b, [p1]; mov.u32 %i, 0;
        L: ld.volatile.global.u32 %v, [%a]; atom.global.max.u32 %o, [%b], %v; add.u64 %a, %a, 4;
        add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 2000; @%p bra L; ret;""",
        [x, best],
        threads=1,
    )
    assert best[0] == 5000


def test_runs_are_reproducible():
    """Blocks append to a list in the order in which they run."""

    def order(seed):
        out, count = np.zeros(40, np.uint32), np.zeros(1, np.uint32)
        run(
            """.reg .b32 %b, %k; .reg .b64 %a, %c; mov.u32 %b, %ctaid.x; ld.param.u64 %a, [p0];
            ld.param.u64 %c, [p1]; atom.global.add.u32 %k, [%c], 1; mad.wide.u32 %a, %k, 4, %a;
            st.global.u32 [%a], %b; ret;""",
            [out, count],
            grid=40,
            threads=1,
            seed=seed,
        )
        return out.tolist()

    assert order(0) == order(0) == list(range(40))
    assert order(7) == order(7) and sorted(order(7)) == list(range(40))
    assert any(order(seed) != list(range(40)) for seed in range(1, 9))


def test_more_blocks_than_fit():
    out = np.zeros(300, np.uint32)
    text = module(""".reg .b32 %b; .reg .b64 %a; .shared .b32 s; mov.u32 %b, %ctaid.x;
        st.shared.u32 [s], %b; bar.sync 0; ld.shared.u32 %b, [s]; ld.param.u64 %a, [p0];
        mad.wide.u32 %a, %b, 4, %a; atom.global.add.u32 %b, [%a], 1; ret;""",
        pointers(1))  # fmt: skip
    for resident in (1, 7, 64, 300):
        out[:] = 0
        sim.run(text, "k", 300, 64, [out], resident=resident)
        assert (out == 64).all()
