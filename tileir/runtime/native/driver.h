// The functions of the CUDA driver that a launch calls, found when the first kernel is launched.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tileir {

// The structures of cuda.h; sizes and places are part of the driver's binary interface.
struct LaunchAttribute {
  enum Id : uint32_t { ClusterDimension = 4, ProgrammaticStreamSerialization = 6 };
  uint32_t id;
  uint32_t padding;
  union {
    uint32_t cluster[3];
    int32_t enabled;
    char bytes[64];
  } value;
};

struct LaunchConfig {
  uint32_t grid[3], block[3];
  uint32_t sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  uint32_t attributeCount;
};

struct alignas(64) EncodedMap {
  char bytes[128];
};

struct Driver {
  int (*launchKernel)(const LaunchConfig *, void *function, void **parameters, void **extra);
  int (*streamContext)(void *stream, void **context);
  int (*currentContext)(void **context);
  int (*pushContext)(void *context);
  int (*popContext)(void **context);
  int (*fill)(uint64_t address, unsigned char value, size_t bytes, void *stream);
  int (*encodeMap)(EncodedMap *map, int type, uint32_t rank, void *base, const uint64_t *dims,
                   const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                   int interleave, int swizzle, int promotion, int fill);

  // Fills the table from a library; the name of what is missing, or null.
  const char *load(const char *library);
};

extern Driver driver;

} // namespace tileir
