// Kernels that nvcc compiles to PTX for the simulator's tests; see README.md.
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

// Sum of an array: shuffles, shared memory, atomics, a grid-stride loop.
extern "C" __global__ void sum(const float *x, float *out, int n) {
  __shared__ float partial[32];
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) total += x[i];
  for (int step = 16; step > 0; step /= 2) total += __shfl_down_sync(~0u, total, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x < 32) {
    total = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2) total += __shfl_down_sync(~0u, total, step);
    if (threadIdx.x == 0) atomicAdd(out, total);
  }
}

// Recursion, a call that is not inlined, local arrays, a switch, printf.
__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

struct Pair {
  double value;
  int index;
};

__device__ __noinline__ Pair best(const double *values, int count) {
  Pair found{values[0], 0};
  for (int i = 1; i < count; ++i)
    if (values[i] > found.value) found = {values[i], i};
  return found;
}

extern "C" __global__ void control(int *out, double *values) {
  int i = threadIdx.x;
  double local[8];
  for (int k = 0; k < 8; ++k) local[(k * 5 + i) % 8] = k * (i % 3 + 1) - 3.5;
  Pair pair = best(local, 8);
  int kind = 0;
  switch (i % 7) {
    case 0: kind = 17; break;
    case 1: kind = i * 3; break;
    case 2: kind = i - 40; break;
    case 3: kind = -i; break;
    case 4: kind = i * i; break;
    default: kind = 5;
  }
  out[i] = ackermann(i % 3, i % 4) * 10000 + pair.index * 1000 + kind;
  values[i] = pair.value;
  if (i == 2) printf("%d of %s: %.3f %5u|%lld|%c\n", i, "threads", values[i], 7u, -(1ll << 40), 'x');
}

// Functions of the library: divisions, roots, sines (with their slow path), integers of 64 bits.
extern "C" __global__ void library(const float *x, float *y, const double *a, double *b, long long *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[4 * i] = sinf(x[i]);
  y[4 * i + 1] = expf(x[i] * 1e-3f) / (1 + x[i] * x[i]);
  y[4 * i + 2] = sqrtf(fabsf(x[i])) + logf(fabsf(x[i]) + 1);
  y[4 * i + 3] = powf(fabsf(x[i]) * 1e-3f, 1.5f);
  b[2 * i] = a[i] / 3.0 + sqrt(fabs(a[i]));
  b[2 * i + 1] = exp(-fabs(a[i]) * 0.01) * cos(a[i]);
  long long p = (long long)(a[i] * 1e6), q = i * 37 - 400;
  c[4 * i] = q ? p / q : 0;
  c[4 * i + 1] = q ? p % q : 0;
  c[4 * i + 2] = __mul64hi(p, p * 1000003) + __popcll(p) + __clzll(p) + __ffsll(p);
  c[4 * i + 3] = (p << (i % 64)) ^ ((unsigned long long)p >> (i % 61)) ^ __brevll(p);
}

// Halves: packed arithmetic, comparisons, conversions.
extern "C" __global__ void halves(const __half2 *x, __half2 *y, const __nv_bfloat16 *u, __nv_bfloat16 *v, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __half2 a = x[i], b = x[(i + 1) % n];
  y[i] = __hfma2(a, b, __hmax2(__hneg2(a), __hadd2(b, __float2half2_rn(0.5f))));
  __nv_bfloat16 s = u[i], t = u[(i + 3) % n];
  v[i] = __hgt(s, t) ? __hmul(s, t) : __float2bfloat16(__bfloat162float(s) + 2 * __bfloat162float(t));
}

// Copies beside the computation, double-buffered, and a barrier that counts.
extern "C" __global__ void pipelined(const float *x, float *y, int *odd, int tiles) {
  extern __shared__ float4 buffer[];
  int i = threadIdx.x, wide = blockDim.x;
  const float4 *source = reinterpret_cast<const float4 *>(x);
  float4 *target = reinterpret_cast<float4 *>(y);
  __pipeline_memcpy_async(&buffer[i], &source[i], 16);
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles)
      __pipeline_memcpy_async(&buffer[(tile + 1) % 2 * wide + i], &source[(tile + 1) * wide + i], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    int count = __syncthreads_count((tile + i) % 3 == 0);
    float4 other = buffer[tile % 2 * wide + wide - 1 - i];
    target[tile * wide + i] = make_float4(other.w, other.z, other.y, other.x);
    if (i == 0) odd[tile] = count;
    __syncthreads();
  }
}

// Warps vote, match and elect; a lock that the lanes of a warp take in turn.
__device__ int lock;

extern "C" __global__ void warps(const int *x, unsigned *out, int *counter) {
  int i = threadIdx.x;
  unsigned same = __match_any_sync(~0u, x[i]);
  unsigned positive = __ballot_sync(~0u, x[i] > 0);
  unsigned part = 0;
  if (x[i] > 0) part = __reduce_add_sync(__activemask(), x[i]);
  __syncwarp();
  out[i] = same ^ positive ^ (part << 7) ^ (__any_sync(~0u, x[i] > 90) ? 1u << 31 : 0);
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence();
      *(volatile int *)counter = *(volatile int *)counter + x[i];
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}

__constant__ float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

// Constant memory, two-dimensional blocks, bytes.
extern "C" __global__ void blur(const uint8_t *image, uint8_t *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float total = 0;
  for (int k = -2; k <= 2; ++k) total += taps[k + 2] * image[y * width + min(max(x + k, 0), width - 1)];
  out[y * width + x] = uint8_t(total + 0.5f);
}
