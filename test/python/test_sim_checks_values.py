"""Planted uninitialised values, and faults around wgmma; and their repaired twins."""

from __future__ import annotations

import numpy as np
import pytest
from sim_checks_support import HEAD, faulty, planted, run_text
from sim_support import module, pointers
from test_sim_kernels import bf16, close, normal, ptx

import tileir
from tileir import sim

OUT = np.zeros(256, np.uint32)
STORE = "mad.wide.u32 %d0, %i, 4, %a; st.global.u32 [%d0], %v1;"


# --- uninitialised values ------------------------------------------------------------------------


def test_registers():
    planted(f"%% {STORE}", "mov.u32 %v1, 0;", "", "an uninitialised value, %v1, is stored", [OUT])
    # Written in some lanes only.
    body = f"setp.lt.u32 %p, %i, %%; @%p mov.u32 %v1, 5; {STORE}"
    planted(body, "32", "31", r"%v1.*thread \(31, 0, 0\)", [OUT])
    # On one way through the code only.
    body = f"setp.eq.u32 %p, %w, 1; @%p bra B; mov.u32 %v1, 5; B: %% {STORE}"
    planted(body, "mov.u32 %v1, 6;", "", "%v1", [OUT], threads=64)


def test_where_values_go():
    """Arithmetic carries it along; addresses, branches and barriers refuse it."""
    bad = "an uninitialised value, "
    sum_ = f"%% add.u32 %v3, %v2, %i; mul.lo.u32 %v1, %v3, 3; {STORE}"
    planted(sum_, "mov.u32 %v2, 1;", "", f"{bad}%v1, is stored", [OUT])
    address = "%% mad.wide.u32 %d0, %v2, 4, %a; ld.global.u32 %v1, [%d0];"
    planted(address, "mov.u32 %v2, 1;", "", f"{bad}%d0, is part of an address", [OUT])
    branch = f"mov.u32 %v1, 0; %% setp.eq.u32 %p, %v2, 1; @%p bra B; mov.u32 %v1, 1; B: {STORE}"
    planted(branch, "mov.u32 %v2, 1;", "", f"{bad}%p, decides whether", [OUT])
    barrier = "%% bar.sync %v2, 32;"
    planted(barrier, "mov.u32 %v2, 1;", "", f"{bad}%v2, is used by this instruction")
    predicated = "%% @%p st.global.u32 [%a], %i; setp.eq.u32 %p, %i, 0;"
    planted(predicated, "setp.eq.u32 %p, %i, 0;", "", f"{bad}%p, decides", [OUT])
    vote = f"%% vote.sync.ballot.b32 %v1, %p, -1; {STORE}"
    planted(vote, "setp.eq.u32 %p, %i, 0;", "", f"{bad}%v1, is stored", [OUT])


SHARED = """.shared .align 16 .b32 s[64]; mov.u32 %v0, s; mad.lo.u32 %v5, %i, 4, %v0;
    st.shared.u32 [%v5], %i; bar.sync 0; {}"""


def test_shared_memory():
    body = SHARED.format(f"ld.shared.u32 %v1, [%v5+%%]; {STORE}")
    match = "%v1, is stored to global memory.*were first loaded at PTX line"
    planted(body, "0", "4", match, [OUT])
    # Nobody looks at what is loaded beyond: a vector, a guard, a select.
    body = SHARED.format(f"and.b32 %v6, %i, 31; min.u32 %v6, %v6, 30; mad.lo.u32 %v6, %v6, 4, %v0;"
                         f"ld.shared.u32 %v1, [%v6]; ld.shared.u32 %v2, [%v0+200];"
                         f"setp.lt.u32 %p, %i, 40; selp.b32 %v1, %%; {STORE}")  # fmt: skip
    planted(body, "%v1, %v2, %p", "%v2, %v1, %p", "%v1, is stored", [OUT])
    # A block does not see what another one has left there.
    body = ".shared .b32 s; %% ld.shared.u32 %v1, [s]; st.shared.u32 [s], %i;" + STORE
    body = "setp.eq.u32 %p, %i, 0; @!%p ret;" + body
    planted(body, "st.shared.u32 [s], 0;", "", "%v1", [OUT], grid=2, resident=1)


def test_bits():
    """Halves, bytes and single bits are followed each for itself."""
    body = f""".reg .b16 %h<4>; .shared .align 4 .b16 s[2]; st.shared.u16 [s], 7; bar.warp.sync -1;
        ld.shared.u32 %v2, [s]; mov.b32 {{%h0, %h1}}, %v2; cvt.u32.u16 %v1, %%; {STORE}"""
    planted(body, "%h0", "%h1", "%v1, is stored", [OUT])
    load = ".shared .b32 s; st.shared.u16 [s], 7; bar.warp.sync -1; ld.shared.u32 %v2, [s];"
    for right, wrong in (
        ("and.b32 %v1, %v2, 0xFFFF;", "and.b32 %v1, %v2, 0x1FFFF;"),
        ("shl.b32 %v1, %v2, 16;", "shl.b32 %v1, %v2, 15;"),
        ("prmt.b32 %v1, %v2, 0, 0x4410;", "prmt.b32 %v1, %v2, 0, 0x4420;"),
        ("bfe.u32 %v1, %v2, 0, 16;", "bfe.u32 %v1, %v2, 1, 16;"),
        ("or.b32 %v1, %v2, 0xFFFF0000;", "or.b32 %v1, %v2, 0x7FFF0000;"),
        ("bfi.b32 %v1, %i, %v2, 16, 16;", "bfi.b32 %v1, %i, %v2, 15, 16;"),
    ):
        planted(f"{load} %% {STORE}", right, wrong, "%v1, is stored", [OUT], seeds=(0,))


def test_packed_arithmetic():
    body = f""".reg .b16 %h<4>; .shared .b32 s; st.shared.u16 [s], 7; bar.warp.sync -1;
        ld.shared.u32 %v2, [s]; add.rn.f16x2 %v3, %v2, %v2; mov.b32 {{%h0, %h1}}, %v3;
        cvt.u32.u16 %v1, %%; {STORE}"""
    planted(body, "%h0", "%h1", "%v1, is stored", [OUT])


def test_shuffles():
    body = f"""setp.lt.u32 %p, %i, 16; @%p mov.u32 %v2, 5;
        shfl.sync.idx.b32 %v1, %v2, %%, 31, -1; {STORE}"""
    planted(body, "15", "16", "%v1, is stored", [OUT])


def test_copies_of_undefined_bytes():
    body = """.shared .align 16 .b32 s[8]; mov.u32 %v0, s; mad.lo.u32 %v1, %i, 4, %v0;
        setp.lt.u32 %p, %i, %%; @%p st.shared.u32 [%v1], %i; fence.proxy.async; bar.warp.sync -1;
        setp.eq.u32 %p, %i, 0; @!%p ret; cp.async.bulk.global.shared::cta.bulk_group
        [%a], [%v0], 32; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""
    match = "byte 28 of the shared memory.* go to global memory, but nobody has written them"
    planted(body, "8", "7", match.replace("28", "16|byte 0|byte 28"), [OUT])


@pytest.mark.parametrize("used", (8, 12))
def test_matrices(used):
    """Rows of A that nobody wrote spoil their own rows of the product only."""
    body = f""".shared .align 16 .b8 sa[512]; .shared .align 16 .b8 sb[256]; mov.u32 %v0, sa;
        mov.u32 %v1, sb; mad.lo.u32 %v2, %i, 16, %v0; mov.u32 %v9, 0;
        setp.lt.u32 %p, %i, {2 * used}; @%p st.shared.v4.b32 [%v2], {{%v9, %v9, %v9, %v9}};
        mad.lo.u32 %v3, %i, 8, %v1; st.shared.v2.b32 [%v3], {{%v9, %v9}}; bar.warp.sync -1;
        and.b32 %v4, %i, 15; shr.u32 %v5, %i, 4; mad.lo.u32 %v6, %v4, 32, %v0;
        mad.lo.u32 %v6, %v5, 16, %v6;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%v10, %v11, %v12, %v13}}, [%v6];
        and.b32 %v4, %i, 7; shr.u32 %v5, %i, 3; and.b32 %v5, %v5, 1; mad.lo.u32 %v6, %v4, 32, %v1;
        mad.lo.u32 %v6, %v5, 16, %v6;
        ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{%v14, %v15}}, [%v6]; mov.f32 %f0, 0f00000000;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f1, %f2, %f3, %f4}},
            {{%v10, %v11, %v12, %v13}}, {{%v14, %v15}}, {{%f0, %f0, %f0, %f0}};
        shr.u32 %v4, %i, 2; add.u32 %v5, %v4, 8; mad.wide.u32 %d0, %i, 4, %a;
        st.global.f32 [%d0], %f1; setp.lt.u32 %p, %v5, %%; @%p st.global.f32 [%d0], %f3;"""
    planted(body, str(used), str(used + 1), "%f3, is stored to global memory", [OUT])


# --- wgmma ---------------------------------------------------------------------------------------

# A (64 x 16) and B (8 x 16) of f16 without swizzle: 8 x 8 blocks of 128 bytes.
PRODUCT = """.shared .align 1024 .b8 sa[2048]; .shared .align 1024 .b8 sb[256]; mov.u32 %v0, sa;
    mov.u32 %v1, sb; mov.u32 %v9, 0x3C003C00; mad.lo.u32 %v2, %i, 16, %v0; {fill}
    mad.lo.u32 %v3, %i, 2, %v1; .reg .b16 %h; mov.b16 %h, 0x3C00; st.shared.b16 [%v3], %h;
    {fence} bar.sync 0; shr.u32 %v4, %v0, 4; cvt.u64.u32 %d5, %v4; shr.u32 %v4, %v1, 4;
    cvt.u64.u32 %d6, %v4; or.b64 %d5, %d5, 0x1000080000; or.b64 %d6, %d6, 0x1000080000;
    setp.ne.b32 %q, 0, 0; {ready} wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
    {{%f0, %f1, %f2, %f3}}, %d5, %d6, %q, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; {wait}
    mad.wide.u32 %d0, %i, 4, %a; {store} {end}"""
PARTS = {
    "fill": "st.shared.v4.b32 [%v2], {%v9, %v9, %v9, %v9};",
    "fence": "fence.proxy.async.shared::cta;",
    "ready": "wgmma.fence.sync.aligned;",
    "wait": "wgmma.wait_group.sync.aligned 0;",
    "store": "st.global.f32 [%d0], %f0;",
    "end": "",
}


@pytest.mark.parametrize(
    ("part", "wrong", "match"),
    [
        ("wait", "", "%f0 is read while a wgmma .* is in flight, from PTX line .*wgmma.mma"),
        ("wait", "mov.f32 %f0, 0f00000000; wgmma.wait_group.sync.aligned 0;", "%f0 is written whi"),
        ("ready", "", "no wgmma.fence has come before this product"),
        ("ready", "wgmma.fence.sync.aligned; mov.f32 %f1, 0f00000000;", "%f1 has been used at PTX"),
        ("fence", "", "no proxy fence: byte .* of the shared memory"),
        ("wait", "st.shared.b32 [%v2], %i; wgmma.wait_group.sync.aligned 0;",
         "race on .*the asynchronous read at PTX line .*wgmma"),
        ("fill", "setp.lt.u32 %p, %i, 64; @%p st.shared.v4.b32 [%v2], {%v9, %v9, %v9, %v9};",
         r"%f0, is stored to global memory.*thread \(64, 0, 0\)"),
        ("wait", "st.global.f32 [%d1], %f0; wgmma.wait_group.sync.aligned 0;",
         "%d1, is part of an address|%f0 is read while"),
    ],
)  # fmt: skip
def test_products(part, wrong, match):
    right = PRODUCT.format(**PARTS)
    other = PRODUCT.format(**{**PARTS, part: wrong})
    planted("%%", right, other, match, [np.zeros(256, np.float32)], threads=128)


def test_rows_that_are_not_stored_may_be_garbage():
    half = "setp.lt.u32 %p, %i, 64; @%p st.shared.v4.b32 [%v2], {%v9, %v9, %v9, %v9};"
    store = "setp.lt.u32 %p, %i, %%; @%p st.global.f32 [%d0], %f0;"
    body = PRODUCT.format(**{**PARTS, "fill": half, "store": store})
    match = r"%f0, is stored to global memory.*thread \(64, 0, 0\)"
    planted(body, "64", "65", match, [np.zeros(256, np.float32)], threads=128)


def test_a_block_that_ends_with_a_product_in_flight():
    parts = {**PARTS, "store": "", "wait": "%%"}
    match = (
        "ends while this asynchronous operation may still have to touch its shared memory.*wgmma"
    )
    zeros = np.zeros(256, np.float32)
    planted(PRODUCT.format(**parts), PARTS["wait"], "", match, [zeros], threads=128)


# --- faults in whole kernels ---------------------------------------------------------------------


def persistent(text: str, seed: int, swizzle: int = 128) -> None:
    """The product of 256 x 192 and 512 x 192 by the persistent kernel; `swizzle` is that of A."""
    a, b, c = normal(256, 192), normal(512, 192, seed=1), np.full((256, 512), np.nan, bf16)
    maps = [sim.tensor_map(x, box, swizzle=width) for x, box, width in
            ((a, (128, 64), swizzle), (b, (256, 64), 128), (c, (64, 64), 128))]  # fmt: skip
    sim.run(text, "foo", 2, args=[*maps, 2, 2, 3, 4], shared=229440, seed=seed)
    close(c, a.astype(np.float64) @ b.astype(np.float64).T)


KERNEL = ptx("gemm_persistent")


def without(text: str, *lines: str) -> str:
    """The kernel without instructions that begin so; each must be there."""
    kept = text.split("\n")
    for line in lines:
        found = [k for k, one in enumerate(kept) if one.strip().startswith(line)]
        assert found, line
        kept = [one for k, one in enumerate(kept) if k not in found]
    return "\n".join(kept)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (without(KERNEL, "wgmma.wait_group.sync.aligned"), "is read while a wgmma|race on"),
        (without(KERNEL, "fence.proxy.async"), "no proxy fence: byte"),
        (without(KERNEL, "wgmma.fence"), "wgmma.fence"),
        (without(KERNEL, "cp.async.bulk.wait_group"), "race on|ends while"),
    ],
    ids=["wait", "proxy-fence", "wgmma-fence", "store-group"],
)
def test_a_line_missing_in_a_product(wrong, match):
    faulty(lambda text, seed: persistent(text, seed), KERNEL, wrong, match, seeds=(0, 1))


def test_a_swizzle_that_does_not_match():
    match = (
        "matrix A of this wgmma has swizzle 128 in its descriptor, but byte .* with swizzle 0 at"
    )
    with pytest.raises(tileir.ExecutionError, match=match):
        persistent(KERNEL, 0, swizzle=0)


def test_wrong_bytes_in_a_product():
    expect = "49152"  # of a stage: (128 + 256) * 64 elements
    assert KERNEL.count(expect) >= 1
    few = KERNEL.replace(expect, "49136")
    with pytest.raises(tileir.ExecutionError, match="16 bytes more than announced"):
        persistent(few, 0)
    many = KERNEL.replace(expect, "49168")
    with pytest.raises(tileir.ExecutionError, match="(?s)deadlock.*16 bytes of copies are missing"):
        persistent(many, 0)


def test_local_memory_and_calls_are_left_alone():
    """What functions are given counts as defined."""
    around = """.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %t; ld.param.b32 %t, [x];
        add.u32 %t, %t, %t; st.param.b32 [r], %t; ret; }"""
    body = f"""{HEAD} ld.param.u64 %a, [p0]; {{ .param .b32 x; .param .b32 r; st.param.b32 [x], %i;
        call (r), twice, (x); ld.param.b32 %v1, [r]; }} {STORE} ret;"""
    out = OUT.copy()
    sim.run(module(body, pointers(1), around=around), "k", 1, 32, [out])
    assert (out[:32] == 2 * np.arange(32)).all()
    assert run_text("", []).printed == []
