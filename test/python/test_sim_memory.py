"""Loads, stores, state spaces, addresses, atomic updates, and what is wrong with addresses."""

from __future__ import annotations

import numpy as np
import pytest
from sim_support import bf16, module, pointers, run

import tileir
from tileir import PointerTable, sim
from tileir.sim.arguments import typed

HEAD = """.reg .b32 %x, %v<9>; .reg .b64 %a, %b, %c, %d<9>; .reg .b16 %h<9>; .reg .pred %p, %q;
    mov.u32 %x, %tid.x; ld.param.u64 %a, [p0];"""


def test_vectors():
    x = np.arange(32 * 8, dtype=np.uint32)
    for count, kind in ((2, "b32"), (4, "b32"), (2, "b64"), (4, "b16"), (4, "b8"), (8, "b32")):
        size = int(kind[1:]) // 8
        width = ".b16" if size == 1 else f".{kind}"
        names = ", ".join(f"%w{k}" for k in range(count))
        y = np.zeros_like(x)
        run(f"""{HEAD} .reg {width} %w<{count}>; ld.param.u64 %b, [p1];
            mad.wide.u32 %a, %x, {size * count}, %a; mad.wide.u32 %b, %x, {size * count}, %b;
            ld.global.v{count}.{kind} {{{names}}}, [%a];
            st.global.v{count}.{kind} [%b], {{{names}}}; ret;""", [x, y])  # fmt: skip
        moved = 32 * size * count // 4
        assert (y[:moved] == x[:moved]).all() and not y[moved:].any()


def test_narrow_loads_extend():
    x = np.array([-1, 5, -128, 127] * 8, np.int8)
    out = np.zeros((4, 32), np.int32)
    run(f"""{HEAD} ld.param.u64 %b, [p1]; mad.wide.u32 %b, %x, 4, %b;
        cvt.u64.u32 %c, %x; add.u64 %a, %a, %c;
        ld.global.s8 %v0, [%a]; ld.global.u8 %v1, [%a]; ld.global.b8 %h0, [%a];
        cvt.u32.u16 %v2, %h0; ld.global.s8 %d0, [%a]; cvt.u32.u64 %v3, %d0;
        st.global.u32 [%b], %v0; st.global.u32 [%b+128], %v1; st.global.u32 [%b+256], %v2;
        st.global.u32 [%b+384], %v3; ret;""", [x, out])  # fmt: skip
    assert (out[0] == x).all() and (out[3] == x).all()
    assert (out[1] == x.view(np.uint8)).all() and (out[2] == x.view(np.uint8)).all()


def test_operators_and_hints_change_nothing():
    x, y = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    run(f"""{HEAD} ld.param.u64 %b, [p1]; mad.wide.u32 %a, %x, 4, %a; mad.wide.u32 %b, %x, 4, %b;
        createpolicy.fractional.L2::evict_first.b64 %c, 1.0;
        prefetch.global.L2 [%a]; prefetch.global.L2::evict_last [%a];
        ld.global.nc.L1::no_allocate.L2::128B.u32 %v0, [%a];
        ld.global.ca.u32 %v1, [%a]; ld.weak.global.cg.u32 %v2, [%a]; ld.global.cv.u32 %v3, [%a];
        ld.global.L1::evict_last.L2::cache_hint.u32 %v4, [%a], %c;
        ld.volatile.global.u32 %v5, [%a]; ld.relaxed.gpu.global.u32 %v6, [%a];
        ld.acquire.sys.global.u32 %v7, [%a];
        add.u32 %v0, %v0, %v1; add.u32 %v0, %v0, %v2; add.u32 %v0, %v0, %v3;
        add.u32 %v0, %v0, %v4; add.u32 %v0, %v0, %v5; add.u32 %v0, %v0, %v6;
        add.u32 %v0, %v0, %v7;
        st.global.cs.u32 [%b], 0; st.release.gpu.global.u32 [%b], 1;
        st.volatile.global.u32 [%b], 2; st.global.L1::no_allocate.u32 [%b], %v0; ret;""",
        [x, y])  # fmt: skip
    assert (y == 8 * x).all()


def test_state_spaces_and_generic_addresses():
    """Shared, local, constant, parameter and global memory by their own and generic addresses."""
    out = np.zeros((32, 8), np.uint32)
    text = module(f"""{HEAD} .shared .align 8 .b32 s[64]; .local .align 8 .b8 l[16];
        mad.wide.u32 %a, %x, 32, %a;
        mov.u64 %b, s; mad.wide.u32 %b, %x, 4, %b; st.shared.u32 [%b], %x; cvta.shared.u64 %c, %b;
        ld.u32 %v0, [%c]; st.global.u32 [%a], %v0;
        st.local.u32 [l+4], %x; mov.u64 %b, l; cvta.local.u64 %c, %b; ld.u32 %v0, [%c+4];
        st.global.u32 [%a+4], %v0; cvta.to.local.u64 %d0, %c; ld.local.u32 %v0, [%d0+4];
        st.global.u32 [%a+8], %v0;
        ld.const.u32 %v0, [c+4]; st.global.u32 [%a+12], %v0;
        mov.u64 %b, c; cvta.const.u64 %c, %b; ld.u32 %v0, [%c+8]; st.global.u32 [%a+16], %v0;
        ld.global.u32 %v0, [g]; st.global.u32 [%a+20], %v0;
        mov.u64 %b, p1; cvta.param.u64 %c, %b; ld.u32 %v0, [%c+4]; st.u32 [%a+24], %v0;
        mov.u64 %b, g; isspacep.global %p, %b; mov.u64 %b, s; cvta.shared.u64 %b, %b;
        isspacep.shared %q, %b; selp.b32 %v0, 1, 0, %p; selp.b32 %v1, 2, 0, %q;
        add.u32 %v0, %v0, %v1; st.u32 [%a+28], %v0; ret;""",
        ".param .u64 p0, .param .align 4 .b8 p1[8]",
        around=".const .u32 c[3] = {1, 22, 333}; .global .u32 g = 4444;")  # fmt: skip
    sim.run(text, "k", 1, 32, [out, np.array([5, 66], np.uint32).tobytes()])
    lane = np.arange(32)
    want = [lane, lane, lane, 22 + 0 * lane, 333 + 0 * lane, 4444 + 0 * lane, 66 + 0 * lane, 3]
    for column, value in enumerate(want):
        assert (out[:, column] == value).all(), column


def test_initial_values():
    """Numbers of all types, floats by value and by bits, addresses, and zeros for the rest."""
    out = np.zeros(8, np.uint64)
    around = """.global .f32 f[2] = {1.5, 0f40000000}; .global .f64 d = 0d3FF0000000000000;
        .global .s16 h[4] = {-1, 2}; .global .u64 at = generic(h)+2; .global .b8 t[3] = {1, 2, 3};
        .extern .shared .align 16 .b8 dyn[];"""
    run(""".reg .b32 %v; .reg .b64 %a, %b; .reg .b16 %h; ld.param.u64 %a, [p0];
        ld.global.b32 %v, [f]; st.global.u32 [%a], %v; ld.global.b32 %v, [f+4];
        st.global.u32 [%a+8], %v; ld.global.b64 %b, [d]; st.global.u64 [%a+16], %b;
        ld.global.s16 %v, [h]; st.global.u32 [%a+24], %v;
        ld.global.u64 %b, [at]; ld.u16 %h, [%b]; st.global.u16 [%a+32], %h;
        ld.global.u8 %v, [t+2]; st.global.u32 [%a+40], %v; ld.global.u16 %h, [h+6];
        st.global.u16 [%a+48], %h; mov.u32 %v, %dynamic_smem_size; ret;""", [out], threads=1,
        around=around, shared=64)  # fmt: skip
    one, two = np.float32(1.5).view(np.uint32), np.float32(2).view(np.uint32)
    assert out.tolist() == [one, two, 0x3FF0000000000000, 0xFFFFFFFF, 2, 3, 0, 0]


def test_variables_keep_their_values_from_run_to_run():
    text = module(""".reg .b32 %v; .reg .b64 %a; ld.param.u64 %a, [p0];
        atom.global.add.u32 %v, [count], 1; st.global.u32 [%a], %v; ret;""", pointers(1),
        around=".global .u32 count = 5;")  # fmt: skip
    simulator = sim.Simulator(text)
    for expected in (5, 6, 7):
        out = np.zeros(1, np.uint32)
        simulator.run("k", 1, 1, [out])
        assert out[0] == expected


def test_arguments():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    out = np.zeros(4, np.uint64)
    table = PointerTable([a[1:], a])
    text = module(""".reg .b64 %a, %b, %c; .reg .b32 %v; ld.param.u64 %a, [p0];
        ld.param.u64 %b, [p1]; ld.global.u64 %c, [%b]; ld.global.b32 %v, [%c];
        st.global.u32 [%a], %v; ld.global.u64 %c, [%b+8]; st.global.u64 [%a+8], %c;
        ld.param.f32 %v, [p2]; st.global.u32 [%a+16], %v; ld.param.s16 %v, [p3];
        st.global.u32 [%a+24], %v; ret;""",
        ".param .u64 p0, .param .u64 p1, .param .f32 p2, .param .s16 p3")  # fmt: skip
    sim.run(text, "k", 1, 1, [out, table, 2.5, -3])
    words = [np.float32(4).view(np.uint32), 2, np.float32(2.5).view(np.uint32), 0xFFFFFFFD]
    assert out.tolist() == words
    with pytest.raises(tileir.LaunchError, match="4 parameters, 1 arguments"):
        sim.run(text, "k", 1, 1, [out])
    with pytest.raises(tileir.LaunchError, match=r"parameter 3: 70000 does not fit \.s16"):
        sim.run(text, "k", 1, 1, [out, table, 2.5, 70000])
    with pytest.raises(tileir.LaunchError, match=r"parameter 2: expected \.f32, found array"):
        sim.run(text, "k", 1, 1, [out, table, out, 0])


# --- what is wrong with addresses ----------------------------------------------------------------


def fails(body: str, args, match: str, **options) -> None:
    with pytest.raises(tileir.ExecutionError, match=match):
        run(f"{HEAD}\n{body}\nret;", args, **options)


def test_out_of_bounds():
    x = np.zeros(20, np.uint32)
    fails("mad.wide.u32 %a, %x, 4, %a;\n st.global.u32 [%a], %x;", [x],
          r"ptx:\d+: out of bounds: 4 bytes at byte 80 of parameter 0, which holds 80, at PTX line "
          r"\d+: `st.global.u32 \[%a\], %x;`, thread \(20, 0, 0\) of block \(0, ")  # fmt: skip
    fails("ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a+80];", [x], "16 bytes at byte 80 of")
    fails("ld.global.u32 %v0, [%a+-4];", [x], "byte -4 of parameter 0")
    fails("mov.u64 %a, 64; ld.global.u32 %v0, [%a];", [x], "0x40 is in no array.*thread \\(0, 0, 0")
    fails("atom.global.add.u32 %v0, [%a+80], 1;", [x], "out of bounds.*atom")


def test_misaligned():
    x = np.zeros(20, np.uint32)
    fails("ld.global.u32 %v0, [%a+2];", [x], "misaligned address: byte 2 of parameter 0 for an acc")
    fails("ld.global.v2.u32 {%v0, %v1}, [%a+4];", [x], "byte 4 of parameter 0 for an access of 8")
    fails(".shared .align 8 .b8 s[64]; ld.shared.u64 %d0, [s+4];", [x], "byte 4 of shared memory")


def test_shared_bounds():
    x = np.zeros(1, np.uint32)
    fails(".shared .b32 s[8]; mov.u32 %v0, s; add.u32 %v0, %v0, 32; st.shared.u32 [%v0], 1;", [x],
          "4 bytes at byte 32 of shared memory, of which the block has 32")  # fmt: skip
    fails("mov.u32 %v0, 0; st.shared.u32 [%v0], 1;", [x], "out of bounds")


def test_read_only():
    x = np.zeros(4, np.uint32)
    x.flags.writeable = False
    fails("st.global.u32 [%a], 1;", [x], "parameter 0 is written, but is read-only")
    fails("mov.u64 %b, c; st.global.u32 [%b], 1;", [np.zeros(1)], "variable c is written",
          around=".const .u32 c = 1;")  # fmt: skip


def test_only_lanes_that_take_part_are_checked():
    x = np.zeros(20, np.uint32)
    run(f"""{HEAD} mad.wide.u32 %a, %x, 4, %a; setp.lt.u32 %p, %x, 20;
        @%p st.global.u32 [%a], %x; ret;""", [x])  # fmt: skip
    assert (x == np.arange(20)).all()


def test_fresh_memory_is_poison():
    out = np.zeros(2, np.uint32)
    run(
        f"""{HEAD} .shared .b32 s; ld.shared.u32 %v0, [s]; st.global.u32 [%a], %v0;
        .local .b32 l; ld.local.u32 %v0, [l]; st.global.u32 [%a+4], %v0; ret;""",
        [out],
        threads=1,
        checks=False,
    )
    assert (out == 0xFFFFFFFF).all()


# --- atomic updates ------------------------------------------------------------------------------

INTEGER_UPDATES = {
    "add.u32": (np.uint32, lambda old, v: (old + v) & 0xFFFFFFFF),
    "min.s32": (np.int32, min),
    "max.u32": (np.uint32, max),
    "and.b32": (np.uint32, lambda old, v: old & v),
    "or.b32": (np.uint32, lambda old, v: old | v),
    "xor.b32": (np.uint32, lambda old, v: old ^ v),
    "exch.b32": (np.uint32, lambda old, v: v),
    "inc.u32": (np.uint32, lambda old, v: 0 if old >= v else old + 1),
    "dec.u32": (np.uint32, lambda old, v: v if old == 0 or old > v else old - 1),
    "add.u64": (np.uint64, lambda old, v: (old + v) & (1 << 64) - 1),
    "max.s64": (np.int64, max),
}


@pytest.mark.parametrize("name", INTEGER_UPDATES)
@pytest.mark.parametrize("space", ("global", "shared"))
def test_integer_updates(name, space):
    """All lanes update one of three cells, in some order; old values tell in which."""
    dtype, function = INTEGER_UPDATES[name]
    kind = name.split(".")[1]
    r = np.random.default_rng(1)
    values = r.integers(0, 50, 32).astype(dtype) - (20 if np.dtype(dtype).kind == "i" else 0)
    cells, old = np.array([3, 7, 40], dtype), np.zeros(32, dtype)
    size = np.dtype(dtype).itemsize
    register = f".b{8 * size}"
    setup = (
        "mov.u64 %c, %b;"
        if space == "global"
        else f"""mov.u64 %c, s;
        setp.ge.u32 %p, %x, 3; @%p bra READY; mad.wide.u32 %d1, %x, {size}, %c;
        mad.wide.u32 %d2, %x, {size}, %b; ld.global{register} %w, [%d2];
        st.shared{register} [%d1], %w;
        READY: bar.sync 0;"""
    )
    finish = (
        ""
        if space == "global"
        else f"""bar.sync 0; @%p bra DONE;
        ld.shared{register} %w, [%d1]; st.global{register} [%d2], %w; DONE:"""
    )
    run(f"""{HEAD} .reg {register} %w, %o; .shared .align 8 .b8 s[24];
        ld.param.u64 %b, [p1]; ld.param.u64 %d0, [p2]; {setup}
        mad.wide.u32 %a, %x, {size}, %a; mad.wide.u32 %d0, %x, {size}, %d0;
        ld.global{register} %w, [%a]; rem.u32 %v0, %x, 3; mad.wide.u32 %c, %v0, {size}, %c;
        atom.{space}.{name} %o, [%c], %w; st.global{register} [%d0], %o; {finish} ret;""",
        [values, cells, old])  # fmt: skip
    for cell in range(3):
        mine = list(range(cell, 32, 3))
        # Each update found what some other left behind: follow the chain.
        state, left = {0: 3, 1: 7, 2: 40}[cell], set(mine)
        for lane in mine:
            assert int(old[lane]) == state
            state = function(state, int(values[lane]))
            left.discard(lane)
        assert int(cells[cell]) == state and not left, (kind, cell)


def test_compare_and_swap():
    x = np.zeros(1, np.uint32)
    out = np.zeros(32, np.uint32)
    run(
        f"""{HEAD} ld.param.u64 %b, [p1]; mad.wide.u32 %b, %x, 4, %b; add.u32 %v1, %x, 1;
        atom.global.cas.b32 %v0, [%a], %x, %v1; st.global.u32 [%b], %v0; ret;""",
        [x, out],
    )
    assert x[0] == 32 and (out == np.arange(32)).all()
    x = np.array([5, 9], np.uint64)
    run(
        f"""{HEAD} .reg .b128 %w, %e, %n; mov.b128 %e, {{5, 9}}; mov.b128 %n, {{1, 2}};
        atom.global.relaxed.gpu.cas.b128 %w, [%a], %e, %n; ret;""",
        [x],
        threads=1,
    )
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", (np.float16, bf16, np.float32, np.float64))
def test_float_updates(dtype):
    name = {2: "f16" if dtype is np.float16 else "bf16", 4: "f32", 8: "f64"}[
        np.dtype(dtype).itemsize
    ]
    ftz = ".noftz" if np.dtype(dtype).itemsize == 2 else ""
    size = np.dtype(dtype).itemsize
    x, total = (np.arange(32) % 8).astype(dtype), np.zeros(1, dtype)
    run(
        f"""{HEAD} .reg .b{8 * size} %w; ld.param.u64 %b, [p1]; mad.wide.u32 %a, %x, {size}, %a;
        ld.global.b{8 * size} %w, [%a]; red.global.add{ftz}.{name} [%b], %w; ret;""",
        [x, total],
    )
    assert total[0] == 112


def test_vector_and_packed_updates():
    x, total = np.arange(128, dtype=np.float32), np.zeros(4, np.float32)
    run(
        f"""{HEAD} .reg .f32 %f<4>; ld.param.u64 %b, [p1]; mad.wide.u32 %a, %x, 16, %a;
        ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%a];
        red.relaxed.gpu.global.add.v4.f32 [%b], {{%f0, %f1, %f2, %f3}}; ret;""",
        [x, total],
    )
    assert (total == x.reshape(32, 4).sum(axis=0)).all()
    y, total = np.ones(64, np.float16), np.zeros(2, np.float16)
    run(
        f"""{HEAD} ld.param.u64 %b, [p1]; mad.wide.u32 %a, %x, 4, %a; ld.global.u32 %v0, [%a];
        atom.global.add.noftz.f16x2 %v1, [%b], %v0; st.global.u32 [%a], %v1; ret;""",
        [y, total],
    )
    assert (total == 32).all() and (y.reshape(32, 2)[:, 0] == np.arange(32)).all()
    y, total = np.ones(128, bf16), np.zeros(4, bf16)
    run(
        f"""{HEAD} ld.param.u64 %b, [p1]; mad.wide.u32 %a, %x, 8, %a;
        ld.global.v2.u32 {{%v0, %v1}}, [%a];
        red.global.add.noftz.v2.bf16x2 [%b], {{%v0, %v1}}; ret;""",
        [y, total],
    )
    assert (total == 32).all()


def test_arrays_without_dimensions_are_addresses():
    """A kernel of the IR says which parameters are pointers."""
    x = np.array(3, np.uint32)
    (given,) = typed(["ptr<i32>"], [x.view(np.int32)])
    run(""".reg .b64 %a; ld.param.u64 %a, [p0]; st.global.u32 [%a], 7; ret;""", [given])
    assert x == 7
    assert typed(["i32"], [np.array(5, np.int32)]) == [b"\5\0\0\0"]
