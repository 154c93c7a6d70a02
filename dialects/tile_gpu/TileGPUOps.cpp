// The tile_gpu dialect: rules and folds of the operations.

#include "TileGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tile_gpu;

#define GET_OP_CLASSES
#include "TileGPUOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared rules
//===----------------------------------------------------------------------===//

static int64_t numElements(ArrayRef<int64_t> shape) { return ShapedType::getNumElements(shape); }

/// The tile types among `types` have one shape and one layout.
static LogicalResult verifyElementwise(Operation *op, TypeRange types) {
  TileType first;
  for (Type type : types) {
    auto tile = dyn_cast<TileType>(type);
    if (!tile)
      continue;
    if (!first)
      first = tile;
    if (tile.getShape() != first.getShape() || tile.getLayout() != first.getLayout())
      return op->emitOpError("operands and result must have one shape and layout, found ")
             << first << " and " << tile;
  }
  return success();
}

static LogicalResult verifyElementwise(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return verifyElementwise(op, types);
}

static LogicalResult verifyTensor(Operation *op, ArrayRef<int64_t> shape, ValueRange starts,
                                  ValueRange sizes, ValueRange strides, ArrayRef<bool> inBounds,
                                  int64_t alignment) {
  size_t rank = shape.size();
  if (starts.size() != rank || sizes.size() != rank || strides.size() != rank ||
      inBounds.size() != rank)
    return op->emitOpError("needs ") << rank << " starts, sizes, strides and in_bounds, found "
                                     << starts.size() << ", " << sizes.size() << ", "
                                     << strides.size() << " and " << inBounds.size();
  if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
    return op->emitOpError("alignment must be a power of two, found ") << alignment;
  return success();
}

static Type elementOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getElementType();
  return getElementTypeOrSelf(type);
}

static LogicalResult verifySameElementType(Operation *op, Type a, Type b) {
  if (elementOf(a) != elementOf(b))
    return op->emitOpError("element types differ: ") << a << " and " << b;
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles in registers
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  return verifySameElementType(*this, getSource().getType(), getType());
}

LogicalResult IotaOp::verify() {
  if (getType().getShape().size() != 1 || !getType().getElementType().isInteger())
    return emitOpError("gives a rank-1 tile of integers, found ") << getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto source = cast<TileType>(getSource().getType()).getShape(), result = getType().getShape();
  bool fits = source.size() == result.size();
  for (size_t i = 0; fits && i < source.size(); ++i)
    fits = source[i] == 1 || source[i] == result[i];
  if (!fits)
    return emitOpError("cannot repeat ") << getSource().getType() << " to " << getType();
  return verifySameElementType(*this, getSource().getType(), getType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource()) : OpFoldResult();
}

LogicalResult ReshapeOp::verify() {
  if (numElements(cast<TileType>(getSource().getType()).getShape()) !=
      numElements(getType().getShape()))
    return emitOpError("changes the number of elements: ")
           << getSource().getType() << " to " << getType();
  return verifySameElementType(*this, getSource().getType(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    if (inner.getSource().getType() == getType())
      return inner.getSource();
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

LogicalResult ConvertLayoutOp::verify() {
  if (cast<TileType>(getSource().getType()).getShape() != getType().getShape())
    return emitOpError("changes the shape: ") << getSource().getType() << " to " << getType();
  return verifySameElementType(*this, getSource().getType(), getType());
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

LogicalResult PermuteOp::verify() {
  auto source = cast<TileType>(getSource().getType()).getShape(), result = getType().getShape();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  bool fits = sorted == llvm::to_vector(llvm::seq<int64_t>(0, source.size())) &&
              source.size() == result.size();
  for (size_t i = 0; fits && i < result.size(); ++i)
    fits = result[i] == source[permutation[i]];
  if (!fits)
    return emitOpError("does not permute ") << getSource().getType() << " to " << getType();
  return verifySameElementType(*this, getSource().getType(), getType());
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  bool identity = permutation == ArrayRef<int64_t>(llvm::to_vector(
                                     llvm::seq<int64_t>(0, permutation.size())));
  return identity && getSource().getType() == getType() ? OpFoldResult(getSource())
                                                        : OpFoldResult();
}

LogicalResult ExtractScalarOp::verify() {
  auto tile = cast<TileType>(getSource().getType());
  if (numElements(tile.getShape()) != 1)
    return emitOpError("needs a tile with one element, found ") << tile;
  return verifySameElementType(*this, tile, getType());
}

/// `part` is a slice of `whole`, one index for each dimension.
static LogicalResult verifySlice(Operation *op, Type whole, Type part, size_t indices) {
  auto wholeShape = cast<TileType>(whole).getShape(), partShape = cast<TileType>(part).getShape();
  bool fits = wholeShape.size() == partShape.size();
  for (size_t i = 0; fits && i < partShape.size(); ++i)
    fits = wholeShape[i] % partShape[i] == 0;
  if (!fits)
    return op->emitOpError() << part << " is no slice of " << whole;
  if (indices != wholeShape.size())
    return op->emitOpError("needs ") << wholeShape.size() << " indices, found " << indices;
  return verifySameElementType(op, whole, part);
}

LogicalResult ExtractOp::verify() {
  return verifySlice(*this, getSource().getType(), getType(), getIndices().size());
}

LogicalResult InsertOp::verify() {
  return verifySlice(*this, getType(), getSource().getType(), getIndices().size());
}

LogicalResult CatOp::verify() {
  auto lhs = cast<TileType>(getLhs().getType()), rhs = cast<TileType>(getRhs().getType());
  SmallVector<int64_t> shape(lhs.getShape());
  int64_t dim = getDim();
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return emitOpError("has no dimension ") << dim << " in " << lhs;
  bool fits = rhs.getShape().size() == shape.size();
  if (fits)
    shape[dim] += rhs.getShape()[dim];
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = static_cast<int64_t>(i) == dim || shape[i] == rhs.getShape()[i];
  if (!fits || getType().getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << lhs << " and " << rhs << " along " << dim << " do not make " << getType();
  if (failed(verifySameElementType(*this, lhs, rhs)))
    return failure();
  return verifySameElementType(*this, lhs, getType());
}

LogicalResult ReinterpretOp::verify() {
  auto source = cast<TileType>(getSource().getType()), result = getType();
  auto bits = [](TileType tile) {
    unsigned width = tile.getElementType().getIntOrFloatBitWidth();
    return width == 19 ? 32 : width; // tf32
  };
  if (source.getShape().size() != 1 || result.getShape().size() != 1 ||
      source.getShape()[0] * bits(source) != result.getShape()[0] * bits(result))
    return emitOpError("changes the number of bits, or is not of rank 1: ")
           << source << " to " << result;
  return success();
}

LogicalResult CastOp::verify() { return verifyElementwise(*this); }

LogicalResult SelectOp::verify() {
  if (!getElementTypeOrSelf(getCondition().getType()).isInteger(1))
    return emitOpError("condition must be a tile of i1, found ") << getCondition().getType();
  return verifyElementwise(*this);
}

LogicalResult CallOp::verify() { return verifyElementwise(*this); }

LogicalResult InlinePtxOp::verify() { return verifyElementwise(*this); }

LogicalResult FToFOp::verify() {
  if (!llvm::is_contained({"rn", "rz", "rm", "rp", "rna"}, getRounding()))
    return emitOpError("rounding must be rn, rz, rm, rp or rna, found ") << getRounding();
  return verifyElementwise(*this);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static LogicalResult verifyAggregate(Operation *op, ValueRange operands, ArrayAttr identities,
                                     int64_t dim, Block &body) {
  if (operands.empty() || identities.size() != operands.size())
    return op->emitOpError("needs one identity for each of at least one operand");
  auto first = cast<TileType>(operands[0].getType());
  if (dim < 0 || dim >= static_cast<int64_t>(first.getShape().size()))
    return op->emitOpError("has no dimension ") << dim << " in " << first;
  if (failed(verifyElementwise(op, operands.getTypes())))
    return failure();
  if (body.getNumArguments() != 2 * operands.size())
    return op->emitOpError("body must take ") << 2 * operands.size() << " scalars";
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != operands.size())
    return op->emitOpError("body must yield ") << operands.size() << " scalars";
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type element = cast<TileType>(operand.getType()).getElementType();
    if (body.getArgument(2 * i).getType() != element ||
        body.getArgument(2 * i + 1).getType() != element ||
        yield->getOperand(i).getType() != element)
      return op->emitOpError("body must take and yield ") << element << " for operand " << i;
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyAggregate(*this, getOperands(), getIdentities(), getDim(), getBody().front());
}

LogicalResult ScanOp::verifyRegions() {
  return verifyAggregate(*this, getOperands(), getIdentities(), getDim(), getBody().front());
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  return verifyTensor(*this, getType().getShape(), getStarts(), getSizes(), getStrides(),
                      getInBounds(), getAlignment());
}

LogicalResult PrefetchOp::verify() {
  auto tile = dyn_cast<TileType>(getTile());
  if (!tile)
    return emitOpError("fetches a tile, not ") << getTile();
  return verifyTensor(*this, tile.getShape(), getStarts(), getSizes(), getStrides(), getInBounds(),
                      getAlignment());
}

LogicalResult StoreOp::verify() {
  return verifyTensor(*this, cast<TileType>(getValue().getType()).getShape(), getStarts(),
                      getSizes(), getStrides(), getInBounds(), getAlignment());
}

LogicalResult AtomicRedOp::verify() {
  return verifyTensor(*this, cast<TileType>(getValue().getType()).getShape(), getStarts(),
                      getSizes(), getStrides(), getInBounds(), getAlignment());
}

LogicalResult AsyncLoadOp::verify() {
  return verifyTensor(*this, cast<BufferType>(getBuffer().getType()).getShape(), getStarts(),
                      getSizes(), getStrides(), getInBounds(), getAlignment());
}

static LogicalResult verifyAddresses(Operation *op, Type addresses) {
  if (!getElementTypeOrSelf(addresses).isInteger(64))
    return op->emitOpError("addresses must be i64, found ") << addresses;
  return verifyElementwise(op);
}

LogicalResult GatherOp::verify() { return verifyAddresses(*this, getAddresses().getType()); }
LogicalResult PrefetchLinesOp::verify() { return verifyAddresses(*this, getAddresses().getType()); }
LogicalResult ScatterOp::verify() { return verifyAddresses(*this, getAddresses().getType()); }
LogicalResult AtomicRMWOp::verify() { return verifyAddresses(*this, getAddresses().getType()); }
LogicalResult AtomicCASOp::verify() { return verifyAddresses(*this, getAddresses().getType()); }

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static LogicalResult verifyBufferHolds(Operation *op, TileType tile, BufferType buffer,
                                       size_t offsets = 0) {
  ArrayRef<int64_t> part = tile.getShape(), whole = buffer.getShape();
  bool fits = offsets ? part.size() == whole.size() && offsets == whole.size() : part == whole;
  for (size_t i = 0; fits && i < part.size(); ++i)
    fits = whole[i] % part[i] == 0;
  if (!fits || buffer.getStages() != 1)
    return op->emitOpError() << buffer << " does not hold " << tile
                             << (offsets ? " at these offsets" : "");
  return verifySameElementType(op, tile, buffer);
}

LogicalResult StageOp::verify() {
  auto source = cast<BufferType>(getSource().getType());
  auto expected = BufferType::get(getContext(), source.getShape(), source.getElementType(),
                                  source.getOrder(), source.getSwizzle(), source.getPad(), 1);
  if (getType() != expected)
    return emitOpError("one stage of ") << source << " is " << expected << ", not " << getType();
  return success();
}

LogicalResult ToSharedOp::verify() {
  return verifyBufferHolds(*this, cast<TileType>(getSource().getType()), getType());
}

LogicalResult LocalStoreOp::verify() {
  return verifyBufferHolds(*this, cast<TileType>(getValue().getType()),
                           cast<BufferType>(getBuffer().getType()), getOffsets().size());
}

LogicalResult LocalLoadOp::verify() {
  return verifyBufferHolds(*this, getType(), cast<BufferType>(getBuffer().getType()),
                           getOffsets().size());
}

//===----------------------------------------------------------------------===//
// Tensor memory accesses
//===----------------------------------------------------------------------===//

LogicalResult TensorMapOp::verify() {
  size_t rank = getType().getBox().getShape().size();
  if (getSizes().size() != rank || getStrides().size() != rank)
    return emitOpError("needs ") << rank << " sizes and strides, found " << getSizes().size()
                                 << " and " << getStrides().size();
  if (bool(getSlot()) != bool(getScratch()))
    return emitOpError("has both a slot and scratch, or neither");
  return success();
}

static LogicalResult verifySlotScratch(Operation *op, Type type) {
  auto scratch = cast<BufferType>(type);
  if (numElements(scratch.getShape()) != 1 || !scratch.getElementType().isInteger(64))
    return op->emitOpError("scratch must be a buffer of one i64, found ") << scratch;
  return success();
}

LogicalResult AcquireMapSlotOp::verify() {
  if (getCount() < 1)
    return emitOpError("count must be positive, found ") << getCount();
  return verifySlotScratch(*this, getScratch().getType());
}

LogicalResult ReadMapSlotOp::verify() { return verifySlotScratch(*this, getScratch().getType()); }

LogicalResult SpecializeOp::verify() {
  if (auto registers = getRegisters()) {
    auto valid = [](int64_t count) { return count % 8 == 0 && count >= 24 && count <= 256; };
    if (registers->size() != 2 || !llvm::all_of(*registers, valid))
      return emitOpError("registers are two multiples of 8 from 24 to 256");
  }
  if (getReplicas() < 1 || getReplicas() > 2)
    return emitOpError("has one or two replicas, found ") << getReplicas();
  return success();
}

/// A stage of `buffer` is a whole number of boxes, laid out as one box after another. The slowest
/// dimensions of a tensor may be ones that the buffer does not have, in which a box has one element.
static LogicalResult verifyBoxes(Operation *op, TensorMapType map, ValueRange starts,
                                 BufferType buffer) {
  BufferType box = map.getBox();
  if (starts.size() != box.getShape().size())
    return op->emitOpError("needs ") << box.getShape().size() << " starts, found "
                                     << starts.size();
  int64_t rank = buffer.getShape().size(), batch = int64_t(starts.size()) - rank;
  bool fits = batch >= 0 && buffer.getSwizzle() == box.getSwizzle() && buffer.getPad() == 0;
  for (int64_t i = 0; fits && i < batch; ++i)
    fits = box.getShape()[i] == 1 && box.getOrder()[i] == i;
  for (int64_t i = 0; fits && i < rank; ++i)
    fits = buffer.getShape()[i] % box.getShape()[batch + i] == 0 &&
           buffer.getOrder()[i] + batch == box.getOrder()[batch + i];
  if (!fits)
    return op->emitOpError() << buffer << " does not consist of boxes of " << map;
  return verifySameElementType(op, box, buffer);
}

static LogicalResult verifyBarrier(Operation *op, Type type, bool anyStages = false) {
  auto buffer = cast<BufferType>(type);
  if (buffer.getShape() != ArrayRef<int64_t>{1} || !buffer.getElementType().isInteger(64) ||
      (buffer.getStages() != 1 && !anyStages))
    return op->emitOpError("barrier must be a buffer of one i64, found ") << buffer;
  return success();
}

LogicalResult TmaLoadOp::verify() {
  auto buffer = cast<BufferType>(getBuffer().getType());
  if (buffer.getStages() != 1)
    return emitOpError("fills one stage, found ") << buffer;
  if (failed(verifyBoxes(*this, cast<TensorMapType>(getMap().getType()), getStarts(), buffer)))
    return failure();
  return verifyBarrier(*this, getBarrier().getType());
}

LogicalResult AsPanelsOp::verify() {
  auto from = cast<BufferType>(getBuffer().getType());
  auto to = cast<BufferType>(getResult().getType());
  if (from.getStages() != 1 || to.getStages() != 1)
    return emitOpError("takes one stage, found ") << from << " and " << to;
  if (!from.getSwizzle() || from.getSwizzle() != to.getSwizzle())
    return emitOpError("keeps the swizzle of rows, found ") << from << " and " << to;
  return success();
}

LogicalResult TakeTileOp::verify() {
  auto tile = cast<TileType>(getResult().getType());
  if (tile.getShape().size() != 2 || getParts().empty())
    return emitOpError("takes a matrix in parts, found ") << tile;
  int64_t columns = 0;
  for (Value part : getParts()) {
    auto buffer = cast<BufferType>(part.getType());
    bool fits = buffer.getStages() == 1 && buffer.getShape().size() == 2 &&
                buffer.getShape()[0] == tile.getShape()[0];
    if (!fits)
      return emitOpError() << buffer << " does not hold columns of " << tile;
    if (failed(verifySameElementType(*this, tile, buffer)))
      return failure();
    columns += buffer.getShape()[1];
  }
  if (columns != tile.getShape()[1])
    return emitOpError() << "parts have " << columns << " columns, " << tile << " has "
                         << tile.getShape()[1];
  for (ValueRange barriers : {ValueRange(getFull()), ValueRange(getEmpty())})
    for (Value barrier : barriers)
      if (failed(verifyBarrier(*this, barrier.getType())))
        return failure();
  return success();
}

LogicalResult TmaStoreOp::verify() {
  auto tile = cast<TileType>(getValue().getType());
  auto ring = cast<BufferType>(getRing().getType());
  bool fits = tile.getShape().size() == ring.getShape().size();
  for (size_t i = 0; fits && i < ring.getShape().size(); ++i)
    fits = tile.getShape()[i] % ring.getShape()[i] == 0;
  if (!fits)
    return emitOpError() << tile << " does not consist of stages of " << ring;
  if (failed(verifySameElementType(*this, tile, ring)))
    return failure();
  return verifyBoxes(*this, cast<TensorMapType>(getMap().getType()), getStarts(), ring);
}

LogicalResult MbarrierInitOp::verify() {
  return verifyBarrier(*this, getBarrier().getType(), /*anyStages=*/true);
}

LogicalResult MbarrierExpectOp::verify() { return verifyBarrier(*this, getBarrier().getType()); }
LogicalResult MbarrierArriveOp::verify() { return verifyBarrier(*this, getBarrier().getType()); }
LogicalResult MbarrierWaitOp::verify() { return verifyBarrier(*this, getBarrier().getType()); }

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getShape();
  return cast<TileType>(type).getShape();
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> lhs = shapeOf(getLhs().getType()), rhs = shapeOf(getRhs().getType()),
                    acc = getType().getShape();
  bool fits = lhs.size() == rhs.size() && lhs.size() == acc.size() &&
              (acc.size() == 2 || acc.size() == 3);
  if (fits && acc.size() == 3) {
    fits = lhs[0] == acc[0] && rhs[0] == acc[0];
    lhs = lhs.drop_front();
    rhs = rhs.drop_front();
    acc = acc.drop_front();
  }
  if (!fits || lhs[1] != rhs[0] || acc[0] != lhs[0] || acc[1] != rhs[1])
    return emitOpError("shapes do not form a matrix product: ")
           << getLhs().getType() << ", " << getRhs().getType() << ", " << getType();
  return success();
}

LogicalResult DotWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                          ValueRange operands, DictionaryAttr, OpaqueProperties,
                                          RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}
