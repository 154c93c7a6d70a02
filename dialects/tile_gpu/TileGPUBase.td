// What all operations of the tile_gpu dialect start from.

#ifndef TILE_GPU_BASE_TD
#define TILE_GPU_BASE_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "TileGPUTypes.td"

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

#endif // TILE_GPU_BASE_TD
