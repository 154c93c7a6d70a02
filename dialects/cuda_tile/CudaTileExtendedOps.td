// Operations of ours beyond Tile IR. A module that holds any is marked `cuda_tile.extended`.

#ifndef CUDA_TILE_EXTENDED_OPS_TD
#define CUDA_TILE_EXTENDED_OPS_TD

include "CudaTileOpBase.td"

def CudaTile_InlinePtxOp : CudaTile_Op<"inline_ptx", [Pure]> {
  let summary = "PTX instructions on each element";
  let description = [{
    `$0` is the register of the result, `$1`, `$2`, ... those of the operands;
    `$$` is a dollar sign. Elements are i16, i32, i64, f16, bf16, f32 or f64. The
    instructions may declare registers of their own within braces. They must not
    access memory, nor depend on which thread runs them. Only in a module marked
    `cuda_tile.extended`.

    Example: `%r = inline_ptx "tanh.approx.f32 $0, $1;"(%x) : (tile<4xf32>) -> tile<4xf32>`
  }];
  let arguments = (ins StrAttr:$ptx, Variadic<CudaTile_NumberTile>:$operands);
  let results = (outs CudaTile_NumberTile:$result);
  let assemblyFormat = [{
    $ptx `(` $operands `)` attr-dict `:` `(` custom<TileIRTypes>(type($operands)) `)` `->`
    custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
}

#endif // CUDA_TILE_EXTENDED_OPS_TD
