// The tile_gpu dialect: declarations.

#ifndef TILEIR_TILE_GPU_H
#define TILEIR_TILE_GPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile_gpu {
inline bool isGlobalPointer(mlir::Type type) {
  auto pointer = llvm::dyn_cast<mlir::LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == 1;
}
} // namespace tile_gpu

#include "TileGPUDialect.h.inc"
#include "TileGPUEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "TileGPUAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "TileGPUTypes.h.inc"
#define GET_OP_CLASSES
#include "TileGPUOps.h.inc"

#endif // TILEIR_TILE_GPU_H
