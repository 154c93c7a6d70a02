// Rules of debug information: an entry and its operations share one scope.

#include "CudaTile.h"

using namespace mlir;
using namespace cuda_tile;

/// The debug location that a location leads to: through names, and from an
/// inlined callee to its caller. Null if there is none.
static DILocAttr getDebugLoc(LocationAttr loc) {
  if (auto debugLoc = dyn_cast<DILocAttr>(loc))
    return debugLoc;
  if (auto name = dyn_cast<NameLoc>(loc))
    return getDebugLoc(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getDebugLoc(call.getCaller());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location each : fused.getLocations())
      if (DILocAttr debugLoc = getDebugLoc(each))
        return debugLoc;
  return {};
}

/// The subprogram around a scope.
static DISubprogramAttr getSubprogram(Attribute scope) {
  while (auto block = dyn_cast<DILexicalBlockAttr>(scope))
    scope = block.getScope();
  return cast<DISubprogramAttr>(scope);
}

/// The entry's own scope: a subprogram of its name, or none.
static LogicalResult verifyEntryLoc(EntryOp entry, DILocAttr debugLoc) {
  if (isa<CallSiteLoc>(entry.getLoc()))
    return entry.emitOpError() << "location must not be a call site";
  if (!debugLoc)
    return success();
  auto subprogram = dyn_cast<DISubprogramAttr>(debugLoc.getScope());
  if (!subprogram)
    return entry.emitOpError() << "debug scope must be a di_subprogram, got "
                               << debugLoc.getScope();
  if (subprogram.getLinkageName() != entry.getSymNameAttr())
    return entry.emitOpError() << "debug scope must have the linkage name of the entry, \""
                               << entry.getSymName() << "\", got " << subprogram.getLinkageName();
  return success();
}

LogicalResult EntryOp::verifyRegions() {
  DILocAttr debugLoc = getDebugLoc(getLoc());
  if (failed(verifyEntryLoc(*this, debugLoc)))
    return failure();
  Attribute scope = debugLoc ? debugLoc.getScope() : Attribute();
  WalkResult result = getBody().walk([&](Operation *op) {
    DILocAttr loc = getDebugLoc(op->getLoc());
    if (!loc || getSubprogram(loc.getScope()) == scope)
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitOpError() << "debug scope must lie within that of the entry";
    if (scope)
      diag << ", " << scope;
    else
      diag << ", which has none";
    diag << ", got " << loc.getScope();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
