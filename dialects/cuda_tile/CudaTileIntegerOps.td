// Integer and bitwise operations. Arithmetic wraps, unless an overflow
// attribute promises that it does not need to.

#ifndef CUDA_TILE_INTEGER_OPS_TD
#define CUDA_TILE_INTEGER_OPS_TD

include "CudaTileOpBase.td"

class CudaTile_IntBinaryOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<TileIRType>(type($result))";
  let hasFolder = 1;
}

class CudaTile_OverflowBinaryOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_GuardedElementwiseOp<mnemonic, traits> {
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
                       CudaTile_DefaultOverflow:$overflow);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`overflow` `` $overflow^)? attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasFolder = 1;
}

class CudaTile_SignedBinaryOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
                       CudaTile_SignednessAttr:$signedness);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<Keyword>($signedness) attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasFolder = 1;
}

def CudaTile_AbsIOp : CudaTile_ElementwiseOp<"absi"> {
  let summary = "absolute value";
  let description = [{
    The result is read as unsigned, so that the minimum stays representable.
    Example: `%r = absi %x : tile<4xi32>`
  }];
  let arguments = (ins CudaTile_IntTile:$source);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = "$source attr-dict `:` custom<TileIRType>(type($result))";
  let hasFolder = 1;
}

def CudaTile_NegIOp : CudaTile_GuardedElementwiseOp<"negi"> {
  let summary = "two's complement negation";
  let description = [{
    `no_unsigned_wrap` alone is not allowed; the attribute exists from 13.2 on.
    Example: `%r = negi %x overflow<no_signed_wrap> : tile<4xi32>`
  }];
  let arguments = (ins CudaTile_IntTile:$source, CudaTile_DefaultOverflow:$overflow);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $source (`overflow` `` $overflow^)? attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def CudaTile_AddIOp : CudaTile_OverflowBinaryOp<"addi", [Commutative]> {
  let summary = "addition";
  let hasCanonicalizeMethod = 1;
  let description = "Example: `%r = addi %a, %b overflow<no_wrap> : tile<4xi32>`";
}

def CudaTile_SubIOp : CudaTile_OverflowBinaryOp<"subi"> {
  let summary = "subtraction";
  let description = "Example: `%r = subi %a, %b : tile<4xi32>`";
}

def CudaTile_MulIOp : CudaTile_OverflowBinaryOp<"muli", [Commutative]> {
  let summary = "multiplication, low half";
  let description = "Example: `%r = muli %a, %b : tile<4xi32>`";
}

def CudaTile_MulhiIOp : CudaTile_IntBinaryOp<"mulhii", [Commutative]> {
  let summary = "multiplication, high half of the unsigned product";
  let description = "Example: `%r = mulhii %a, %b : tile<4xi32>`";
}

def CudaTile_DivIOp : CudaTile_GuardedElementwiseOp<"divi"> {
  let summary = "division";
  let description = [{
    Truncated; rounded up with `positive_inf`, down with `negative_inf` (signed
    only). Division by zero and of the signed minimum by -1 are undefined.
    Example: `%r = divi %a, %b signed rounding<negative_inf> : tile<4xi32>`
  }];
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
                       CudaTile_SignednessAttr:$signedness,
                       CudaTile_DefaultRounding<"Zero">:$rounding);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<Keyword>($signedness) (`rounding` `` $rounding^)?
    attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def CudaTile_RemIOp : CudaTile_GuardedElementwiseOp<"remi"> {
  let summary = "remainder of the truncated division";
  let description = [{
    Has the sign of lhs; undefined when rhs is zero.
    Example: `%r = remi %a, %b signed : tile<4xi32>`
  }];
  let arguments = (ins CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
                       CudaTile_SignednessAttr:$signedness);
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<Keyword>($signedness) attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasFolder = 1;
}

def CudaTile_MaxIOp : CudaTile_SignedBinaryOp<"maxi", [Commutative]> {
  let summary = "maximum";
  let description = "Example: `%r = maxi %a, %b unsigned : tile<4xi32>`";
}

def CudaTile_MinIOp : CudaTile_SignedBinaryOp<"mini", [Commutative]> {
  let summary = "minimum";
  let description = "Example: `%r = mini %a, %b signed : tile<4xi32>`";
}

def CudaTile_ShLIOp : CudaTile_OverflowBinaryOp<"shli"> {
  let summary = "shift left";
  let description = [{
    The amount is unsigned; an amount of the width or more is unspecified.
    Example: `%r = shli %a, %n : tile<4xi32>`
  }];
}

def CudaTile_ShRIOp : CudaTile_SignedBinaryOp<"shri"> {
  let summary = "shift right";
  let description = [{
    Arithmetic if signed, logical if unsigned. The amount is unsigned; an amount
    of the width or more is unspecified.
    Example: `%r = shri %a, %n signed : tile<4xi32>`
  }];
}

def CudaTile_AndIOp : CudaTile_IntBinaryOp<"andi", [Commutative]> {
  let summary = "bitwise and";
  let description = "Example: `%r = andi %a, %b : tile<4xi1>`";
}

def CudaTile_OrIOp : CudaTile_IntBinaryOp<"ori", [Commutative]> {
  let summary = "bitwise or";
  let description = "Example: `%r = ori %a, %b : tile<4xi32>`";
}

def CudaTile_XOrIOp : CudaTile_IntBinaryOp<"xori", [Commutative]> {
  let summary = "bitwise exclusive or";
  let description = "Example: `%r = xori %a, %b : tile<4xi32>`";
}

def CudaTile_CmpIOp : CudaTile_Op<"cmpi", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "comparison";
  let description = [{
    Example: `%r = cmpi less_than %a, %b, signed : tile<4xi32> -> tile<4xi1>`
  }];
  let arguments = (ins CudaTile_ComparisonPredicateAttr:$comparison_predicate,
                       CudaTile_IntTile:$lhs, CudaTile_IntTile:$rhs,
                       CudaTile_SignednessAttr:$signedness);
  let results = (outs CudaTile_BoolTile:$result);
  let assemblyFormat = [{
    custom<Keyword>($comparison_predicate) $lhs `,` $rhs `,` custom<Keyword>($signedness)
    attr-dict `:` custom<TileIRType>(type($lhs)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_MmaIOp : CudaTile_Op<"mmai", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "integer matrix multiply-accumulate";
  let description = [{
    i8 times i8 plus i32, which wraps; shapes as in `mmaf`.

    ```mlir
    %r = mmai %a, %b, %c signed unsigned : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
    ```
  }];
  let arguments = (ins CudaTile_I8Tile:$lhs, CudaTile_I8Tile:$rhs, CudaTile_I32Tile:$acc,
                       CudaTile_SignednessAttr:$signedness_lhs,
                       CudaTile_SignednessAttr:$signedness_rhs);
  let results = (outs CudaTile_I32Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc custom<Keyword>($signedness_lhs) custom<Keyword>($signedness_rhs)
    attr-dict `:` custom<TileIRType>(type($lhs)) `,` custom<TileIRType>(type($rhs)) `,`
    custom<TileIRType>(type($acc))
  }];
  let hasVerifier = 1;
}

#endif // CUDA_TILE_INTEGER_OPS_TD
