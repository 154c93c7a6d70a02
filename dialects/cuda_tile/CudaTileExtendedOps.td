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

def CudaTile_PrefetchOp : CudaTile_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "bring memory into the L2 cache";
  let description = [{
    A hint, without effect on results: the cache lines that hold the elements
    whose mask is true are needed soon. Addresses where the mask is false may be
    invalid. Only in a module marked `cuda_tile.extended`.

    Example: `prefetch %p, %m : tile<4xptr<f32>>, tile<4xi1>`
  }];
  let arguments = (ins CudaTile_PtrTile:$pointers, CudaTile_BoolTile:$mask);
  let assemblyFormat = [{
    $pointers `,` $mask attr-dict `:` custom<TileIRType>(type($pointers)) `,`
    custom<TileIRType>(type($mask))
  }];
  let hasVerifier = 1;
}

#endif // CUDA_TILE_EXTENDED_OPS_TD
