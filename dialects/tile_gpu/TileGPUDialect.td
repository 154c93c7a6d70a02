// The tile_gpu dialect: tiles spread over the threads of one block.

#ifndef TILE_GPU_DIALECT_TD
#define TILE_GPU_DIALECT_TD

include "mlir/IR/OpBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tile_gpu";
  let cppNamespace = "::tile_gpu";
  let summary = "tiles in registers, buffers in shared memory, copies, barriers";
  let description = [{
    The middle of the compiler. A value of `cuda_tile` becomes a tile held in
    the registers of a block, `!tile_gpu.tile<128x64xf16, #layout>`; its layout
    says which thread holds which element. Elementwise arithmetic on tiles is
    plain `arith` and `math`, control flow is `scf`, scalars are builtin types.
    This dialect adds what those lack: moving tiles between registers, shared
    and global memory, reductions, matrix products, barriers.

    Every decision is in the IR: layouts in types, buffers and their swizzle in
    types, stages, waits and barriers as operations. The size of the IR does not
    depend on the size of the tiles.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif // TILE_GPU_DIALECT_TD
