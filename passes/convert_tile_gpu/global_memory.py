"""Loads and stores of tiles, gathers and scatters.

A thread forms the address of its first element once; the others lie at offsets that are constants
times strides. Along the contiguous dimension, neighbouring registers move as one vector.

Where a tile may reach past the tensor, loads and stores are predicated instructions (inline PTX)
rather than branches: the loads of one tile stay together and overlap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.ir_util import keyword
from tileir.compiler.layout import Layout
from tileir.compiler.tile_types import TileInfo, tile_info
from tileir.ir import OpView, Type, Value
from tileir.passes.assign_layouts import access_vector
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.stage_operands import contiguous_dim

#: Extents beyond a tile's reach need no exact count: remaining elements are clamped to this.
_FAR = 1 << 30


def byte_offset(ctx: Lowering, pointer: Value, elements: Value, size: int) -> Value:
    """pointer + elements * size bytes."""
    b = ctx.builder
    attributes = {
        "rawConstantIndices": b.attribute("array<i32: -2147483648>"),
        "elem_type": b.attribute(f"!llvm.array<{size} x i8>"),
    }
    return b.op("llvm.getelementptr", [pointer, elements], pointer.type, attributes)


def constant_offset(ctx: Lowering, pointer: Value, bytes_: int) -> Value:
    if bytes_ == 0:
        return pointer
    b = ctx.builder
    attributes = {
        "rawConstantIndices": b.attribute(f"array<i32: {bytes_}>"),
        "elem_type": b.attribute("i8"),
    }
    return b.op("llvm.getelementptr", [pointer], pointer.type, attributes)


class TensorAccess:
    """The addresses and bounds of one thread's part of a tile of a tensor."""

    def __init__(self, ctx: Lowering, op: OpView, layout: Layout, element_bytes: int):
        self.ctx, self.layout, self.size = ctx, layout, element_bytes
        self.contiguous = contiguous_dim(op)
        self.strides = [ctx.scalar(s) for s in op.strides]
        self.in_bounds = [bool(flag) for flag in op.operation.attributes["in_bounds"]]
        b = ctx.builder
        starts = [ctx.scalar(s) for s in op.starts]
        sizes = [ctx.scalar(s) for s in op.sizes]
        #: coordinates in the tensor of this thread's first element
        self.first = [self._add(s, ctx.coordinate(layout, d)) for d, s in enumerate(starts)]
        self.origin = ctx.scalar(op.base)
        for coordinate, stride, dim in zip(
            self.first, self.strides, range(layout.rank), strict=True
        ):
            step = coordinate if dim == self.contiguous else b.mul(coordinate, stride)
            self.origin = byte_offset(ctx, self.origin, step, element_bytes)
        self.remaining = [
            None if inside else self._remaining(size, coordinate)
            for inside, size, coordinate in zip(self.in_bounds, sizes, self.first, strict=True)
        ]
        self._rows: dict[tuple[int, ...], Value] = {}
        self._bounds: dict[tuple[int, int], Value] = {}

    def _add(self, start: Value, coordinate: Value) -> Value:
        b = self.ctx.builder
        return b.add(start, b.op("arith.extui", [coordinate], b.i64))

    def _remaining(self, size: Value, first: Value) -> Value:
        """Elements from this thread's first to the end of the tensor, as an i32; not positive if
        the first lies outside."""
        b = self.ctx.builder
        difference = b.sub(size, first)
        for name, limit in (("minsi", _FAR), ("maxsi", -_FAR)):
            difference = b.op(f"arith.{name}", [difference, b.c64(limit)], b.i64)
        return b.op("arith.trunci", [difference], b.i32)

    def address(self, offset: Sequence[int]) -> Value:
        """Address of the register at `offset` from this thread's first element."""
        along = 0 if self.contiguous is None else offset[self.contiguous]
        row = tuple(0 if d == self.contiguous else x for d, x in enumerate(offset))
        return constant_offset(self.ctx, self._row(row), along * self.size)

    def _row(self, row: tuple[int, ...]) -> Value:
        if row not in self._rows:
            elements = self.row_elements(row)
            self._rows[row] = (
                self.origin
                if elements is None
                else byte_offset(self.ctx, self.origin, elements, self.size)
            )
        return self._rows[row]

    def row_elements(self, row: Sequence[int]) -> Value | None:
        """Elements from the thread's first to `row` (offsets outside the contiguous dimension)."""
        b, total = self.ctx.builder, None
        for dim, x in enumerate(row):
            if x and dim != self.contiguous:
                step = b.mul(self.strides[dim], b.c64(x))
                total = step if total is None else b.add(total, step)
        return total

    def inside(self, offset: Sequence[int]) -> Value | None:
        """Whether the element at `offset` is in the tensor; None if that is known."""
        result = None
        for dim in range(self.layout.rank):
            check = self.inside_along(dim, offset[dim])
            if check is not None:
                b = self.ctx.builder
                result = check if result is None else b.op("arith.andi", [result, check], b.i1)
        return result

    def inside_along(self, dim: int, x: int) -> Value | None:
        remaining = self.remaining[dim]
        if remaining is None:
            return None
        if (dim, x) not in self._bounds:
            b = self.ctx.builder
            self._bounds[dim, x] = b.compare("sgt", remaining, b.c32(x))
        return self._bounds[dim, x]


# ---- vectors of registers --------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    """How a vector of elements travels: `count` words of `bits`."""

    bits: int
    count: int

    @staticmethod
    def of(bytes_: int) -> Words:
        if bytes_ <= 4:
            return Words(8 * bytes_, 1)
        return Words(32, bytes_ // 4)

    @property
    def constraint(self) -> str:
        return "h" if self.bits == 16 else "r"

    @property
    def register_bits(self) -> int:
        """PTX has no 8-bit registers."""
        return max(self.bits, 16) if self.bits != 8 else 32

    @property
    def suffix(self) -> str:
        vector = f".v{self.count}" if self.count > 1 else ""
        return f"{vector}.{'u8' if self.bits == 8 else f'b{self.bits}'}"

    def operands(self, first: int) -> str:
        names = [f"${first + i}" for i in range(self.count)]
        return names[0] if self.count == 1 else "{" + ", ".join(names) + "}"


def memory_type(ctx: Lowering, element: str) -> Type:
    """The type that an element has in memory: i1 is a byte."""
    return ctx.builder.i8 if element == "i1" else ctx.register_type(element)


def to_memory(ctx: Lowering, value: Value, element: str) -> Value:
    return ctx.builder.op("arith.extui", [value], ctx.builder.i8) if element == "i1" else value


def from_memory(ctx: Lowering, value: Value, element: str) -> Value:
    if element != "i1":
        return value
    return ctx.builder.compare("ne", value, ctx.builder.constant(0, ctx.builder.i8))


def pack(ctx: Lowering, values: Sequence[Value], element: str) -> Value:
    """Registers as one vector (or scalar) in the form that memory holds."""
    values = [to_memory(ctx, v, element) for v in values]
    if len(values) == 1:
        return values[0]
    vector = ctx.builder.type(f"vector<{len(values)}x{values[0].type}>")
    return ctx.builder.op("vector.from_elements", values, vector)


def unpack(ctx: Lowering, vector: Value, count: int, element: str) -> list[Value]:
    if count == 1:
        return [from_memory(ctx, vector, element)]
    b = ctx.builder
    types = [memory_type(ctx, element)] * count
    values = b.create("vector.to_elements", [vector], types).results
    return [from_memory(ctx, v, element) for v in values]


def load_vector(
    ctx: Lowering, address: Value, count: int, element: str, predicate: Value | None, fill: int
) -> list[Value]:
    """`count` elements at an address; where `predicate` is false, elements of bits `fill`."""
    b = ctx.builder
    scalar = memory_type(ctx, element)
    type_ = scalar if count == 1 else b.type(f"vector<{count}x{scalar}>")
    bytes_ = count * ctx.width(scalar) // 8
    if predicate is None:
        attributes = {"alignment": b.i64_attr(bytes_)}
        return unpack(ctx, b.op("llvm.load", [address], type_, attributes), count, element)
    words = Words.of(bytes_)
    loaded = _predicated_load(
        ctx, address, words, predicate, _fill_word(words, fill, bytes_ // count)
    )
    if words.bits == 8:
        loaded = b.op("arith.trunci", [loaded], b.i8)
    return unpack(ctx, ctx.bitcast(loaded, type_), count, element)


def _fill_word(words: Words, fill: int, element_bytes: int) -> list[int]:
    """The bits of each word when every element has the bits `fill`."""
    total = fill.to_bytes(element_bytes, "little") * (
        words.bits * words.count // 8 // element_bytes
    )
    step = words.bits // 8
    return [int.from_bytes(total[i : i + step], "little") for i in range(0, len(total), step)]


def _predicated_load(
    ctx: Lowering, address: Value, words: Words, predicate: Value, fill: Sequence[int]
) -> Value:
    """The words as an integer or a vector of i32."""
    b = ctx.builder
    word = b.type(f"i{words.register_bits}")
    lines = [f"mov.b{words.register_bits} ${i}, 0x{bits:x};" for i, bits in enumerate(fill)]
    pointer, guard = f"${words.count}", f"${words.count + 1}"
    lines.append(f"@{guard} ld.global{words.suffix} {words.operands(0)}, [{pointer}];")
    constraints = [f"=&{words.constraint}"] * words.count + ["l", "b"]
    result = word
    if words.count > 1:
        result = b.type(f"!llvm.struct<({', '.join([str(word)] * words.count)})>")
    text = " ".join(lines)
    loaded = ctx.asm(text, ",".join(constraints), [address, predicate], result, True).results[0]
    if words.count == 1:
        return loaded
    values = [ctx.extract(loaded, i, word) for i in range(words.count)]
    return b.op("vector.from_elements", values, b.type(f"vector<{words.count}xi32>"))


def store_vector(
    ctx: Lowering, address: Value, values: Sequence[Value], element: str, predicate: Value | None
) -> None:
    b = ctx.builder
    vector = pack(ctx, values, element)
    bytes_ = len(values) * ctx.width(memory_type(ctx, element)) // 8
    if predicate is None:
        b.create("llvm.store", [vector, address], attributes={"alignment": b.i64_attr(bytes_)})
        return
    words = Words.of(bytes_)
    if words.bits == 8:
        parts = [b.op("arith.extui", [ctx.bitcast(vector, b.i8)], b.i32)]
    elif words.count == 1:
        parts = [ctx.bitcast(vector, b.type(f"i{words.bits}"))]
    else:
        as_words = ctx.bitcast(vector, b.type(f"vector<{words.count}xi32>"))
        parts = list(b.create("vector.to_elements", [as_words], [b.i32] * words.count).results)
    guard = f"${words.count + 1}"
    text = f"@{guard} st.global{words.suffix} [${words.count}], {words.operands(0)};"
    constraints = ",".join([words.constraint] * words.count + ["l", "b"])
    ctx.asm(text, constraints, [*parts, address, predicate], None, True)


def both(ctx: Lowering, a: Value | None, b: Value | None) -> Value | None:
    """The conjunction of two conditions, either of which may be known to hold."""
    if a is None or b is None:
        return b if a is None else a
    return ctx.builder.op("arith.andi", [a, b], ctx.builder.i1)


# ---- tiles of tensors -------------------------------------------------------------------------

#: Bits of a padding value, by kind and format: exponent and mantissa widths, sign first.
_FLOATS = {
    "f64": (11, 52), "f32": (8, 23), "tf32": (8, 23), "f16": (5, 10), "bf16": (8, 7),
    "f8E5M2": (5, 2),
}  # fmt: skip


def padding_bits(kind: str, element: str) -> int:
    """The bit pattern of a padding value."""
    if kind == "zero":
        return 0
    if element == "f8E4M3FN":  # no infinities: the largest finite value stands for them
        return {"neg_zero": 0x80, "nan": 0x7F, "pos_inf": 0x7E, "neg_inf": 0xFE}[kind]
    exponent, mantissa = _FLOATS[element]
    sign = 1 << (exponent + mantissa)
    infinity = ((1 << exponent) - 1) << mantissa
    return {
        "neg_zero": sign,
        "nan": infinity | 1 << (mantissa - 1),
        "pos_inf": infinity,
        "neg_inf": sign | infinity,
    }[kind]


@lowers("tile_gpu.load")
def _load(ctx: Lowering, op: OpView) -> None:
    info = tile_info(op.operation.results[0].type)
    access = TensorAccess(ctx, op, info.layout, info.element_bytes)
    fill = padding_bits(keyword(op, "padding", "zero"), info.element)
    qualifier = memory_qualifier(op)
    registers: list[Value | None] = [None] * info.layout.num_registers
    for group in _groups(op, info):
        offset = info.layout.register_offsets[group[0]]
        address, inside = access.address(offset), access.inside(offset)
        if qualifier:
            values = [ordered_load(ctx, address, info.element, inside, fill, qualifier)]
        else:
            values = load_vector(ctx, address, len(group), info.element, inside, fill)
        for register, value in zip(group, values, strict=True):
            registers[register] = value
    ctx.set(op, [r for r in registers if r is not None])


@lowers("tile_gpu.store")
def _store(ctx: Lowering, op: OpView) -> None:
    value = ctx.fragment(op.operation.operands[0])
    info = value.info
    access = TensorAccess(ctx, op, info.layout, info.element_bytes)
    owner = ctx.owns(info.layout)
    qualifier = memory_qualifier(op)
    for group in _groups(op, info):
        offset = info.layout.register_offsets[group[0]]
        guard = both(ctx, access.inside(offset), owner)
        values = [value.registers[r] for r in group]
        if qualifier:
            ordered_store(ctx, access.address(offset), values[0], info.element, guard, qualifier)
        else:
            store_vector(ctx, access.address(offset), values, info.element, guard)


def _groups(op: OpView, info: TileInfo) -> list[list[int]]:
    """Registers that one instruction moves."""
    dim = contiguous_dim(op)
    if dim is None:
        return [[r] for r in range(info.layout.num_registers)]
    vector = math.gcd(access_vector(op, info), info.layout.run(dim))
    return info.layout.groups(dim, vector)


# ---- strong accesses ----------------------------------------------------------------------------

_SCOPES = {"block": "cta", "device": "gpu", "system": "sys"}


def memory_qualifier(op: OpView) -> str:
    """`.acquire.gpu` and its kin; empty for weak accesses."""
    ordering = keyword(op, "ordering", "weak")
    return "" if ordering == "weak" else f".{ordering}.{_SCOPES[keyword(op, 'scope')]}"


def _strong_words(ctx: Lowering, element: str) -> tuple[Words, str, int]:
    bits = ctx.width(memory_type(ctx, element))
    if bits == 64:
        return Words(64, 1), "l", 64
    words = Words.of(bits // 8)
    return words, words.constraint, words.register_bits


def ordered_load(
    ctx: Lowering, address: Value, element: str, predicate: Value | None, fill: int, qualifier: str
) -> Value:
    """One element with an ordering and a scope."""
    b = ctx.builder
    words, constraint, bits = _strong_words(ctx, element)
    guard = "@$2 " if predicate is not None else ""
    text = f"mov.b{bits} $0, 0x{fill:x}; {guard}ld{qualifier}.global{words.suffix} $0, [$1];"
    operands = [address] if predicate is None else [address, predicate]
    constraints = f"=&{constraint},l" + (",b" if predicate is not None else "") + ",~{memory}"
    loaded = ctx.asm(text, constraints, operands, b.type(f"i{bits}"), True).results[0]
    if words.bits == 8:
        loaded = b.op("arith.trunci", [loaded], b.i8)
    return from_memory(ctx, ctx.bitcast(loaded, memory_type(ctx, element)), element)


def ordered_store(
    ctx: Lowering, address: Value, value: Value, element: str, predicate: Value | None,
    qualifier: str,
) -> None:  # fmt: skip
    b = ctx.builder
    words, constraint, bits = _strong_words(ctx, element)
    stored = to_memory(ctx, value, element)
    if words.bits == 8:
        stored = b.op("arith.extui", [ctx.bitcast(stored, b.i8)], b.i32)
    else:
        stored = ctx.bitcast(stored, b.type(f"i{bits}"))
    guard = "@$2 " if predicate is not None else ""
    text = f"{guard}st{qualifier}.global{words.suffix} [$1], $0;"
    operands = [stored, address] + ([predicate] if predicate is not None else [])
    constraints = f"{constraint},l" + (",b" if predicate is not None else "") + ",~{memory}"
    ctx.asm(text, constraints, operands, None, True)


# ---- gather and scatter -------------------------------------------------------------------------


def pointer_to(ctx: Lowering, address: Value) -> Value:
    return ctx.builder.op("llvm.inttoptr", [address], ctx.builder.type("!llvm.ptr<1>"))


def runs(op: OpView, info: TileInfo | None, count: int) -> list[list[int]]:
    """Registers whose addresses follow each other, as far as one instruction reaches."""
    if info is None:
        return [[0]]
    last = len(info.shape) - 1
    vector = math.gcd(access_vector(op, info), info.layout.run(last))
    assert count == info.layout.num_registers
    return info.layout.groups(last, vector)


@lowers("tile_gpu.gather")
def _gather(ctx: Lowering, op: OpView) -> None:
    from tileir.passes.convert_tile_gpu.atomics import shared_by_all

    result = op.operation.results[0]
    info = tile_info(result.type)
    element = info.element if info else str(result.type)
    count = info.layout.num_registers if info else 1
    addresses = ctx.registers(op.addresses, count)
    masks = ctx.registers(op.mask, count) if op.mask is not None else [None] * count
    others = ctx.registers(op.other, count) if op.other is not None else None
    qualifier = memory_qualifier(op)
    owner = _reader(ctx, op, info)
    values: list[Value] = [addresses[0]] * count
    for group in runs(op, info, count):
        guard = both(ctx, masks[group[0]], owner)
        address = pointer_to(ctx, addresses[group[0]])
        if qualifier:
            loaded = [ordered_load(ctx, address, element, guard, 0, qualifier)]
        else:
            loaded = load_vector(ctx, address, len(group), element, guard, 0)
        for register, value in zip(group, loaded, strict=True):
            values[register] = value
    if others is not None:
        values = [
            ctx.builder.op("arith.select", [mask, value, other], value.type)
            for mask, value, other in zip(masks, values, others, strict=True)
        ]
    if op.scratch is not None:
        values = shared_by_all(ctx, op, values, owner)
    ctx.set(op, values)


def _reader(ctx: Lowering, op: OpView, info: TileInfo | None) -> Value | None:
    """The thread that loads an element which all get through the scratch buffer."""
    if op.scratch is None:
        return None
    if info is None:
        return ctx.builder.compare("eq", ctx.thread, ctx.builder.c32(0))
    return ctx.owns(info.layout)


@lowers("tile_gpu.scatter")
def _scatter(ctx: Lowering, op: OpView) -> None:
    info = tile_info(op.value.type)
    element = info.element if info else str(op.value.type)
    count = info.layout.num_registers if info else 1
    values, addresses = ctx.registers(op.value, count), ctx.registers(op.addresses, count)
    masks = ctx.registers(op.mask, count) if op.mask is not None else [None] * count
    owner = (
        ctx.owns(info.layout) if info else ctx.builder.compare("eq", ctx.thread, ctx.builder.c32(0))
    )
    qualifier = memory_qualifier(op)
    for group in runs(op, info, count):
        guard = both(ctx, masks[group[0]], owner)
        address = pointer_to(ctx, addresses[group[0]])
        stored = [values[r] for r in group]
        if qualifier:
            ordered_store(ctx, address, stored[0], element, guard, qualifier)
        else:
            store_vector(ctx, address, stored, element, guard)
