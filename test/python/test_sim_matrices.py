"""Matrix instructions against NumPy: ldmatrix, stmatrix, mma.sync, wgmma.

The places of elements are written out here from the drawings in the ISA.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sim_support import bf16, module, pointers, run

import tileir
from tileir import sim

HEAD = """.reg .b32 %i, %l, %v<40>; .reg .b64 %a, %b, %d<9>; .reg .pred %p, %q;
    mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1]; and.b32 %l, %i, 31;"""
FP8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
DTYPES = {"f16": np.float16, "bf16": bf16, "tf32": np.float32, "f32": np.float32, "f64": np.float64,
          "s8": np.int8, "u8": np.uint8, "s32": np.int32} | FP8  # fmt: skip


@pytest.mark.parametrize("count", (1, 2, 4))
@pytest.mark.parametrize("trans", ("", ".trans"))
def test_load_and_store_matrices(count, trans):
    """Lane l holds row l / 4, columns 2 (l % 4) and the next, of each 8x8 matrix."""
    x = np.random.default_rng(1).integers(0, 1 << 16, (count * 8, 8)).astype(np.uint16)
    out = np.zeros((count, 32, 2), np.uint16)
    back = np.zeros_like(x)
    names = ", ".join(f"%v{k}" for k in range(count))
    stores = " ".join(f"st.global.u32 [%d0+{128 * k}], %v{k};" for k in range(count))
    fetch = " ".join(f"ld.global.u32 %v9, [%d1+{128 * k}]; st.shared.u32 [%v10+{128 * k}], %v9;"
                     for k in range(count))  # fmt: skip
    give = " ".join(f"ld.shared.u32 %v9, [%v12+{128 * k}]; st.global.u32 [%d2+{128 * k}], %v9;"
                    for k in range(count))  # fmt: skip
    run(f"""{HEAD} .shared .align 128 .b8 s[{128 * count}]; .shared .align 128 .b8 t[{128 * count}];
        ld.param.u64 %d3, [p2]; mad.wide.u32 %d0, %i, 4, %b; mad.wide.u32 %d1, %i, 4, %a;
        mad.wide.u32 %d2, %i, 4, %d3; mov.u32 %v8, s; mad.lo.u32 %v10, %i, 4, %v8;
        mov.u32 %v13, t; mad.lo.u32 %v12, %i, 4, %v13; {fetch} bar.warp.sync -1;
        and.b32 %v14, %i, {8 * count - 1}; mad.lo.u32 %v11, %v14, 16, %v8;
        ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{names}}}, [%v11]; {stores}
        mad.lo.u32 %v11, %v14, 16, %v13;
        stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%v11], {{{names}}};
        bar.warp.sync -1; {give} ret;""", [x, out, back])  # fmt: skip
    for k in range(count):
        matrix = x[8 * k : 8 * k + 8]
        for lane in range(32):
            row, column = lane // 4, 2 * (lane % 4)
            want = matrix[column : column + 2, row] if trans else matrix[row, column : column + 2]
            assert (out[k, lane] == want).all()
    assert (back == x).all()


def test_move_matrix():
    x = np.arange(64, dtype=np.uint16)
    out = np.zeros(64, np.uint16)
    run(
        f"""{HEAD} mad.wide.u32 %a, %i, 4, %a; mad.wide.u32 %b, %i, 4, %b; ld.global.u32 %v0, [%a];
        movmatrix.sync.aligned.m8n8.trans.b16 %v1, %v0; st.global.u32 [%b], %v1; ret;""",
        [x, out],
    )
    assert (out.reshape(8, 8) == x.reshape(8, 8).T).all()


# --- mma.sync ------------------------------------------------------------------------------------


def values(dtype, shape, seed):
    r = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize == 1:
        info = np.iinfo(dtype)
        return r.integers(info.min, info.max, shape, endpoint=True).astype(dtype)
    return r.standard_normal(shape).astype(dtype)


def spread(matrix: np.ndarray, rows: int, register_bytes: int) -> np.ndarray:
    """[lane, register, element] of an A (rows x K) or, transposed, a B (rows 8) operand.

    Lane 4 g + t; register 2 b + h (A with 16 rows) or b: row g + 8 h, and from column
    (4 b + t) * per on.
    """
    per = register_bytes // matrix.itemsize
    halves, blocks = rows // 8, matrix.shape[1] // (4 * per)
    out = np.zeros((32, halves * blocks, per), matrix.dtype)
    for lane in range(32):
        g, t = divmod(lane, 4)
        for b in range(blocks):
            for h in range(halves):
                start = (4 * b + t) * per
                out[lane, halves * b + h] = matrix[g + 8 * h, start : start + per]
    return out


def gather(registers: np.ndarray, rows: int) -> np.ndarray:
    """rows x 8 of accumulators [lane, 2 h + c]: row g + 8 h, column 2 t + c."""
    out = np.zeros((rows, 8), registers.dtype)
    for lane in range(32):
        g, t = divmod(lane, 4)
        for h in range(rows // 8):
            for c in range(2):
                out[g + 8 * h, 2 * t + c] = registers[lane, 2 * h + c]
    return out


def scatter(matrix: np.ndarray) -> np.ndarray:
    out = np.zeros((32, len(matrix) // 4), matrix.dtype)
    for lane in range(32):
        g, t = divmod(lane, 4)
        for h in range(len(matrix) // 8):
            out[lane, 2 * h : 2 * h + 2] = matrix[g + 8 * h, 2 * t : 2 * t + 2]
    return out


def registers(prefix: str, count: int) -> str:
    return "{" + ", ".join(f"%{prefix}{k}" for k in range(count)) + "}"


SHAPES = [
    ("m16n8k8", "f32", "f16", "f16", "f32"),
    ("m16n8k16", "f32", "f16", "f16", "f32"),
    ("m16n8k16", "f16", "f16", "f16", "f16"),
    ("m16n8k8", "f32", "bf16", "bf16", "f32"),
    ("m16n8k16", "f32", "bf16", "bf16", "f32"),
    ("m16n8k4", "f32", "tf32", "tf32", "f32"),
    ("m16n8k8", "f32", "tf32", "tf32", "f32"),
    ("m16n8k16", "s32", "s8", "s8", "s32"),
    ("m16n8k32", "s32", "s8", "u8", "s32"),
    ("m16n8k32", "s32", "u8", "s8", "s32"),
    ("m8n8k16", "s32", "u8", "u8", "s32"),
    ("m16n8k32", "f32", "e4m3", "e4m3", "f32"),
    ("m16n8k32", "f32", "e5m2", "e4m3", "f32"),
    ("m8n8k4", "f64", "f64", "f64", "f64"),
    ("m16n8k8", "f64", "f64", "f64", "f64"),
    ("m16n8k16", "f64", "f64", "f64", "f64"),
]


def mma_kernel(shape: str, types: tuple[str, ...], counts: tuple[int, ...], extra: str = "") -> str:
    """A kernel (A, B, C, D), each [lane, register]."""
    d_type, a_type, b_type, c_type = types
    lines = [HEAD]
    kinds = [64 if t == "f64" else 32 for t in (a_type, b_type, c_type, d_type)]
    for index, (letter, count, bits) in enumerate(zip("xyzw", counts, kinds, strict=True)):
        lines += [f".reg .b{bits} %{letter}<{count}>; ld.param.u64 %d0, [p{index}];",
                  f"mad.wide.u32 %d{index + 1}, %i, {count * bits // 8}, %d0;"]  # fmt: skip
        if letter != "w":
            lines += [f"ld.global.b{bits} %{letter}{k}, [%d{index + 1}+{k * bits // 8}];"
                      for k in range(count)]  # fmt: skip
    a, b, c, d = (registers(letter, count) for letter, count in zip("xyzw", counts, strict=True))
    lines.append(f"mma.sync.aligned.{shape}.row.col{extra}.{d_type}.{a_type}.{b_type}.{c_type} "
                 f"{d}, {a}, {b}, {c};")  # fmt: skip
    lines += [f"st.global.b{kinds[3]} [%d4+{k * kinds[3] // 8}], %w{k};" for k in range(counts[3])]
    return "\n".join([*lines, "ret;"])


def multiply(shape, types, a, b, c, extra=""):
    d_type, a_type, _, c_type = types
    rows = int(shape[1:].split("n")[0])
    size = 8 if a_type == "f64" else 4
    left, right = spread(a, rows, size), spread(np.ascontiguousarray(b.T), 8, size)
    added, out = scatter(c), np.zeros((32, rows // 4), DTYPES[d_type])
    packed = 2 if c_type == "f16" else 1
    counts = left.shape[1], right.shape[1], rows // 4 // packed, rows // 4 // packed
    run(mma_kernel(shape, types, counts, extra), [left, right, added, out])
    return gather(out, rows)


@pytest.mark.parametrize("shape", SHAPES, ids="-".join)
def test_mma(shape):
    name, d_type, a_type, b_type, c_type = shape
    rows, depth = int(name[1:].split("n")[0]), int(name.split("k")[1])
    a, b = values(DTYPES[a_type], (rows, depth), 1), values(DTYPES[b_type], (depth, 8), 2)
    c = values(DTYPES[c_type], (rows, 8), 3)
    if d_type == "s32":
        c = (c.astype(np.float64) * 100).astype(np.int32)
    got = multiply(name, shape[1:], a, b, c)
    if a_type == "tf32":
        a, b = ((m.view(np.uint32) & 0xFFFFE000).view(np.float32) for m in (a, b))
    exact = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    want = exact.astype(np.int64).astype(np.int32) if d_type == "s32" else exact.astype(got.dtype)
    assert (got == want).all()


def test_mma_of_4_bits():
    r = np.random.default_rng(1)
    a, b = r.integers(-8, 8, (16, 64)), r.integers(0, 16, (64, 8))
    c = np.zeros((16, 8), np.int32)

    def pack(m):
        nibbles = (m & 15).astype(np.uint8)
        return nibbles[..., ::2] | nibbles[..., 1::2] << 4

    left = spread(pack(a), 16, 4)
    right = spread(np.ascontiguousarray(pack(b.T)), 8, 4)
    out = np.zeros((32, 4), np.int32)
    kernel = mma_kernel("m16n8k64", ("s32", "s4", "u4", "s32"), (4, 2, 4, 4))
    run(kernel, [left, right, scatter(c), out])
    assert (gather(out, 16) == a @ b).all()


def test_mma_saturates():
    a, b = np.full((16, 32), 127, np.int8), np.full((32, 8), 127, np.int8)
    c = np.full((16, 8), 2**31 - 100, np.int32)
    types = ("s32", "s8", "s8", "s32")
    assert (multiply("m16n8k32", types, a, b, c, ".satfinite") == 2**31 - 1).all()
    wrapped = (np.int64(2**31 - 100 + 32 * 127**2) - 2**32).astype(np.int32)
    assert (multiply("m16n8k32", types, a, b, c) == wrapped).all()


def test_mma_needs_the_whole_warp():
    with pytest.raises(tileir.ExecutionError, match="deadlock|other threads of the warp"):
        run(f"""{HEAD} .shared .align 8 .b64 m; setp.lt.u32 %p, %i, 4; mov.u32 %v0, 0;
            setp.eq.u32 %q, %i, 0; @%q mbarrier.init.shared.b64 [m], 1; @%p bra STUCK;
            mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%v1, %v2, %v3, %v4}}, {{%v0, %v0}},
                {{%v0}}, {{%v0, %v0, %v0, %v0}}; ret;
            STUCK: mbarrier.try_wait.parity.shared.b64 %p, [m], 0; @!%p bra STUCK; ret;""",
            [np.zeros(1), np.zeros(1)])  # fmt: skip


# --- wgmma ---------------------------------------------------------------------------------------


def lay_out(matrix: np.ndarray, swizzle: int, k_major: bool) -> tuple[np.ndarray, int, int]:
    """(bytes in shared memory of `matrix` (M or N, K), LBO, SBO), as in the ISA's layouts.

    K-major rows of `swizzle` bytes (16 for none) are stacked; MN-major ones hold `swizzle` bytes
    along M or N, one row for each k.
    """
    size, (extent, depth) = matrix.itemsize, matrix.shape
    raw = np.ascontiguousarray(matrix).view(np.uint8).reshape(extent, depth, size)
    place = np.zeros((extent, depth), np.int64)
    width = swizzle or 16
    for r in range(extent):
        for k in range(depth):
            along, across = (k * size, r) if k_major else (r * size, k)
            block, inner = divmod(along, width)
            if swizzle and k_major:
                place[r, k] = across * width + inner + block * extent * width
            elif swizzle:
                place[r, k] = across * width + inner + block * depth * width
            else:  # core matrices of 8 rows x 16 bytes, first along the contiguous direction
                count = (depth if k_major else extent) * size // 16
                place[r, k] = ((across // 8) * count + block) * 128 + across % 8 * 16 + inner
    if swizzle:
        bits = {32: 1, 64: 3, 128: 7}[swizzle]
        place ^= (place >> 7 & bits) << 4
    out = np.zeros(raw.size, np.uint8)
    for byte in range(size):
        out[place + byte] = raw[..., byte]
    if swizzle:
        leading = depth * width if not k_major else 16
        return out, leading, 8 * width
    count = (depth if k_major else extent) * size // 16
    near, far = 128, 128 * count
    return (out, near, far) if k_major else (out, far, near)


def descriptor(start: str, leading: int, stride: int, swizzle: int) -> str:
    """PTX that makes %d7 from a shared address."""
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    word = mode << 62 | (stride >> 4) << 32 | (leading >> 4) << 16
    return (f"shr.u32 %v39, {start}, 4; and.b32 %v39, %v39, 0x3fff; cvt.u64.u32 %d7, %v39; "
            f"or.b64 %d7, %d7, {word};")  # fmt: skip


def wgmma(a, b, types, *, swizzles=(128, 128), majors=(True, True), in_registers=False, c=None,
          scales=(1, 1), steps=1, seed=0, wait=True, checks=True):  # fmt: skip
    """One warpgroup's product of a (64 x K) and b (K x n), `steps` instructions deep."""
    d_type, a_type, b_type = types
    n, depth = b.shape[1], 32 // a.itemsize
    a_bytes, a_lead, a_stride = lay_out(a, swizzles[0], majors[0])
    b_bytes, b_lead, b_stride = lay_out(np.ascontiguousarray(b.T), swizzles[1], majors[1])
    packed = d_type == "f16"
    count = n // 4 if packed else n // 2
    out = np.zeros((128, count * (2 if packed else 1)), DTYPES[d_type])
    if c is not None:
        out[...] = _to_lanes(c, n)
    left = np.concatenate([spread(a[16 * q : 16 * q + 16], 16, 4) for q in range(4)])
    place = count * 4
    acc = registers("f", count)
    lines = [HEAD, f".reg .b32 %f<{count}>; .reg .b32 %g<{4 * steps}>;",
             f".shared .align 1024 .b8 sa[{len(a_bytes)}];",
             f".shared .align 1024 .b8 sb[{len(b_bytes)}];",
             "ld.param.u64 %d2, [p2]; ld.param.u64 %d3, [p3]; mov.u32 %v0, sa; mov.u32 %v1, sb;",
             f"mad.wide.u32 %d2, %i, {place}, %d2;",
             f"mad.wide.u32 %d3, %i, {16 * steps}, %d3;"]  # fmt: skip
    for name, size, source in (("%v0", len(a_bytes), "%a"), ("%v1", len(b_bytes), "%b")):
        label = name[1:].upper()
        lines.append(f"mov.u32 %v2, %i; C{label}: cvt.u64.u32 %d4, %v2; "
                     f"add.u64 %d4, %d4, {source}; ld.global.u8 %v3, [%d4]; "
                     f"add.u32 %v4, {name}, %v2; st.shared.u8 [%v4], %v3; "
                     f"add.u32 %v2, %v2, 128; setp.lt.u32 %p, %v2, {size}; "
                     f"@%p bra C{label};")  # fmt: skip
    lines += [f"ld.global.b32 %f{k}, [%d2+{4 * k}];" for k in range(count)]
    lines += [
        f"ld.global.b32 %g{k}, [%d3+{4 * k}];" for k in range(4 * steps if in_registers else 0)
    ]
    lines += ["fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;"]
    name = f"wgmma.mma_async.sync.aligned.m64n{n}k{depth}.{d_type}.{a_type}.{b_type}"
    for step in range(steps):
        a_start = _advance("%v0", step, len(a), a.shape[1], a.itemsize, swizzles[0], majors[0])
        b_start = _advance("%v1", step, n, len(b), b.itemsize, swizzles[1], majors[1])
        first = "{" + ", ".join(f"%g{4 * step + k}" for k in range(4)) + "}"
        if not in_registers:
            lines += [
                a_start,
                descriptor("%v38", a_lead, a_stride, swizzles[0]),
                "mov.b64 %d5, %d7;",
            ]
            first = "%d5"
        lines += [b_start, descriptor("%v38", b_lead, b_stride, swizzles[1])]
        use = 1 if step or c is not None else 0
        rest = "" if d_type == "s32" else f", {scales[0]}, {scales[1]}"
        if a.itemsize == 2:
            rest += "" if in_registers else f", {int(not majors[0])}"
            rest += f", {int(not majors[1])}"
        lines.append(f"setp.ne.b32 %q, {use}, 0; {name} {acc}, {first}, %d7, %q{rest};")
    lines.append("wgmma.commit_group.sync.aligned;")
    if wait:
        lines.append("wgmma.wait_group.sync.aligned 0;")
    lines += [f"st.global.b32 [%d2+{4 * k}], %f{k};" for k in range(count)]
    text = module("\n".join([*lines, "ret;"]), pointers(4))
    sim.run(text, "k", 1, 128, [a_bytes, b_bytes, out, left], seed=seed, checks=checks)
    return _from_lanes(out, n)


def _advance(base, step, extent, depth, size, swizzle, k_major):
    """PTX for %v38: where the operand of instruction `step` starts."""
    width = swizzle or 16
    if k_major:
        block, inner = divmod(32 * step, width)
        offset = block * extent * width + inner if swizzle else 2 * step * 128
    else:
        rows = 32 // size * step
        offset = rows * width if swizzle else rows // 8 * extent * size // 16 * 128
    return f"add.u32 %v38, {base}, {offset};"


def _to_lanes(c, n):
    """[thread, 4 j + 2 h + e]: row 16 q + g + 8 h, column 8 j + 2 t + e."""
    out = np.zeros((128, n // 2), c.dtype)
    for thread in range(128):
        q, lane = divmod(thread, 32)
        g, t = divmod(lane, 4)
        for j in range(n // 8):
            for h in range(2):
                row, column = 16 * q + g + 8 * h, 8 * j + 2 * t
                out[thread, 4 * j + 2 * h : 4 * j + 2 * h + 2] = c[row, column : column + 2]
    return out


def _from_lanes(registers, n):
    out = np.zeros((64, n), registers.dtype)
    for thread in range(128):
        q, lane = divmod(thread, 32)
        g, t = divmod(lane, 4)
        for j in range(n // 8):
            for h in range(2):
                row, column = 16 * q + g + 8 * h, 8 * j + 2 * t
                out[row, column : column + 2] = registers[thread, 4 * j + 2 * h : 4 * j + 2 * h + 2]
    return out


def check_wgmma(types, n, depth, **options):
    d_type, a_type, b_type = types
    a, b = values(DTYPES[a_type], (64, depth), 1), values(DTYPES[b_type], (depth, n), 2)
    got = wgmma(a, b, types, **options)
    if a_type == "tf32":
        a, b = ((m.view(np.uint32) & 0xFFFFE000).view(np.float32) for m in (a, b))
    steps = options.get("steps", 1)
    scale = np.prod(options.get("scales", (1, 1)))
    c = options.get("c")
    total = np.zeros((64, n)) if c is None else c.astype(np.float64)
    for part in range(steps):
        k = slice(part * depth // steps, (part + 1) * depth // steps)
        total = total + scale * (a[:, k].astype(np.float64) @ b[k].astype(np.float64))
        total = total if d_type == "s32" else total.astype(DTYPES[d_type]).astype(np.float64)
    assert (got == total.astype(DTYPES[d_type])).all()


@pytest.mark.parametrize("types", [("f32", "f16", "f16"), ("f16", "f16", "f16"),
                                   ("f32", "bf16", "bf16"),
                                   ("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"),
                                   ("f32", "e5m2", "e4m3"), ("s32", "s8", "s8"),
                                   ("s32", "u8", "s8")], ids="-".join)  # fmt: skip
def test_wgmma_types(types):
    depth = 32 // np.dtype(DTYPES[types[1]]).itemsize
    check_wgmma(types, 16, depth, swizzles=(32, 32))
    check_wgmma(types, 16, depth, swizzles=(32, 32), in_registers=True)


@pytest.mark.parametrize("swizzle", (0, 32, 64, 128))
@pytest.mark.parametrize("majors", [(True, True), (True, False), (False, True), (False, False)])
def test_wgmma_layouts(swizzle, majors):
    """Four instructions along K, through all layouts of a 64 x 64 and a 64 x 128 operand."""
    check_wgmma(("f32", "f16", "f16"), 128, 64, swizzles=(swizzle, swizzle), majors=majors, steps=4)


@pytest.mark.parametrize("n", (8, 24, 80, 192, 256))
def test_wgmma_widths(n):
    check_wgmma(("f32", "bf16", "bf16"), n, 16, swizzles=(32, 32))


def test_wgmma_accumulates_and_scales():
    c = values(np.float32, (64, 32), 5)
    check_wgmma(("f32", "f16", "f16"), 32, 32, swizzles=(64, 64), c=c, steps=2)
    check_wgmma(("f32", "f16", "f16"), 32, 16, swizzles=(32, 32), c=c, scales=(-1, 1))
    check_wgmma(
        ("f32", "bf16", "bf16"), 32, 16, swizzles=(32, 32), in_registers=True, scales=(-1, 1)
    )


def test_results_of_wgmma_are_hidden_until_waited_for():
    a, b = values(np.float16, (64, 16), 1), values(np.float16, (16, 16), 2)
    got = wgmma(a, b, ("f32", "f16", "f16"), swizzles=(32, 32), wait=False, checks=False)
    assert np.isnan(got).all()


def test_wgmma_out_of_bounds():
    with pytest.raises(tileir.ExecutionError, match="matrix B of wgmma takes bytes"):
        run(f"""{HEAD} .reg .b32 %f<8>; .shared .align 1024 .b8 sa[2048]; mov.u32 %v0, sa;
            {descriptor("%v0", 16, 256, 32)} mov.b64 %d5, %d7; add.u32 %v0, %v0, 2048;
            {descriptor("%v0", 16, 256, 32)} setp.ne.b32 %q, 0, 0; wgmma.fence.sync.aligned;
            wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {registers("f", 8)}, %d5, %d7, %q,
                1, 1, 0, 0; ret;""", [np.zeros(1), np.zeros(1)], threads=128)  # fmt: skip
