// Canonicalisation of branches and loops.

#include "ControlFlow.h"
#include "FoldUtils.h"

using namespace mlir;
using namespace cuda_tile;

Operation *cuda_tile::getEnclosingLoop(Operation *jump) {
  Operation *parent = jump->getParentOp();
  while (isa_and_nonnull<IfOp>(parent))
    parent = parent->getParentOp();
  return isa_and_nonnull<ForOp, LoopOp>(parent) ? parent : nullptr;
}

LoopJumps cuda_tile::getLoopJumps(Operation *loop) {
  LoopJumps jumps;
  loop->getRegion(0).walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto jump = dyn_cast<ContinueOp>(op))
      jumps.continues.push_back(jump);
    else if (auto jump = dyn_cast<BreakOp>(op))
      jumps.breaks.push_back(jump);
    // The jumps within other loops lead there.
    return isa<ForOp, LoopOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return jumps;
}

/// The elements that a mask keeps.
template <typename RangeT>
static SmallVector<Value> keep(RangeT values, const llvm::BitVector &kept) {
  SmallVector<Value> result;
  for (unsigned i : kept.set_bits())
    result.push_back(values[i]);
  return result;
}

static void keepOperands(Operation *op, const llvm::BitVector &kept, PatternRewriter &rewriter) {
  rewriter.modifyOpInPlace(op, [&] { op->setOperands(keep(op->getOperands(), kept)); });
}

/// Replaces `op` by an operation with fewer results.
static void replaceWithKept(Operation *op, Operation *replacement, const llvm::BitVector &kept,
                            PatternRewriter &rewriter) {
  unsigned next = 0;
  for (unsigned i : kept.set_bits())
    rewriter.replaceAllUsesWith(op->getResult(i), replacement->getResult(next++));
  rewriter.eraseOp(op);
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

namespace {

/// Takes the branch that a constant condition picks.
struct TakeConstantBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    std::optional<APInt> condition = getConstantInt(op.getCondition());
    if (!condition)
      return failure();
    Region &taken = condition->isOne() ? op.getThenRegion() : op.getElseRegion();
    if (taken.empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    Operation *terminator = taken.front().getTerminator();
    if (isa<YieldOp>(terminator)) {
      SmallVector<Value> results(terminator->getOperands());
      rewriter.eraseOp(terminator);
      rewriter.inlineBlockBefore(&taken.front(), op);
      rewriter.replaceOp(op, results);
      return success();
    }
    // The body of a for ends in continue only.
    if (isa<ForOp>(op->getParentOp()) && !isa<ContinueOp>(terminator))
      return failure();
    // A jump: what follows is never reached.
    while (&op->getBlock()->back() != op)
      rewriter.eraseOp(&op->getBlock()->back());
    rewriter.inlineBlockBefore(&taken.front(), op);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Erases an else branch that does nothing.
struct RemoveEmptyElse : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    Region &region = op.getElseRegion();
    if (op.getNumResults() != 0 || region.empty() || !isa<YieldOp>(region.front().front()))
      return failure();
    rewriter.eraseBlock(&region.front());
    return success();
  }
};

/// Replaces results whose values are there before the branch.
struct ForwardYieldedValues : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0)
      return failure();
    auto onTrue = dyn_cast<YieldOp>(op.getThenRegion().front().getTerminator());
    auto onFalse = dyn_cast<YieldOp>(op.getElseRegion().front().getTerminator());
    bool changed = false;
    for (OpResult result : op.getResults()) {
      if (result.use_empty())
        continue;
      Value value = getReplacement(op, result, onTrue, onFalse, rewriter);
      if (!value)
        continue;
      rewriter.replaceAllUsesWith(result, value);
      changed = true;
    }
    return success(changed);
  }

private:
  static Value getReplacement(IfOp op, OpResult result, YieldOp onTrue, YieldOp onFalse,
                              PatternRewriter &rewriter) {
    unsigned i = result.getResultNumber();
    auto outside = [&](YieldOp yield) -> Value {
      Value value = yield ? yield.getOperand(i) : Value();
      return value && !op->isAncestor(value.getParentBlock()->getParentOp()) ? value : Value();
    };
    Value trueValue = outside(onTrue), falseValue = outside(onFalse);
    // A branch that jumps away yields nothing.
    if (!onTrue || !onFalse)
      return onTrue ? trueValue : falseValue;
    if (!trueValue || !falseValue)
      return {};
    if (trueValue == falseValue)
      return trueValue;
    auto type = dyn_cast<TileType>(result.getType());
    if (!type || type.getRank() != 0)
      return {};
    return SelectOp::create(rewriter, op.getLoc(), type, op.getCondition(), trueValue, falseValue);
  }
};

struct RemoveUnusedIfResults : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    llvm::BitVector kept(op.getNumResults());
    SmallVector<Type> types;
    for (OpResult result : op.getResults())
      if (!result.use_empty()) {
        kept.set(result.getResultNumber());
        types.push_back(result.getType());
      }
    if (kept.all())
      return failure();
    auto replacement = IfOp::create(rewriter, op.getLoc(), types, op.getCondition());
    for (auto [from, to] : llvm::zip(op->getRegions(), replacement->getRegions())) {
      if (auto yield = dyn_cast<YieldOp>(from.front().getTerminator()))
        keepOperands(yield, kept, rewriter);
      rewriter.inlineRegionBefore(from, to, to.end());
    }
    replaceWithKept(op, replacement, kept, rewriter);
    return success();
  }
};

} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TakeConstantBranch, RemoveEmptyElse, ForwardYieldedValues, RemoveUnusedIfResults>(
      context);
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

/// How often a loop with constant bounds runs, if that is at most once.
static std::optional<int> getSmallTripCount(ForOp op) {
  std::optional<APInt> lower = getConstantInt(op.getLowerBound());
  std::optional<APInt> upper = getConstantInt(op.getUpperBound());
  std::optional<APInt> step = getConstantInt(op.getStep());
  if (!lower || !upper)
    return std::nullopt;
  bool isUnsigned = op.getUnsignedCmp();
  if (isUnsigned ? lower->uge(*upper) : lower->sge(*upper))
    return 0;
  if (!step || (isUnsigned ? step->isZero() : !step->isStrictlyPositive()))
    return std::nullopt;
  // As unsigned numbers, upper - lower does not overflow.
  return step->uge(*upper - *lower) ? std::optional(1) : std::nullopt;
}

namespace {

/// Removes a loop that does not run, and opens one that runs once.
struct SimplifyTrivialFor : OpRewritePattern<ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ForOp op, PatternRewriter &rewriter) const override {
    std::optional<int> count = getSmallTripCount(op);
    if (!count)
      return failure();
    if (*count == 0) {
      rewriter.replaceOp(op, op.getInitValues());
      return success();
    }
    Block &body = op.getBody().front();
    auto terminator = dyn_cast<ContinueOp>(body.getTerminator());
    if (!terminator || getLoopJumps(op).continues.size() != 1)
      return failure();
    SmallVector<Value> arguments{op.getLowerBound()}, results(terminator.getOperands());
    llvm::append_range(arguments, op.getInitValues());
    for (Value &result : results)
      if (auto argument = dyn_cast<BlockArgument>(result); argument && argument.getOwner() == &body)
        result = arguments[argument.getArgNumber()];
    rewriter.eraseOp(terminator);
    rewriter.inlineBlockBefore(&body, op, arguments);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Whether every `continue` passes `argument` on, or the value it started with.
static bool isInvariant(const LoopJumps &jumps, unsigned i, BlockArgument argument, Value init) {
  return llvm::all_of(jumps.continues, [&](ContinueOp jump) {
    Value next = jump.getOperand(i);
    return next == argument || next == init;
  });
}

/// Drops carried values that do not change, and those that nobody reads.
struct SimplifyForValues : OpRewritePattern<ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ForOp op, PatternRewriter &rewriter) const override {
    LoopJumps jumps = getLoopJumps(op);
    Block &body = op.getBody().front();
    llvm::BitVector kept(op.getNumResults(), true), dropped(body.getNumArguments());
    for (auto [i, init, result] : llvm::enumerate(op.getInitValues(), op.getResults())) {
      BlockArgument argument = body.getArgument(i + 1);
      if (isInvariant(jumps, i, argument, init)) {
        rewriter.replaceAllUsesWith(argument, init);
        rewriter.replaceAllUsesWith(result, init);
      } else if (!argument.use_empty() || !result.use_empty()) {
        continue;
      }
      kept.reset(i);
      dropped.set(i + 1);
    }
    if (kept.all())
      return failure();
    SmallVector<Value> inits = keep(op.getInitValues(), kept);
    for (ContinueOp jump : jumps.continues)
      keepOperands(jump, kept, rewriter);
    rewriter.modifyOpInPlace(op, [&] { body.eraseArguments(dropped); });
    auto replacement =
        ForOp::create(rewriter, op.getLoc(), ValueRange(inits).getTypes(), op.getLowerBound(),
                      op.getUpperBound(), op.getStep(), inits, op.getUnsignedCmp());
    rewriter.inlineRegionBefore(op.getBody(), replacement.getBody(), replacement.getBody().end());
    replaceWithKept(op, replacement, kept, rewriter);
    return success();
  }
};

} // namespace

void ForOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyTrivialFor, SimplifyForValues>(context);
}

//===----------------------------------------------------------------------===//
// loop
//===----------------------------------------------------------------------===//

namespace {

/// Opens a loop whose body ends in its only jump, a `break`.
struct OpenSingleRoundLoop : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoopOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    LoopJumps jumps = getLoopJumps(op);
    auto terminator = dyn_cast<BreakOp>(body.getTerminator());
    if (!terminator || jumps.breaks.size() != 1 || !jumps.continues.empty())
      return failure();
    SmallVector<Value> arguments(op.getInitValues()), results(terminator.getOperands());
    for (Value &result : results)
      if (auto argument = dyn_cast<BlockArgument>(result); argument && argument.getOwner() == &body)
        result = arguments[argument.getArgNumber()];
    rewriter.eraseOp(terminator);
    rewriter.inlineBlockBefore(&body, op, arguments);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Drops carried values that do not change or that nobody reads, and results
/// that nobody reads.
struct SimplifyLoopValues : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoopOp op, PatternRewriter &rewriter) const override {
    LoopJumps jumps = getLoopJumps(op);
    Block &body = op.getBody().front();
    llvm::BitVector keptInits(op.getInitValues().size(), true), keptResults(op.getNumResults());
    for (auto [i, init] : llvm::enumerate(op.getInitValues())) {
      BlockArgument argument = body.getArgument(i);
      if (isInvariant(jumps, i, argument, init))
        rewriter.replaceAllUsesWith(argument, init);
      else if (!argument.use_empty())
        continue;
      keptInits.reset(i);
    }
    for (OpResult result : op.getResults())
      if (!result.use_empty())
        keptResults.set(result.getResultNumber());
    if (keptInits.all() && keptResults.all())
      return failure();
    SmallVector<Value> inits = keep(op.getInitValues(), keptInits);
    SmallVector<Value> results = keep(op.getResults(), keptResults);
    for (ContinueOp jump : jumps.continues)
      keepOperands(jump, keptInits, rewriter);
    for (BreakOp jump : jumps.breaks)
      keepOperands(jump, keptResults, rewriter);
    llvm::BitVector dropped = keptInits;
    dropped.flip();
    rewriter.modifyOpInPlace(op, [&] { body.eraseArguments(dropped); });
    auto replacement = LoopOp::create(rewriter, op.getLoc(), ValueRange(results).getTypes(), inits);
    rewriter.inlineRegionBefore(op.getBody(), replacement.getBody(), replacement.getBody().end());
    replaceWithKept(op, replacement, keptResults, rewriter);
    return success();
  }
};

} // namespace

void LoopOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<OpenSingleRoundLoop, SimplifyLoopValues>(context);
}
