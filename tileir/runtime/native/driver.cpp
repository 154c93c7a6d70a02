#include "driver.h"

#include <dlfcn.h>

namespace tileir {

Driver driver;

namespace {

// The interface that is asked for: CUDA 12.0, the first with tensor maps.
constexpr int VERSION = 12000;
// Stream 0 is the legacy default stream, as it is for cuda-bindings.
constexpr uint64_t LEGACY_STREAM = 1;

using GetProcAddress = int (*)(const char *, void **, int, uint64_t, int *);

} // namespace

const char *Driver::load(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return library;
  // Through this function, profilers and debuggers see the calls.
  auto find = reinterpret_cast<GetProcAddress>(dlsym(handle, "cuGetProcAddress_v2"));
  if (!find)
    return "cuGetProcAddress_v2";
  const struct {
    const char *name;
    void **function;
  } wanted[] = {
      {"cuLaunchKernelEx", reinterpret_cast<void **>(&launchKernel)},
      {"cuStreamGetCtx", reinterpret_cast<void **>(&streamContext)},
      {"cuCtxGetCurrent", reinterpret_cast<void **>(&currentContext)},
      {"cuCtxPushCurrent", reinterpret_cast<void **>(&pushContext)},
      {"cuCtxPopCurrent", reinterpret_cast<void **>(&popContext)},
      {"cuMemsetD8Async", reinterpret_cast<void **>(&fill)},
      {"cuTensorMapEncodeTiled", reinterpret_cast<void **>(&encodeMap)},
  };
  for (const auto &one : wanted)
    if (find(one.name, one.function, VERSION, LEGACY_STREAM, nullptr) || !*one.function)
      return one.name;
  return nullptr;
}

} // namespace tileir
