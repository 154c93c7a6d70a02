"""Exchanges within a warp: shuffles, votes, match, reductions."""

from __future__ import annotations

import numpy as np
import pytest
from sim_support import run

import tileir

HEAD = """.reg .b32 %x, %y, %v, %m; .reg .pred %p, %q; .reg .b64 %at, %to;
    mov.u32 %x, %tid.x;
    ld.param.u64 %at, [p0]; mad.wide.u32 %at, %x, 4, %at; ld.global.u32 %v, [%at];
    ld.param.u64 %to, [p1]; mad.wide.u32 %to, %x, 4, %to;"""
TAIL = "st.global.u32 [%to], %y; ret;"


def exchange(body: str, values: np.ndarray, **options) -> np.ndarray:
    """%v is the thread's value; `body` computes %y."""
    out = np.zeros(len(values), np.uint32)
    run(f"{HEAD}\n{body}\n{TAIL}", [values.astype(np.uint32), out], threads=len(values), **options)
    return out


VALUES = np.random.default_rng(1).integers(0, 1 << 32, 64, np.uint64).astype(np.uint32)


def isa_shuffle(mode: str, values: list[int], lane: int, b: int, c: int) -> tuple[int, bool]:
    """The ISA's description of shfl, for one lane."""
    bval, cval, mask = b & 31, c & 31, c >> 8 & 31
    max_lane = (lane & mask) | (cval & ~mask & 31)
    min_lane = lane & mask
    if mode == "up":
        j, valid = lane - bval, lane - bval >= max_lane
    elif mode == "down":
        j, valid = lane + bval, lane + bval <= max_lane
    elif mode == "bfly":
        j, valid = lane ^ bval, lane ^ bval <= max_lane
    else:
        j = min_lane | (bval & ~mask & 31)
        valid = j <= max_lane
    return values[j if valid else lane], valid


@pytest.mark.parametrize("mode", ("up", "down", "bfly", "idx"))
@pytest.mark.parametrize("c", (0, 31, 0x1F, 0x181F, 0x1C03, 0x101F, 0x1800, 0x0007))
@pytest.mark.parametrize("b", (0, 1, 3, 16, 31))
def test_shuffles(mode, b, c):
    out = exchange(f"shfl.sync.{mode}.b32 %y|%p, %v, {b}, {c}, -1; @!%p add.u32 %y, %y, 1;", VALUES)
    plain = exchange(f"shfl.sync.{mode}.b32 %y, %v, {b}, {c}, 0xffffffff;", VALUES)
    for thread in range(64):
        warp = VALUES[thread // 32 * 32 :][:32].tolist()
        value, valid = isa_shuffle(mode, warp, thread % 32, b, c)
        assert plain[thread] == value
        assert out[thread] == (value + (not valid)) & 0xFFFFFFFF


def test_shuffle_by_a_register():
    """Each lane may ask for another lane."""
    body = "and.b32 %m, %v, 31; shfl.sync.idx.b32 %y, %x, %m, 31, -1;"
    out = exchange(body, VALUES)
    assert (out == (VALUES & 31) + np.arange(64) // 32 * 32).all()


def test_votes():
    odd = (VALUES & 1).astype(bool).reshape(2, 32)
    test = "and.b32 %m, %v, 1; setp.ne.u32 %p, %m, 0;"
    ballot = exchange(f"{test} vote.sync.ballot.b32 %y, %p, -1;", VALUES).reshape(2, 32)
    assert (ballot == (odd * (1 << np.arange(32))).sum(axis=1)[:, None]).all()
    for mode, want in (("any", odd.any(axis=1)), ("all", odd.all(axis=1)), ("uni", [False] * 2)):
        body = f"{test} vote.sync.{mode}.pred %q, %p, -1; selp.b32 %y, 1, 0, %q;"
        assert (exchange(body, VALUES).reshape(2, 32) == np.array(want)[:, None]).all()
    zero = exchange("setp.ne.u32 %p, %v, %v; vote.sync.uni.pred %q, %p, -1; selp.b32 %y, 1, 0, %q;",
                    VALUES)  # fmt: skip
    assert (zero == 1).all()


def test_vote_of_some_lanes():
    """Two halves of a warp vote apart, each with its own mask."""
    body = """setp.lt.u32 %p, %v, 2; setp.lt.u32 %q, %x, 16; @%q bra LOW;
        vote.sync.ballot.b32 %y, %p, 0xffff0000; bra DONE;
        LOW: vote.sync.ballot.b32 %y, %p, 0xffff; DONE:"""
    values = np.arange(32, dtype=np.uint32) % 5
    out = exchange(body, values)
    whole = int(((values < 2) * (1 << np.arange(32))).sum())
    assert (out[:16] == (whole & 0xFFFF)).all() and (out[16:] == (whole & 0xFFFF0000)).all()


def test_lanes_wait_for_each_other():
    """Lanes that come later by another path join the shuffle, as masks of the warp demand."""
    body = """setp.lt.u32 %p, %x, 7; @%p bra SLOW; mov.u32 %m, 5; bra JOIN;
        SLOW: mov.u32 %m, 9;
        JOIN: shfl.sync.bfly.b32 %y, %m, 16, 31, -1;"""
    out = exchange(body, np.zeros(32))
    assert (out == [5] * 16 + [9] * 7 + [5] * 9).all()


def test_a_lane_outside_its_mask():
    with pytest.raises(tileir.ExecutionError, match="not in the member mask.*thread \\(8, 0, 0\\)"):
        exchange("vote.sync.ballot.b32 %y, 1, 0xff;", np.zeros(32))


def test_elect():
    body = "elect.sync %m|%p, -1; selp.b32 %y, 100, %m, %p;"
    out = exchange(body, np.zeros(64)).reshape(2, 32)
    assert (out[:, 0] == 100).all() and (out[:, 1:] == 0).all()
    body = """setp.lt.u32 %q, %x, 5; @%q bra OUT; elect.sync _|%p, 0xffffffe0;
        selp.b32 %y, 100, 7, %p; bra ON; OUT: mov.u32 %y, 0; ON:"""
    out = exchange(body, np.zeros(32))
    assert (out == [0] * 5 + [100] + [7] * 26).all()


def test_active_mask():
    body = """setp.lt.u32 %p, %x, 5; @%p bra LOW; activemask.b32 %y; bra ON;
        LOW: activemask.b32 %y; ON:"""
    out = exchange(body, np.zeros(32))
    assert (out[:5] == 31).all() and (out[5:] == 0xFFFFFFE0).all()


def test_match():
    values = np.array([1, 2, 3, 2] * 8, np.uint32)
    out = exchange("match.any.sync.b32 %y, %v, -1;", values)
    want = [sum(1 << i for i in range(32) if values[i] == v) for v in values]
    assert (out == want).all()
    body = "match.all.sync.b32 %y|%p, %v, -1; @%p add.u32 %y, %y, 1;"
    assert (exchange(body, values) == 0).all()
    assert (exchange(body, np.full(32, 9)) == 0).all()  # all ones, plus one
    out = exchange("mov.b64 %at, {%v, %v}; match.any.sync.b64 %y, %at, -1;", values)
    assert (out == want).all()


@pytest.mark.parametrize("name", ("add", "min", "max", "and", "or", "xor"))
def test_reductions(name):
    functions = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
                 "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip
    kinds = ("b32",) if name in ("and", "or", "xor") else ("u32", "s32")
    for kind in kinds:
        out = exchange(f"redux.sync.{name}.{kind} %y, %v, -1;", VALUES).reshape(2, 32)
        values = VALUES.view(np.int32 if kind == "s32" else np.uint32).reshape(2, 32)
        want = functions[name].reduce(values, axis=1, dtype=values.dtype).view(np.uint32)
        assert (out == want[:, None]).all()


def test_warp_barrier():
    """bar.warp.sync lets a value that one lane stored be read by the others."""
    body = """.reg .b64 %s; .shared .b32 cell;
        setp.ne.u32 %p, %x, 3; @%p bra READ; st.shared.u32 [cell], 42;
        READ: bar.warp.sync -1; ld.shared.u32 %y, [cell];"""
    assert (exchange(body, np.zeros(32)) == 42).all()


def test_special_registers():
    body = """mov.u32 %y, %laneid; mov.u32 %m, %warpid; mad.lo.u32 %y, %m, 100, %y;
        mov.u32 %m, %lanemask_lt; popc.b32 %m, %m; mad.lo.u32 %y, %m, 10000, %y;"""
    out = exchange(body, np.zeros(64))
    lane, warp = np.arange(64) % 32, np.arange(64) // 32
    assert (out == lane + 100 * warp + 10000 * lane).all()
    masks = np.zeros(32, np.uint32)
    run(f"{HEAD} mov.u32 %y, %lanemask_eq; mov.u32 %m, %lanemask_gt; or.b32 %y, %y, %m; "
        f"mov.u32 %m, %lanemask_ge; sub.u32 %y, %m, %y; {TAIL}", [masks, masks])  # fmt: skip
    assert (masks == 0).all()


def test_thread_and_block_numbers():
    out = np.zeros((3, 2, 2, 4, 5, 3), np.uint32)  # grid z, y, x, block z, y, x
    body = """.reg .b32 %r<20>; .reg .b64 %at;
        mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
        mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z;
        mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; mov.u32 %r8, %ntid.z;
        mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y;
        mad.lo.u32 %r11, %r5, %r10, %r4; mad.lo.u32 %r11, %r11, %r9, %r3;
        mad.lo.u32 %r11, %r11, %r8, %r2; mad.lo.u32 %r11, %r11, %r7, %r1;
        mad.lo.u32 %r11, %r11, %r6, %r0;
        ld.param.u64 %at, [p0]; mad.wide.u32 %at, %r11, 4, %at;
        add.u32 %r11, %r11, 1; st.global.u32 [%at], %r11; ret;"""
    run(body, [out], threads=(3, 5, 4), grid=(2, 2, 3))
    assert (out.ravel() == np.arange(out.size) + 1).all()
