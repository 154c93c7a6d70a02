// Base classes of the operations.

#ifndef CUDA_TILE_OP_BASE_TD
#define CUDA_TILE_OP_BASE_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "CudaTileTypes.td"

class CudaTile_Op<string mnemonic, list<Trait> traits = []>
    : Op<CudaTile_Dialect, mnemonic, traits>;

/// An elementwise operation: operands and result have one tile type.
class CudaTile_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)>;

/// No side effects, but undefined for some operands: it may be erased and
/// merged, and moved to where it would not have run only if it is known to be
/// defined there.
defvar CudaTile_PureWhereDefined = [
  NoMemoryEffect, DeclareOpInterfaceMethods<ConditionallySpeculatable>];

/// Names the results as NVIDIA's disassembler does.
def CudaTile_ResultNames : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

class CudaTile_GuardedElementwiseOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_Op<mnemonic, !listconcat(CudaTile_PureWhereDefined, [SameOperandsAndResultType],
                                        traits)>;

class CudaTile_DefaultRounding<string mode>
    : DefaultValuedAttr<CudaTile_RoundingModeAttr, "::cuda_tile::RoundingMode::" # mode>;

def CudaTile_DefaultOverflow
    : DefaultValuedAttr<CudaTile_IntegerOverflowAttr, "::cuda_tile::IntegerOverflow::None">;

#endif // CUDA_TILE_OP_BASE_TD
