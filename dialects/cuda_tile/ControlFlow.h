// Where the jumps of structured control flow lead.

#ifndef TILEIR_DIALECTS_CUDA_TILE_CONTROLFLOW_H
#define TILEIR_DIALECTS_CUDA_TILE_CONTROLFLOW_H

#include "CudaTile.h"

namespace cuda_tile {

/// The for or loop that a `continue` or `break` leads to: the innermost one,
/// through branches only. Null if there is none.
mlir::Operation *getEnclosingLoop(mlir::Operation *jump);

/// The jumps in a loop's body that lead to the loop.
struct LoopJumps {
  llvm::SmallVector<ContinueOp> continues;
  llvm::SmallVector<BreakOp> breaks;
};
LoopJumps getLoopJumps(mlir::Operation *loop);

} // namespace cuda_tile

#endif // TILEIR_DIALECTS_CUDA_TILE_CONTROLFLOW_H
