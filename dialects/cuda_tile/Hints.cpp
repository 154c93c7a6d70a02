// Warnings about optimization hints that have no effect. Hints never change the
// meaning of a program: a bad one is no error.

#include "AsmFormat.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cuda_tile;

namespace {

/// What a hint may be on which operation.
struct HintRule {
  StringRef name;
  bool onEntry;
  StringRef expected;
  bool (*holds)(Attribute value, StringRef architecture);
};

} // namespace

static int64_t getNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && !number.getType().isInteger(1) ? number.getInt() : 0;
}

static bool isPowerUpTo(Attribute value, int64_t limit) {
  int64_t number = getNumber(value);
  return number > 0 && number <= limit && llvm::isPowerOf2_64(number);
}

static const HintRule kRules[] = {
    {"num_cta_in_cga", true, "a power of two up to 16, and 1 on sm_8x",
     [](Attribute value, StringRef architecture) {
       return isPowerUpTo(value, architecture.starts_with("sm_8") ? 1 : 16);
     }},
    {"num_worker_warps_per_cta", true, "a power of two up to 32",
     [](Attribute value, StringRef) { return isPowerUpTo(value, 32); }},
    {"occupancy", true, "1 to 32",
     [](Attribute value, StringRef) { return getNumber(value) >= 1 && getNumber(value) <= 32; }},
    {"allow_tma", false, "true or false",
     [](Attribute value, StringRef) { return isa<BoolAttr>(value); }},
    {"latency", false, "1 to 10",
     [](Attribute value, StringRef) { return getNumber(value) >= 1 && getNumber(value) <= 10; }},
};

/// `default`, or `sm_` and a number.
static bool isArchitecture(StringRef name) {
  unsigned number;
  return name == "default" || (name.consume_front("sm_") && !name.getAsInteger(10, number) &&
                               number >= 80 && number <= 121);
}

static void checkHint(Location loc, StringRef architecture, NamedAttribute hint, bool onEntry) {
  StringRef name = hint.getName();
  const HintRule *rule =
      llvm::find_if(kRules, [&](const HintRule &each) { return each.name == name; });
  if (rule == std::end(kRules))
    emitWarning(loc) << "hint '" << name << "' is unknown and has no effect";
  else if (rule->onEntry != onEntry)
    emitWarning(loc) << "hint '" << name << "' belongs on "
                     << (rule->onEntry ? "an entry" : "a load or store") << " and has no effect";
  else if (!rule->holds(hint.getValue(), architecture))
    emitWarning(loc) << "hint '" << name << "' must be " << rule->expected << ", got "
                     << hint.getValue() << "; it has no effect";
}

void cuda_tile::warnAboutHints(Location loc, OptimizationHintsAttr hints, bool onEntry) {
  for (NamedAttribute entry : hints.getValue()) {
    StringRef architecture = entry.getName();
    if (!isArchitecture(architecture)) {
      emitWarning(loc) << "hints for '" << architecture
                       << "' have no effect; architectures are sm_80 to sm_121, or default";
      continue;
    }
    for (NamedAttribute hint : cast<DictionaryAttr>(entry.getValue()))
      checkHint(loc, architecture, hint, onEntry);
  }
}
