// Canonicalisation of memory operations and tokens.

#include "CudaTile.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cuda_tile;

/// Tokens of nested joins count once, and fresh tokens order nothing.
OpFoldResult JoinTokensOp::fold(FoldAdaptor) {
  llvm::SetVector<Value> tokens;
  for (Value token : getTokens()) {
    if (auto inner = token.getDefiningOp<JoinTokensOp>())
      tokens.insert(inner.getTokens().begin(), inner.getTokens().end());
    else
      tokens.insert(token);
  }
  Value first = tokens.front();
  tokens.remove_if([](Value token) { return token.getDefiningOp<MakeTokenOp>(); });
  if (tokens.empty())
    return first;
  if (tokens.size() == 1)
    return tokens.front();
  if (tokens.size() == getTokens().size() && llvm::equal(tokens, getTokens()))
    return {};
  getTokensMutable().assign(tokens.getArrayRef());
  return getResult();
}

/// A weak load whose values are unused orders nothing of its own: its token is
/// the one it got.
template <typename OpT>
static LogicalResult bypassDeadLoad(OpT op, Value loaded, PatternRewriter &rewriter) {
  if (op.getMemoryOrderingSemantics() != MemoryOrdering::Weak || !loaded.use_empty() ||
      op.getResultToken().use_empty())
    return failure();
  Value token = op.getToken();
  if (!token)
    token = MakeTokenOp::create(rewriter, op.getLoc());
  rewriter.replaceAllUsesWith(op.getResultToken(), token);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult LoadPtrTkoOp::canonicalize(LoadPtrTkoOp op, PatternRewriter &rewriter) {
  return bypassDeadLoad(op, op.getResult(), rewriter);
}

LogicalResult LoadViewTkoOp::canonicalize(LoadViewTkoOp op, PatternRewriter &rewriter) {
  return bypassDeadLoad(op, op.getTile(), rewriter);
}
