// Floating-point operations.

#ifndef CUDA_TILE_FLOAT_OPS_TD
#define CUDA_TILE_FLOAT_OPS_TD

include "CudaTileOpBase.td"

class CudaTile_FloatUnaryOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins CudaTile_FloatTile:$source);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = "$source attr-dict `:` custom<TileIRType>(type($result))";
}

class CudaTile_FloatBinaryOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<TileIRType>(type($result))";
}

/// Addition and its kind: IEEE rounding modes, flush to zero in f32.
class CudaTile_RoundedBinaryOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs,
                       CudaTile_DefaultRounding<"NearestEven">:$rounding_mode,
                       UnitAttr:$flush_to_zero);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`rounding` `` $rounding_mode^)? (`flush_to_zero` $flush_to_zero^)?
    attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_AbsFOp : CudaTile_FloatUnaryOp<"absf"> {
  let summary = "absolute value";
  let description = "Clears the sign bit, of NaN too. Example: `%r = absf %x : tile<4xf32>`";
  let hasFolder = 1;
}

def CudaTile_NegFOp : CudaTile_FloatUnaryOp<"negf"> {
  let summary = "negation";
  let description = "Flips the sign bit, of NaN too. Example: `%r = negf %x : tile<4xf32>`";
  let hasFolder = 1;
}

def CudaTile_CeilOp : CudaTile_FloatUnaryOp<"ceil"> {
  let summary = "round up to an integral value";
  let description = "The sign of zero is kept. Example: `%r = ceil %x : tile<4xf32>`";
  let hasFolder = 1;
}

def CudaTile_FloorOp : CudaTile_FloatUnaryOp<"floor"> {
  let summary = "round down to an integral value";
  let description = "The sign of zero is kept. Example: `%r = floor %x : tile<4xf32>`";
  let hasFolder = 1;
}

def CudaTile_AddFOp : CudaTile_RoundedBinaryOp<"addf", [Commutative]> {
  let summary = "addition";
  let description = [{
    The IEEE sum in the given rounding mode. In f16 and bf16, modes other than
    nearest-even add in f32 with that mode and convert with the same mode.
    Example: `%r = addf %a, %b rounding<zero> flush_to_zero : tile<4xf32>`
  }];
  let hasFolder = 1;
}

def CudaTile_SubFOp : CudaTile_RoundedBinaryOp<"subf"> {
  let summary = "subtraction";
  let description = "As `addf`. Example: `%r = subf %a, %b : tile<4xf32>`";
  let hasFolder = 1;
}

def CudaTile_MulFOp : CudaTile_RoundedBinaryOp<"mulf", [Commutative]> {
  let summary = "multiplication";
  let description = "As `addf`. Example: `%r = mulf %a, %b : tile<4xf32>`";
  let hasFolder = 1;
}

def CudaTile_DivFOp : CudaTile_RoundedBinaryOp<"divf"> {
  let summary = "division";
  let description = [{
    Correctly rounded in the four IEEE modes. In f32 also `approx`, a times the
    reciprocal of b (2 ulp for |b| in [2^-126, 2^126], and 0 beyond), and
    `full`, 2 ulp on the full range.
    Example: `%r = divf %a, %b rounding<approx> : tile<4xf32>`
  }];
  let hasFolder = 1;
}

def CudaTile_FmaOp : CudaTile_ElementwiseOp<"fma"> {
  let summary = "fused multiply-add";
  let description = [{
    lhs * rhs + acc with one rounding.
    Example: `%r = fma %a, %b, %c : tile<4xf32>`
  }];
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs, CudaTile_FloatTile:$acc,
                       CudaTile_DefaultRounding<"NearestEven">:$rounding_mode,
                       UnitAttr:$flush_to_zero);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`rounding` `` $rounding_mode^)? (`flush_to_zero` $flush_to_zero^)?
    attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_RemFOp : CudaTile_FloatBinaryOp<"remf"> {
  let summary = "remainder of the truncated division";
  let description = [{
    lhs - trunc(lhs / rhs) * rhs, exact, with the sign of lhs. NaN when rhs is
    zero or lhs is infinite; lhs when rhs is infinite and lhs finite.
    Example: `%r = remf %a, %b : tile<4xf32>`
  }];
}

class CudaTile_MinMaxFOp<string mnemonic> : CudaTile_ElementwiseOp<mnemonic, [Commutative]> {
  let arguments = (ins CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs,
                       UnitAttr:$propagate_nan, UnitAttr:$flush_to_zero);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs oilist(`flush_to_zero` $flush_to_zero | `propagate_nan` $propagate_nan)
    attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_MaxFOp : CudaTile_MinMaxFOp<"maxf"> {
  let summary = "maximum";
  let description = [{
    IEEE 754-2019 maximumNumber: an operand that is not NaN wins. With
    `propagate_nan`, maximum: any NaN gives the canonical NaN. +0 is greater
    than -0. Example: `%r = maxf %a, %b propagate_nan : tile<4xf32>`
  }];
}

def CudaTile_MinFOp : CudaTile_MinMaxFOp<"minf"> {
  let summary = "minimum";
  let description = "As `maxf`. Example: `%r = minf %a, %b : tile<4xf32>`";
}

def CudaTile_SqrtOp : CudaTile_ElementwiseOp<"sqrt"> {
  let summary = "square root";
  let description = [{
    Correctly rounded in the four IEEE modes; `approx` in f32 only.
    Example: `%r = sqrt %x rounding<approx> flush_to_zero : tile<4xf32>`
  }];
  let arguments = (ins CudaTile_FloatTile:$source,
                       CudaTile_DefaultRounding<"NearestEven">:$rounding_mode,
                       UnitAttr:$flush_to_zero);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $source (`rounding` `` $rounding_mode^)? (`flush_to_zero` $flush_to_zero^)?
    attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
}

class CudaTile_FlushUnaryOp<string mnemonic> : CudaTile_ElementwiseOp<mnemonic> {
  let arguments = (ins CudaTile_FloatTile:$source, UnitAttr:$flush_to_zero);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $source (`flush_to_zero` $flush_to_zero^)? attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_RsqrtOp : CudaTile_FlushUnaryOp<"rsqrt"> {
  let summary = "reciprocal square root";
  let description = "1 / sqrt(x), precision unspecified. Example: `%r = rsqrt %x : tile<4xf32>`";
}

def CudaTile_Exp2Op : CudaTile_FlushUnaryOp<"exp2"> {
  let summary = "base-2 exponential";
  let description = "2^x. Example: `%r = exp2 %x flush_to_zero : tile<4xf32>`";
}

/// A function with a full and an approximate form.
class CudaTile_FullOrApproxOp<string mnemonic> : CudaTile_ElementwiseOp<mnemonic> {
  let arguments = (ins CudaTile_FloatTile:$source,
                       CudaTile_DefaultRounding<"Full">:$rounding_mode);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $source (`rounding` `` $rounding_mode^)? attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
}

def CudaTile_ExpOp : CudaTile_FullOrApproxOp<"exp"> {
  let summary = "natural exponential";
  let description = [{
    e^x; `rounding<approx>` (13.3) in f32 only.
    Example: `%r = exp %x rounding<approx> : tile<4xf32>`
  }];
}

def CudaTile_TanHOp : CudaTile_FullOrApproxOp<"tanh"> {
  let summary = "hyperbolic tangent";
  let description = [{
    At most 2 ulp in f32 and 1 ulp in f64; `rounding<approx>` (13.2) in f32
    only. Example: `%r = tanh %x : tile<4xf32>`
  }];
}

def CudaTile_LogOp : CudaTile_FloatUnaryOp<"log"> {
  let summary = "natural logarithm";
  let description = "f16 and bf16 are computed in f32. Example: `%r = log %x : tile<4xf32>`";
}

def CudaTile_Log2Op : CudaTile_FloatUnaryOp<"log2"> {
  let summary = "base-2 logarithm";
  let description = "f16 and bf16 are computed in f32. Example: `%r = log2 %x : tile<4xf32>`";
}

def CudaTile_SinOp : CudaTile_FloatUnaryOp<"sin"> {
  let summary = "sine, in radians";
  let description = "f16 and bf16 are computed in f32. Example: `%r = sin %x : tile<4xf32>`";
}

def CudaTile_CosOp : CudaTile_FloatUnaryOp<"cos"> {
  let summary = "cosine, in radians";
  let description = "f16 and bf16 are computed in f32. Example: `%r = cos %x : tile<4xf32>`";
}

def CudaTile_TanOp : CudaTile_FloatUnaryOp<"tan"> {
  let summary = "tangent, in radians";
  let description = "f16 and bf16 are computed in f32. Example: `%r = tan %x : tile<4xf32>`";
}

def CudaTile_SinHOp : CudaTile_FloatUnaryOp<"sinh"> {
  let summary = "hyperbolic sine";
  let description = "f16 and bf16 are computed in f32. Example: `%r = sinh %x : tile<4xf32>`";
}

def CudaTile_CosHOp : CudaTile_FloatUnaryOp<"cosh"> {
  let summary = "hyperbolic cosine";
  let description = "f16 and bf16 are computed in f32. Example: `%r = cosh %x : tile<4xf32>`";
}


def CudaTile_Atan2Op : CudaTile_FloatBinaryOp<"atan2"> {
  let summary = "arctangent of lhs / rhs in the right quadrant";
  let description = [{
    The first operand is the numerator, as in C's `atan2(lhs, rhs)` (13.2).
    Example: `%r = atan2 %n, %d : tile<4xf32>`
  }];
}

class CudaTile_PowBase<string mnemonic> : CudaTile_ElementwiseOp<mnemonic> {
  let arguments = (ins CudaTile_FloatTile:$source, CudaTile_FloatTile:$exponent);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = "$source `,` $exponent attr-dict `:` custom<TileIRType>(type($result))";
}

def CudaTile_FPowFOp : CudaTile_PowBase<"fpowf"> {
  let summary = "power with a floating-point exponent";
  let description = [{
    source^exponent. Spelled `pow` up to 13.3; that spelling is accepted and
    canonicalised. Example: `%r = fpowf %x, %e : tile<4xf32>`
  }];
}

def CudaTile_PowOp : CudaTile_PowBase<"pow"> {
  let summary = "`fpowf` in the spelling of 13.3 and older";
  let description = "Canonicalises to `fpowf`. Example: `%r = pow %x, %e : tile<4xf32>`";
  let hasCanonicalizeMethod = 1;
}

def CudaTile_FPowIOp : CudaTile_Op<"fpowi", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "power with an integer exponent";
  let description = [{
    source^exponent, exponent signed, i1 to i32 (13.4).
    Example: `%r = fpowi %x, %n : tile<4xf32>, tile<4xi32>`
  }];
  let arguments = (ins CudaTile_FloatTile:$source, CudaTile_IntTile:$exponent);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $source `,` $exponent attr-dict `:` custom<TileIRType>(type($source)) `,`
    custom<TileIRType>(type($exponent))
  }];
  let hasVerifier = 1;
}

def CudaTile_CmpFOp : CudaTile_Op<"cmpf", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "comparison";
  let description = [{
    An ordered comparison is false and an unordered one true when an operand is
    NaN. Example: `%r = cmpf less_than ordered %a, %b : tile<4xf32> -> tile<4xi1>`
  }];
  let arguments = (ins CudaTile_ComparisonPredicateAttr:$comparison_predicate,
                       CudaTile_ComparisonOrderingAttr:$comparison_ordering,
                       CudaTile_FloatTile:$lhs, CudaTile_FloatTile:$rhs);
  let results = (outs CudaTile_BoolTile:$result);
  let assemblyFormat = [{
    custom<Keyword>($comparison_predicate) custom<Keyword>($comparison_ordering) $lhs `,` $rhs
    attr-dict `:` custom<TileIRType>(type($lhs)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Matrix multiplication
//===----------------------------------------------------------------------===//

def CudaTile_MmaFOp : CudaTile_Op<"mmaf", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate";
  let description = [{
    lhs (M x K) times rhs (K x N) plus acc (M x N), or the same with a leading
    batch dimension. Accumulation order is unspecified. `fast_acc` (13.3) lets
    fp8 keep the tensor core's reduced-precision accumulator.

    | lhs and rhs | acc |
    |---|---|
    | f8E4M3FN, f8E5M2, f16 | f16 or f32 |
    | bf16, tf32, f32 | f32 |
    | f64 | f64 |

    Example: `%r = mmaf %a, %b, %c : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>`
  }];
  let arguments = (ins CudaTile_AnyFloatTile:$lhs, CudaTile_AnyFloatTile:$rhs,
                       CudaTile_FloatTile:$acc, UnitAttr:$fast_acc);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict `:`
    custom<TileIRType>(type($lhs)) `,` custom<TileIRType>(type($rhs)) `,`
    custom<TileIRType>(type($acc))
  }];
  let hasVerifier = 1;
}

def CudaTile_MmaFScaledOp : CudaTile_Op<"mmaf_scaled", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "block-scaled matrix multiply-accumulate";
  let description = [{
    Sum over k of (lhs * lhs_scale) * (rhs * rhs_scale), plus acc; one scale for
    every V consecutive elements along K (13.3).

    | lhs and rhs | scale | V |
    |---|---|---|
    | f8E4M3FN, f8E5M2 | f8E8M0FNU | 32 |
    | f4E2M1FN | f8E8M0FNU | 16 or 32 |
    | f4E2M1FN | f8E4M3FN, fnv8E5M3FNU | 16 |

    ```mlir
    %r = mmaf_scaled %a, %b, %c, %sa, %sb : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>,
      tile<128x128xf32>, tile<128x4xf8E8M0FNU>, tile<4x128xf8E8M0FNU>
    ```
  }];
  let arguments = (ins CudaTile_AnyFloatTile:$lhs, CudaTile_AnyFloatTile:$rhs,
                       CudaTile_FloatTile:$acc, CudaTile_NumberTile:$lhs_scale,
                       CudaTile_NumberTile:$rhs_scale);
  let results = (outs CudaTile_FloatTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict `:`
    custom<TileIRType>(type($lhs)) `,` custom<TileIRType>(type($rhs)) `,`
    custom<TileIRType>(type($acc)) `,` custom<TileIRType>(type($lhs_scale)) `,`
    custom<TileIRType>(type($rhs_scale))
  }];
  let hasVerifier = 1;
}

#endif // CUDA_TILE_FLOAT_OPS_TD
