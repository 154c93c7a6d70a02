"""The state of a lowering to the code of one thread, and the registry of its rules.

A rule is a free function `rule(ctx, op)` registered under the name of an operation. Scalars stay
scalars; a tile becomes a `Fragment`, the list of the registers that this thread holds of it; a
buffer becomes a `SharedBuffer`, a place in the block's shared memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tileir.compiler.builder import Builder
from tileir.compiler.layout import Digit, Layout, Owner
from tileir.compiler.locations import location_text
from tileir.compiler.target import Target
from tileir.compiler.tile_types import BufferInfo, TileInfo, is_tile_type, tile_info, tile_of
from tileir.compiler.unsupported import Unsupported, refusal
from tileir.errors import ResourceError
from tileir.ir import (
    Attribute,
    Block,
    DenseI64ArrayAttr,
    InsertionPoint,
    IntegerType,
    Operation,
    OpView,
    StringAttr,
    Type,
    Value,
)
from tileir.passes.choose_num_warps import PRODUCER_WARPS
from tileir.passes.convert_tile_gpu.barriers import meet
from tileir.passes.convert_tile_gpu.deferred import Deferred, WhenStored, prepare

#: The second parameter is the operation, of the class that the rule is for.
Rule = Callable[["Lowering", Any], None]
RULES: dict[str, Rule] = {}


def lowers(*names: str) -> Callable[[Rule], Rule]:
    """Registers a rule for operations with these full names."""

    def register(rule: Rule) -> Rule:
        for name in names:
            RULES[name] = rule
        return rule

    return register


#: Elements held in a register of another type.
_REGISTER_TYPES = {"f8E4M3FN": "i8", "f8E5M2": "i8", "tf32": "f32"}


def scalar_type(builder: Builder, type_: Type) -> Type:
    """The type of the register that holds a scalar, or the address of a tensor map."""
    text = builder.text(type_)
    name = "!llvm.ptr" if text.startswith("!tile_gpu.tensor_map") else _REGISTER_TYPES.get(text)
    return type_ if name is None else builder.type(name)


@dataclass(frozen=True)
class Fragment:
    """What one thread holds of a tile: a register for each of `layout.register_offsets`."""

    info: TileInfo
    registers: Sequence[Value]

    @property
    def layout(self) -> Layout:
        return self.info.layout

    def at(self, offset: tuple[int, ...]) -> Value:
        """The register at coordinates relative to the thread's first element."""
        return self.registers[self.layout.register_at[offset]]

    def prepare(self, offset: tuple[int, ...]) -> None:
        """Starts what takes long for a register that is still to be computed."""
        prepare(self.registers, self.layout.register_at[offset])


@dataclass(frozen=True)
class SharedBuffer:
    """A buffer: its memref of elements in shared memory, the byte offset of its first stage, and
    where this stage starts (index)."""

    info: BufferInfo
    memref: Value
    offset: int
    start: Value


#: Operations of a thread beyond which LLVM and ptxas take minutes (some steps of LLVM are
#: quadratic), for a kernel that keeps its tiles in local memory anyway.
_MOST_OPERATIONS = 60_000
#: Classes of registers in inline PTX (LLVM's language reference, constraints of NVPTX).
_CONSTRAINTS = {
    "i16": "h", "f16": "h", "bf16": "h", "i32": "r", "f32": "f", "i64": "l", "f64": "d",
}  # fmt: skip
#: Where this thread stands, and what was computed from that.
_PLACE = (
    "thread", "warp", "replica", "num_replicas", "_barrier", "_remembered", "_prologue_end",
)  # fmt: skip


class Lowering:
    """Values of tile_gpu and what they became, and where this thread stands in its block."""

    def __init__(
        self, builder: Builder, module_body: Block, target: Target, num_warps: int,
        block_warps: int, shared: Value | None,
    ):  # fmt: skip
        self.builder = builder
        #: body of the gpu.module, for what kernels share
        self.module_body = module_body
        self.target = target
        self.num_warps = num_warps
        #: of the block: with a producer, more than tiles are divided among
        self.block_warps = block_warps
        self.shared = shared
        #: PTX version that the instructions built so far need, times ten
        self.ptx_version = target.ptx_version
        #: tensor maps made by the kernel so far
        self.next_map = 0
        #: waits for products in flight so far
        self.num_waits = 0
        self.when_stored = WhenStored(num_warps, block_warps > num_warps + PRODUCER_WARPS)
        self.fragments: dict[Value, Fragment] = {}
        self.buffers: dict[Value, SharedBuffer] = {}
        self._scalars: dict[Value, Value] = {}
        self._remembered: dict[Hashable, Value] = {}
        b = builder
        b.share_constants()
        self.thread = b.op("nvvm.read.ptx.sreg.tid.x", [], b.i32)
        self.lane = b.op("arith.andi", [self.thread, b.c32(31)], b.i32)
        self.warp = b.op("arith.shrui", [self.thread, b.c32(5)], b.i32)
        #: Values needed everywhere are built before this operation, so that they dominate.
        self._prologue_end = b.anchor()
        #: number of the barrier that all threads here meet at, None for that of the whole block
        self._barrier: Value | None = None
        #: of how many sets of specialised warps this is one, and which (i32)
        self.num_replicas = 1
        self.replica = b.c32(0)

    # ---- values ------------------------------------------------------------------------------

    def scalar(self, value: Value) -> Value:
        return self._scalars[value]

    def fragment(self, value: Value) -> Fragment:
        return self.fragments[value]

    def registers(self, value: Value, count: int) -> Sequence[Value]:
        """The registers of a tile, or a scalar `count` times."""
        fragment = self.fragments.get(value)
        return fragment.registers if fragment else [self._scalars[value]] * count

    def masks(self, mask: Value | None, count: int) -> Sequence[Value | None]:
        """The registers of a mask; None for each if there is none."""
        return [None] * count if mask is None else self.registers(mask, count)

    def flat(self, values: Sequence[Value]) -> list[Value]:
        """Scalars and the registers of tiles, one after another."""
        result: list[Value] = []
        for value in values:
            fragment = self.fragments.get(value)
            result += fragment.registers if fragment else [self._scalars[value]]
        return result

    def flat_types(self, values: Sequence[Value]) -> list[Type]:
        result: list[Type] = []
        for value in values:
            info = tile_info(value.type)
            if info is None:
                result.append(self.scalar_type(value.type))
            else:
                result += [self.register_type(info.element)] * info.layout.num_registers
        return result

    def bind(self, old: Sequence[Value], new: Sequence[Value]) -> None:
        """The inverse of `flat`: distributes `new` over the values `old`."""
        pending = list(new)
        for value in old:
            info = tile_info(value.type)
            count = info.layout.num_registers if info else 1
            taken, pending = pending[:count], pending[count:]
            if info is None:
                self._scalars[value] = taken[0]
            else:
                self.fragments[value] = Fragment(info, tuple(taken))
        assert not pending

    def set(self, op: OpView, registers: Sequence[Value]) -> None:
        """Records the registers (or the scalar) of the only result of `op`."""
        self.bind([op.operation.results[0]], registers)

    def register_type(self, element: str) -> Type:
        return self.builder.type(_REGISTER_TYPES.get(element, element))

    def scalar_type(self, type_: Type) -> Type:
        return scalar_type(self.builder, type_)

    # ---- this thread -------------------------------------------------------------------------

    def remembered(self, key: Hashable, build: Callable[[], Value]) -> Value:
        """A value of this thread, built once, in the prologue."""
        if key not in self._remembered:
            self._remembered[key] = self.in_prologue(build)
        return self._remembered[key]

    def in_prologue(self, build: Callable[[], Value]) -> Value:
        """A value built at the start of the kernel, where it dominates everything."""
        with self.builder.at(InsertionPoint(self._prologue_end)):
            return build()

    @contextlib.contextmanager
    def consumers(self, replicas: int, first_barrier: int) -> Iterator[None]:
        """What is built inside runs in the first warps of a block with more, in `replicas` sets of
        `num_warps`. Each set counts its threads from 0 and meets at a barrier of its own; values
        that only they need are built here."""
        saved = {name: getattr(self, name) for name in _PLACE}
        b = self.builder
        self.num_replicas = replicas
        if replicas > 1:
            warps = b.c32(self.num_warps)
            self.replica = b.op("arith.divui", [self.warp, warps], b.i32)
            self.warp = b.op("arith.remui", [self.warp, warps], b.i32)
            threads = b.c32(32 * self.num_warps)
            self.thread = b.op("arith.remui", [self.thread, threads], b.i32)
        self._barrier = b.add(self.replica, b.c32(first_barrier))
        self._remembered, self._prologue_end = {}, b.anchor()
        try:
            yield
        finally:
            for name in _PLACE:
                setattr(self, name, saved[name])

    @property
    def preparing_warp(self) -> int:
        """The warp that prepares what the producer, the warp before it, uses, while that computes
        what to fetch; 0 if there is no producer."""
        return self.block_warps - PRODUCER_WARPS + 1 if self.block_warps > self.num_warps else 0

    def barrier(self) -> None:
        """Waits for all threads that run this code."""
        b = self.builder
        if self._barrier is None:
            b.create("gpu.barrier")
            return
        meet(b, self._barrier, 32 * self.num_warps)

    def fence_async(self) -> None:
        """Shows what this thread wrote to shared memory to asynchronous operations."""
        b = self.builder
        attributes = {
            "kind": b.attribute("#nvvm.proxy_kind<async.shared>"),
            "space": b.attribute("#nvvm.shared_space<cta>"),
        }
        b.create("nvvm.fence.proxy", attributes=attributes)

    def coordinate(self, layout: Layout, dim: int) -> Value:
        """Coordinate along `dim` of this thread's first element (i32)."""
        digits = [
            (digit, weight)
            for owner in (Owner.LANE, Owner.WARP)
            for digit, weight in layout.weighted(dim, owner)
        ]
        return self.remembered(tuple(digits), lambda: self._coordinate(digits))

    def _coordinate(self, digits: Sequence[tuple[Digit, int]]) -> Value:
        b, total = self.builder, None
        for digit, weight in digits:
            value = self.digit(digit)
            scaled = value if weight == 1 else b.mul(value, b.c32(weight))
            total = scaled if total is None else b.add(total, scaled)
        return b.c32(0) if total is None else total

    def digit(self, digit: Digit) -> Value:
        """The value of a lane or warp digit: `(index / stride) % size`."""
        b = self.builder
        value, total = (self.lane, 32) if digit.owner is Owner.LANE else (self.warp, self.num_warps)
        if digit.stride > 1:
            value = b.op("arith.divui", [value, b.c32(digit.stride)], b.i32)
        if digit.stride * digit.size < total:
            value = b.op("arith.remui", [value, b.c32(digit.size)], b.i32)
        return value

    def owns(self, layout: Layout) -> Value | None:
        """Whether this thread is the first among those that hold copies of its elements (i1);
        None if no other thread holds one."""
        key = ("owns", layout)
        free = [
            Digit(owner, size, stride)
            for owner, total in ((Owner.LANE, 32), (Owner.WARP, self.num_warps))
            for stride, size in layout.free_strides(owner, total)
        ]
        if not free:
            return None
        return self.remembered(key, lambda: self._all_zero(free))

    def _all_zero(self, digits: Sequence[Digit]) -> Value:
        b, result = self.builder, None
        for digit in digits:
            zero = b.compare("eq", self.digit(digit), b.c32(0))
            result = zero if result is None else b.op("arith.andi", [result, zero], b.i1)
        assert result is not None
        return result

    @contextlib.contextmanager
    def only_if(self, condition: Value | None) -> Iterator[None]:
        """What is built inside runs where `condition` holds; everywhere if it is None."""
        if condition is None:
            yield
            return
        b = self.builder
        branch = b.create("scf.if", [condition], regions=2)
        with b.at(b.block(branch.regions[0])):
            yield
            b.create("scf.yield")

    def owner_of(self, info: TileInfo | None) -> Value | None:
        """Whether this thread is the one to act for each element that it holds of a tile, or, for
        a scalar (None), the first of the block; None if every thread acts."""
        if info is None:
            return self.builder.compare("eq", self.thread, self.builder.c32(0))
        return self.owns(info.layout)

    # ---- building ----------------------------------------------------------------------------

    def need_ptx(self, version: int) -> None:
        """Notes that an instruction needs a PTX version (times ten)."""
        self.ptx_version = max(self.ptx_version, version)

    def call_intrinsic(
        self, name: str, operands: Sequence[Value], result: Type | None
    ) -> Operation:
        b = self.builder
        attributes = {
            "intrin": b.attribute(f'"{name}"'),
            "operandSegmentSizes": b.segments(len(operands), 0),
            "op_bundle_sizes": b.attribute("array<i32>"),
        }
        return b.create("llvm.call_intrinsic", operands, [result] if result else [], attributes)

    def asm(
        self,
        text: str,
        constraints: str,
        operands: Sequence[Value],
        result: Type | None,
        side_effects: bool,
    ) -> Operation:
        """Inline PTX. `result` is a struct where there are several."""
        b = self.builder
        attributes: dict[str, Attribute] = {
            "asm_string": StringAttr.get(text, b.context),
            "constraints": StringAttr.get(constraints, b.context),
        }
        if side_effects:
            attributes["has_side_effects"] = b.attribute("unit")
        return b.create("llvm.inline_asm", operands, [result] if result else [], attributes)

    def constraint(self, type_: Type) -> str:
        """The class of registers that hold a value of the type in inline PTX."""
        return _CONSTRAINTS[self.builder.text(type_)]

    def pass_through(
        self, registers: list[Value], text: str = "", clobbers: str = ""
    ) -> list[Value]:
        """The registers after inline PTX that may change them: they are computed before, and what
        uses them comes after."""
        types = [register.type for register in registers]
        constraints = [f"={self.constraint(type_)}" for type_ in types]
        constraints += [*map(str, range(len(types))), *([clobbers] if clobbers else [])]
        struct = self.builder.struct(types)
        result = self.asm(text, ",".join(constraints), registers, struct, True).results[0]
        return [self.extract(result, i, type_) for i, type_ in enumerate(types)]

    def extract(self, struct: Value, index: int, type_: Type) -> Value:
        """A field of an LLVM struct."""
        attributes = {"position": DenseI64ArrayAttr.get([index], self.builder.context)}
        return self.builder.op("llvm.extractvalue", [struct], type_, attributes)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.builder.op("arith.select", [condition, a, b], a.type)

    def width(self, type_: Type) -> int:
        """Bits of a register type."""
        if isinstance(type_, IntegerType):
            return IntegerType(type_).width
        return {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[self.builder.text(type_)]

    def bitcast(self, value: Value, type_: Type) -> Value:
        if value.type == type_:
            return value
        return self.builder.op("llvm.bitcast", [value], type_)

    # ---- walking -----------------------------------------------------------------------------

    def lower(self, op: OpView) -> None:
        """Builds what `op` is for one thread. Raises ResourceError where that is too much, and
        UnsupportedError."""
        self.builder.location = op.location
        name = op.operation.name
        if self.builder.count > _MOST_OPERATIONS:
            raise ResourceError(
                f"a thread of this kernel would run more than {_MOST_OPERATIONS} operations",
                location=location_text(op),
                remedy="give the kernel smaller tiles and a larger grid",
            )
        rule = RULES.get(name)
        if rule is not None:
            try:
                rule(self, op)
            except Unsupported as error:
                raise refusal(op, error.reason, error.remedy) from None
        elif any(is_tile_type(v.type) for v in [*op.operation.operands, *op.operation.results]):
            self.elementwise(op)
        elif not op.operation.regions:
            self._clone(op)
        else:
            raise refusal(op, "no code generation in a kernel")

    def _clone(self, op: OpView) -> None:
        """An operation on scalars stays as it is."""
        operands = [self._scalars[o] for o in op.operation.operands]
        clone = op.operation.clone(ip=self.builder.point)
        for index, operand in enumerate(operands):
            clone.operands[index] = operand
        for old, new in zip(op.operation.results, clone.results, strict=True):
            new.set_type(self.scalar_type(old.type))
            self._scalars[old] = new

    def elementwise(self, op: OpView) -> None:
        """The same operation on each register."""
        name, attributes = op.operation.name, dict(op.operation.attributes.items())
        result = self.register_type(tile_of(op.operation.results[0]).element)
        self.each(op, lambda operands: self.builder.op(name, operands, result, attributes))

    def defer(
        self, op: OpView, compute: Callable[[int], Value],
        start: Callable[[int], object] | None = None,
    ) -> None:  # fmt: skip
        """Sets the result of `op` to registers that are computed when they are asked for; `start`
        does what takes long for one of them."""
        info = tile_of(op.operation.results[0])
        registers = Deferred(info.layout.num_registers, compute, start)
        self.fragments[op.operation.results[0]] = Fragment(info, registers)

    def each(self, op: OpView, apply: Callable[[list[Value]], Value]) -> None:
        """Sets the result of an elementwise operation, from operands for one register each. What
        only leaves by tensor memory accesses is computed when it is written, slice by slice."""
        count = len(self.flat_types(op.operation.results))
        operands = [self.registers(o, count) for o in op.operation.operands]

        def late(index: int) -> Value:
            saved, self.builder.location = self.builder.location, op.location
            value = apply([each[index] for each in operands])
            self.builder.location = saved
            return value

        result = op.operation.results[0]
        if is_tile_type(result.type) and self.when_stored.computed(result):
            self.defer(op, late, lambda index: [prepare(each, index) for each in operands])
            return
        known: dict[tuple[Value, ...], Value] = {}  # registers of broadcast tiles are equal
        registers = []
        for given in zip(*operands, strict=True) if operands else [()] * count:
            value = known.get(given)
            if value is None:
                value = known[given] = apply(list(given))
            registers.append(value)
        if is_tile_type(result.type) and self.when_stored.takes_in(result):
            # LLVM would move sums to where they are used, and hold what they are made of meanwhile.
            registers = self.pass_through(registers)
        self.set(op, registers)
