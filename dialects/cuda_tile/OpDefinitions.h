// What the generated definitions of the operations need.

#ifndef TILEIR_DIALECTS_CUDA_TILE_OPDEFINITIONS_H
#define TILEIR_DIALECTS_CUDA_TILE_OPDEFINITIONS_H

#include "AsmFormat.h"
#include "CudaTile.h"

#include "mlir/IR/Builders.h"

using namespace cuda_tile;

#endif // TILEIR_DIALECTS_CUDA_TILE_OPDEFINITIONS_H
