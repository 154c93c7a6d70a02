// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Floating point: arith and math where they say it all, intrinsics of NVVM for rounding modes and
// flush to zero, functions of libdevice, PTX for approximations. f16 and bf16 go through f32 where
// they have no instruction of their own.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @arithmetic
  // CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
  entry @arithmetic(%x: tile<f32>, %y: tile<f32>) {
    // CHECK-NEXT: arith.addf %[[X]], %[[Y]] : f32
    %0 = addf %x, %y : tile<f32>
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.add.rz.f"(%[[X]], %[[Y]]) : (f32, f32) -> f32
    %1 = addf %x, %y rounding<zero> : tile<f32>
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.mul.rm.ftz.f"
    %2 = mulf %x, %y rounding<negative_inf> flush_to_zero : tile<f32>
    // x - y is x + (-y) in every mode.
    // CHECK-NEXT: %[[N:.*]] = arith.negf %[[Y]] : f32
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.add.rp.f"(%[[X]], %[[N]])
    %3 = subf %x, %y rounding<positive_inf> : tile<f32>
    // CHECK-NEXT: math.fma %[[X]], %[[Y]], %[[X]] : f32
    %4 = fma %x, %y, %x : tile<f32>
    // CHECK-NEXT: arith.divf %[[X]], %[[Y]] : f32
    %5 = divf %x, %y : tile<f32>
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.div.approx.f"
    %6 = divf %x, %y rounding<approx> : tile<f32>
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.div.full"
    %7 = divf %x, %y rounding<full> : tile<f32>
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.sqrt.rn.f"
    %8 = sqrt %x : tile<f32>
    // CHECK-NEXT: arith.negf
    %9 = negf %x : tile<f32>
    // The sign bit alone, of NaN too.
    // CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
    // CHECK-NEXT: %[[MASK:.*]] = arith.constant 2147483647 : i32
    // CHECK-NEXT: arith.andi %[[BITS]], %[[MASK]]
    %10 = absf %x : tile<f32>
    return
  }

  // CHECK-LABEL: gpu.func @doubles
  entry @doubles(%x: tile<f64>) {
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.fma.rm.d"
    %0 = fma %x, %x, %x rounding<negative_inf> : tile<f64>
    // CHECK-NEXT: tile_gpu.call "__nv_exp"
    %1 = exp %x : tile<f64>
    // CHECK-NEXT: tile_gpu.call "__nv_rsqrt"
    %2 = rsqrt %x : tile<f64>
    return
  }

  // CHECK-LABEL: gpu.func @halves
  // CHECK-SAME: (%[[X:.*]]: f16, %[[Y:.*]]: bf16)
  entry @halves(%x: tile<f16>, %y: tile<bf16>) {
    // CHECK-NEXT: arith.addf %[[X]], %[[X]] : f16
    %0 = addf %x, %x : tile<f16>
    // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
    // CHECK-NEXT: %[[SINE:.*]] = tile_gpu.call "__nv_sinf"(%[[WIDE]]) : (f32) -> f32
    // CHECK-NEXT: arith.truncf %[[SINE]] : f32 to f16
    %1 = sin %x : tile<f16>
    // CHECK: tile_gpu.call "llvm.nvvm.mul.rz.f"
    // CHECK-NEXT: tile_gpu.ftof %{{.*}} "rz" : f32 -> bf16
    %2 = mulf %y, %y rounding<zero> : tile<bf16>
    return
  }

  // CHECK-LABEL: gpu.func @minima
  entry @minima(%x: tile<f32>) {
    // CHECK-NEXT: arith.maxnumf
    %0 = maxf %x, %x : tile<f32>
    // CHECK-NEXT: arith.minimumf
    %1 = minf %x, %x propagate_nan : tile<f32>
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.fmax.ftz.nan.f"
    %2 = maxf %x, %x flush_to_zero propagate_nan : tile<f32>
    return
  }

  // CHECK-LABEL: gpu.func @functions
  entry @functions(%n: tile<i32>) {
    %x = constant <f32: 0.5> : tile<8xf32>
    // CHECK: tile_gpu.inline_ptx "ex2.approx.f32 $0, $1;" "=f,f"
    // CHECK-SAME: (!tile_gpu.tile<8xf32>) -> !tile_gpu.tile<8xf32>
    %0 = exp2 %x : tile<8xf32>
    // CHECK-NEXT: tile_gpu.inline_ptx "rsqrt.approx.ftz.f32 $0, $1;"
    %1 = rsqrt %x flush_to_zero : tile<8xf32>
    // e^x is 2^(x log2 e).
    // CHECK: %[[LOG2E:.*]] = arith.constant dense<1.442695{{.*}}>
    // CHECK-NEXT: %[[S:.*]] = arith.mulf %{{.*}}, %[[LOG2E]]
    // CHECK-NEXT: tile_gpu.inline_ptx "ex2.approx.f32 $0, $1;" "=f,f"(%[[S]])
    %2 = exp %x rounding<approx> : tile<8xf32>
    // CHECK-NEXT: tile_gpu.inline_ptx "tanh.approx.f32 $0, $1;"
    %3 = tanh %x rounding<approx> : tile<8xf32>
    // CHECK-NEXT: tile_gpu.call "__nv_tanhf"
    %4 = tanh %x : tile<8xf32>
    // CHECK-NEXT: tile_gpu.call "__nv_powf"
    %5 = fpowf %x, %x : tile<8xf32>
    // CHECK-NEXT: tile_gpu.call "__nv_fmodf"
    %6 = remf %x, %x : tile<8xf32>
    // CHECK: tile_gpu.call "__nv_powif"(%{{.*}}, %{{.*}}) : (!tile_gpu.tile<8xf32>, !tile_gpu.tile<8xi32>)
    %k = iota : tile<8xi32>
    %7 = fpowi %x, %k : tile<8xf32>, tile<8xi32>
    return
  }
}
