// Structured control flow. Any region may use outer values.

#ifndef CUDA_TILE_CONTROL_FLOW_OPS_TD
#define CUDA_TILE_CONTROL_FLOW_OPS_TD

include "mlir/Interfaces/LoopLikeInterface.td"
include "CudaTileCoreOps.td"

// `break`, `continue` and `return` may leave from within branches, which MLIR's
// RegionBranchOpInterface cannot state (every jump must come from a terminator
// of the operation's own regions): no operation here implements it, and
// analyses take the conservative way. Side effects of a loop are those of its
// body, without the jumps that end in the loop itself.

def CudaTile_ForOp : CudaTile_RegionOp<"for", [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames", "getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getLoopInductionVars"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>, SingleBlock]> {
  let summary = "counted loop";
  let description = [{
    Runs from `lower_bound` up to but not including `upper_bound`; `step` must
    be positive. The comparison is signed unless marked `unsigned` (13.2).

    ```mlir
    %r = for %i in (%lb to %ub, step %st) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      continue %a : tile<f32>
    }
    ```
  }];
  let arguments = (ins CudaTile_IntScalar:$lower_bound, CudaTile_IntScalar:$upper_bound,
                       CudaTile_IntScalar:$step, Variadic<CudaTile_CarriedType>:$init_values,
                       UnitAttr:$unsignedCmp);
  let results = (outs Variadic<CudaTile_CarriedType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def CudaTile_LoopOp : CudaTile_RegionOp<"loop", [
    OpAsmOpInterface, DeclareOpInterfaceMethods<LoopLikeOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, SingleBlock]> {
  let summary = "loop until `break`";
  let description = [{
    `continue` carries values of the types of the initial values to the next
    round, `break` the results out of the loop.

    ```mlir
    %r = loop iter_values(%a = %x) : tile<f32> -> tile<i32> {
      if %c { break %n : tile<i32> }
      continue %a : tile<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<CudaTile_CarriedType>:$init_values);
  let results = (outs Variadic<CudaTile_CarriedType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def CudaTile_IfOp : CudaTile_RegionOp<"if", [
    OpAsmOpInterface, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "branch";
  let description = [{
    With results, each branch yields them or leaves by `break`, `continue` or
    `return`; without, a branch may also fall through.

    ```mlir
    %r = if %c -> (tile<f32>) { yield %a : tile<f32> } else { yield %b : tile<f32> }
    ```
  }];
  let arguments = (ins CudaTile_BoolScalar:$condition);
  let results = (outs Variadic<CudaTile_CarriedType>:$results);
  let regions = (region SizedRegion<1>:$then_region, MaxSizedRegion<1>:$else_region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

class CudaTile_TerminatorOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_Op<mnemonic, !listconcat([Terminator], traits)> {
  let arguments = (ins Variadic<CudaTile_CarriedType>:$operands);
  let assemblyFormat = "($operands^ `:` custom<TileIRTypes>(type($operands)))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

/// A jump out of the branches around it. One that stands in a branch has an
/// effect, lest the branch be erased as dead.
class CudaTile_JumpOp<string mnemonic>
    : CudaTile_TerminatorOp<mnemonic, [
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, AlwaysSpeculatable]> {
  let hasVerifier = 1;
}

def CudaTile_YieldOp : CudaTile_TerminatorOp<"yield", [
    Pure, ParentOneOf<["IfOp", "ReduceOp", "ScanOp"]>]> {
  let summary = "end of a branch or of a combiner";
  let description = [{
    Gives the results of `if`, or the combined values of `reduce` and `scan`.
    Example: `yield %a, %b : tile<f32>, tile<i32>`
  }];
  let hasVerifier = 1;
}

def CudaTile_ContinueOp : CudaTile_JumpOp<"continue"> {
  let summary = "next round of the innermost loop";
  let description = [{
    Passes the carried values on. Stands at the end of the body of `for` or
    `loop`, or of a branch in it. Example: `continue %a : tile<f32>`
  }];
}

def CudaTile_BreakOp : CudaTile_JumpOp<"break"> {
  let summary = "leave the innermost `loop`";
  let description = [{
    Gives the results of the loop. Stands at the end of the body of `loop`, or
    of a branch in it; `for` cannot be left. Example: `break %n : tile<i32>`
  }];
}

def CudaTile_ReturnOp : CudaTile_JumpOp<"return"> {
  let summary = "leave the kernel";
  let description = [{
    Stands at the end of an entry, of a branch, or of the body of `loop`.
    Example: `return`
  }];
}

#endif // CUDA_TILE_CONTROL_FLOW_OPS_TD
