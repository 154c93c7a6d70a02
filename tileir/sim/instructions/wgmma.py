"""wgmma: products of a warpgroup, with B, and A or not, in shared memory.

Each warp computes its own 16 of the 64 rows, and the hardware starts when all four warps have
issued the product: kernels let one of them tell others that the operands are free. A product is
computed when it is issued, from the operands as they are then, but its results stay hidden until
the warp waits for the group: who reads the accumulators before finds ones in every bit, NaN.

    D, A (64 rows)   warp q of the warpgroup: rows 16 q + ..., spread over lanes like mma.sync's
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..machine.addressing import SHARED_BASE
from ..machine.cohort import Array, Cohort
from ..machine.faults import ThreadFault
from ..machine.tensor import swizzled
from ..numerics import fragments, operands
from ..observer import AsyncAccess
from ..ptx.syntax import Immediate, Operand, Register, Vector
from ..ptx.types import B64, PRED, TYPES, U32, Type

_SHAPE = re.compile(r"m64n(\d+)k(\d+)")
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}
_ROWS = 16
_WARPS = 4


class Product(NamedTuple):
    """What one wgmma.mma_async computes: D (64 x n) = scale * A (64 x k) B (k x n) + D.

    `accumulators` are the slots of D, as `held`; `registers` tells whether A is in registers.
    """

    kind: str
    site: Any
    n: int
    depth: int
    a_type: str
    b_type: str
    d_dtype: np.dtype[Any]
    held: np.dtype[Any]
    accumulators: tuple[int, ...]
    hidden: int
    registers: bool
    a_k_major: bool
    b_k_major: bool
    sign: float
    saturate: bool


@instruction("wgmma.mma_async", stops=True, updates=True)
def multiply(e: Emitter, f: Form) -> None:
    """d, a (descriptor or registers), b, scale-d{, scale-a, scale-b{, trans-a, trans-b}}"""
    f.need("sync")
    f.need("aligned")
    shape = f.rest_starting("m64n")
    match = _SHAPE.fullmatch(shape or "")
    if match is None:
        raise f.error("unknown shape")
    n, depth = int(match[1]), int(match[2])
    d_type = f.type("f32", "f16", "s32")
    a_name, b_name = (f.one_of(*_BITS) for _ in "ab")
    if a_name is None or b_name is None or depth * _BITS[a_name] != 256:
        raise f.error("unknown shape or types of the operands")
    saturate = f.has("satfinite")
    e.converge_warpgroups()
    given = list(f.operands)
    accumulators, a, b, scale = given[:4]
    in_registers = isinstance(a, Vector)
    sign, majors = _immediates(f, given[4:], in_registers)
    held = U32 if d_type.bits == 16 else d_type
    slots = _slots(e, f, accumulators, n * d_type.bits // 64, held)
    product = Product(
        "wgmma", e.sites[e.site], n, depth, a_name, b_name, d_type.dtype, held.dtype, slots,
        e.hidden_slot(0), in_registers, majors[0], majors[1], sign, saturate,
    )  # fmt: skip
    e.keeps_hidden(slots)
    name = e.object(product, f"wgmma_{e.site}")
    left = _registers(e, a) if isinstance(a, Vector) else e.read(a, B64)
    scale_d = e.read(scale, PRED)
    e.line(f"{e.use(issue)}(w, R, {name}, {left}, {e.read(b, B64)}, {scale_d})")
    e.forget_views()


def _immediates(
    f: Form, given: Sequence[Operand], in_registers: bool
) -> tuple[float, tuple[bool, bool]]:
    """(the product of the scales, whether A and B are K-major)"""
    values = [int(one.value) for one in given if isinstance(one, Immediate)]
    if len(values) != len(given):
        raise f.error("scales and transpositions must be constants")
    sign = float(values[0] * values[1]) if len(values) >= 2 else 1.0
    transposed = values[2:]
    if in_registers:
        transposed = [0, *transposed]
    a, b = (*transposed, 0, 0)[:2]
    return sign, (not a, not b)


def _slots(e: Emitter, f: Form, operand: Operand, count: int, held: Type) -> tuple[int, ...]:
    elements = operand.elements if isinstance(operand, Vector) else ()
    registers = [one for one in elements if isinstance(one, Register)]
    if len(registers) != count or len(elements) != count:
        raise f.error(f"expected {count} accumulators, found {len(elements)}")
    return tuple(register.slot for register in registers)


def _registers(e: Emitter, operand: Vector) -> str:
    return f"({', '.join(e.read(element, U32) for element in operand.elements)},)"


# --- at run time ---------------------------------------------------------------------------------


def issue(w: Cohort, regs: list[Any], product: Product, a: Any, b: Array, scale_d: Any) -> None:
    """Computes D and hides it."""
    shape = (len(w.warps), 32)
    descriptors = np.broadcast_to(b, shape)[:, 0]
    result = np.empty((len(w.warps), _ROWS, product.n), np.float64)
    left = None
    if product.registers:
        left = fragments.matrix_a(fragments.elements(a, TYPES[product.a_type]), _ROWS)
    words = None if product.registers else np.broadcast_to(a, shape)[:, 0]
    quarter = w.warps % w.launch.warps_per_block % _WARPS
    watched = _announce(w, product) if w.launch.watch else []
    for rows in _alike(w.slots, descriptors, words):
        users = [one for one in watched if np.isin(w.warps[rows], one.warps).any()]
        right = _matrix(w, product, rows[0], int(descriptors[rows[0]]), product.n, "b", users)
        if left is not None:
            chosen = left[rows]
        else:
            assert words is not None
            height = _ROWS * _WARPS
            whole = _matrix(w, product, rows[0], int(words[rows[0]]), height, "a", users)
            chosen = whole.reshape(_WARPS, _ROWS, -1)[quarter[rows]]
        result[rows] = (chosen.reshape(-1, product.depth) @ right.T).reshape(len(rows), _ROWS, -1)
    if product.sign != 1:
        result *= product.sign
    keep = np.broadcast_to(scale_d, shape)[:, 0]
    values = _accumulated(product, regs, result, keep)
    poison = np.full(shape, -1, np.int32).view(product.held)
    for slot, value in zip(product.accumulators, values, strict=True):
        regs[slot] = poison
        regs[slot + product.hidden] = value
    opened, *groups = w.in_flight or ((),)
    if product.accumulators not in opened:
        opened = (*opened, product.accumulators)
    w.in_flight = (opened, *groups)
    for one in watched:
        w.launch.watch.async_completed(one)  # type: ignore[union-attr]


class WarpgroupProduct:
    """A product of one warpgroup on its way, for observers: an asynchronous operation.

    `warps` are those that issued it together; `threads` are their first lanes.
    """

    kind = "wgmma"

    def __init__(self, product: Product, warps: Array):
        self.product = product
        self.site = product.site
        self.warps = warps
        self.threads = warps * 32


def _announce(w: Cohort, product: Product) -> list[WarpgroupProduct]:
    """Tells observers of what each warpgroup issues."""
    per_block = w.launch.warps_per_block
    group = w.slots * per_block + w.warps % per_block // _WARPS
    found = [WarpgroupProduct(product, w.warps[group == one]) for one in np.unique(group)]
    for one in found:
        w.launch.watch.async_issued(one)  # type: ignore[union-attr]
    return found


def _alike(slots: Array, b: Array, a: Array | None) -> list[Array]:
    """Rows of the cohort with the same operands, in groups."""
    keys: dict[Any, list[int]] = {}
    for row, key in enumerate(
        zip(slots.tolist(), b.tolist(), (b if a is None else a).tolist(), strict=True)
    ):
        keys.setdefault(key, []).append(row)
    return [np.array(rows) for rows in keys.values()]


def _matrix(
    w: Cohort, product: Product, row: int, word: int, count: int, which: str, users: Sequence[Any]
) -> Array:
    """An operand in shared memory, float64[count, depth] (B transposed); `users` read it."""
    name = product.a_type if which == "a" else product.b_type
    k_major = product.a_k_major if which == "a" else product.b_k_major
    size = _BITS[name] // 8
    d = operands.decode(word)
    launch = w.launch
    thread = int(w.threads[row, 0])
    if d.base_offset:
        raise ThreadFault("matrix descriptors with a base offset are not supported", thread=thread)
    relative = operands.offsets(count, product.depth, size, d.leading, d.stride, d.swizzle, k_major)
    linear = swizzled(relative + d.start, d.swizzle) - SHARED_BASE
    low, high = int(linear.min()), int(linear.max()) + size
    if low < 0 or high > launch.shared.used:
        raise ThreadFault(
            f"out of bounds: matrix {which.upper()} of wgmma takes bytes {low} to {high} of shared "
            f"memory, of which the block has {launch.shared.used}",
            "the descriptor's start address, leading and stride offsets must fit the buffer",
            thread=thread,
        )
    offset = linear + int(w.slots[row]) * launch.shared.stride
    if users:
        chunks = offset[:, :: 16 // size] if k_major else offset[:: 16 // size]
        access = AsyncAccess(
            "read", launch.shared, chunks.ravel(), 16, which=which, swizzle=d.swizzle
        )
        for one in users:
            launch.watch.async_access(one, access)  # type: ignore[union-attr]
    flat, _ = launch.shared.typed(np.dtype(f"uint{8 * size}"))
    return operands.to_float64(flat[offset // size], name)


def _accumulated(product: Product, regs: list[Any], result: Array, keep: Array) -> Sequence[Array]:
    """The registers of result + D; `keep` says which warps have a D."""
    n = len(result)
    split = result.reshape(n, 2, 8, product.n // 8, 4, 2)
    if product.d_dtype.itemsize == 2:  # pairs along the last dimension
        fresh = np.ascontiguousarray(split.transpose(3, 1, 0, 2, 4, 5)).reshape(-1, n, 32, 2)
    else:
        fresh = np.ascontiguousarray(split.transpose(3, 1, 5, 0, 2, 4)).reshape(-1, n, 32)
    if keep.any():
        old = np.stack([_current(regs, slot, product.hidden) for slot in product.accumulators])
        old = old.view(product.d_dtype).reshape(fresh.shape)
        scale = keep.reshape(1, n, *(1,) * (fresh.ndim - 2))
        fresh = np.where(scale, fresh + old, fresh)
    if product.d_dtype.kind == "i":
        limit = np.iinfo(np.int32)
        fresh = np.clip(fresh, limit.min, limit.max) if product.saturate else fresh
        return list(fresh.astype(np.int64).astype(np.int32).view(product.held))
    rounded = fresh.astype(product.d_dtype)
    return list(rounded.view(product.held).reshape(-1, n, 32))


def _current(regs: list[Any], slot: int, hidden: int) -> Array:
    """An accumulator's value, whether it is in flight or not."""
    value = regs[slot + hidden]
    return regs[slot] if value is None else value


@instruction("wgmma.fence", stops=True)
def fence(e: Emitter, f: Form) -> None:
    from .barriers import report_fence

    f.need("sync")
    f.need("aligned")
    e.converge()
    arguments = f"'wgmma', 'weak', None, None, {e.here}, None, w.mask"
    e.line(f"if w.launch.watch: {e.use(report_fence)}(w, {arguments})")


@instruction("wgmma.commit_group", stops=True)
def commit(e: Emitter, f: Form) -> None:
    f.need("sync")
    f.need("aligned")
    e.converge()
    e.line(f"{e.use(commit_products)}(w, {e.here})")


def commit_products(w: Cohort, site: Any) -> None:
    opened, *groups = w.in_flight or ((),)
    w.in_flight = ((), opened, *groups)
    if w.launch.watch:
        w.launch.watch.group_committed("wgmma", site, w.warps, w.mask)


@instruction("wgmma.wait_group", stops=True, results=0)
def wait(e: Emitter, f: Form) -> None:
    f.need("sync")
    f.need("aligned")
    e.converge()
    allowed = f.operand(0)
    if not isinstance(allowed, Immediate):
        raise f.error("the number of groups must be a constant")
    hidden = e.hidden_slot(0)
    e.line(f"{e.use(reveal)}(w, R, {int(allowed.value)}, {hidden}, {e.here})")
    e.forget_views()


def reveal(w: Cohort, regs: list[Any], allowed: int, hidden: int, site: Any) -> None:
    """Shows the results of all but the youngest `allowed` groups."""
    opened, *groups = w.in_flight or ((),)
    still, done = groups[:allowed], groups[allowed:]
    busy = {slot for group in (opened, *still) for slots in group for slot in slots}
    for group in done:
        for slots in group:
            for slot in slots:
                if slot not in busy and regs[slot + hidden] is not None:
                    regs[slot] = regs[slot + hidden]
                    regs[slot + hidden] = None
    w.in_flight = (opened, *still) if opened or still else ()
    if w.launch.watch:
        w.launch.watch.group_waited("wgmma", allowed, False, site, w.warps, w.mask)
