"""Matrix products on warpgroups: `wgmma.mma_async`.

The instruction reads and writes its accumulators after it was issued. LLVM does not know: as far
as it can see, they are results of the instruction. The wait is what makes them readable, so the
wait takes them as operands and gives them back (`tile_gpu.dot_wait`), and nothing may touch them
in between but another product on the same accumulators.
"""

from __future__ import annotations

from tileir.compiler.ir_util import has_flag, int_attr
from tileir.compiler.tile_types import is_buffer_type
from tileir.compiler.wgmma import DEPTH, ROWS, OperandDescriptor, WarpgroupGrid
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, SharedBuffer, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address


class WarpgroupProduct:
    """One product: an asm block for each 64 rows, with all its steps along k."""

    def __init__(self, ctx: Lowering, op: OpView, grid: WarpgroupGrid):
        self.ctx, self.op, self.grid = ctx, op, grid
        lhs, rhs, acc = op.operation.operands
        self.acc = ctx.fragment(acc)
        m, n = self.acc.info.shape
        self.rows, self.columns = m // grid.rows, n // grid.columns
        self.rhs = _Descriptor(ctx, ctx.buffers[rhs], 0, self._column_group(), self.columns)
        self.lhs: _Descriptor | _Registers
        if is_buffer_type(lhs.type):
            self.lhs = _Descriptor(ctx, ctx.buffers[lhs], 1, self._row_group(), self.rows)
            info = ctx.buffers[lhs].info
            self.depth, self.element = info.shape[1], info.element
        else:
            fragment = ctx.fragment(lhs)
            self.lhs = _Registers(ctx, fragment)
            self.depth, self.element = fragment.info.shape[1], fragment.info.element

    def _row_group(self) -> Value:
        b = self.ctx.builder
        group = b.op("arith.divui", [self.ctx.warp, b.c32(4)], b.i32)
        return b.op("arith.remui", [group, b.c32(self.grid.rows)], b.i32)

    def _column_group(self) -> Value:
        b = self.ctx.builder
        return b.op("arith.divui", [self.ctx.warp, b.c32(4 * self.grid.rows)], b.i32)

    def run(self) -> list[Value]:
        """Issues the product; waits for it unless it is marked `in_flight`."""
        b = self.ctx.builder
        registers = list(self.acc.registers)
        b.create("nvvm.wgmma.fence.aligned")
        for block in range(0, self.rows, ROWS):
            self._multiply(registers, block)
        b.create("nvvm.wgmma.commit.group.sync.aligned")
        if not has_flag(self.op, "in_flight"):
            registers = wait_for_products(self.ctx, registers, 0)
        return registers

    def _multiply(self, registers: list[Value], block: int) -> None:
        """The products of 64 rows; `registers` are replaced in place."""
        at = self.acc.layout.register_at
        places = [
            at[block + row, column + i]
            for column in range(0, self.columns, 8)
            for row in (0, 8)
            for i in (0, 1)
        ]
        count = len(places)
        operands: list[Value] = []
        lines = ["{ .reg .pred p; setp.ne.b32 p, 1, 0;"]
        for k in range(0, self.depth, DEPTH):
            left = self.lhs.operands(block, k)
            right = self.rhs.operands(0, k)
            first = 2 * count + len(operands)
            lines.append(self._instruction(count, first, len(left)))
            operands += [*left, *right]
        lines.append("}")
        constraints = ["=f"] * count + [str(i) for i in range(count)]
        constraints += ["l" if str(o.type) == "i64" else "r" for o in operands]
        ctx, f32 = self.ctx, self.ctx.builder.type("f32")
        struct = ctx.builder.type(f"!llvm.struct<({', '.join(['f32'] * count)})>")
        inputs = [*(registers[p] for p in places), *operands]
        text = " ".join(lines)
        result = ctx.asm(text, ",".join(constraints), inputs, struct, True).results[0]
        for i, place in enumerate(places):
            registers[place] = ctx.extract(result, i, f32)

    def _instruction(self, count: int, first: int, num_left: int) -> str:
        """One wgmma whose operands start at asm operand `first`."""
        accumulators = "{" + ", ".join(f"${i}" for i in range(count)) + "}"
        left = [f"${first + i}" for i in range(num_left)]
        right = f"${first + num_left}"
        transposes = [] if num_left > 1 else [self.lhs.transposed]
        transposes.append(self.rhs.transposed)
        flags = ", ".join(["p", "1", "1", *(str(int(t)) for t in transposes)])
        lhs = left[0] if num_left == 1 else "{" + ", ".join(left) + "}"
        shape = f"m64n{self.columns}k{DEPTH}"
        return (
            f"wgmma.mma_async.sync.aligned.{shape}.f32.{self.element}.{self.element} "
            f"{accumulators}, {lhs}, {right}, {flags};"
        )


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
        start = b.op("arith.shrui", [b.add(address(ctx, buffer), skip), b.c32(4)], b.i32)
        wide = b.op("arith.extui", [start], b.i64)
        self.base = b.op("arith.ori", [wide, b.c64(self.form.constant_bits)], b.i64)

    def operands(self, outer: int, depth: int) -> list[Value]:
        b, offset = self.ctx.builder, self.form.offset(outer, depth) >> 4
        return [b.add(self.base, b.c64(offset)) if offset else self.base]


class _Registers:
    """The left operand in registers: pairs of neighbours, as in mma.m16n8k16."""

    transposed = False

    def __init__(self, ctx: Lowering, fragment: Fragment):
        self.ctx, self.source = ctx, fragment

    def operands(self, outer: int, depth: int) -> list[Value]:
        return [self._pair(outer + row, depth + column) for column in (0, 8) for row in (0, 8)]

    def _pair(self, row: int, column: int) -> Value:
        b = self.ctx.builder
        values = [self.source.at((row, column + i)) for i in (0, 1)]
        pair = b.op("vector.from_elements", values, b.type(f"vector<2x{values[0].type}>"))
        return b.op("llvm.bitcast", [pair], b.i32)


def wait_for_products(ctx: Lowering, registers: list[Value], pending: int) -> list[Value]:
    """Waits until at most `pending` groups are in flight; the accumulators pass through."""
    b = ctx.builder
    count = len(registers)
    if not count:
        ctx.asm(f"wgmma.wait_group.sync.aligned {pending};", "~{memory}", [], None, True)
        return []
    f32 = registers[0].type
    struct = b.type(f"!llvm.struct<({', '.join(['f32'] * count)})>") if count > 1 else f32
    constraints = ["=f"] * count + [str(i) for i in range(count)] + ["~{memory}"]
    text = f"wgmma.wait_group.sync.aligned {pending};"
    result = ctx.asm(text, ",".join(constraints), registers, struct, True).results[0]
    if count == 1:
        return [result]
    return [ctx.extract(result, i, f32) for i in range(count)]


@lowers("tile_gpu.dot_wait")
def _dot_wait(ctx: Lowering, op: OpView) -> None:
    operands = list(op.operation.operands)
    registers = wait_for_products(ctx, ctx.flat(operands), int_attr(op, "pending"))
    ctx.bind(list(op.operation.results), registers)


@lowers("tile_gpu.fence_async")
def _fence_async(ctx: Lowering, op: OpView) -> None:
    """What this thread wrote to shared memory becomes visible to asynchronous operations."""
    ctx.fence_async()
