// The cuda_tile dialect: CUDA Tile IR 13.1 to 13.5, as an MLIR dialect.

#ifndef CUDA_TILE_DIALECT_TD
#define CUDA_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def CudaTile_Dialect : Dialect {
  let name = "cuda_tile";
  let cppNamespace = "::cuda_tile";
  let summary = "CUDA Tile IR: tiles, views and token-ordered memory operations";
  let description = [{
    `cuda_tile` is CUDA Tile IR itself: the same operations, types, attributes
    and textual syntax, one to one with its bytecode. A program works on whole
    tiles; threads, shared memory and tensor cores do not appear.

    A module with the attribute `cuda_tile.extended` may use what goes beyond
    Tile IR: tile dimensions that are not powers of two, `inline_ptx`,
    `prefetch`. Bytecode cannot hold such a module.
  }];
  let useDefaultTypePrinterParser = 0;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Marks a module that may go beyond Tile IR.
    static constexpr ::llvm::StringLiteral kExtendedAttr = "cuda_tile.extended";

    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // CUDA_TILE_DIALECT_TD
