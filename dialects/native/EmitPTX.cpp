// emit-ptx: from modules of llvm and nvvm to PTX.
//
// As `gpu-module-to-binary{format=isa}`, but for LLVM's optimiser. Its default pipelines are made
// for programs written by people. What arrives here has no loops to unroll, hardly a variable in
// memory, and no calls but those of libdevice, which are inlined, and of the device's runtime
// (`vprintf`, `__assertfail`, `malloc`, `free`), which stay. And ptxas optimises it once more: a
// short pipeline makes as good a kernel in a fifth of the time.

#include "Export.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace {

/// Runs before instructions are selected. `nvvm-reflect` and `always-inline` are for libdevice.
/// Sums have their constants last, so that what several share is one value. What does not change
/// leaves the loops before equal values are merged a second time: outside they may have become equal.
constexpr StringLiteral llvmPasses =
    "nvvm-reflect,always-inline,"
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "reassociate,loop-mssa(licm),early-cse<memssa>),"
    "globaldce";

class PTXEmitter : public NVVM::SerializeGPUModuleBase {
public:
  using SerializeGPUModuleBase::SerializeGPUModuleBase;

  /// libdevice, for modules that call it: to read its index takes half as long as to make PTX of a
  /// small kernel.
  std::optional<SmallVector<std::unique_ptr<llvm::Module>>>
  loadBitcodeFiles(llvm::Module &llvmModule) override {
    if (llvm::none_of(llvmModule, isOfLibdevice))
      return SmallVector<std::unique_ptr<llvm::Module>>();
    return SerializeGPUModuleBase::loadBitcodeFiles(llvmModule);
  }

protected:
  LogicalResult optimizeModule(llvm::Module &llvmModule, int level) override {
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return getOperation().emitError("LLVM has no target machine for ") << chip;
    (*machine)->setOptLevel(static_cast<llvm::CodeGenOptLevel>(level));
    return runPasses(llvmModule, **machine, level);
  }

  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &llvmModule) override {
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure();
    llvm::SaveAndRestore withoutReduction(disableLoopStrengthReduction(), true);
    FailureOr<SmallString<0>> ptx = translateModuleToISA(
        llvmModule, **machine, [&]() { return getOperation().emitError(); });
    if (failed(ptx))
      return failure();
    return SmallVector<char, 0>(ptx->begin(), ptx->end());
  }

private:
  /// LLVM's option `disable-lsr`, which has no other way in. Loop strength reduction takes a tenth of
  /// LLVM's time, and trades instructions that ptxas replaces anyway for registers.
  static bool &disableLoopStrengthReduction() {
    llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup("disable-lsr");
    assert(option && "LLVM has the option");
    return static_cast<llvm::cl::opt<bool> *>(option)->getValue();
  }

  static bool isOfLibdevice(const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  }

  /// At level 0 only those without which instructions could not be selected.
  LogicalResult runPasses(llvm::Module &llvmModule, llvm::TargetMachine &machine, int level) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::ModulePassManager passes;
    if (level == 0)
      passes = builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
    else if (llvm::Error error = builder.parsePassPipeline(passes, llvmPasses))
      return getOperation().emitError(llvm::toString(std::move(error)));
    passes.run(llvmModule, modules);
    return success();
  }
};

class EmitPTX : public PassWrapper<EmitPTX, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitPTX)

  StringRef getArgument() const override { return "emit-ptx"; }
  StringRef getDescription() const override {
    return "Turn gpu.module of llvm and nvvm into gpu.binary that holds PTX";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    for (auto kernels : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(emit(kernels)))
        return signalPassFailure();
  }

private:
  static LogicalResult emit(gpu::GPUModuleOp kernels) {
    ArrayAttr targets = kernels.getTargetsAttr();
    auto target = targets && targets.size() == 1 ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                                                 : NVVM::NVVMTargetAttr();
    if (!target)
      return kernels.emitError("needs one #nvvm.target");
    std::optional<SmallVector<char, 0>> ptx = PTXEmitter(*kernels, target).run();
    if (!ptx)
      return failure();
    OpBuilder builder(kernels);
    StringAttr text = builder.getStringAttr(StringRef(ptx->data(), ptx->size()));
    Attribute object = gpu::ObjectAttr::get(target, gpu::CompilationTarget::Assembly, text);
    gpu::BinaryOp::create(builder, kernels.getLoc(), kernels.getName(), Attribute(),
                          builder.getArrayAttr(object));
    kernels.erase();
    return success();
  }
};

} // namespace

TILEIR_EXPORT void tileirRegisterEmitPTX() {
  NVVM::SerializeGPUModuleBase::init();
  PassRegistration<EmitPTX>();
}
