// The cuda_tile dialect: C++ classes of its operations, types and attributes.

#ifndef TILEIR_DIALECTS_CUDA_TILE_CUDATILE_H
#define TILEIR_DIALECTS_CUDA_TILE_CUDATILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "CudaTileDialect.h.inc"
#include "CudaTileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "CudaTileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "CudaTileTypes.h.inc"

namespace cuda_tile {

/// i1, i8, i16, i32, i64.
bool isBaseInteger(mlir::Type type);
/// f16, bf16, f32, f64: the types of arithmetic.
bool isBaseFloat(mlir::Type type);
/// Any float, tf32 and the 8- and 4-bit formats included.
bool isAnyFloat(mlir::Type type);
/// An integer or float that a tile can hold in memory: all but i4.
bool isNumber(mlir::Type type);
/// Bits of a value: 19 for tf32; 64 for pointers.
unsigned getValueBitWidth(mlir::Type type);

/// The number of dimensions of a partition, strided or gather/scatter view.
int64_t getTileViewRank(mlir::Type view);
/// The type of the tiles that a view gives.
TileType getViewTileType(mlir::Type view);

/// Whether `type` is of this dialect and so printed without a prefix.
bool isTileIRType(mlir::Type type);

} // namespace cuda_tile

#define GET_OP_CLASSES
#include "CudaTileOps.h.inc"

#endif // TILEIR_DIALECTS_CUDA_TILE_CUDATILE_H
