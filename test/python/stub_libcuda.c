/* A libcuda.so.1 without a GPU: device memory is host memory, kernels are the two below.
 *
 * It lets CudaDriver be tested through the real cuda-bindings.  Kernel "record" writes the launch
 * configuration to its pointer argument; "fault" makes the next synchronisation fail.  An image
 * that starts with "bad" is refused with a message in the error log.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_PTX = 218, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700 };

typedef struct { unsigned x, y, z; } Extents;
typedef struct { int id; char pad[4]; union { char bytes[64]; Extents cluster; } value; } Attribute;
typedef struct {
  Extents grid, block;
  unsigned shared;
  void *stream;
  Attribute *attributes;
  unsigned attribute_count;
} Config;

static void *current_context;
static CUresult pending;
static int dynamic_limit;

static CUresult init(unsigned flags) { return SUCCESS; }
static CUresult driver_version(int *version) { *version = 13000; return SUCCESS; }
static CUresult error_string(CUresult code, const char **text) { *text = "a stub's error"; return SUCCESS; }
static CUresult error_name(CUresult code, const char **text) { *text = "CUDA_ERROR_STUB"; return SUCCESS; }
static CUresult get_context(void **context) { *context = current_context; return SUCCESS; }
static CUresult set_context(void *context) { current_context = context; return SUCCESS; }
static CUresult context_device(int *device) { *device = 0; return SUCCESS; }
static CUresult device_count(int *count) { *count = getenv("STUB_NO_DEVICE") ? 0 : 1; return SUCCESS; }
static CUresult device_get(int *device, int ordinal) { *device = ordinal; return SUCCESS; }
static CUresult device_name(char *name, int size, int device) { strncpy(name, "Stub GPU", size); return SUCCESS; }
static CUresult retain(void **context, int device) { *context = (void *)0x1234; return SUCCESS; }

static CUresult device_attribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 75: *value = 9; return SUCCESS;   /* compute capability, major */
  case 76: *value = 0; return SUCCESS;   /* compute capability, minor */
  case 16: *value = 132; return SUCCESS; /* multiprocessors */
  }
  return INVALID_VALUE;
}

static CUresult allocate(void **address, size_t size) {
  if (size > 1u << 30) return 2; /* out of memory */
  return posix_memalign(address, 256, size) ? 2 : SUCCESS;
}
static CUresult release(void *address) { free(address); return SUCCESS; }
static CUresult allocate_async(void **address, size_t size, void *stream) { return allocate(address, size); }
static CUresult release_async(void *address, void *stream) { return release(address); }
static CUresult copy(void *target, const void *source, size_t size, void *stream) {
  memcpy(target, source, size);
  return SUCCESS;
}
static CUresult set(void *target, unsigned char value, size_t size, void *stream) {
  memset(target, value, size);
  return SUCCESS;
}
static CUresult synchronize(void *stream) { return pending; }

static CUresult load(void **library, const char *code, int *options, void **values, unsigned count,
                     void *library_options, void *library_values, unsigned library_count) {
  if (strncmp(code, "bad", 3) == 0) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5) strcpy(values[i], "line 1: this is no PTX");
    return INVALID_PTX;
  }
  *library = (void *)0x77;
  return SUCCESS;
}

static CUresult get_kernel(void **kernel, void *library, const char *name) {
  if (library != (void *)0x77) return INVALID_VALUE;
  if (strcmp(name, "record") == 0) *kernel = (void *)1;
  else if (strcmp(name, "fault") == 0) *kernel = (void *)2;
  else return NOT_FOUND;
  return SUCCESS;
}
static CUresult get_function(void **function, void *kernel) { *function = kernel; return SUCCESS; }

static CUresult set_attribute(void *function, int attribute, int value) {
  if (attribute == 8) dynamic_limit = value;
  return SUCCESS;
}

static CUresult launch(const Config *config, void *function, void **parameters, void **extra) {
  if ((int)config->shared > dynamic_limit) return INVALID_VALUE;
  if (function == (void *)2) { pending = ILLEGAL_ADDRESS; return SUCCESS; }
  int32_t *out = *(int32_t **)parameters[0];
  memcpy(out, &config->grid, 12);
  memcpy(out + 3, &config->block, 12);
  out[6] = config->shared;
  out[7] = (int32_t)(intptr_t)config->stream;
  out[8] = config->attribute_count;
  if (config->attribute_count && config->attributes[0].id == 4)
    memcpy(out + 9, &config->attributes[0].value.cluster, 12);
  out[12] = *(int32_t *)parameters[1];
  return SUCCESS;
}

static CUresult encode(uint64_t *map, int type, unsigned rank, void *address, const uint64_t *dims,
                       const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                       int interleave, int swizzle, int promotion, int fill) {
  uint64_t words[16] = {type, rank, (uint64_t)address, dims[0], dims[1], strides[0],
                        box[0], box[1], steps[0], steps[1], interleave, swizzle, promotion, fill};
  memcpy(map, words, sizeof words);
  return SUCCESS;
}

static const struct { const char *name; void *function; } table[] = {
    {"cuInit", init}, {"cuDriverGetVersion", driver_version},
    {"cuGetErrorString", error_string}, {"cuGetErrorName", error_name},
    {"cuCtxGetCurrent", get_context}, {"cuCtxSetCurrent", set_context},
    {"cuCtxGetDevice", context_device}, {"cuDeviceGetCount", device_count},
    {"cuDeviceGet", device_get}, {"cuDeviceGetName", device_name},
    {"cuDeviceGetAttribute", device_attribute}, {"cuDevicePrimaryCtxRetain", retain},
    {"cuMemAlloc", allocate}, {"cuMemFree", release},
    {"cuMemAllocAsync", allocate_async}, {"cuMemFreeAsync", release_async},
    {"cuMemcpyHtoDAsync", copy}, {"cuMemcpyDtoHAsync", copy}, {"cuMemsetD8Async", set},
    {"cuStreamSynchronize", synchronize}, {"cuLibraryLoadData", load},
    {"cuLibraryGetKernel", get_kernel}, {"cuKernelGetFunction", get_function},
    {"cuFuncSetAttribute", set_attribute}, {"cuLaunchKernelEx", launch},
    {"cuTensorMapEncodeTiled", encode},
};

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                             int *status) {
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
    if (strcmp(table[i].name, symbol) == 0) {
      *function = table[i].function;
      if (status) *status = 0;
      return SUCCESS;
    }
  *function = NULL;
  if (status) *status = 1;
  return NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
