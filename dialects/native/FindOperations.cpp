// Finding operations for Python, which takes a microsecond or two to look at one.

#include "Export.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

/// Writes the operations inside `root` that have one of `count` names to `found`, each before those
/// of its regions, as far as there is `room`. Returns how many there are.
TILEIR_EXPORT intptr_t tileirFindOperations(MlirOperation root, intptr_t count, const char **names,
                                            intptr_t room, MlirOperation *found) {
  SmallVector<StringRef> wanted(names, names + count);
  intptr_t size = 0;
  unwrap(root)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == unwrap(root) || !llvm::is_contained(wanted, op->getName().getStringRef()))
      return;
    if (size < room)
      found[size] = wrap(op);
    ++size;
  });
  return size;
}
