/* A libcuda.so.1 without a GPU: device memory is host memory, kernels are those below.
 *
 * It lets CudaDriver and the native launcher be tested through the real cuda-bindings.  Kernel
 * "record" writes the launch configuration to its pointer argument; "fault" makes the next
 * synchronisation fail; "log_8_4_128" writes a line with its parameters, whose sizes are in its
 * name, to the log that stub_log() gives; "nothing" does nothing.  An image that starts with "bad"
 * is refused with a message in the error log.
 *
 * Bits 8 to 15 of a stream's handle are its device (of STUB_DEVICES), and a handle with bit 7
 * captures a graph: as long as stub_capture(1) holds, a thread that has not asked for relaxed
 * capture must not allocate, synchronise or load.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
enum {
  SUCCESS = 0, INVALID_VALUE = 1, INVALID_CONTEXT = 201, INVALID_PTX = 218, NOT_FOUND = 500,
  ILLEGAL_ADDRESS = 700, CAPTURE_UNSUPPORTED = 900
};

typedef struct { unsigned x, y, z; } Extents;
typedef struct { int id; char pad[4]; union { char bytes[64]; Extents cluster; } value; } Attribute;
typedef struct {
  Extents grid, block;
  unsigned shared;
  void *stream;
  Attribute *attributes;
  unsigned attribute_count;
} Config;

/* Contexts are primary: the number of the device, plus this. */
#define CONTEXT 0x1234
#define LOG_BYTES (1 << 20)

static _Thread_local void *contexts[16];
static _Thread_local int depth;
static _Thread_local int relaxed;
static CUresult pending;
static int dynamic_limit, capturing;
static char text[LOG_BYTES];

const char *stub_log(void) { return text; }
void stub_clear(void) { text[0] = 0; }
void stub_capture(int on) { capturing = on; }

static void say(const char *line) {
  if (strlen(text) + strlen(line) < LOG_BYTES) strcat(text, line);
}
static CUresult unsafe(const char *call) {
  if (!capturing || relaxed) return SUCCESS;
  say(call);
  say(" while capturing\n");
  return CAPTURE_UNSUPPORTED;
}
static int devices(void) {
  if (getenv("STUB_NO_DEVICE")) return 0;
  return getenv("STUB_DEVICES") ? atoi(getenv("STUB_DEVICES")) : 1;
}

static CUresult init(unsigned flags) { return SUCCESS; }
static CUresult driver_version(int *version) { *version = 13000; return SUCCESS; }
static CUresult error_string(CUresult code, const char **text) { *text = "a stub's error"; return SUCCESS; }
static CUresult error_name(CUresult code, const char **text) { *text = "CUDA_ERROR_STUB"; return SUCCESS; }
static CUresult get_context(void **context) { *context = contexts[depth]; return SUCCESS; }
static CUresult set_context(void *context) { contexts[depth] = context; return SUCCESS; }
static CUresult push_context(void *context) {
  if (depth + 1 == 16) return INVALID_CONTEXT;
  contexts[++depth] = context;
  return SUCCESS;
}
static CUresult pop_context(void **context) {
  if (depth == 0) return INVALID_CONTEXT;
  if (context) *context = contexts[depth];
  --depth;
  return SUCCESS;
}
static CUresult context_device(int *device) {
  if (!contexts[depth]) return INVALID_CONTEXT;
  *device = (int)((intptr_t)contexts[depth] - CONTEXT);
  return SUCCESS;
}
static CUresult stream_context(void *stream, void **context) {
  uintptr_t handle = (uintptr_t)stream;
  *context = handle <= 2 ? contexts[depth] : (void *)(CONTEXT + (handle >> 8 & 0xFF));
  return *context ? SUCCESS : INVALID_CONTEXT;
}
static CUresult is_capturing(void *stream, int *status) {
  *status = (uintptr_t)stream >> 7 & 1;
  return SUCCESS;
}
static CUresult exchange_mode(int *mode) {
  int before = relaxed ? 2 : 0;
  relaxed = *mode == 2;
  *mode = before;
  return SUCCESS;
}
static CUresult create_stream(void **stream, unsigned flags) { *stream = (void *)0x7F; return SUCCESS; }
static CUresult destroy_stream(void *stream) { return SUCCESS; }
static CUresult device_count(int *count) { *count = devices(); return SUCCESS; }
static CUresult device_get(int *device, int ordinal) { *device = ordinal; return SUCCESS; }
static CUresult device_name(char *name, int size, int device) { strncpy(name, "Stub GPU", size); return SUCCESS; }
static CUresult retain(void **context, int device) {
  if (device < 0 || device >= devices()) return 101; /* invalid device */
  *context = (void *)(intptr_t)(CONTEXT + device);
  return SUCCESS;
}

static CUresult device_attribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 75: *value = 9; return SUCCESS;   /* compute capability, major */
  case 76: *value = 0; return SUCCESS;   /* compute capability, minor */
  case 16: *value = 132; return SUCCESS; /* multiprocessors */
  }
  return INVALID_VALUE;
}

static CUresult allocate(void **address, size_t size) {
  if (unsafe("cuMemAlloc")) return CAPTURE_UNSUPPORTED;
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
static CUresult synchronize(void *stream) {
  return unsafe("cuStreamSynchronize") ? CAPTURE_UNSUPPORTED : pending;
}
static CUresult synchronize_context(void) { return synchronize(NULL); }

static CUresult load(void **library, const char *code, int *options, void **values, unsigned count,
                     void *library_options, void *library_values, unsigned library_count) {
  if (unsafe("cuLibraryLoadData")) return CAPTURE_UNSUPPORTED;
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
  else if (strcmp(name, "nothing") == 0) *kernel = (void *)3;
  else if (strncmp(name, "log_", 4) == 0) *kernel = strdup(name);
  else return NOT_FOUND;
  return SUCCESS;
}
static CUresult get_function(void **function, void *kernel) { *function = kernel; return SUCCESS; }

static CUresult set_attribute(void *function, int attribute, int value) {
  if (attribute == 8) dynamic_limit = value;
  return SUCCESS;
}

/* A line: name, grid, stream, context, cluster, programmatic launch, and each parameter. */
static void log_launch(const Config *config, const char *name, void **parameters) {
  char line[4096];
  unsigned cluster[3] = {1, 1, 1}, programmatic = 0;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (config->attributes[i].id == 4) memcpy(cluster, &config->attributes[i].value.cluster, 12);
    if (config->attributes[i].id == 6) programmatic = *(int *)config->attributes[i].value.bytes;
  }
  int length = snprintf(line, sizeof line, "%s grid %u %u %u stream %zu device %zd cluster %u pdl %u |",
                        name, config->grid.x, config->grid.y, config->grid.z,
                        (size_t)config->stream, (intptr_t)contexts[depth] - CONTEXT, cluster[0],
                        programmatic);
  const char *sizes = name + 3;
  for (int i = 0; *sizes == '_'; ++i) {
    long size = strtol(sizes + 1, (char **)&sizes, 10);
    long long value = 0;
    memcpy(&value, parameters[i], size < 8 ? size : 8);
    length += snprintf(line + length, sizeof line - length, " %llx", value);
  }
  snprintf(line + length, sizeof line - length, "\n");
  say(line);
}

static CUresult launch(const Config *config, void *function, void **parameters, void **extra) {
  if ((int)config->shared > dynamic_limit) return INVALID_VALUE;
  if (function == (void *)3) return SUCCESS;
  if ((uintptr_t)function > 3) { log_launch(config, function, parameters); return SUCCESS; }
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
  say("encode\n");
  if ((uintptr_t)address % 16 || (rank > 1 && strides[0] % 16)) return INVALID_VALUE;
  for (unsigned i = 0; i < rank; ++i)
    if (!dims[i]) return INVALID_VALUE;
  uint64_t words[16] = {type, rank, (uint64_t)address, dims[0], rank > 1 ? dims[1] : 0,
                        rank > 1 ? strides[0] : 0, box[0], rank > 1 ? box[1] : 0, steps[0],
                        rank > 1 ? steps[1] : 0, interleave, swizzle, promotion, fill};
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
    {"cuCtxSynchronize", synchronize_context}, {"cuCtxPushCurrent", push_context},
    {"cuCtxPopCurrent", pop_context}, {"cuStreamGetCtx", stream_context},
    {"cuStreamIsCapturing", is_capturing}, {"cuThreadExchangeStreamCaptureMode", exchange_mode},
    {"cuStreamCreate", create_stream}, {"cuStreamDestroy", destroy_stream},
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
