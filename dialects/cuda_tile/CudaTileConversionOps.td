// Conversions. The shape is preserved.

#ifndef CUDA_TILE_CONVERSION_OPS_TD
#define CUDA_TILE_CONVERSION_OPS_TD

include "CudaTileOpBase.td"

class CudaTile_ConversionOp<string mnemonic, list<Trait> traits = [Pure]>
    : CudaTile_Op<mnemonic, traits> {
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_BitcastOp : CudaTile_ConversionOp<"bitcast"> {
  let summary = "reinterpret the bits";
  let description = [{
    Between number types of equal value width; tf32 counts as 19 bits.
    Example: `%r = bitcast %x : tile<4xi32> -> tile<4xf32>`
  }];
  let arguments = (ins CudaTile_NumberTile:$source);
  let results = (outs CudaTile_NumberTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_ExtIOp : CudaTile_ConversionOp<"exti"> {
  let summary = "widen an integer";
  let hasCanonicalizeMethod = 1;
  let description = "Example: `%r = exti %x signed : tile<4xi8> -> tile<4xi32>`";
  let arguments = (ins CudaTile_AnyIntTile:$source, CudaTile_SignednessAttr:$signedness);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $source custom<Keyword>($signedness) attr-dict `:`
    custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_TruncIOp : CudaTile_ConversionOp<"trunci", CudaTile_PureWhereDefined> {
  let summary = "narrow an integer";
  let hasCanonicalizeMethod = 1;
  let description = [{
    `no_signed_wrap` promises that the dropped bits equal the sign bit of the
    result, `no_unsigned_wrap` that they are zero.
    Example: `%r = trunci %x : tile<4xi32> -> tile<4xi8>`
  }];
  let arguments = (ins CudaTile_IntTile:$source, CudaTile_DefaultOverflow:$overflow);
  let results = (outs CudaTile_AnyIntTile:$result);
  let assemblyFormat = [{
    $source (`overflow` `` $overflow^)? attr-dict `:`
    custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_FToFOp : CudaTile_ConversionOp<"ftof"> {
  let summary = "convert between float types";
  let description = [{
    f8E4M3FN, f8E5M2 and f4E2M1FN saturate: overflow and infinity give the
    largest finite value, NaN stays NaN where the format has one. f8E8M0FNU
    rounds with `zero` or `positive_inf`.
    Example: `%r = ftof %x : tile<4xf32> -> tile<4xf16>`
  }];
  let arguments = (ins CudaTile_AnyFloatTile:$source,
                       CudaTile_DefaultRounding<"NearestEven">:$rounding_mode);
  let results = (outs CudaTile_AnyFloatTile:$result);
  let assemblyFormat = [{
    $source (`rounding` `` $rounding_mode^)? attr-dict `:`
    custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_FToIOp : CudaTile_ConversionOp<"ftoi"> {
  let summary = "convert a float to an integer";
  let description = [{
    Truncates. A value out of range is undefined; with `saturating` (13.4) it is
    clamped and NaN gives zero.
    Example: `%r = ftoi %x signed saturating : tile<4xf32> -> tile<4xi32>`
  }];
  let arguments = (ins CudaTile_AnyFloatTile:$source, CudaTile_SignednessAttr:$signedness,
                       CudaTile_DefaultRounding<"NearestIntToZero">:$rounding_mode,
                       UnitAttr:$saturating);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $source custom<Keyword>($signedness) (`rounding` `` $rounding_mode^)?
    (`saturating` $saturating^)? attr-dict `:`
    custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_IToFOp : CudaTile_ConversionOp<"itof"> {
  let summary = "convert an integer to a float";
  let description = [{
    Rounds to nearest even. Out of range gives infinity if the format has it,
    otherwise NaN. Example: `%r = itof %n unsigned : tile<4xi32> -> tile<4xf32>`
  }];
  let arguments = (ins CudaTile_IntTile:$source, CudaTile_SignednessAttr:$signedness,
                       CudaTile_DefaultRounding<"NearestEven">:$rounding_mode);
  let results = (outs CudaTile_AnyFloatTile:$result);
  let assemblyFormat = [{
    $source custom<Keyword>($signedness) (`rounding` `` $rounding_mode^)? attr-dict `:`
    custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_IntToPtrOp : CudaTile_ConversionOp<"int_to_ptr"> {
  let summary = "integer to pointer";
  let description = "Example: `%p = int_to_ptr %n : tile<i64> -> tile<ptr<f32>>`";
  let arguments = (ins CudaTile_I64Tile:$source);
  let results = (outs CudaTile_PtrTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_PtrToIntOp : CudaTile_ConversionOp<"ptr_to_int"> {
  let summary = "pointer to integer";
  let description = "Example: `%n = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>`";
  let arguments = (ins CudaTile_PtrTile:$source);
  let results = (outs CudaTile_I64Tile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

def CudaTile_PtrToPtrOp : CudaTile_ConversionOp<"ptr_to_ptr"> {
  let summary = "change the pointee type";
  let description = "Example: `%q = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>`";
  let arguments = (ins CudaTile_PtrTile:$source);
  let results = (outs CudaTile_PtrTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
}

#endif // CUDA_TILE_CONVERSION_OPS_TD
