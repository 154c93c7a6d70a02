// Finding operations for Python, which takes a microsecond or two to look at one.

#include "Export.h"
#include "TileGPU.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

namespace {

/// What operations handle, known to Python.
enum Handled { kNothing, kTiles, kBuffers };

} // namespace

static bool isWanted(Type type, Handled handled) {
  return handled == kTiles ? isa<tile_gpu::TileType>(type) : isa<tile_gpu::BufferType>(type);
}

/// Whether an operation has such an operand, result, or argument of a block.
static bool handles(Operation *op, Handled handled) {
  auto wanted = [&](Type type) { return isWanted(type, handled); };
  auto takes = [&](Block &block) { return llvm::any_of(block.getArgumentTypes(), wanted); };
  return llvm::any_of(op->getOperandTypes(), wanted) ||
         llvm::any_of(op->getResultTypes(), wanted) ||
         llvm::any_of(op->getRegions(), [&](Region &region) { return llvm::any_of(region, takes); });
}

/// Writes the operations inside `root` that have one of `count` names or handle what is asked for to
/// `found`, each before those of its regions, as far as there is `room`. Returns how many there are.
TILEIR_EXPORT intptr_t tileirFindOperations(MlirOperation root, intptr_t count, const char **names,
                                            int handled, intptr_t room, MlirOperation *found) {
  SmallVector<StringRef> wanted(names, names + count);
  intptr_t size = 0;
  unwrap(root)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isFound = llvm::is_contained(wanted, op->getName().getStringRef()) ||
                   (handled != kNothing && handles(op, static_cast<Handled>(handled)));
    if (op == unwrap(root) || !isFound)
      return;
    if (size < room)
      found[size] = wrap(op);
    ++size;
  });
  return size;
}
