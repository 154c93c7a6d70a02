"""Planted faults: copies by hardware over what threads read without a proxy fence."""

from __future__ import annotations

import numpy as np
import pytest
from sim_checks_support import LOAD, SEEDS, init, planted, run_text, wait

import tileir

X = np.arange(256, dtype=np.uint32)
OUT = np.zeros(256, np.uint32)
FENCE = "fence.proxy.async.shared::cta;"
READ = "mad.lo.u32 %v2, %i, 4, %v0; ld.shared.u32 %v3, [%v2];"
READ_MATRICES = """and.b32 %v6, %i, 15; mad.lo.u32 %v2, %v6, 16, %v0;
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%v3, %v4}, [%v2];"""
#: A warp lets go of a stage: its first lane arrives for all.
ARRIVE = "bar.warp.sync -1; @%q mbarrier.arrive.shared.b64 _, [%v9];"
OVERWRITTEN = (
    "no proxy fence: byte [0-9]+ of the shared memory.* is overwritten through the async proxy "
    "here, and was read through the generic proxy by the load at PTX line [0-9]+ .*thread .*bulk"
)


def stage(read: str = READ, let_go: str = ARRIVE, start: str = wait("%v9")) -> str:
    """Two warps read 256 bytes that hardware has written, and let it write them again."""
    copy = f"""mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 256;
        {LOAD} [%v0], [%a], 256, [%v1];"""
    return f""".shared .align 16 .b32 s[64]; .shared .align 8 .b64 m; .shared .align 8 .b64 e;
        mov.u32 %v0, s; mov.u32 %v1, m; mov.u32 %v9, e; {init("%v9", 2)} {init("%v1")}
        mov.u32 %v3, 0; and.b32 %v8, %i, 31; setp.eq.u32 %q, %v8, 0;
        @!%p bra FILLED; {copy} FILLED: {wait("%v1")}
        {read} {let_go} @!%p bra END; {start} {copy} {wait("%v1", 1)}
        END: mad.wide.u32 %d0, %i, 4, %b; st.global.u32 [%d0], %v3;"""


def reported(body: str) -> None:
    for seed in SEEDS:
        with pytest.raises(tileir.ExecutionError, match=OVERWRITTEN):
            run_text(body, [X, OUT.copy()], threads=64, seed=seed)


@pytest.mark.parametrize("read", [READ, READ_MATRICES], ids=["ld", "ldmatrix"])
@pytest.mark.parametrize("wrong", ["", "fence.proxy.async.global;", "fence.acq_rel.cta;"])
def test_fences_of_the_threads_that_read(read, wrong):
    planted(stage(f"{read} %%"), FENCE, wrong, OVERWRITTEN, [X, OUT], threads=64)
    planted(stage(f"{read} %%"), "fence.proxy.async;", wrong, OVERWRITTEN, [X, OUT], threads=64)


def test_the_message_names_both_places():
    with pytest.raises(tileir.ExecutionError) as caught:
        run_text(stage(), [X, OUT.copy()], threads=64)
    message = str(caught.value)
    assert "`ld.shared.u32 %v3, [%v2];`) by thread (0, 0, 0) of block (0, 0, 0)" in message
    assert "fence.proxy.async.shared::cta behind the load, in each thread that loads" in message


@pytest.mark.parametrize(
    "body",
    [
        stage(f"{FENCE} {READ}"),
        stage(let_go=f"{ARRIVE} {FENCE}"),
        stage(start=f"{wait('%v9')} {FENCE}"),
        stage(let_go=f"@%q {FENCE} {ARRIVE}"),
        stage(let_go=f"setp.eq.u32 %p, %w, 1; @%p {FENCE} setp.eq.u32 %p, %i, 0; {ARRIVE}"),
    ],
    ids=["before", "behind_the_arrival", "of_the_issuer", "of_one_lane", "of_one_warp"],
)
def test_fences_that_come_elsewhere(body):
    """Nobody else can wait for a load that is on its way."""
    reported(body)


def test_the_thread_that_reads_copies_itself():
    body = stage(let_go="@!%p bra END; ld.shared.u32 %v3, [%v0+128]; %%", start="")
    body = body.replace(READ, "")
    planted(body, FENCE, "", OVERWRITTEN, [X, OUT], threads=64)


def test_every_load_counts():
    """Not only the last one of a place: here the other warp's, which has a fence."""
    second = f"bar.sync 0; setp.eq.u32 %q, %w, 1; @%q ld.shared.u32 %v3, [%v0]; @%q {FENCE}"
    body = stage(f"setp.eq.u32 %q, %w, 0; @%q ld.shared.u32 %v3, [%v0]; %% {second}", "bar.sync 0;")
    body = body.replace(wait("%v9"), "")
    planted(body, f"@%q {FENCE}", "", OVERWRITTEN, [X, OUT], threads=64)


@pytest.mark.parametrize("barriers", [1, 2, 3])
def test_barriers_do_not_replace_fences(barriers):
    """Although they put all loads in order."""
    body = stage(f"{READ} %%", "bar.sync 0; " * barriers, "")
    planted(body, FENCE, "", OVERWRITTEN, [X, OUT], threads=64)


def test_fences_between_barriers():
    """They cover what was read before the barrier in front of them; what the same instruction
    reads behind them they do not."""
    planted(
        stage(READ, "bar.sync 0; %% bar.sync 0;", ""), FENCE, "", OVERWRITTEN, [X, OUT], threads=64
    )
    rounds = f"""mov.u32 %v5, 0; AGAIN: {READ} bar.sync 0; setp.lt.u32 %q, %v5, 1;
        @%q {FENCE} %% add.u32 %v5, %v5, 1; @%q bra AGAIN; bar.sync 0;"""
    body = stage(rounds, "", "")
    planted(body, FENCE, "", OVERWRITTEN, [X, OUT], threads=64)


def test_a_store_in_between_has_waited_for_loads():
    """What has been written since needs a fence as any store does, wherever that is."""
    store = "bar.sync 0; @%p st.shared.u32 [%v0+128], 1; bar.sync 0; %%"
    body = stage("setp.eq.u32 %q, %w, 1; @%q ld.shared.u32 %v3, [%v0+128];", store, "")
    match = "no proxy fence: .* goes through the async proxy here.* by the store at PTX line"
    planted(body, f"@%p {FENCE}", "", match, [X, OUT], threads=64)


def test_copies_read_through_the_async_proxy():
    """A bulk copy out of a stage is waited for; a fence adds nothing."""
    out = """@!%p bra READ; cp.async.bulk.global.shared::cta.bulk_group [%b], [%v0], 256;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; READ: mov.u32 %v3, 0;"""
    body = stage(out, "@!%p bra END;", "")
    body = body[: body.index("END: mad")] + "END:"
    result = OUT.copy()
    run_text(body, [X, result], threads=64)
    np.testing.assert_array_equal(result[:64], X[:64])
