"""Tensor copies against NumPy slices: 1 to 5 dimensions, fill, swizzles, multicast, reductions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sim_support import bf16, module, pointers, run
from test_sim_barriers import SEEDS, WAIT

import tileir
from tileir import sim
from tileir.runtime import TensorMap

MAP = ".param .align 64 .b8 m0[128]"
HEAD = """.reg .b32 %i, %v<9>; .reg .b64 %a, %b, %m, %d<9>; .reg .pred %p, %q;
    mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; mov.u64 %m, m0; cvta.param.u64 %m, %m;"""


def load_box(tensor, box, start, *, seed=0, **options) -> np.ndarray:
    """The bytes in shared memory of one copied box; `start` in the array's order of dimensions."""
    size = int(np.prod(box)) * tensor.itemsize
    return load_mapped(sim.tensor_map(tensor, box, **options), size, start, seed=seed)


def load_mapped(tensor_map, size, start, *, seed=0, memory=()) -> np.ndarray:
    """The same for the box of a map, of so many bytes."""
    out = np.zeros(size, np.uint8)
    coordinates = ", ".join(str(c) for c in reversed(start))
    text = module(f"""{HEAD} .shared .align 1024 .b8 s[{size}]; .shared .align 8 .b64 bar;
        mov.u32 %v0, s; mov.u32 %v1, bar; setp.ne.u32 %p, %i, 0; @%p bra MEET;
        mbarrier.init.shared.b64 [%v1], 1; fence.proxy.async; prefetch.tensormap [%m];
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], {size};
        cp.async.bulk.prefetch.tensor.{len(start)}d.L2.global.tile [%m, {{{coordinates}}}];
        cp.async.bulk.tensor.{len(start)}d.shared::cluster.global.mbarrier::complete_tx::bytes
            [%v0], [%m, {{{coordinates}}}], [%v1];
        MEET: bar.sync 0; {WAIT.format(at="%v1", parity="0")} mov.u32 %v2, %i;
        COPY: setp.ge.u32 %q, %v2, {size}; @%q ret; add.u32 %v3, %v0, %v2;
        ld.shared.u8 %v4, [%v3]; cvt.u64.u32 %d0, %v2; add.u64 %d0, %d0, %a;
        st.global.u8 [%d0], %v4; add.u32 %v2, %v2, 256; bra COPY;""",
        f"{pointers(1)}, {MAP}")  # fmt: skip
    sim.run(text, "k", 1, 256, [out, tensor_map], memory=memory, seed=seed)
    return out


def slice_with_fill(tensor, box, start, steps=None, fill=0.0):
    """What a box holds: elements outside the tensor are `fill`."""
    steps = steps or (1,) * len(box)
    counts = [-(-b // s) for b, s in zip(box, steps, strict=True)]
    want = np.full(counts, fill).astype(tensor.dtype)
    for index in itertools.product(*map(range, counts)):
        place = [s + k * step for s, k, step in zip(start, index, steps, strict=True)]
        if all(0 <= p < extent for p, extent in zip(place, tensor.shape, strict=True)):
            want[index] = tensor[tuple(place)]
    return want


@pytest.mark.parametrize(
    ("shape", "box", "start"),
    [
        ((64,), (32,), (16,)),
        ((40,), (32,), (24,)),
        ((20, 32), (8, 16), (5, 8)),
        ((20, 32), (8, 16), (-3, -8)),
        ((20, 32), (8, 16), (16, 24)),
        ((20, 32), (8, 16), (50, 0)),
        ((3, 5, 16), (2, 4, 8), (2, 3, 4)),
        ((2, 3, 4, 16), (2, 2, 3, 8), (1, 1, 2, 8)),
        ((2, 2, 3, 4, 8), (1, 2, 2, 3, 8), (1, 0, 2, -1, 0)),
    ],
)
def test_boxes(shape, box, start):
    tensor = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape) + 1
    got = load_box(tensor, box, start).view(np.uint32).reshape(box)
    assert (got == slice_with_fill(tensor, box, start)).all()


@pytest.mark.parametrize("dtype", (np.uint8, np.float16, bf16, np.float32, np.float64))
@pytest.mark.parametrize("fill", ("zero", "nan"))
def test_types_and_fill(dtype, fill):
    if fill == "nan" and dtype is np.uint8:
        pytest.skip("only floats can be filled with NaN")
    tensor = (np.arange(10 * 32).reshape(10, 32) % 100).astype(dtype)
    first = 32 - 16 // tensor.itemsize  # one chunk of 16 bytes lies inside
    got = load_box(tensor, (8, 16), (6, first), fill=fill).view(dtype).reshape(8, 16)
    want = slice_with_fill(tensor, (8, 16), (6, first), fill=0 if fill == "zero" else np.nan)
    np.testing.assert_array_equal(got.astype(float), want.astype(float))


#: What an H200 made of them: ties to even, overflow, NaN, subnormals.
ROUNDED_TO_TF32 = {
    0x3F801000: 0x3F800000, 0x3F803000: 0x3F804000, 0xBF801000: 0xBF800000, 0x3F800FFF: 0x3F800000,
    0x3F801001: 0x3F802000, 0x3F803001: 0x3F804000, 0x7F7FFFFF: 0x7F800000, 0x7F7FEFFF: 0x7F7FE000,
    0xFF7FFFFF: 0xFF800000, 0x7F800000: 0x7F800000, 0x7FC00000: 0x7FFFE000, 0x7F800001: 0x7FFFE000,
    0x00001000: 0x00000000, 0x00001001: 0x00002000, 0x007FFFFF: 0x00800000, 0x80000001: 0x80000000,
}  # fmt: skip


def test_tf32_is_rounded():
    given = np.array([list(ROUNDED_TO_TF32)], np.uint32).view(np.float32)
    loaded = load_box(given, (1, 16), (0, 0), dtype="tf32")
    assert loaded.view(np.uint32).tolist() == list(ROUNDED_TO_TF32.values())


def test_steps_inside_the_box():
    tensor = np.arange(40 * 64, dtype=np.uint32).reshape(40, 64)
    size, out = 4 * 16 * 4, np.zeros(64, np.uint32)  # the steps along dimension 0 do not count
    text = module(
        f"""{HEAD} .shared .align 128 .b8 s[{size}]; .shared .align 8 .b64 bar;
        mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [bar], {size};
        mov.u32 %v0, s; mov.u32 %v1, bar;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%v0], [%m, {{4, 1}}], [%v1]; {WAIT.format(at="%v1", parity="0")}
        cp.async.bulk.global.shared::cta.bulk_group [%a], [%v0], {size};
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;""",
        f"{pointers(1)}, {MAP}",
    )
    steps = sim.tensor_map(tensor, (8, 16), element_strides=(2, 2))
    sim.run(text, "k", 1, 1, [out, steps])
    assert (out.reshape(4, 16) == tensor[1:9:2, 4:20]).all()


@pytest.mark.parametrize("width", (32, 64, 128))
def test_swizzles(width):
    """16-byte chunk c of row r lies at chunk c xor (the row's number in the pattern)."""
    columns = width // 2
    tensor = np.arange(64 * columns, dtype=np.uint16).reshape(64, columns)
    got = load_box(tensor, (32, columns), (16, 0), swizzle=width)
    rows = got.view(np.uint16).reshape(32, width // 16, 8)
    for r in range(32):
        line = r * width // 128  # lines of 128 bytes
        for c in range(width // 16):
            place = c ^ (line & (width // 16 - 1)) if width == 128 else None
            if width == 64:
                place = c ^ (line & 3)
            elif width == 32:
                place = c ^ (line & 1)
            assert (rows[r, place] == tensor[16 + r, 8 * c : 8 * c + 8]).all(), (r, c)


def store_box(tensor, box, start, values, modifier="", **options):
    """Stores `values` (its bytes as they lie in shared memory) to a box."""
    size = values.nbytes
    coordinates = ", ".join(str(c) for c in reversed(start))
    name = (
        f"cp.reduce.async.bulk.tensor.{len(box)}d"
        if modifier
        else (f"cp.async.bulk.tensor.{len(box)}d")
    )
    text = module(f"""{HEAD} .shared .align 1024 .b8 s[{size}]; mov.u32 %v0, s; mov.u32 %v2, %i;
        COPY: add.u32 %v3, %v0, %v2; cvt.u64.u32 %d0, %v2; add.u64 %d0, %d0, %a;
        ld.global.u8 %v4, [%d0]; st.shared.u8 [%v3], %v4; add.u32 %v2, %v2, 256;
        setp.lt.u32 %q, %v2, {size}; @%q bra COPY;
        fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %i, 0; @%p ret;
        {name}.global.shared::cta{modifier}.tile.bulk_group [%m, {{{coordinates}}}], [%v0];
        cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; ret;""",
        f"{pointers(1)}, {MAP}")  # fmt: skip
    sim.run(text, "k", 1, 256, [values.view(np.uint8), sim.tensor_map(tensor, box, **options)])


@pytest.mark.parametrize(
    "start", ((5, 8), (16, 24), (0, 0), (24, 8), (8, 32), (2**31 - 1, 0), (0, 2**31 - 16))
)
@pytest.mark.parametrize("modifier", ("", ".add"))
def test_stores_drop_what_lies_outside(start, modifier):
    tensor = np.zeros((20, 32), np.uint32)
    values = np.arange(128, dtype=np.uint32).reshape(8, 16) + 1
    store_box(tensor, (8, 16), start, values, modifier)
    want = np.zeros((20, 32), np.uint32)
    rows, columns = (slice(at, at + size) for at, size in zip(start, (8, 16), strict=True))
    inside = want[rows, columns]
    inside[:] = values[: inside.shape[0], : inside.shape[1]]
    assert (tensor == want).all()


@pytest.mark.parametrize(
    ("shape", "box", "start", "message"),
    [
        ((20, 32), (8, 16), (-3, -8), "starts at -8 along dimension 0"),
        ((20, 32), (8, 16), (-3, 8), "starts at -3 along dimension 1"),
        ((20, 32), (8, 16), (0, -4), "starts at -4 along dimension 0"),
        ((20, 32), (8, 16), (-8, 0), "starts at -8 along dimension 1"),  # nothing is inside
        ((4, 6, 16), (2, 4, 8), (-1, 0, 0), "starts at -1 along dimension 2"),
    ],
)
@pytest.mark.parametrize("modifier", ("", ".add", ".max", ".or"))
def test_stores_before_the_tensor(shape, box, start, message, modifier):
    """On an H200 each of these ends in CUDA_ERROR_ILLEGAL_INSTRUCTION; loads may start there."""
    tensor, values = np.zeros(shape, np.uint32), np.ones(box, np.uint32)
    with pytest.raises(tileir.ExecutionError, match=f"negative coordinate: .* {message}") as error:
        store_box(tensor, box, start, values, modifier)
    assert error.value.location and "let threads store" in str(error.value)
    assert "bulk.tensor" in str(error.value) and "thread (0, 0, 0)" in str(error.value)


@pytest.mark.parametrize("width", (32, 64, 128))
def test_stores_undo_swizzles(width):
    """What a swizzled load put into shared memory, a swizzled store puts back."""
    columns = width // 4
    tensor = np.random.default_rng(1).integers(0, 100, (64, columns)).astype(np.float32)
    lies = load_box(tensor, (32, columns), (8, 0), swizzle=width)
    target = np.zeros_like(tensor)
    store_box(target, (32, columns), (20, 0), lies, swizzle=width)
    assert (target[20:52] == tensor[8:40]).all() and not target[:20].any()


@pytest.mark.parametrize(("name", "dtype"), [("add", np.float32), ("add", bf16), ("max", np.int32),
                                             ("min", np.uint32), ("xor", np.uint32),
                                             ("add", np.float16)])  # fmt: skip
def test_reducing_stores(name, dtype):
    r = np.random.default_rng(1)
    tensor = r.integers(0, 50, (8, 16)).astype(dtype)
    values = r.integers(0, 50, (8, 16)).astype(dtype)
    functions = {"add": np.add, "max": np.maximum, "min": np.minimum, "xor": np.bitwise_xor}
    want = functions[name](tensor, values)
    store_box(tensor, (8, 16), (0, 0), values, f".{name}")
    assert (tensor == want).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_multicast(seed):
    """Each of two blocks fetches half of a box for both."""
    tensor = np.arange(16 * 32, dtype=np.uint32).reshape(16, 32)
    out = np.zeros((2, 16, 32), np.uint32)
    text = module(f"""{HEAD} .reg .b16 %h; .shared .align 128 .b8 s[2048];
        .shared .align 8 .b64 bar;
        mov.u32 %v0, s; mov.u32 %v1, bar; mov.u32 %v2, %cluster_ctarank;
        mbarrier.init.shared.b64 [%v1], 1; fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive; barrier.cluster.wait;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 2048; mad.lo.u32 %v3, %v2, 1024, %v0;
        mul.lo.u32 %v4, %v2, 8; mov.b16 %h, 3; mov.u32 %v5, 0;
        createpolicy.fractional.L2::evict_last.b64 %d1;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint
            [%v3], [%m, {{%v5, %v4}}], [%v1], %h, %d1;
        {WAIT.format(at="%v1", parity="0")} mad.wide.u32 %a, %v2, 2048, %a;
        cp.async.bulk.global.shared::cta.bulk_group [%a], [%v0], 2048; cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0; barrier.cluster.arrive; barrier.cluster.wait; ret;""",
        f"{pointers(1)}, {MAP}")  # fmt: skip
    sim.run(text, "k", 2, 1, [out, sim.tensor_map(tensor, (8, 32))], cluster=2, seed=seed)
    assert (out == tensor).all()


def test_maps_of_other_arguments():
    """A TensorMap's base may be the host address of any array of the launch."""
    tensor = np.arange(64, dtype=np.float32).reshape(4, 16)
    base = tensor.__array_interface__["data"][0]
    plain = TensorMap("f32", base, (16, 4), (64,), (16, 4), (1, 1))
    out = np.zeros(64, np.float32)
    text = module(
        f"""{HEAD} .shared .align 128 .b8 s[256]; .shared .align 8 .b64 bar;
        mov.u32 %v0, s; mov.u32 %v1, bar; mbarrier.init.shared.b64 [%v1], 1; fence.proxy.async;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 256;
        cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%v0], [%m, {{0,
        0}}], [%v1];
        {WAIT.format(at="%v1", parity="0")}
        cp.async.bulk.global.shared::cta.bulk_group [%a], [%v0], 256;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;""",
        f"{pointers(1)}, {MAP}",
    )
    sim.run(text, "k", 1, 1, [out, plain], memory=[tensor])
    assert (out == tensor.ravel()).all()
    with pytest.raises(
        tileir.LaunchError, match="parameter 1: the tensor map's base .* lies in no"
    ):
        sim.run(text, "k", 1, 1, [out, TensorMap("f32", 4096, (16, 4), (64,), (16, 4), (1, 1))])


def test_maps_built_by_the_kernel():
    tensor = np.arange(20 * 32, dtype=np.float16).reshape(20, 32)
    out, slot = np.zeros(8 * 32, np.float16), np.zeros(256, np.uint8)
    replace = "tensormap.replace.tile.{}.shared::cta.b1024.{} [%v2]"
    fields = [("global_address", "b64", "%b"), ("rank", "b32", "1"), ("box_dim", "b32", "0, 32"),
              ("box_dim", "b32", "1, 8"), ("global_dim", "b32", "0, 32"),
              ("global_dim", "b32", "1, 20"),
              ("global_stride", "b64", "0, 64"), ("element_stride", "b32", "0, 1"),
              ("element_stride", "b32", "1, 1"), ("elemtype", "b32", "6"),
              ("interleave_layout", "b32", "0"), ("swizzle_mode", "b32", "0"),
              ("fill_mode", "b32", "0")]  # fmt: skip
    build = " ".join(f"@!%p {replace.format(name, kind)}, {value};" for name, kind, value in fields)
    run(f""".reg .b32 %i, %v<9>; .reg .b64 %a, %b, %c, %d<9>; .reg .pred %p, %q;
        .shared .align 128 .b8 t[128]; .shared .align 128 .b8 s[512]; .shared .align 8 .b64 bar;
        mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1]; ld.param.u64 %c, [p2];
        mov.u32 %v0, s; mov.u32 %v1, bar; mov.u32 %v2, t; setp.ne.u32 %p, %i, 0;
        add.u64 %c, %c, 127; and.b64 %c, %c, -128;
        mad.lo.u32 %v3, %i, 4, %v2; st.shared.u32 [%v3], 0; bar.warp.sync -1; {build}
        bar.warp.sync -1;
        tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
            [%c], [%v2], 128;
        fence.proxy.tensormap::generic.acquire.gpu [%c], 128;
        @!%p mbarrier.init.shared.b64 [%v1], 1; fence.proxy.async; bar.sync 0; @%p ret;
        mbarrier.arrive.expect_tx.shared.b64 _, [%v1], 512;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%v0], [%c, {{0, 15}}], [%v1]; {WAIT.format(at="%v1", parity="0")}
        cp.async.bulk.global.shared::cta.bulk_group [%a], [%v0], 512; cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0; ret;""", [out, tensor, slot])  # fmt: skip
    assert (out.reshape(8, 32) == slice_with_fill(tensor, (8, 32), (15, 0))).all()


def test_faults():
    tensor = np.zeros((8, 16), np.float32)

    def fails(match, at="%v0", coordinates="{0, 0}", rank=2, map_=None):
        text = module(f"""{HEAD} .shared .align 128 .b8 s[512]; .shared .align 8 .b64 bar;
            mov.u32 %v0, s; mov.u32 %v1, bar; mbarrier.init.shared.b64 [%v1], 1; fence.proxy.async;
            cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes
                [{at}], [%m, {coordinates}], [%v1]; ret;""", f"{pointers(1)}, {MAP}")  # fmt: skip
        given = sim.tensor_map(tensor, (8, 16)) if map_ is None else map_
        with pytest.raises(tileir.ExecutionError, match=match):
            sim.run(text, "k", 1, 1, [tensor, given])

    fails("misaligned coordinate: a box starts 4 bytes into", coordinates="{1, 0}")
    fails("misaligned address: byte 64 of shared memory; tensor copies need", at="%v0+64")
    fails("a box of 512 bytes at byte 128 of shared memory", at="%v0+128")
    fails("has 2 dimensions, the copy 3", coordinates="{0, 0, 0}", rank=3)
    fails("there is no tensor map at this address", map_=b"\xff" * 128)
    far = TensorMap("f32", tensor.__array_interface__["data"][0], (16, 9), (64,), (16, 8), (1, 1))
    fails("the tensor map reaches bytes .* of parameter 0, which holds 512",
          coordinates="{0, 5}", map_=far)  # fmt: skip
