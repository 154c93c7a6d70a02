"""The profile of a run: counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sim_checks_support import LOAD, init, run_text, wait
from test_sim_checks_values import PARTS, PRODUCT

import tileir
from tileir import sim

X = np.arange(4096, dtype=np.uint32)


def profiled(body: str, arrays=(), **options) -> sim.Profile:
    profile = sim.Profile()
    run_text(body, [x.copy() for x in arrays], observers=[profile], checks=False, **options)
    return profile


def shared_load(address: str, form: str = "u32 %v1") -> sim.profile.Accesses:
    body = f""".shared .align 128 .b8 s[8192]; mov.u32 %v0, s; {address} ld.shared.{form}, [%v2];"""
    (found,) = profiled(body).shared
    return found


@pytest.mark.parametrize(
    ("stride", "wavefronts"),
    [(4, 1), (8, 2), (12, 1), (16, 4), (64, 16), (128, 32), (132, 1), (0, 1)],
)
def test_bank_conflicts_of_words(stride, wavefronts):
    """32 lanes, `stride` bytes apart."""
    found = shared_load(f"mad.lo.u32 %v2, %i, {stride}, %v0;")
    assert (found.requests, found.wavefronts, found.needed) == (1, wavefronts, 1)
    assert found.conflicts == wavefronts - 1 and found.bytes == 128


@pytest.mark.parametrize(
    ("form", "size", "stride", "wavefronts", "needed"),
    [
        ("v2.u32 {%v3, %v4}", 8, 8, 2, 2),
        ("v4.u32 {%v3, %v4, %v5, %v6}", 16, 16, 4, 4),
        ("v4.u32 {%v3, %v4, %v5, %v6}", 16, 128, 32, 4),
        ("v4.u32 {%v3, %v4, %v5, %v6}", 16, 144, 4, 4),
        ("u8 %v3", 1, 1, 1, 1),
        ("u16 %v3", 2, 64, 16, 1),
    ],
)
def test_bank_conflicts_of_other_sizes(form, size, stride, wavefronts, needed):
    found = shared_load(f"mad.lo.u32 %v2, %i, {stride}, %v0;", form)
    assert (found.bytes_per_lane, found.wavefronts, found.needed) == (size, wavefronts, needed)


@pytest.mark.parametrize(("swizzled", "conflicts"), [(False, 28), (True, 0)])
def test_matrices_of_rows_of_128_bytes(swizzled, conflicts):
    """Eight rows of a matrix lie in the same banks, unless 16-byte chunks are permuted."""
    xor = "and.b32 %v4, %i, 7; shl.b32 %v4, %v4, 4; xor.b32 %v3, %v3, %v4;" * swizzled
    body = f""".shared .align 1024 .b8 s[4096]; mov.u32 %v0, s; mul.lo.u32 %v3, %i, 128; {xor}
        add.u32 %v2, %v0, %v3;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%v5, %v6, %v7, %v8}}, [%v2];"""
    profile = profiled(body)
    assert profile.bank_conflicts == conflicts and profile.shared[0].needed == 4


@pytest.mark.parametrize(
    ("start", "stride", "form", "sectors", "use"),
    [
        (0, 4, "u32 %v1", 4, 1.0),
        (4, 4, "u32 %v1", 5, 0.8),
        (0, 8, "u32 %v1", 8, 0.5),
        (0, 128, "u32 %v1", 32, 0.125),
        (0, 0, "u32 %v1", 1, 4.0),
        (0, 16, "v4.u32 {%v1, %v2, %v3, %v4}", 16, 1.0),
    ],
)
def test_sectors(start, stride, form, sectors, use):
    address = f"mov.u32 %v9, {stride}; mul.wide.u32 %d0, %i, %v9; add.u64 %d0, %d0, %a;"
    profile = profiled(f"{address} ld.global.{form}, [%d0+{start}];", [X], threads=64)
    (found,) = profile.global_loads
    assert found.requests == 2 and found.sectors_per_request == sectors
    # The second warp goes on where the first one ends, unless all read one word.
    assert found.sector_use == pytest.approx(use)


def test_bytes_and_instructions():
    body = f""".shared .align 16 .b32 s[64]; .shared .align 8 .b64 m; mov.u32 %v0, s;
        mov.u32 %v1, m; {init("%v1")} @!%p bra MEET;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 256; {LOAD} [%v0], [%a], 256, [%v1];
        MEET: {wait("%v1")} mad.lo.u32 %v2, %i, 4, %v0; ld.shared.u32 %v3, [%v2];
        setp.lt.u32 %p, %i, 10; mad.wide.u32 %d0, %i, 4, %b; @%p st.global.u32 [%d0], %v3;"""
    profile = profiled(body, [X, X], grid=3)
    assert profile.bytes["global, async", "read"] == 3 * 256
    assert profile.bytes["shared, async", "written"] == 3 * 256
    assert profile.bytes["shared", "read"] == 3 * 128
    assert profile.bytes["global", "written"] == 3 * 40
    kinds = profile.instructions
    assert kinds["asynchronous copies"] == 3 and kinds["shared memory"] == 3
    assert kinds["global memory"] == 3 and kinds["fences"] == 3
    assert [one.site.parts[0] for one in profile.accesses] == ["ld", "st"]
    assert profile.global_stores[0].location.startswith("PTX line")


def test_work_of_tensor_cores():
    profile = profiled(PRODUCT.format(**PARTS), [np.zeros(256, np.float32)], threads=128)
    assert profile.matrix_work == 2 * 64 * 8 * 16
    body = """mov.u32 %v0, 0; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
        {%v1, %v2, %v3, %v4}, {%v0, %v0}, {%v0}, {%v0, %v0, %v0, %v0};"""
    assert profiled(body, threads=96).matrix_work == 3 * 2 * 16 * 8 * 8


def test_the_report():
    body = f""".shared .align 128 .b32 s[1024]; mov.u32 %v0, s; mad.lo.u32 %v2, %i, 8, %v0;
        st.shared.u32 [%v2], %i; {PARTS["ready"]}"""
    body = body.replace(PARTS["ready"], "mad.wide.u32 %d0, %i, 4, %a; st.global.u32 [%d0], %i;")
    lines = profiled(body, [X]).report().splitlines()
    rows = [line.split() for line in lines if line]
    assert ["instructions", "warps"] in rows and ["shared", "memory", "1"] in rows
    assert ["shared", "0", "128"] in rows
    assert "st.shared.u32 [%v2], %i;" in lines[-1] and rows[-1][-2:] == ["2", "1"]
    stored = next(row for row in rows if row[0] == "st.global.u32")
    assert stored[-4:] == ["1", "4", "4.0", "100%"]


def test_kernels_of_the_compiler_have_no_conflicts():
    """What a test of a code generator may state."""
    from kernel_cases import load_case

    case = load_case("transpose_2d_f16")
    profile, args = sim.Profile(), case.args()
    tileir.run(
        case.bytecode, case.symbol, case.grid, args, backend="sim", target="sm_80",
        observers=[profile],
    )  # fmt: skip
    assert case.compare(args).passed and profile.bank_conflicts == 0
    assert {one.bytes_per_lane for one in profile.global_loads} == {16}
    assert all(one.sector_use == 1 for one in profile.global_stores)
