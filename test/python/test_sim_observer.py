"""What observers are told, and the counters of a run."""

from __future__ import annotations

from collections import Counter

import numpy as np
from sim_support import module, pointers, run
from test_sim_barriers import WAIT

from tileir import sim
from tileir.sim.observer import Observer
from tileir.sim.ptx.syntax import Register


class Recorder(Observer):
    """Keeps every event as (name, arguments)."""

    def __init__(self):
        self.events: list[tuple[str, tuple]] = []


def _recording(name):
    def method(self, *arguments):
        self.events.append((name, arguments))

    return method


for _name in vars(Observer):
    if not _name.startswith(("_", "emit", "instruments", "wants")):
        setattr(Recorder, _name, _recording(_name))


def record(body: str, args, **options) -> list[tuple[str, tuple]]:
    recorder = Recorder()
    run(body, args, observers=[recorder], checks=False, **options)
    return recorder.events


def of_kind(events, name):
    return [arguments[0] for found, arguments in events if found == name]


def test_accesses():
    x = np.arange(64, dtype=np.uint32)
    events = record(
        """.reg .b32 %i, %v; .reg .b64 %a; .reg .pred %p; .shared .align 8 .b32 s[64];
        mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; mad.wide.u32 %a, %i, 8, %a;
        setp.lt.u32 %p, %i, 20; @%p ld.acquire.gpu.global.u32 %v, [%a+4];
        mov.u32 %v, s; st.shared.v2.u32 [%v], {%i, %i};
        atom.release.cta.shared.add.u32 %v, [%v], 1; red.global.add.u32 [%a], 1; ret;""",
        [x],
    )
    accesses = of_kind(events, "access")
    param, load, store, atomic, reduction = accesses
    assert param.space == "param" and param.kind == "load"
    assert (load.kind, load.space, load.order, load.scope) == ("load", "global", "acquire", "gpu")
    assert load.active[0].tolist() == [lane < 20 for lane in range(32)]
    assert (load.offset[0, :20] == 8 * np.arange(20) + 4).all() and load.size == 4
    assert load.storage.name == "parameter 0" and "ld.acquire" in load.site.text
    assert (store.kind, store.space, store.size, store.active) == ("store", "shared", 8, None)
    assert (store.offset == 0).all() and store.order == "weak"
    assert (atomic.kind, atomic.order, atomic.scope) == ("atomic", "release", "cta")
    assert (reduction.kind, reduction.order, reduction.space) == ("reduce", "relaxed", "global")


def test_blocks_and_barriers():
    events = record(
        """.reg .b32 %i; .reg .pred %p; mov.u32 %i, %tid.x; bar.sync 0;
        setp.lt.u32 %p, %i, 32; @%p bra A; bar.sync 1, 64; ret; A: bar.arrive 1, 64;
        membar.gl; ret;""",
        [],
        threads=64,
        grid=2,
    )
    assert [arguments for name, arguments in events if name == "block_started"] == [
        (0, (0, 0, 0)), (1, (1, 0, 0))
    ]  # fmt: skip
    assert sorted(a[0] for n, a in events if n == "block_finished") == [0, 1]
    arrivals = of_kind(events, "barrier_arrived")
    assert sum(len(a.warps) for a in arrivals) == 8
    assert [a.waits for a in arrivals] == [True, True, False]
    assert arrivals[0].expected.tolist() == [64] * 4
    done = Counter(arguments for name, arguments in events if name == "barrier_completed")
    assert done == Counter({(0, 0): 1, (1, 0): 1, (0, 1): 1, (1, 1): 1})
    left = [arguments for name, arguments in events if name == "barrier_left"]
    assert sum(len(arguments[3]) for arguments in left) == 6
    (fence,) = of_kind(events, "fence")
    assert (fence.kind, fence.scope, fence.order) == ("thread", "gpu", "sc")
    exited = [arguments for name, arguments in events if name == "threads_exited"]
    assert sum(len(arguments[0]) for arguments in exited) == 4


def test_asynchronous_operations():
    x, y = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    events = record(f""".reg .b32 %i, %v<4>; .reg .b64 %a, %b; .shared .align 16 .b8 s[256];
        .shared .align 8 .b64 m; ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1]; mov.u32 %v0, s;
        mov.u32 %v1, m; mbarrier.init.shared.b64 [%v1], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 128;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%v0], [%a], 128, [%v1];
        cp.async.cg.shared.global [%v0+128], [%a+128], 16; cp.async.commit_group;
        {WAIT.format(at="%v1", parity="0")} cp.async.wait_group 0;
        fence.proxy.async.shared::cta;
        cp.async.bulk.global.shared::cta.bulk_group [%b], [%v0], 144;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
        ret;""", [x, y], threads=1)  # fmt: skip
    assert [op.kind for op in of_kind(events, "async_issued")] == ["bulk", "cp.async", "bulk"]
    assert [op.kind for op in of_kind(events, "async_completed")] == ["bulk", "cp.async", "bulk"]
    accesses = [(a[0].kind, a[1].kind, a[1].storage.name, a[1].offset.tolist(), a[1].size)
                for n, a in events if n == "async_access"]  # fmt: skip
    assert accesses == [
        ("bulk", "read", "parameter 0", [0], 128),
        ("bulk", "write", "shared memory", [0], 128),
        ("cp.async", "read", "parameter 0", [128], 16),
        ("cp.async", "write", "shared memory", [128], 16),
        ("bulk", "read", "shared memory", [0], 144),
        ("bulk", "write", "parameter 1", [0], 144),
    ]
    steps = of_kind(events, "mbarrier")
    assert [s.kind for s in steps] == ["init", "expect_tx", "arrive", "complete_tx", "wait"]
    assert [s.phase for s in steps] == [0, 0, 0, 0, 1] and steps[0].count == 1
    assert steps[3].operation.kind == "bulk" and steps[4].threads.tolist() == [0]
    assert [n for n, _ in events if n == "mbarrier_completed"] == ["mbarrier_completed"]
    assert [a[0] for n, a in events if n == "group_committed"] == ["cp.async", "bulk"]
    assert [a[:3] for n, a in events if n == "group_waited"] == [("cp.async", 0, False),
                                                                 ("bulk", 0, False)]  # fmt: skip
    kinds = [(f.kind, f.space) for f in of_kind(events, "fence")]
    assert kinds == [("mbarrier_init", None), ("proxy.async", "shared::cta")]


class Definedness(Observer):
    """Follows which lanes of a register were ever written, through moves and sums."""

    instruments = True

    def emit_after(self, e, instruction):
        name = instruction.opcode.split(".")[0]
        registers = [o for o in instruction.operands if isinstance(o, Register)]
        if name == "mov" and len(registers) == 1:
            e.line(f"{e.shadow(registers[0])} = w.fill(np.bool_(True))")
        elif name == "add":
            sources = " & ".join(e.shadow(r) for r in registers[1:])
            e.line(f"{e.shadow(registers[0])} = {sources}")
        elif name == "ld":
            e.line(f"{e.shadow(registers[0])} = w.fill(np.bool_(True))")
        elif name == "st":
            e.line(f"note(w, {e.shadow(registers[0])})")
            e.namespace["note"] = self.note

    def __init__(self):
        self.seen = []

    def note(self, w, defined):
        self.seen.append((w.active & defined).sum())


def test_instruments_follow_registers_through_divergence():
    """A slot behind each register is split and joined with it."""
    out = np.zeros(32, np.uint32)
    watcher = Definedness()
    text = module(
        """.reg .b32 %i, %x, %y; .reg .b64 %a, %b; .reg .pred %p; mov.u32 %i, %tid.x;
        ld.param.u64 %b, [p0]; mad.wide.u32 %a, %i, 4, %b; setp.ge.u32 %p, %i, 20; @%p bra JOIN;
        mov.u32 %x, 5; JOIN: add.u32 %y, %x, %i; st.global.u32 [%a], %y; ret;""",
        pointers(1),
    )
    sim.run(text, "k", 1, 32, [out], observers=[watcher], checks=False)
    assert watcher.seen == [20]
    assert (out[:20] == np.arange(20) + 5).all()


def test_counters():
    out = np.zeros(64, np.uint32)
    result = run(
        """.reg .b32 %i, %k; .reg .b64 %a; .reg .pred %p; mov.u32 %i, %tid.x;
        ld.param.u64 %a, [p0]; mad.wide.u32 %a, %i, 4, %a; mov.u32 %k, 0;
        L: add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 10; @%p bra L;
        st.global.u32 [%a], %k; ret;""",
        [out],
        threads=64,
        grid=3,
    )
    assert (
        result.count("add") == 60 and result.count("st.global") == 6 and result.count("bra") == 60
    )
