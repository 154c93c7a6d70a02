// Registration of the dialect, and its hooks.

#include "CudaTile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace cuda_tile;

#include "CudaTileDialect.cpp.inc"

namespace {

/// Any operation may be inlined: none has semantics tied to its function.
struct CudaTileInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

/// Debug scopes are printed once each, under the names that NVIDIA's
/// disassembler gives them.
struct CudaTileAsmInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &stream) const final {
    if (isa<DIFileAttr>(attr))
      stream << DIFileAttr::getMnemonic();
    else if (isa<DICompileUnitAttr>(attr))
      stream << DICompileUnitAttr::getMnemonic();
    else if (isa<DISubprogramAttr>(attr))
      stream << DISubprogramAttr::getMnemonic();
    else if (isa<DILexicalBlockAttr>(attr))
      stream << DILexicalBlockAttr::getMnemonic();
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};

} // namespace

void CudaTileDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerCudaTileDialectOperations(this);
  addInterfaces<CudaTileAsmInterface, CudaTileInlinerInterface>();
}

Operation *CudaTileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                                Location loc) {
  auto elements = dyn_cast<DenseIntOrFPElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

LogicalResult CudaTileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  if (attr.getName() != kExtendedAttr)
    return op->emitError() << "unknown attribute '" << attr.getName().getValue() << "'";
  if (!isa<ModuleOp>(op))
    return op->emitError() << "attribute '" << kExtendedAttr
                           << "' belongs on a cuda_tile.module, not on " << op->getName();
  if (!isa<UnitAttr>(attr.getValue()))
    return op->emitError() << "attribute '" << kExtendedAttr << "' must be a unit attribute, got "
                           << attr.getValue();
  return success();
}
