// Passes written in Python, registered by name in MLIR's pass registry, so that
// textual pipelines, --help, timing and IR printing treat them like any other.

#include "Export.h"

#include "mlir-c/RegisterEverything.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/TypeID.h"

#include <deque>

using namespace mlir;

TILEIR_EXPORT void tileirRegisterDialects(MlirDialectRegistry registry);

namespace {

/// Runs the pass with number `id` on an operation, with `count` options; not
/// zero if it failed. An error has been reported by then.
using RunCallback = int (*)(intptr_t id, MlirOperation op, intptr_t count, const char **names,
                            const char **values);

struct NamedValue {
  std::string name;
  std::string value;
};

/// Splits `a=b c={d e}` at blanks outside of braces and quotes.
LogicalResult splitOptions(StringRef text, SmallVectorImpl<NamedValue> &options,
                           function_ref<LogicalResult(const Twine &)> emitError) {
  while (!(text = text.ltrim()).empty()) {
    size_t equals = text.find_first_of("= ");
    bool hasValue = equals != StringRef::npos && text[equals] == '=';
    StringRef name = text.take_front(equals);
    text = text.drop_front(name.size() + (hasValue ? 1 : 0));
    size_t end = 0;
    int depth = 0;
    char quote = 0;
    for (; hasValue && end < text.size(); ++end) {
      char c = text[end];
      if (quote)
        quote = c == quote ? 0 : quote;
      else if (c == '"' || c == '\'')
        quote = c;
      else if (c == '{' || c == '[')
        ++depth;
      else if (c == '}' || c == ']')
        --depth;
      else if (c == ' ' && depth <= 0)
        break;
    }
    StringRef value = text.take_front(end);
    text = text.drop_front(end);
    if (llvm::any_of(options, [&](const NamedValue &each) { return each.name == name; }))
      return emitError("option '" + name + "' is given twice");
    options.push_back({name.str(), hasValue ? value.str() : "true"});
  }
  return success();
}

class PythonPass : public Pass {
public:
  PythonPass(TypeID typeID, StringRef name, StringRef summary, RunCallback run, intptr_t id)
      : Pass(typeID), name(name), summary(summary), run(run), id(id) {}
  PythonPass(const PythonPass &other)
      : Pass(other), name(other.name), summary(other.summary), run(other.run), id(other.id) {
    for (const NamedValue &option : other.options)
      addOption(option);
  }

  StringRef getName() const override { return name; }
  StringRef getArgument() const override { return name; }
  StringRef getDescription() const override { return summary; }

  LogicalResult initializeOptions(StringRef text,
                                  function_ref<LogicalResult(const Twine &)> emitError) override {
    SmallVector<NamedValue> parsed;
    if (failed(splitOptions(text, parsed, emitError)))
      return failure();
    for (const NamedValue &option : parsed)
      addOption(option);
    return success();
  }

  /// All of them: Python does not say which it creates operations of, and a
  /// dialect that is loaded while passes run aborts the process.
  void getDependentDialects(DialectRegistry &registry) const override {
    mlirRegisterAllDialects(wrap(&registry));
    tileirRegisterDialects(wrap(&registry));
  }

  bool canScheduleOn(RegisteredOperationName) const override { return true; }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<PythonPass>(*this); }

  void runOnOperation() override {
    SmallVector<const char *> names, values;
    for (const NamedValue &option : options) {
      names.push_back(option.name.c_str());
      values.push_back(option.value.c_str());
    }
    if (run(id, wrap(getOperation()), options.size(), names.data(), values.data()) != 0)
      signalPassFailure();
  }

private:
  /// Options become options of the base class, which prints them in pipelines.
  void addOption(const NamedValue &option) {
    const NamedValue &kept = options.emplace_back(option);
    auto &native = nativeOptions.emplace_back(
        std::make_unique<Pass::Option<std::string>>(*this, kept.name, llvm::cl::init("")));
    native->setValue(kept.value);
  }

  std::string name, summary;
  RunCallback run;
  intptr_t id;
  std::deque<NamedValue> options;
  std::vector<std::unique_ptr<Pass::Option<std::string>>> nativeOptions;
};

} // namespace

TILEIR_EXPORT void tileirRegisterPass(const char *name, const char *summary, RunCallback run,
                                      intptr_t id) {
  static TypeIDAllocator allocator;
  TypeID typeID = allocator.allocate();
  registerPass([=, name = std::string(name), summary = std::string(summary)] {
    return std::make_unique<PythonPass>(typeID, name, summary, run, id);
  });
}

/// Reports an error as a diagnostic at `location`.
TILEIR_EXPORT void tileirEmitError(MlirLocation location, const char *message) {
  emitError(unwrap(location)) << message;
}

/// Reports a remark as a diagnostic at `location`.
TILEIR_EXPORT void tileirEmitRemark(MlirLocation location, const char *message) {
  emitRemark(unwrap(location)) << message;
}
