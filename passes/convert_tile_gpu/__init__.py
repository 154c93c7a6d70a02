"""convert-tile-gpu: from tiles in the registers of a block to the code of one thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.effort import effort_of
from tileir.compiler.locations import place
from tileir.compiler.symbols import free_symbol
from tileir.compiler.target import Target
from tileir.compiler.tile_types import buffer_info
from tileir.dialects import tile_gpu
from tileir.dialects.cuda_tile import hint
from tileir.errors import ResourceError
from tileir.ir import (
    Attribute,
    Block,
    FlatSymbolRefAttr,
    FunctionType,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    Operation,
    StringAttr,
    Type,
    TypeAttr,
    UnitAttr,
    Value,
)
from tileir.passes.allocate_shared_memory import SHARED_BYTES_ATTRIBUTE
from tileir.passes.analysis.register_demand import registers_of_tiles
from tileir.passes.annotate_parameters import NONNEGATIVE_ATTRIBUTE
from tileir.passes.attach_target import opt_level_of, target_of
from tileir.passes.base import ModulePass
from tileir.passes.choose_num_warps import block_threads, num_warps_of
from tileir.passes.convert_cuda_tile.control_flow import HINTS_ATTRIBUTE
from tileir.passes.convert_tile_gpu import (  # noqa: F401  (each module registers its rules)
    assertions,
    async_copies,
    atomics,
    control_flow,
    conversions,
    elementwise,
    heap,
    pointers,
    prefetches,
    printing,
    product,
    reductions,
    shared_memory,
    specialization,
    taken_tiles,
    tensor_maps,
    tensor_memory,
    tensor_stores,
    tensors,
)
from tileir.passes.convert_tile_gpu.lowering import Lowering, scalar_type
from tileir.passes.specialize_warps.occupancy import OCCUPANCIES
from tileir.passes.walk import ops_of

#: Bytes of parameters of any kernel, and from PTX 8.1 on. (PTX ISA, `.param`.)
_PARAMETER_BYTES = 4352
_MOST_PARAMETER_BYTES = 32764
#: 32-bit registers. (CUDA C++ Programming Guide, compute capabilities.)
_REGISTERS_OF_THREAD = 255
_REGISTERS_OF_MULTIPROCESSOR = 64 * 1024


@dataclass(frozen=True)
class ConvertTileGPU(ModulePass):
    """Lower tile_gpu to the code of one thread: gpu, scf, arith, nvgpu and nvvm.

    The only pass whose output grows with the size of the tiles: a tile becomes the registers that
    one thread holds of it.
    """

    name = "convert-tile-gpu"

    def apply(self, module: Operation) -> None:
        target, level = target_of(module), effort_of(opt_level_of(module)).llvm
        for top in module.regions[0].blocks[0]:
            if top.operation.name != "gpu.module":
                continue
            body = top.operation.regions[0].blocks[0]
            version = target.ptx_version
            for op in list(body):
                if op.operation.name == "gpu.func":
                    version = max(version, self._lower(op.operation, body, target))
            text = f'[#nvvm.target<O = {level}, chip = "{target}", features = "+ptx{version}">]'
            top.operation.attributes["targets"] = Attribute.parse(text, module.context)
        module.attributes["gpu.container_module"] = UnitAttr.get(module.context)

    def _lower(self, kernel: Operation, module_body: Block, target: Target) -> int:
        """Replaces a kernel; returns the PTX version that its instructions need."""
        builder = Builder(InsertionPoint(kernel), kernel.location)
        num_warps = num_warps_of(kernel)
        old_body = kernel.regions[0].blocks[0]
        inputs = [scalar_type(builder, a.type) for a in old_body.arguments]
        attributes = {
            "sym_name": kernel.attributes["sym_name"],
            "function_type": TypeAttr.get(FunctionType.get(inputs, [])),
            "gpu.kernel": UnitAttr.get(),
            "nvvm.reqntid": builder.attribute(f"array<i32: {block_threads(kernel)}, 1, 1>"),
        }
        if _one_block_will_do(kernel, target):
            attributes["nvvm.minctasm"] = builder.i32_attr(1)
        if NONNEGATIVE_ATTRIBUTE in kernel.attributes:
            attributes[NONNEGATIVE_ATTRIBUTE] = kernel.attributes[NONNEGATIVE_ATTRIBUTE]
        new = builder.create("gpu.func", attributes=attributes, regions=1)
        body = builder.block(new.regions[0], inputs)
        with builder.at(body):
            shared = _shared_memory(builder, kernel, module_body)
            block_warps = block_threads(kernel) // 32
            lowering = Lowering(builder, module_body, target, num_warps, block_warps, shared)
            _check_parameters(lowering, kernel, inputs)
            lowering.bind(list(old_body.arguments), list(body.arguments))
            for op in old_body:
                lowering.lower(op)
        kernel.erase()
        return lowering.ptx_version


def _check_parameters(ctx: Lowering, kernel: Operation, types: Sequence[Type]) -> None:
    """Asks for the PTX version that can pass so many. Raises ResourceError if none can."""
    size = 0
    for type_ in types:
        pointer = isinstance(type_, IndexType) or str(type_).startswith("!llvm.ptr")
        width = 8 if pointer else max(1, ctx.width(type_) // 8)
        size = -(-size // width) * width + width
    if size > _MOST_PARAMETER_BYTES:
        name = StringAttr(kernel.attributes["sym_name"]).value
        raise ResourceError(
            f"kernel '{name}' has {size} bytes of parameters, a launch passes "
            f"{_MOST_PARAMETER_BYTES}",
            location=place(kernel.location),
            remedy="pass an array that holds them",
        )
    if size > _PARAMETER_BYTES:
        ctx.need_ptx(81)


def _one_block_will_do(kernel: Operation, target: Target) -> bool:
    """Whether ptxas must be told that a block may have all registers of a multiprocessor."""
    splits = ops_of(kernel, tile_gpu.SpecializeOp)
    if splits:
        # Memory has room for two blocks, and ptxas would not know for how many registers have.
        divided = any(op.registers is not None for op in splits)
        return divided and _shared_bytes(kernel) <= target.shared_bytes_of(2)
    hints = kernel.attributes.get(HINTS_ATTRIBUTE)
    if hint(hints, target.hint_key, "occupancy", OCCUPANCIES) or ops_of(kernel, tile_gpu.DotOp):
        return False
    # A thread spills in any case. ptxas then may give it 32 registers, for more blocks.
    return registers_of_tiles(kernel) >= _most_registers(block_threads(kernel))


def _most_registers(threads: int) -> int:
    """Registers of a thread of a block that has a multiprocessor for itself."""
    return min(_REGISTERS_OF_THREAD, _REGISTERS_OF_MULTIPROCESSOR // threads)


def _shared_bytes(kernel: Operation) -> int:
    if SHARED_BYTES_ATTRIBUTE not in kernel.attributes:
        return 0
    return IntegerAttr(kernel.attributes[SHARED_BYTES_ATTRIBUTE]).value


def _shared_memory(b: Builder, kernel: Operation, module_body: Block) -> Value | None:
    """All shared memory of the kernel, as bytes; None if it needs none."""
    size = _shared_bytes(kernel)
    if size == 0:
        return None
    name = free_symbol(module_body, f"shared_{StringAttr(kernel.attributes['sym_name']).value}")
    type_ = b.type(f"memref<{size}xi8, 3>")
    buffers = (buffer_info(alloc.result.type) for alloc in ops_of(kernel, tile_gpu.AllocOp))
    alignment = max((info.alignment for info in buffers), default=1)
    with b.at(InsertionPoint.at_block_begin(module_body)):
        b.create(
            "memref.global",
            attributes={
                "sym_name": StringAttr.get(name),
                "sym_visibility": StringAttr.get("private"),
                "type": TypeAttr.get(type_),
                "initial_value": UnitAttr.get(),
                "alignment": b.i64_attr(alignment),
            },
        )
    return b.op("memref.get_global", [], type_, {"name": FlatSymbolRefAttr.get(name)})
