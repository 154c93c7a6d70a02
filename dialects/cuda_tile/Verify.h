// Checks that several operations share. Each emits an error that names the
// operand or attribute, what was expected and what was found.

#ifndef TILEIR_DIALECTS_CUDA_TILE_VERIFY_H
#define TILEIR_DIALECTS_CUDA_TILE_VERIFY_H

#include "CudaTile.h"

namespace cuda_tile {

/// The rounding modes of IEEE 754.
inline constexpr RoundingMode kIEEERounding[] = {RoundingMode::NearestEven, RoundingMode::Zero,
                                                 RoundingMode::NegativeInf,
                                                 RoundingMode::PositiveInf};

/// `mode` must be one of `allowed`.
mlir::LogicalResult verifyRounding(mlir::Operation *op, RoundingMode mode,
                                   llvm::ArrayRef<RoundingMode> allowed);

/// An IEEE mode, or one of `f32Only` when the elements are f32.
mlir::LogicalResult verifyFloatRounding(mlir::Operation *op, RoundingMode mode, TileType type,
                                        llvm::ArrayRef<RoundingMode> f32Only = {});

/// `flush_to_zero` exists for f32 only.
mlir::LogicalResult verifyFlushToZero(mlir::Operation *op, bool flushToZero, TileType type);

/// Both tiles have one shape.
mlir::LogicalResult verifySameShape(mlir::Operation *op, llvm::StringRef name, TileType type,
                                    llvm::StringRef otherName, TileType other);

/// lhs [B x] M x K, rhs [B x] K x N, acc [B x] M x N.
mlir::LogicalResult verifyMatmulShapes(mlir::Operation *op, TileType lhs, TileType rhs,
                                       TileType acc);

/// The ordering is one of `allowed`; a scope is there unless it is weak.
mlir::LogicalResult verifyOrdering(mlir::Operation *op, MemoryOrdering ordering,
                                   std::optional<MemoryScope> scope,
                                   llvm::ArrayRef<MemoryOrdering> allowed);

/// A loaded or stored tile has the pointers' shape and their pointee type; no
/// access goes through multicast pointers.
mlir::LogicalResult verifyPointee(mlir::Operation *op, TileType pointers, llvm::StringRef name,
                                  TileType value);

/// The mask, if there is one, has the pointers' shape.
mlir::LogicalResult verifyMask(mlir::Operation *op, TileType pointers, mlir::Value mask);

/// The element types that each atomic mode works on.
mlir::LogicalResult verifyAtomicMode(mlir::Operation *op, AtomicRMWMode mode, mlir::Type element);

} // namespace cuda_tile

#endif // TILEIR_DIALECTS_CUDA_TILE_VERIFY_H
