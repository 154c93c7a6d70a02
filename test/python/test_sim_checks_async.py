"""Planted faults of proxies, mbarriers, barriers, exits, addresses; and their repaired twins."""

from __future__ import annotations

import numpy as np
import pytest
from sim_checks_support import HEAD, LOAD, STORE, init, planted, run_text, wait
from sim_support import module

import tileir
from tileir import sim

OUT = np.zeros(256, np.uint32)
X = np.arange(256, dtype=np.uint32)


# --- proxies -------------------------------------------------------------------------------------


def test_a_store_by_hardware_of_what_threads_wrote():
    body = f""".shared .align 16 .b32 s[32]; mov.u32 %v0, s; mad.lo.u32 %v1, %i, 4, %v0;
        st.shared.u32 [%v1], %i; %% bar.sync 0; setp.eq.u32 %p, %i, 0; @!%p ret;
        {STORE} [%a], [%v0], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""
    match = "no proxy fence: byte 0 of the shared memory.*generic proxy by the store at PTX line"
    planted(body, "fence.proxy.async.shared::cta;", "", match, [OUT])
    planted(body, "fence.proxy.async;", "fence.proxy.async.global;", match, [OUT])
    # Behind the barrier it may be the thread that issues the copy.
    late = body.replace("%%", "").replace("@!%p ret;", "@!%p ret; %%")
    planted(late, "fence.proxy.async.shared::cta;", "membar.cta;", match, [OUT])


def test_a_load_by_hardware_of_what_threads_wrote():
    """Global memory goes through proxies, too."""
    body = f""".shared .align 16 .b32 s[32]; .shared .align 8 .b64 m; mov.u32 %v0, s;
        mov.u32 %v1, m; {init("%v1")} mad.wide.u32 %d0, %i, 4, %a; st.global.u32 [%d0], %i; %%
        bar.sync 0; @!%p ret; mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 128;
        {LOAD} [%v0], [%a], 128, [%v1]; {wait("%v1")} ld.shared.u32 %v3, [%v0+4];
        st.global.u32 [%b], %v3;"""
    match = "no proxy fence: byte 0 of parameter 0"
    planted(body, "fence.proxy.async.global;", "", match, [OUT, OUT])


def test_a_load_by_hardware_over_what_threads_wrote():
    body = f""".shared .align 16 .b32 s[32]; .shared .align 8 .b64 m; mov.u32 %v0, s;
        mov.u32 %v1, m; {init("%v1")} mad.lo.u32 %v2, %i, 4, %v0; st.shared.u32 [%v2], 0; %%
        bar.sync 0; @!%p ret; mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 128;
        {LOAD} [%v0], [%a], 128, [%v1]; {wait("%v1")}"""
    planted(body, "fence.proxy.async.shared::cta;", "", "no proxy fence", [X])


def test_reading_what_hardware_has_not_finished():
    """The reverse: the mbarrier, or the group, is what makes it visible."""
    body = f""".shared .align 16 .b32 s[32]; .shared .align 8 .b64 m; mov.u32 %v0, s;
        mov.u32 %v1, m; {init("%v1")} @!%p bra MEET;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 128; {LOAD} [%v0], [%a], 128, [%v1];
        MEET: %% mad.lo.u32 %v2, %i, 4, %v0; ld.shared.u32 %v3, [%v2];
        mad.wide.u32 %d0, %i, 4, %b; st.global.u32 [%d0], %v3; {wait("%v1")}"""
    match = "race on .*asynchronous|race on .*the load|uninitialised value"
    planted(body, wait("%v1"), "bar.sync 0;", match, [X, OUT])
    body = f""".shared .align 16 .b32 s[4]; mov.u32 %v0, s; st.shared.u32 [%v0], 5;
        st.shared.u32 [%v0+4], 5; st.shared.u64 [%v0+8], 5; fence.proxy.async;
        {STORE} [%a], [%v0], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group%% 0;
        ld.global.u32 %v1, [%a]; st.global.u32 [%b], %v1; cp.async.bulk.wait_group 0;"""
    planted(body, "", ".read", "race on byte 0 of parameter 0", [OUT, OUT], threads=1)


def test_overwriting_what_hardware_still_reads():
    body = f""".shared .align 16 .b64 s[2]; mov.u32 %v0, s; st.shared.v2.u64 [%v0], {{5, 6}};
        fence.proxy.async; {STORE} [%a], [%v0], 16; cp.async.bulk.commit_group; %%
        st.shared.u32 [%v0], 7; cp.async.bulk.wait_group 0;"""
    body = body.replace("{5, 6}", "{%d0, %d0}").replace(
        "mov.u32 %v0", "mov.u64 %d0, 5; mov.u32 %v0"
    )
    match = "race on byte 0 of the shared memory.*asynchronous read|race on .*the store"
    planted(body, "cp.async.bulk.wait_group.read 0;", "", match, [OUT], threads=1)


# --- mbarriers -----------------------------------------------------------------------------------

ONE_COPY = f""".shared .align 16 .b32 s[64]; .shared .align 8 .b64 m; mov.u32 %v0, s;
    mov.u32 %v1, m; {init("%v1")} @!%p bra MEET;
    mbarrier.arrive.expect_tx.shared.b64 _, [%v1], %%; {LOAD} [%v0], [%a], 128, [%v1];
    MEET: {wait("%v1")} mad.lo.u32 %v2, %i, 4, %v0; ld.shared.u32 %v3, [%v2];
    mad.wide.u32 %d0, %i, 4, %b; st.global.u32 [%d0], %v3;"""


def test_wrong_numbers_of_bytes():
    few = "the copies that complete on the mbarrier at byte .* are 16 bytes more than announced"
    planted(ONE_COPY, "128", "112", few, [X, OUT])
    many = (
        "(?s)deadlock.*mbarrier at byte .* phase 0: 0 of 1 arrivals and 16 bytes of copies are mis"
    )
    planted(ONE_COPY, "128", "144", many, [X, OUT])


def test_wrong_numbers_of_arrivals():
    body = """.shared .align 8 .b64 m; mov.u32 %v1, m; {} setp.eq.u32 %q, %w, 0; @%q bra WAIT;
        mbarrier.arrive.shared.b64 _, [%v1]; bra END; WAIT: {} END:"""
    body = body.format(init("%v1", "%%"), wait("%v1"))
    match = "(?s)deadlock.*32 threads wait for an mbarrier.*1 of 33 arrivals are missing"
    planted(body, "32", "33", match, threads=64)
    body = """.shared .align 8 .b64 m; mov.u32 %v1, m; {} mbarrier.arrive.shared.b64 _, [%v1], {};
        {}"""
    body = body.format(init("%v1", 64), "%%", wait("%v1"))
    planted(body, "2", "3", "arrivals where .* are missing in this phase")


def test_mbarriers_that_others_do_not_know():
    body = f""".shared .align 8 .b64 m; mov.u32 %v1, m; setp.eq.u32 %p, %i, 0;
        @%p mbarrier.init.shared.b64 [%v1], 64; %% mbarrier.arrive.shared.b64 _, [%v1];
        {wait("%v1")}"""
    match = "nothing orders this use of the mbarrier|there is no mbarrier at byte"
    planted(body, "bar.sync 0;", "bar.warp.sync -1;", match, threads=64)
    body = ONE_COPY.replace("%%", "128").replace("fence.mbarrier_init.release.cluster;", "%%")
    match = "init at PTX line .* is not visible to the async proxy"
    planted(body, "fence.mbarrier_init.release.cluster;", "", match, [X, OUT])


def test_mbarriers_are_left_alone():
    body = f""".shared .align 8 .b64 m; .shared .align 8 .b64 n; mov.u32 %v1, m; {init("%v1")}
        @%p st.shared.u64 [%%], 0;"""
    planted(body, "n", "m", "an access to the mbarrier at byte 0 .* that is no mbarrier instr")
    body = f""".shared .align 8 .b64 m; mov.u32 %v1, m; {init("%v1")} %%
        @%p mbarrier.init.shared.b64 [m], 1;"""
    match = "mbarrier.init of the mbarrier at byte 0.* is an mbarrier since PTX line"
    planted(body, "@%p mbarrier.inval.shared.b64 [m];", "", match)


# --- barriers and deadlocks ----------------------------------------------------------------------


def test_barriers_with_different_counts():
    body = "setp.eq.u32 %p, %w, 0; @%p bra A; bar.sync 1, 64; bra B; A: bar.arrive 1, %%; B:"
    match = "barrier 1 of block .* is for .* threads here and for .* at PTX line"
    planted(body, "64", "96", match, threads=64)


def test_barriers_that_some_never_reach():
    body = "setp.eq.u32 %p, %w, %%; @%p bra A; bar.sync 1, 96; A:"
    match = (
        "(?s)deadlock: no thread can go on.*64 threads wait for a barrier at PTX line .*"
        "barrier 1 of .*: 64 of 96 threads have arrived"
    )
    planted(body, "9", "2", match, threads=96)


def test_a_deadlock_of_two():
    """Each warp waits for the other one's barrier; the table names both."""
    body = """setp.eq.u32 %p, %w, 0; @%p bra A; bar.sync 1, 64; bar.sync 2, 64; bra B;
        A: bar.sync {}, 64; bar.sync {}, 64; B:"""
    match = "(?s)deadlock.*barrier 2 of .*: 32 of 64 .*barrier 1 of |barrier 1 of .*barrier 2 of "
    planted("%%", body.format(1, 2), body.format(2, 1), match, threads=64)


def test_blocks_that_can_go_on_are_no_deadlock():
    """Block 0 waits for the last one, which has to wait for a place."""
    body = """mov.u32 %v0, %ctaid.x; setp.ne.u32 %p, %v0, 0; @%p bra OTHERS;
        WAIT: ld.acquire.gpu.global.u32 %v1, [%a]; setp.ne.u32 %q, %v1, %%; @%q bra WAIT; ret;
        OTHERS: red.release.gpu.global.add.u32 [%a], 1;"""
    match = "(?s)deadlock.*1 thread waits for a change of memory at PTX line .*ld.acquire"
    planted(body, "5", "6", match, [OUT], grid=6, threads=1, resident=2)


# --- exits ---------------------------------------------------------------------------------------


def test_blocks_that_end_too_early():
    ends = (
        r"block \(0, 0, 0\) ends while this asynchronous operation may still have to touch its sh"
    )
    body = """.shared .align 16 .b32 s[32]; mov.u32 %v0, s; mad.lo.u32 %v1, %i, 4, %v0;
        mad.wide.u32 %d0, %i, 4, %a; cp.async.ca.shared.global [%v1], [%d0], 4; %%"""
    planted(body, "cp.async.wait_all;", "", ends, [X])
    body = f""".shared .align 16 .b64 s[2]; mov.u64 %d0, 5; mov.u32 %v0, s;
        st.shared.v2.u64 [%v0], {{%d0, %d0}}; fence.proxy.async; {STORE} [%a], [%v0], 16;
        cp.async.bulk.commit_group; %%"""
    planted(body, "cp.async.bulk.wait_group.read 0;", "", ends, [OUT], threads=1)
    body = ONE_COPY.replace("%%", "128").partition("MEET:")[0] + "MEET: %%"
    planted(body, wait("%v1"), "", ends, [X, OUT])


def test_blocks_that_share_an_instruction_end_on_their_own():
    """Blocks 0 and 1 run in step when they copy; block 0 ends while those of block 1 go on."""
    body = """.shared .align 16 .b32 s[32]; mov.u32 %v0, s; mad.lo.u32 %v1, %i, 4, %v0;
        mad.wide.u32 %d0, %i, 4, %a; cp.async.ca.shared.global [%v1], [%d0], 4;
        mov.u32 %v2, %ctaid.x; setp.ne.u32 %p, %v2, 0; @%p bra ON; cp.async.wait_all; ret;
        ON: %%"""
    match = r"(?s)block \(1, 0, 0\) ends while this asyn.*thread \(0, 0, 0\) of block \(1, 0, 0\)"
    planted(body, "cp.async.wait_all;", "", match, [X], grid=2)


def test_blocks_of_a_cluster_that_end_too_early():
    body = """.shared .align 8 .b64 m; .shared .b32 s; mov.u32 %v2, %cluster_ctarank;
        st.shared.u32 [s], %v2; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %v1, s;
        xor.b32 %v3, %v2, 1; mapa.shared::cluster.u32 %v4, %v1, %v3;
        ld.shared::cluster.u32 %v5, [%v4]; %% mov.u32 %v0, %ctaid.x;
        mad.wide.u32 %d0, %v0, 4, %a; st.global.u32 [%d0], %v5;"""
    match = "ends while this access from another block may still have to touch its shared memory"
    meet = "barrier.cluster.arrive; barrier.cluster.wait;"
    planted(body, meet, "", match, [OUT], grid=2, threads=1, cluster=2)
    # To arrive is not enough.
    planted(body, meet, "barrier.cluster.arrive;", match, [OUT], grid=2, threads=1, cluster=2)
    lonely = "barrier.cluster.wait without an arrive before it"
    planted(body, meet, "barrier.cluster.wait;", lonely, [OUT], grid=2, threads=1, cluster=2)
    # Without the first one, the value may not be there.
    first = body.replace("%%", meet).replace(meet, "%%", 1)
    planted(first, meet, "", "race on|uninitialised", [OUT], grid=2, threads=1, cluster=2)


# --- addresses -----------------------------------------------------------------------------------


def test_out_of_bounds_and_misaligned():
    body = "mad.wide.u32 %d0, %i, 4, %a; st.global.u32 [%d0+%%], %i;"
    match = r"out of bounds: 4 bytes at byte 1024 of parameter 0.*thread \(31, 0, 0\)"
    planted(body, "896", "900", match, [OUT])
    planted(body, "896", "895", "misaligned address: byte 895 of parameter 0", [OUT])
    body = ".shared .align 16 .b32 s[32]; mov.u32 %v0, s; st.shared.v4.b32 [%v0+%%], {%i,%i,%i,%i};"
    body = "setp.ne.u32 %p, %i, 0; @%p ret;" + body
    planted(body, "112", "128", "out of bounds: 16 bytes at byte 128 of shared memory")
    planted(body, "112", "104", "misaligned address: byte 104 of shared memory")


def test_checks_can_be_chosen():
    racy = ".shared .b32 s[64]; st.shared.u32 [s], %i;"
    run_text(racy, [], checks=False)
    run_text(racy, [], checks=("uninitialised", "exits"))
    with pytest.raises(tileir.ExecutionError, match="race"):
        run_text(racy, [], checks=["races"])
    with pytest.raises(tileir.LaunchError, match="there is no check 'race'"):
        run_text(racy, [], checks=["race"])


def test_places_in_the_source():
    """Both accesses are named with their place in the program that was compiled."""
    body = """.loc 1 7 3
        .shared .b32 s; setp.eq.u32 %p, %i, 0; @%p st.shared.u32 [s], 1;
        .loc 1 9 5
        ld.shared.u32 %v0, [s];"""
    text = module(f"{HEAD}\n{body}\nret;").rstrip() + '\n.file 1 "kernel.py"\n'
    with pytest.raises(tileir.ExecutionError) as caught:
        sim.run(text, "k", 1, 32)
    assert caught.value.location == "kernel.py:9:5"
    message = str(caught.value)
    assert "(kernel.py:7:3, `@%p st.shared.u32 [s], 1;`) by thread (0, 0, 0) of block" in message
    assert "thread (1, 0, 0) of block (0, 0, 0)" in message


def test_a_stage_released_too_early():
    """A producer fills one stage twice; the consumer says when it has read it."""
    body = f""".shared .b32 s[32]; .shared .align 8 .b64 full; .shared .align 8 .b64 empty;
        mov.u32 %v0, s; mad.lo.u32 %v0, %i, 4, %v0; mov.u32 %v1, full; mov.u32 %v2, empty;
        {init("%v1", 32)} {init("%v2", 32)} setp.eq.u32 %q, %w, 0; @%q bra CONSUME;
        st.shared.u32 [%v0-128], %i; mbarrier.arrive.shared.b64 _, [%v1];
        {wait("%v2")} st.shared.u32 [%v0-128], 1; mbarrier.arrive.shared.b64 _, [%v1]; ret;
        CONSUME: {wait("%v1")} {{early}} ld.shared.u32 %v3, [%v0]; {{late}}
        {wait("%v1", 1)} ld.shared.u32 %v4, [%v0]; add.u32 %v3, %v3, %v4;
        mad.wide.u32 %d0, %i, 4, %a; st.global.u32 [%d0], %v3;"""
    body = body.replace("{ .reg", "{{ .reg").replace("bra W; }", "bra W; }}")
    release = "mbarrier.arrive.shared.b64 _, [%v2];"
    right, wrong = body.format(early="", late=release), body.format(early=release, late="")
    planted("%%", right, wrong, "race on byte .*(st|ld).shared", [OUT], threads=64)


# --- tensor maps ---------------------------------------------------------------------------------

FIELDS = [("global_address", "b64", "%b"), ("rank", "b32", "1"), ("box_dim", "b32", "0, 32"),
          ("box_dim", "b32", "1, 8"), ("global_dim", "b32", "0, 32"), ("global_dim", "b32", "1, 8"),
          ("global_stride", "b64", "0, 64"), ("element_stride", "b32", "0, 1"),
          ("element_stride", "b32", "1, 1"), ("elemtype", "b32", "6"),
          ("interleave_layout", "b32", "0"), ("swizzle_mode", "b32", "0"),
          ("fill_mode", "b32", "0")]  # fmt: skip
BUILD = " ".join(
    f"@%q tensormap.replace.tile.{name}.shared::cta.b1024.{kind} [%v2], {value};"
    for name, kind, value in FIELDS
)
COPY_MAP = (
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%c], [%v2], 128;"
)
ACQUIRE_MAP = "fence.proxy.tensormap::generic.acquire.gpu [%c], 128;"
# Warp 0 makes a map, warp 1 copies with it.
WITH_MAP = f""".shared .align 128 .b8 t[128]; .shared .align 128 .b8 s[512];
    .shared .align 8 .b64 bar; mov.u32 %v0, s; mov.u32 %v1, bar; mov.u32 %v2, t; {init("%v1")}
    add.u64 %c, %c, 127; and.b64 %c, %c, -128; setp.ne.u32 %p, %w, 0; @%p bra USE;
    mad.lo.u32 %v3, %i, 4, %v2; st.shared.u32 [%v3], 0; {{written}}
    setp.eq.u32 %q, %i, 0; {BUILD} {{built}} {COPY_MAP} {ACQUIRE_MAP} {{made}} ret;
    USE: {{known}} setp.ne.u32 %p, %i, 32; @%p ret;
    mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 512;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%v0], [%c, {{{{%v9, %v9}}}}], [%v1]; {wait("%v1")}"""
WITH_MAP = WITH_MAP.replace("{ .reg", "{{ .reg").replace("bra W; }", "bra W; }}")
WITH_MAP = WITH_MAP.replace("mov.u32 %v0, s;", "mov.u32 %v0, s; mov.u32 %v9, 0;")
STEPS = {
    "written": "bar.warp.sync -1;",
    "built": "bar.warp.sync -1;",
    "made": "bar.sync 1, 64;",
    "known": "bar.sync 1, 64;",
}


@pytest.mark.parametrize(
    ("step", "wrong", "match"),
    [
        ("written", "", "race on byte .*(tensormap.replace|st.shared)"),
        (
            "known",
            "",
            "tensor map|nothing orders this use",
        ),
    ],
)
def test_making_a_map(step, wrong, match):
    arrays = [OUT, np.zeros((8, 32), np.float16), np.zeros(256, np.uint8)]
    other = {**STEPS, step: wrong}
    if step == "known":
        other["made"] = ""
    right = WITH_MAP.format(**STEPS)
    planted("%%", right, WITH_MAP.format(**other), match, arrays, threads=64)


def test_a_map_without_its_fence():
    arrays = [OUT, np.zeros((8, 32), np.float16), np.zeros(256, np.uint8)]
    body = WITH_MAP.format(**STEPS).replace(ACQUIRE_MAP, "%%")
    match = "no tensormap proxy fence behind the making of this tensor map at PTX line"
    planted(body, ACQUIRE_MAP, "", match, arrays, threads=64)
    # The user may do it as well.
    late = WITH_MAP.format(**STEPS).replace(ACQUIRE_MAP, "").replace("@%p ret;", "@%p ret; %%", 1)
    planted(late, ACQUIRE_MAP, ACQUIRE_MAP.replace("%c", "%b"), match, arrays, threads=64)


def test_a_map_that_is_made_again_too_early():
    arrays = [OUT, np.zeros((8, 32), np.float16), np.zeros(256, np.uint8)]
    again = f"""USE: bar.sync 1, 64; setp.ne.u32 %p, %i, 32; @%p bra AGAIN;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 512;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%v0], [%c, {{%v9, %v9}}], [%v1];
        AGAIN: %% setp.eq.u32 %q, %w, 1; @%q {COPY_MAP} {wait("%v1")}"""
    body = WITH_MAP.format(**STEPS).partition("USE:")[0] + again
    body = body.replace(f"@%q {COPY_MAP}", COPY_MAP)
    match = "a tensor map is made where a copy may still use another"
    planted(body, wait("%v1"), "", match, arrays, threads=64)
