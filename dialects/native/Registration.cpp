// Registration of the dialects, and the driver of tile-opt.

#include "CudaTile.h"
#include "Export.h"
#ifdef TILEIR_HAS_TILE_GPU
#include "TileGPU.h"
#endif

#include "mlir-c/RegisterEverything.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  registry.insert<cuda_tile::CudaTileDialect>();
#ifdef TILEIR_HAS_TILE_GPU
  registry.insert<tile_gpu::TileGPUDialect>();
#endif
}

TILEIR_EXPORT void tileirRegisterDialects(MlirDialectRegistry registry) {
  registerDialects(*unwrap(registry));
}

/// mlir-opt with our dialects; passes are those registered in the process.
TILEIR_EXPORT int tileirOptMain(int argc, char **argv) {
  DialectRegistry registry;
  mlirRegisterAllDialects(wrap(&registry));
  registerDialects(registry);
  return asMainReturnCode(
      MlirOptMain(argc, argv, "tile-opt: runs passes on CUDA Tile IR\n", registry));
}
