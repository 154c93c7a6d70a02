// Layouts, tiles and buffers.

#ifndef TILE_GPU_TYPES_TD
#define TILE_GPU_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/BuiltinTypes.td"
include "mlir/IR/EnumAttr.td"
include "TileGPUDialect.td"

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which thread holds which element of a tile";
  let description = [{
    A tiling of each dimension with named digits. A dimension of size N is
    written as a mixed-radix number, most significant digit first; each digit
    belongs to the warps, to the lanes of a warp, or to the registers of a
    thread. `lane 8:4` is a digit of 8 values read from the lane index with
    stride 4: `(lane / 4) % 8`. Only lanes need powers of two.

    The accumulator of `mma.m16n8k16` for a 64x16 tile on four warps:

    ```mlir
    #tile_gpu.layout<[warp 4:1, reg 2, lane 8:4], [reg 2, lane 4:1, reg 2]>
    ```

    Row r is held by warp r / 16, in register half (r / 8) % 2, by lanes
    4 * (r % 8) to 4 * (r % 8) + 3. Lanes and warps that no digit names hold
    copies. Registers are numbered row-major over the register digits.
  }];
  // Digits of all dimensions in order, three numbers each: owner (0 register,
  // 1 lane, 2 warp), size, stride (0 for registers).
  let parameters = (ins ArrayRefParameter<"int64_t">:$digits,
                        ArrayRefParameter<"int64_t">:$digitsPerDim);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    enum Owner : int64_t { Register = 0, Lane = 1, Warp = 2 };
    int64_t getRank() const { return getDigitsPerDim().size(); }
    /// The shape of the tile that the digits describe.
    ::llvm::SmallVector<int64_t> getShape() const;
  }];
}

def TileGPU_TileType : TypeDef<TileGPU_Dialect, "Tile",
    [DeclareTypeInterfaceMethods<ShapedTypeInterface, ["cloneWith", "hasRank", "getShape"]>,
     ValueSemantics]> {
  let mnemonic = "tile";
  let summary = "tile in the registers of a block";
  let description = [{
    `!tile_gpu.tile<128x64xf16>` before layouts are assigned,
    `!tile_gpu.tile<128x64xf16, #layout>` after. A tile of pointers is a tile of
    i64 addresses; tf32 is held in f32.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::tile_gpu::LayoutAttr">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGPU_BufferType : TypeDef<TileGPU_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "buffer in shared memory";
  let description = [{
    `!tile_gpu.buffer<128x64xf16, order = [1, 0], swizzle = 128, stages = 3>`.

    `order` lists the dimensions from slowest to fastest in memory (default:
    row-major). An element of i1 takes a byte, one of tf32 four. Rows longer than the swizzle width are cut into panels of that
    width, one after another, as a tensor memory access would lay them out;
    within a panel, the 16-byte chunk index is xor-ed with bits of the row
    (128: three bits, 64: two, 32: one). `pad` adds elements to each row
    instead. `stages` such buffers follow each other.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        ArrayRefParameter<"int64_t">:$order, "int64_t":$swizzle,
                        "int64_t":$pad, "int64_t":$stages);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGPU_TensorMapType : TypeDef<TileGPU_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "what tensor memory accesses are told about a tensor";
  let description = [{
    `!tile_gpu.tensor_map<64x64xf16, swizzle = 128>` describes a tensor of rank 2
    whose boxes of 64x64 elements are copied to and from buffers of one panel,
    written as such a buffer.
  }];
  let parameters = (ins "::tile_gpu::BufferType":$box);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class TileGPU_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tile_gpu";
  let genSpecializedAttr = 0;
}

class TileGPU_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<TileGPU_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def TileGPU_Padding : TileGPU_Enum<"Padding", "value of elements outside the tensor", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"NegZero", 1, "neg_zero">,
    I32EnumAttrCase<"NaN", 2, "nan">,
    I32EnumAttrCase<"PosInf", 3, "pos_inf">,
    I32EnumAttrCase<"NegInf", 4, "neg_inf">]>;
def TileGPU_PaddingAttr : TileGPU_EnumAttr<TileGPU_Padding, "padding">;

def TileGPU_Ordering : TileGPU_Enum<"Ordering", "memory ordering", [
    I32EnumAttrCase<"Weak", 0, "weak">,
    I32EnumAttrCase<"Relaxed", 1, "relaxed">,
    I32EnumAttrCase<"Acquire", 2, "acquire">,
    I32EnumAttrCase<"Release", 3, "release">,
    I32EnumAttrCase<"AcqRel", 4, "acq_rel">]>;
def TileGPU_OrderingAttr : TileGPU_EnumAttr<TileGPU_Ordering, "ordering">;

def TileGPU_Scope : TileGPU_Enum<"Scope", "threads that a memory operation synchronises with", [
    I32EnumAttrCase<"Block", 0, "block">,
    I32EnumAttrCase<"Device", 1, "device">,
    I32EnumAttrCase<"System", 2, "system">]>;
def TileGPU_ScopeAttr : TileGPU_EnumAttr<TileGPU_Scope, "scope">;

def TileGPU_AtomicKind : TileGPU_Enum<"AtomicKind", "atomic read-modify-write operation", [
    I32EnumAttrCase<"And", 0, "and">,
    I32EnumAttrCase<"Or", 1, "or">,
    I32EnumAttrCase<"Xor", 2, "xor">,
    I32EnumAttrCase<"Add", 3, "add">,
    I32EnumAttrCase<"AddF", 4, "addf">,
    I32EnumAttrCase<"Max", 5, "max">,
    I32EnumAttrCase<"Min", 6, "min">,
    I32EnumAttrCase<"UMax", 7, "umax">,
    I32EnumAttrCase<"UMin", 8, "umin">,
    I32EnumAttrCase<"Xchg", 9, "xchg">]>;
def TileGPU_AtomicKindAttr : TileGPU_EnumAttr<TileGPU_AtomicKind, "atomic">;

def TileGPU_CastKind : TileGPU_Enum<"CastKind", "conversion, as the operation of arith of this name", [
    I32EnumAttrCase<"BitCast", 0, "bitcast">,
    I32EnumAttrCase<"ExtF", 1, "extf">,
    I32EnumAttrCase<"ExtSI", 2, "extsi">,
    I32EnumAttrCase<"ExtUI", 3, "extui">,
    I32EnumAttrCase<"FPToSI", 4, "fptosi">,
    I32EnumAttrCase<"FPToUI", 5, "fptoui">,
    I32EnumAttrCase<"SIToFP", 6, "sitofp">,
    I32EnumAttrCase<"TruncF", 7, "truncf">,
    I32EnumAttrCase<"TruncI", 8, "trunci">,
    I32EnumAttrCase<"UIToFP", 9, "uitofp">]>;
def TileGPU_CastKindAttr : TileGPU_EnumAttr<TileGPU_CastKind, "cast_kind">;

def TileGPU_Instruction : TileGPU_Enum<"Instruction", "how a matrix product is computed", [
    I32EnumAttrCase<"MultiplyAdd", 0, "multiply_add">,
    I32EnumAttrCase<"MmaSync", 1, "mma_sync">,
    I32EnumAttrCase<"Wgmma", 2, "wgmma">]>;
def TileGPU_InstructionAttr : TileGPU_EnumAttr<TileGPU_Instruction, "instruction">;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

def TileGPU_Tile : Type<CPred<"::llvm::isa<::tile_gpu::TileType>($_self)">, "tile",
                        "::tile_gpu::TileType">;
def TileGPU_Buffer : Type<CPred<"::llvm::isa<::tile_gpu::BufferType>($_self)">, "buffer",
                          "::tile_gpu::BufferType">;
def TileGPU_TensorMap : Type<CPred<"::llvm::isa<::tile_gpu::TensorMapType>($_self)">,
                             "tensor map", "::tile_gpu::TensorMapType">;
def TileGPU_Scalar : Type<CPred<"$_self.isIntOrFloat()">, "integer or float">;
def TileGPU_TileOrScalar : AnyTypeOf<[TileGPU_Tile, TileGPU_Scalar], "tile, integer or float">;
def TileGPU_TileOrBuffer : AnyTypeOf<[TileGPU_Tile, TileGPU_Buffer], "tile or buffer">;
def TileGPU_Printable : AnyTypeOf<[TileGPU_Tile, TileGPU_Buffer, TileGPU_Scalar],
                                  "tile, buffer, integer or float">;
def TileGPU_Pointer : Type<CPred<"::tile_gpu::isGlobalPointer($_self)">, "!llvm.ptr<1>">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext(), 1)">;

#endif // TILE_GPU_TYPES_TD
