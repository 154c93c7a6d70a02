// Side effects of control flow, what may be speculated, and names of results.

#include "ControlFlow.h"
#include "FoldUtils.h"

#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace cuda_tile;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Jumps and loops
//===----------------------------------------------------------------------===//

/// A jump out of a branch has an effect, so that the branch is not dead. One
/// that ends the body of its own loop is a plain terminator.
template <typename OpT> static void addJumpEffect(OpT op, Effects &effects) {
  if (isa<IfOp>(op->getParentOp()))
    effects.emplace_back(MemoryEffects::Write::get());
}

void ContinueOp::getEffects(Effects &effects) { addJumpEffect(*this, effects); }
void BreakOp::getEffects(Effects &effects) { addJumpEffect(*this, effects); }

void ReturnOp::getEffects(Effects &effects) {
  if (!isa<EntryOp>((*this)->getParentOp()))
    effects.emplace_back(MemoryEffects::Write::get());
}

/// The effects of the operations in a loop's body.
static void addBodyEffects(Operation *loop, Effects &effects) {
  loop->getRegion(0).walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ContinueOp, BreakOp>(op) && getEnclosingLoop(op) == loop)
      return WalkResult::advance();
    if (auto interface = dyn_cast<MemoryEffectOpInterface>(op)) {
      SmallVector<SideEffects::EffectInstance<MemoryEffects::Effect>> own;
      interface.getEffects(own);
      effects.append(own.begin(), own.end());
      // The interface of a loop speaks for its body, too.
      return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ? WalkResult::advance()
                                                                : WalkResult::skip();
    }
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    // Nothing is known of an operation of another dialect.
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
    return WalkResult::skip();
  });
}

void ForOp::getEffects(Effects &effects) { addBodyEffects(*this, effects); }
void LoopOp::getEffects(Effects &effects) { addBodyEffects(*this, effects); }

SmallVector<Region *> ForOp::getLoopRegions() { return {&getBody()}; }
SmallVector<Region *> LoopOp::getLoopRegions() { return {&getBody()}; }

std::optional<SmallVector<Value>> ForOp::getLoopInductionVars() {
  return SmallVector<Value>{getBody().getArgument(0)};
}

//===----------------------------------------------------------------------===//
// Speculation
//===----------------------------------------------------------------------===//

static Speculation::Speculatability speculatableIf(bool condition) {
  return condition ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

/// A promise that the operands keep need not hold where the operation did not
/// run.
template <typename OpT> static Speculation::Speculatability speculateWithoutPromise(OpT op) {
  return speculatableIf(op.getOverflow() == IntegerOverflow::None);
}

Speculation::Speculatability AddIOp::getSpeculatability() { return speculateWithoutPromise(*this); }
Speculation::Speculatability SubIOp::getSpeculatability() { return speculateWithoutPromise(*this); }
Speculation::Speculatability MulIOp::getSpeculatability() { return speculateWithoutPromise(*this); }
Speculation::Speculatability ShLIOp::getSpeculatability() { return speculateWithoutPromise(*this); }
Speculation::Speculatability NegIOp::getSpeculatability() { return speculateWithoutPromise(*this); }
Speculation::Speculatability TruncIOp::getSpeculatability() {
  return speculateWithoutPromise(*this);
}
Speculation::Speculatability AssumeOp::getSpeculatability() { return Speculation::NotSpeculatable; }

/// A division by a constant other than 0 and, if signed, -1 is defined.
template <typename OpT> static Speculation::Speculatability speculateDivision(OpT op) {
  std::optional<APInt> divisor = getConstantInt(op.getRhs());
  return speculatableIf(divisor && !divisor->isZero() &&
                        (op.getSignedness() == Signedness::Unsigned || !divisor->isAllOnes()));
}

Speculation::Speculatability DivIOp::getSpeculatability() { return speculateDivision(*this); }
Speculation::Speculatability RemIOp::getSpeculatability() { return speculateDivision(*this); }

/// A slice with constant indices in range is defined.
static Speculation::Speculatability speculateSlice(OperandRange indices, TileType tile,
                                                   TileType slice) {
  for (auto [i, index] : llvm::enumerate(indices)) {
    std::optional<APInt> value = getConstantInt(index);
    if (!value || value->uge(tile.getDimSize(i) / slice.getDimSize(i)))
      return Speculation::NotSpeculatable;
  }
  return Speculation::Speculatable;
}

Speculation::Speculatability ExtractOp::getSpeculatability() {
  return speculateSlice(getIndices(), getSource().getType(), getType());
}
Speculation::Speculatability InsertOp::getSpeculatability() {
  return speculateSlice(getIndices(), getDestination().getType(), getSource().getType());
}

/// A step that is not positive is undefined.
Speculation::Speculatability ForOp::getSpeculatability() {
  std::optional<APInt> step = getConstantInt(getStep());
  bool positive = step && (getUnsignedCmp() ? !step->isZero() : step->isStrictlyPositive());
  return positive ? Speculation::RecursivelySpeculatable : Speculation::NotSpeculatable;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

SymbolTable::Visibility GlobalOp::getVisibility() {
  return getSymbolVisibility() == cuda_tile::SymbolVisibility::Private
             ? SymbolTable::Visibility::Private
             : SymbolTable::Visibility::Public;
}

void GlobalOp::setVisibility(SymbolTable::Visibility visibility) {
  setSymbolVisibility(visibility == SymbolTable::Visibility::Private
                          ? cuda_tile::SymbolVisibility::Private
                          : cuda_tile::SymbolVisibility::Public);
}

//===----------------------------------------------------------------------===//
// Names of results, as NVIDIA's disassembler gives them
//===----------------------------------------------------------------------===//

/// `cst_2_f32`; `cst_f32` if the value is no splat, or a float other than a
/// natural number; `true`.
static std::string getConstantName(ConstantOp op) {
  Type element = op.getType().getElementType();
  std::optional<APInt> integer = getIntSplat(op.getValue());
  if (integer && element.isInteger(1))
    return integer->isOne() ? "true" : "false";
  std::string name = "cst_";
  llvm::raw_string_ostream stream(name);
  std::optional<APFloat> number = getFloatSplat(op.getValue());
  llvm::APSInt natural(64, /*isUnsigned=*/true);
  bool isExact = false;
  if (integer)
    stream << *integer << '_';
  else if (number && number->isNaN())
    stream << "NaN_";
  else if (number && !number->isNegative() &&
           number->convertToInteger(natural, APFloat::rmTowardZero, &isExact) == APFloat::opOK)
    stream << natural << '_';
  stream << element;
  return name;
}

/// The name that its operation suggests for a value, or nothing.
static std::string getSuggestedName(Value value) {
  std::string name;
  if (auto op = value.getDefiningOp<OpAsmOpInterface>())
    op.getAsmResultNames([&](Value result, StringRef suggestion) {
      if (result == value)
        name = suggestion.str();
    });
  return name;
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getConstantName(*this));
}
void AssumeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name = getSuggestedName(getValue());
  setName(getResult(), name.empty() ? "assume" : "assume_" + name);
}
void BroadcastOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "bcast"); }
void ReshapeOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "reshape"); }

void GetTileBlockIdOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getX(), "blockId_x");
  setName(getY(), "blockId_y");
  setName(getZ(), "blockId_z");
}
void GetNumTileBlocksOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getX(), "gridSize_x");
  setName(getY(), "gridSize_y");
  setName(getZ(), "gridSize_z");
}

void MakeTensorViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "tview");
}
void MakePartitionViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "pview");
}
void MakeStridedViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "sview");
}
void MakeGatherScatterViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "gsview");
}
void MultimemLoadReduceViewTkoOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getTile(), "reduced_values");
  setName(getResultToken(), "result_token");
}

void ReduceOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults() != 0)
    setName(getResult(0), "reduce");
}

void ReduceOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  bool isSingle = region.getNumArguments() == 2;
  for (BlockArgument argument : region.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::string name = i % 2 == 0 ? "reduce_lhs" : "reduce_rhs";
    setName(argument, isSingle ? name : name + std::to_string(i / 2));
  }
}

void ForOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults() != 0)
    setName(getResult(0), "for");
}

void ForOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments()) {
    unsigned i = argument.getArgNumber();
    setName(argument, i == 0 ? "loopIdx" : "iterArg" + std::to_string(i - 1));
  }
}
