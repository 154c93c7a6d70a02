"""Matrix products on warpgroups: `wgmma.mma_async`.

The instruction reads and writes its accumulators after it was issued. LLVM does not know: as far
as it can see, they are results of the instruction. The wait is what makes them readable, so the
wait takes them as operands and gives them back (`tile_gpu.dot_wait`), and nothing may touch them
in between but another product on the same accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.ir_util import has_flag, int_attr, is_zero
from tileir.compiler.mma import ptx_type
from tileir.compiler.tile_types import is_buffer_type, operand_of
from tileir.compiler.wgmma import (
    ROUGH_DEPTH,
    ROWS,
    WARPS,
    OperandDescriptor,
    WarpgroupGrid,
    depth_of,
    pack_of,
    sums_roughly,
)
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, SharedBuffer, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address
from tileir.passes.convert_tile_gpu.warpgroups import place_in_grid

#: Registers for the accumulators of a promoted product and the sums of a part of it together, by
#: the number of warpgroups: what a thread has, less what else it needs.
_PROMOTED_REGISTERS = {1: 208, 2: 200, 3: 144}

#: wgmma of signed and unsigned integers (PTX ISA, wgmma.mma_async).
_MIXED_SIGNS_PTX_VERSION = 84


@dataclass(frozen=True)
class _Part:
    """A part of a product: blocks of 64 rows by their first, columns, and elements along k."""

    blocks: range
    columns: range
    depths: range

    @property
    def per_block(self) -> int:
        """Accumulators that a thread has of a block."""
        return len(self.columns) // 2

    @property
    def registers(self) -> int:
        return len(self.blocks) * self.per_block


class WarpgroupProduct:
    """One product. All of it, or a part of it, is an asm block: for each step along k one
    instruction for every 64 rows.

    Rows and columns, left and right are those of the instructions. They are those of the product,
    too, unless the grid is transposed.
    """

    def __init__(self, ctx: Lowering, op: OpView, grid: WarpgroupGrid):
        self.ctx, self.op, self.transposed = ctx, op, grid.transposed
        lhs, rhs, acc = op.operation.operands
        self.acc = ctx.fragment(acc)
        self.starts_at_zero = is_zero(acc)
        m, n = self.acc.info.shape
        sizes = m // grid.rows, n // grid.columns
        self.elements = [operand_of(op, i).element for i in (0, 1)]
        self.unsigned = [has_flag(op, f"{side}_unsigned") for side in ("lhs", "rhs")]
        if self.elements[0] == "i8" and self.unsigned[0] != self.unsigned[1]:
            ctx.need_ptx(_MIXED_SIGNS_PTX_VERSION)
        self.depth, self.step = operand_of(op, 0).shape[1], depth_of(self.elements[0])
        row, column = place_in_grid(ctx, grid)
        self.left: _Descriptor | _Registers
        if is_buffer_type(lhs.type):
            self.left = _Descriptor(ctx, ctx.buffers[lhs], 1, row, sizes[0])
        else:
            self.left = _Registers(ctx, ctx.fragment(lhs))
        self.right: _Descriptor | _Registers
        self.right = _Descriptor(ctx, ctx.buffers[rhs], 0, column, sizes[1])
        if grid.transposed:
            self.left, self.right, sizes = self.right, self.left, sizes[::-1]
            self.elements.reverse()
            self.unsigned.reverse()
        self.rows, self.columns = sizes

    def run(self) -> list[Value]:
        """Issues the product; waits for it unless it is marked `in_flight`."""
        if has_flag(self.op, "promoted"):
            return self._run_promoted()
        registers = list(self.acc.registers)
        part = _Part(range(0, self.rows, ROWS), range(self.columns), range(self.depth))
        places = self._places(part)
        start = None if self.starts_at_zero else [registers[p] for p in places]
        _put(registers, places, self._issue(start, part))
        self._commit()
        if not has_flag(self.op, "in_flight"):
            registers = wait_for_products(self.ctx, registers, 0)
        return registers

    def _run_promoted(self) -> list[Value]:
        """Sums parts of the product on their own and adds each to the accumulator."""
        ctx, b = self.ctx, self.ctx.builder
        registers: list[Value] = list(self.acc.registers)
        width = self._promoted_width(len(registers))
        longest = ROUGH_DEPTH if self._sums_roughly else self.depth
        for row in range(0, self.rows, ROWS):
            for column in range(0, self.columns, width):
                columns = range(column, column + width)
                for k in range(0, self.depth, longest):
                    depths = range(k, min(k + longest, self.depth))
                    part = _Part(range(row, row + ROWS, ROWS), columns, depths)
                    places = self._places(part)
                    sums = self._issue(None, part)
                    self._commit()
                    sums = wait_for_products(ctx, sums, 0)
                    if k or not self.starts_at_zero:
                        old = [registers[p] for p in places]
                        pairs = zip(old, sums, strict=True)
                        sums = [b.op("arith.addf", list(pair), pair[0].type) for pair in pairs]
                    _put(registers, places, sums)
        return registers

    def _promoted_width(self, accumulators: int) -> int:
        """Columns of a part: as many as fit, since each part waits and reads all of the rows."""
        most = 2 * (_PROMOTED_REGISTERS[self.ctx.num_warps // WARPS] - accumulators)
        parts = 1
        while self.columns % (8 * parts) or self.columns // parts > max(8, most):
            parts += 1
        return self.columns // parts

    @property
    def _sums_roughly(self) -> bool:
        return sums_roughly(self.elements[0]) and not has_flag(self.op, "fast_acc")

    def _commit(self) -> None:
        self.ctx.builder.create("nvvm.wgmma.commit.group.sync.aligned")

    def _places(self, part: _Part) -> list[int]:
        """The registers of the part's sums, instruction by instruction, in the order of each."""
        at = self.acc.layout.register_at
        places = [
            (block + row, column + i)
            for block in part.blocks
            for column in part.columns[::8]
            for row in (0, 8)
            for i in (0, 1)
        ]
        return [at[place[::-1] if self.transposed else place] for place in places]

    def _issue(self, start: Sequence[Value] | None, part: _Part) -> list[Value]:
        """The sums of a part, added to `start`; without one the instructions do not read their
        accumulators the first time.

        The fence before them, which shows them the registers as they are, is in the same asm block,
        so that nothing can write a register in between. Instructions that follow each other have
        different accumulators, if there are several blocks of rows: of one after the other is
        slower by 1 %, where the next warpgroup's turn starts in the meantime."""
        ctx, count = self.ctx, part.registers
        type_ = self.acc.registers[0].type
        operands: list[Value] = []
        lines = ["{ .reg .pred add, set; setp.ne.b32 add, 1, 0; setp.ne.b32 set, 0, 0;"]
        lines.append("wgmma.fence.sync.aligned;")
        given = list(start or [])
        for k in part.depths[:: self.step]:
            right = self.right.operands(part.columns.start, k)
            adds = start is not None or k != part.depths.start
            for index, row in enumerate(part.blocks):
                left = self.left.operands(row, k)
                first = count + len(given) + len(operands)
                sums = range(count)[index * part.per_block : (index + 1) * part.per_block]
                lines.append(self._instruction(sums, adds, first, len(left)))
                operands += [*left, *right]
        lines.append("}")
        constraints = [f"={ctx.constraint(type_)}"] * count + [str(i) for i in range(len(given))]
        constraints += ["l" if o.type == ctx.builder.i64 else "r" for o in operands]
        struct = ctx.builder.struct([type_] * count)
        asm = ctx.asm(" ".join(lines), ",".join(constraints), [*given, *operands], struct, True)
        return [ctx.extract(asm.results[0], i, type_) for i in range(count)]

    def _instruction(self, sums: range, adds: bool, first: int, num_left: int) -> str:
        """One wgmma whose accumulators are the asm operands `sums`, and whose other operands start
        at `first`."""
        accumulators = "{" + ", ".join(f"${i}" for i in sums) + "}"
        left = [f"${first + i}" for i in range(num_left)]
        right = f"${first + num_left}"
        lhs = left[0] if num_left == 1 else "{" + ", ".join(left) + "}"
        types = ".".join(map(ptx_type, self.elements, self.unsigned))
        accumulator = "s32" if self.acc.info.element == "i32" else self.acc.info.element
        flags = ", ".join(["add" if adds else "set", *self._immediates(num_left)])
        return (
            f"wgmma.mma_async.sync.aligned.m64n{2 * len(sums)}k{self.step}.{accumulator}.{types} "
            f"{accumulators}, {lhs}, {right}, {flags};"
        )

    def _immediates(self, num_left: int) -> list[str]:
        """Signs of the operands, which integers do not have, and whether operands in shared memory
        are transposed, which only 16-bit elements may be."""
        if self.acc.info.element == "i32":
            return []
        if self.step != depth_of("f16"):
            return ["1", "1"]
        transposed = [self.right.transposed]
        if num_left == 1:
            transposed.insert(0, self.left.transposed)
        return ["1", "1", *(str(int(t)) for t in transposed)]


def _put(registers: list[Value], places: Sequence[int], values: Sequence[Value]) -> None:
    for place, value in zip(places, values, strict=True):
        registers[place] = value


class _Descriptor:
    """An operand in shared memory, by 64-bit matrix descriptors."""

    def __init__(
        self, ctx: Lowering, buffer: SharedBuffer, depth_dim: int, group: Value, extent: int
    ):
        b = ctx.builder
        self.ctx = ctx
        self.form = OperandDescriptor.of(buffer.info, depth_dim)
        self.transposed = not self.form.along_depth
        skip = b.mul(group, b.c32(self.form.group_bytes(extent)))
        # The address of a block in a cluster has bits above, which say which block it is.
        inside = b.op("arith.andi", [b.add(address(ctx, buffer), skip), b.c32(0x3FFFF)], b.i32)
        start = b.op("arith.shrui", [inside, b.c32(4)], b.i32)
        wide = b.op("arith.extui", [start], b.i64)
        self.base = b.op("arith.ori", [wide, b.c64(self.form.constant_bits)], b.i64)

    def operands(self, outer: int, depth: int) -> list[Value]:
        b, offset = self.ctx.builder, self.form.offset(outer, depth) >> 4
        return [b.add(self.base, b.c64(offset)) if offset else self.base]


class _Registers:
    """The left operand in registers, as mma.sync takes it: each holds neighbours along k; those of
    rows 0 and 8 come first, then the same for the second half of k."""

    transposed = False

    def __init__(self, ctx: Lowering, fragment: Fragment):
        self.ctx, self.source = ctx, fragment
        self.pack = pack_of(fragment.info.element)

    def operands(self, outer: int, depth: int) -> list[Value]:
        half = 4 * self.pack
        return [
            self._register(outer + row, depth + column) for column in (0, half) for row in (0, 8)
        ]

    def _register(self, row: int, column: int) -> Value:
        b = self.ctx.builder
        values = [self.source.at((row, column + i)) for i in range(self.pack)]
        if len(values) == 1:
            return self.ctx.bitcast(values[0], b.i32)
        type_ = b.type(f"vector<{len(values)}x{values[0].type}>")
        return b.op("llvm.bitcast", [b.op("vector.from_elements", values, type_)], b.i32)


def wait_for_products(ctx: Lowering, registers: list[Value], pending: int) -> list[Value]:
    """Waits until at most `pending` groups are in flight; the accumulators pass through.

    Each such wait has a number, so that LLVM does not make one of two at the ends of branches:
    accumulators in flight would meet others in front of it, and every product would wait (C7515).
    """
    text = f"wgmma.wait_group.sync.aligned {pending};"
    if not registers:
        ctx.asm(text, "~{memory}", [], None, True)
        return []
    ctx.num_waits += 1
    return ctx.pass_through(registers, f"{text} // {ctx.num_waits}", "~{memory}")


@lowers("tile_gpu.dot_wait")
def _dot_wait(ctx: Lowering, op: OpView) -> None:
    operands = list(op.operation.operands)
    registers = wait_for_products(ctx, ctx.flat(operands), int_attr(op, "pending"))
    ctx.bind(list(op.operation.results), registers)


@lowers("tile_gpu.fence_async")
def _fence_async(ctx: Lowering, op: OpView) -> None:
    """What this thread wrote to shared memory becomes visible to asynchronous operations."""
    ctx.fence_async()
