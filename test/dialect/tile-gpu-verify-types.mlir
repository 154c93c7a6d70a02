// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Layouts, tiles, buffers and tensor maps that cannot be.

// expected-error @+1 {{layout digit of size 1; the smallest is 2}}
func.func private @f(!tile_gpu.tile<4xf32, #tile_gpu.layout<[reg 4, lane 1:1]>>)

// -----

// expected-error @+1 {{warp digit with stride 0}}
func.func private @f(!tile_gpu.tile<4xf32, #tile_gpu.layout<[warp 4:0]>>)

// -----

// expected-error @+1 {{lane 3:1 must be powers of two}}
func.func private @f(!tile_gpu.tile<3xf32, #tile_gpu.layout<[lane 3:1]>>)

// -----

// expected-error @+1 {{lane 8:8 goes past the 32 lanes of a warp}}
func.func private @f(!tile_gpu.tile<8xf32, #tile_gpu.layout<[lane 8:8]>>)

// -----

// expected-error @+1 {{two layout digits read the same part of the index}}
func.func private @f(!tile_gpu.tile<8x8xf32, #tile_gpu.layout<[lane 8:1], [lane 8:4]>>)

// -----

// expected-error @+1 {{a tile has at least one dimension; scalars are builtin types}}
func.func private @f(!tile_gpu.tile<f32>)

// -----

// expected-error @+1 {{tile dimensions must be positive}}
func.func private @f(!tile_gpu.tile<4x0xf32>)

// -----

// expected-error @+1 {{tile elements must be integers or floats, found 'index'}}
func.func private @f(!tile_gpu.tile<4xindex>)

// -----

// expected-error @+1 {{layout describes a tile of shape 8x2}}
func.func private @f(!tile_gpu.tile<4x4xf32, #tile_gpu.layout<[lane 8:1], [reg 2]>>)

// -----

// expected-error @+1 {{a buffer needs positive dimensions}}
func.func private @f(!tile_gpu.buffer<4x0xf32>)

// -----

// expected-error @+1 {{buffer elements must be integers or floats, found 'index'}}
func.func private @f(!tile_gpu.buffer<4xindex>)

// -----

// expected-error @+1 {{order must be a permutation of the 2 dimensions}}
func.func private @f(!tile_gpu.buffer<4x4xf32, order = [0, 0]>)

// -----

// expected-error @+1 {{swizzle must be 0, 32, 64 or 128 bytes, found 16}}
func.func private @f(!tile_gpu.buffer<4x64xf32, swizzle = 16>)

// -----

// expected-error @+1 {{a buffer is swizzled or padded, not both}}
func.func private @f(!tile_gpu.buffer<4x64xf16, swizzle = 128, pad = 8>)

// -----

// The order decides what a row is: here, 32 elements along the first dimension.
// expected-error @+1 {{rows of a swizzled buffer must be a multiple of 128 bytes}}
func.func private @f(!tile_gpu.buffer<32x64xf16, order = [1, 0], swizzle = 128>)

// -----

// expected-error @+1 {{pad must not be negative and stages must be positive}}
func.func private @f(!tile_gpu.buffer<4x64xf16, stages = 0>)

// -----

// expected-error @+1 {{expected 'order', 'swizzle', 'pad' or 'stages'}}
func.func private @f(!tile_gpu.buffer<4x64xf16, stage = 2>)

// -----

// expected-error @+1 {{a box has up to 5 dimensions of up to 256 elements, found '!tile_gpu.buffer<512x64xf16, swizzle = 128>'}}
func.func private @f(!tile_gpu.tensor_map<512x64xf16, swizzle = 128>)

// -----

// expected-error @+1 {{a box has up to 5 dimensions}}
func.func private @f(!tile_gpu.tensor_map<1x1x1x1x1x64xf16>)

// -----

// expected-error @+1 {{rows of a box must be a multiple of 16 bytes, found 8}}
func.func private @f(!tile_gpu.tensor_map<64x4xf16>)

// -----

// A buffer of two panels is filled by two boxes.
// expected-error @+1 {{rows of a swizzled box must be 128 bytes, found 256}}
func.func private @f(!tile_gpu.tensor_map<64x128xf16, swizzle = 128>)

// -----

// expected-error @+1 {{a box has no padding and no stages}}
func.func private @f(!tile_gpu.tensor_map<64x64xf16, swizzle = 128, stages = 2>)

// -----

// expected-error @+1 {{expected 'reg', 'lane' or 'warp', found 'thread'}}
func.func private @f(!tile_gpu.tile<4xf32, #tile_gpu.layout<[thread 4:1]>>)
