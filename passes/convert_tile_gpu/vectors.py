"""Registers to and from global memory: vectors of elements, predicated or with an ordering.

Predicated accesses are inline PTX rather than branches: the loads of one tile stay together and
overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.ir_util import keyword
from tileir.ir import OpView, Type, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering


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


#: Elements that take a byte in memory, of which they use a part.
_PARTS_OF_BYTES = ("i1", "i4")


def memory_type(ctx: Lowering, element: str) -> Type:
    """The type that an element has in memory: i1 is a byte."""
    return ctx.builder.i8 if element in _PARTS_OF_BYTES else ctx.register_type(element)


def to_memory(ctx: Lowering, value: Value, element: str) -> Value:
    if element not in _PARTS_OF_BYTES:
        return value
    return ctx.builder.op("arith.extui", [value], ctx.builder.i8)


def from_memory(ctx: Lowering, value: Value, element: str) -> Value:
    b = ctx.builder
    if element == "i1":
        return b.compare("ne", value, b.constant(0, b.i8))
    if element == "i4":
        return b.op("arith.trunci", [value], b.type("i4"))
    return value


def pack(ctx: Lowering, values: Sequence[Value], element: str) -> Value:
    """Registers as one vector (or scalar) in the form that memory holds."""
    values = [to_memory(ctx, v, element) for v in values]
    if len(values) == 1:
        return values[0]
    scalar = ctx.builder.text(values[0].type)
    vector = ctx.builder.type(f"vector<{len(values)}x{scalar}>")
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
        result = b.struct([word] * words.count)
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


# ---- strong accesses ----------------------------------------------------------------------------

PTX_SCOPES = {"block": "cta", "device": "gpu", "system": "sys"}


def memory_qualifier(op: OpView, default: str = "weak") -> str:
    """`.acquire.gpu` and its kin; empty for weak accesses. `default`: the ordering of operations
    that have none."""
    ordering = keyword(op, "ordering", default)
    return "" if ordering == "weak" else f".{ordering}.{PTX_SCOPES[keyword(op, 'scope')]}"


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
