// The types of tile_gpu for Python, which tells them apart by their ids: to print a type takes ten
// times as long.

#include "Export.h"
#include "TileGPU.h"

#include "mlir/CAPI/Support.h"

using namespace mlir;

TILEIR_EXPORT MlirTypeID tileirTypeIDOfTile() {
  return wrap(TypeID::get<tile_gpu::TileType>());
}

TILEIR_EXPORT MlirTypeID tileirTypeIDOfBuffer() {
  return wrap(TypeID::get<tile_gpu::BufferType>());
}
