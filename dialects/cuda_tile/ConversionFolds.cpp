// Folds of integer conversions, casts and pointer casts.

#include "FoldUtils.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Widening and narrowing
//===----------------------------------------------------------------------===//

static unsigned getWidth(Value value) {
  return cast<TileType>(value.getType()).getElementType().getIntOrFloatBitWidth();
}

OpFoldResult ExtIOp::fold(FoldAdaptor adaptor) {
  unsigned width = getWidth(getResult());
  bool isSigned = getSignedness() == Signedness::Signed;
  return foldElements<APInt>(getType(), adaptor.getOperands(),
                             [&](ArrayRef<APInt> v) -> std::optional<APInt> {
                               return isSigned ? v[0].sext(width) : v[0].zext(width);
                             });
}

/// Widening twice is widening once, if the first is unsigned (its result is not
/// negative) or both are signed.
LogicalResult ExtIOp::canonicalize(ExtIOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<ExtIOp>();
  if (!inner ||
      (inner.getSignedness() == Signedness::Signed && op.getSignedness() == Signedness::Unsigned))
    return failure();
  rewriter.replaceOpWithNewOp<ExtIOp>(op, op.getType(), inner.getSource(), inner.getSignedness());
  return success();
}

OpFoldResult TruncIOp::fold(FoldAdaptor adaptor) {
  // Narrowing to the original type undoes widening.
  if (auto inner = getSource().getDefiningOp<ExtIOp>())
    if (inner.getSource().getType() == getType())
      return inner.getSource();
  unsigned width = getWidth(getResult());
  auto overflow = static_cast<uint32_t>(getOverflow());
  bool noSigned = overflow & static_cast<uint32_t>(IntegerOverflow::NoSignedWrap);
  bool noUnsigned = overflow & static_cast<uint32_t>(IntegerOverflow::NoUnsignedWrap);
  return foldElements<APInt>(
      getType(), adaptor.getOperands(), [&](ArrayRef<APInt> v) -> std::optional<APInt> {
        if ((noSigned && !v[0].isSignedIntN(width)) || (noUnsigned && !v[0].isIntN(width)))
          return std::nullopt;
        return v[0].trunc(width);
      });
}

/// Narrowing twice is narrowing once; narrowing after widening is one of both.
LogicalResult TruncIOp::canonicalize(TruncIOp op, PatternRewriter &rewriter) {
  if (auto inner = op.getSource().getDefiningOp<TruncIOp>()) {
    // Together they promise what both promise.
    auto overflow = static_cast<IntegerOverflow>(static_cast<uint32_t>(op.getOverflow()) &
                                                 static_cast<uint32_t>(inner.getOverflow()));
    rewriter.replaceOpWithNewOp<TruncIOp>(op, op.getType(), inner.getSource(), overflow);
    return success();
  }
  auto inner = op.getSource().getDefiningOp<ExtIOp>();
  if (!inner)
    return failure();
  unsigned from = getWidth(inner.getSource()), to = getWidth(op.getResult());
  if (from == to)
    return failure();
  if (from < to) {
    rewriter.replaceOpWithNewOp<ExtIOp>(op, op.getType(), inner.getSource(), inner.getSignedness());
    return success();
  }
  // The bits that widening added say nothing about those that are dropped.
  rewriter.replaceOpWithNewOp<TruncIOp>(op, op.getType(), inner.getSource(), IntegerOverflow::None);
  return success();
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Looks through a chain of casts of one kind: the first value, if it has the
/// type of the result, or a shorter chain.
template <typename OpT> static OpFoldResult foldCastChain(OpT op) {
  if (op.getSource().getType() == op.getType())
    return op.getSource();
  if (auto inner = op.getSource().template getDefiningOp<OpT>()) {
    op.getSourceMutable().assign(inner.getSource());
    return op.getResult();
  }
  return {};
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult shorter = foldCastChain(*this))
    return shorter;
  // Types of one width store their bits alike, but for i1 and tf32, which are
  // cast only to themselves.
  auto constant = dyn_cast_or_null<DenseIntOrFPElementsAttr>(adaptor.getSource());
  if (!constant || isa<F8E5M3FNUType>(getType().getElementType()))
    return {};
  return DenseElementsAttr::getFromRawBuffer(getType(), constant.getRawData());
}

OpFoldResult PtrToPtrOp::fold(FoldAdaptor) { return foldCastChain(*this); }

OpFoldResult IntToPtrOp::fold(FoldAdaptor) {
  if (auto inner = getSource().getDefiningOp<PtrToIntOp>())
    if (inner.getSource().getType() == getType())
      return inner.getSource();
  return {};
}

OpFoldResult PtrToIntOp::fold(FoldAdaptor) {
  if (auto inner = getSource().getDefiningOp<IntToPtrOp>())
    return inner.getSource();
  // The address does not depend on the pointee.
  if (auto inner = getSource().getDefiningOp<PtrToPtrOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}
