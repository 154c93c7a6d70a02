// Registration of the dialects, and the driver of tile-opt.

#include "CudaTile.h"
#include "Export.h"
#include "TileGPU.h"

#include "mlir-c/RegisterEverything.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  registry.insert<cuda_tile::CudaTileDialect>();
  registry.insert<tile_gpu::TileGPUDialect>();
}

TILEIR_EXPORT void tileirRegisterDialects(MlirDialectRegistry registry) {
  registerDialects(*unwrap(registry));
}

/// Makes a pipeline, given as text without its anchor, available by name.
TILEIR_EXPORT void tileirRegisterPipeline(const char *name, const char *summary,
                                          const char *pipeline) {
  auto build = [text = std::string(pipeline)](
                   OpPassManager &manager, StringRef options,
                   function_ref<LogicalResult(const Twine &)> emitError) -> LogicalResult {
    if (!options.empty())
      return emitError("takes no options");
    std::string message;
    llvm::raw_string_ostream stream(message);
    if (failed(parsePassPipeline(text, manager, stream)))
      return emitError(message);
    return success();
  };
  registerPassPipeline(name, summary, build,
                       [](function_ref<void(const detail::PassOptions &)>) {});
}

namespace {

/// Tells Python when a pass begins and ends, by the pass's name.
class PassWatch : public PassInstrumentation {
public:
  using Callback = void (*)(const char *, int);
  explicit PassWatch(Callback told) : told(told) {}

  void runBeforePass(Pass *pass, Operation *) override { tell(pass, 0); }
  void runAfterPass(Pass *pass, Operation *) override { tell(pass, 1); }
  void runAfterPassFailed(Pass *pass, Operation *) override { tell(pass, 1); }

private:
  void tell(Pass *pass, int ended) {
    // Without an argument it is no pass of its own but runs others.
    if (!pass->getArgument().empty())
      told(pass->getArgument().str().c_str(), ended);
  }

  Callback told;
};

/// Bytes that Python owns; null after an error.
struct Input {
  const char *data;
  intptr_t size;
};

} // namespace

/// The driver of mlir-opt with our dialects; passes are those registered in the
/// process. `readInput` gives the contents of the input by its name, as text or
/// MLIR bytecode, and reports its own errors; `onPass`, if it is not null, is told
/// of passes.
TILEIR_EXPORT int tileirOptMain(int argc, char **argv, void (*readInput)(const char *, Input *),
                                PassWatch::Callback onPass) {
  DialectRegistry registry;
  mlirRegisterAllDialects(wrap(&registry));
  registerDialects(registry);
  auto [inputName, outputName] =
      registerAndParseCLIOptions(argc, argv, "tile-opt: runs passes on CUDA Tile IR\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldListPasses()) {
    printRegisteredPasses();
    return EXIT_SUCCESS;
  }
  if (config.shouldShowDialects()) {
    for (StringRef name : registry.getDialectNames())
      llvm::outs() << name << '\n';
    llvm::outs().flush();
    return EXIT_SUCCESS;
  }
  Input input = {nullptr, 0};
  readInput(inputName.c_str(), &input);
  if (!input.data)
    return EXIT_FAILURE;
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputName, &message);
  if (!output) {
    llvm::errs() << message << '\n';
    return EXIT_FAILURE;
  }
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(StringRef(input.data, input.size),
                                                     inputName == "-" ? "<stdin>" : inputName);
  MlirOptMainConfig watched = config;
  if (onPass)
    watched.setPassPipelineSetupFn([&](PassManager &manager) -> LogicalResult {
      if (failed(config.setupPassPipeline(manager)))
        return failure();
      manager.addInstrumentation(std::make_unique<PassWatch>(onPass));
      return success();
    });
  LogicalResult result = MlirOptMain(output->os(), std::move(buffer), registry, watched);
  output->os().flush();
  if (succeeded(result))
    output->keep();
  return failed(result) ? EXIT_FAILURE : EXIT_SUCCESS;
}
