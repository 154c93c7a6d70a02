// RUN: tile-opt --split-tile --split-input-file --verify-diagnostics %s | FileCheck %s

// What fits a block: 32768 registers in one tile, or in all accumulators together.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @one_tile
  entry @one_tile(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %b = make_tensor_view %p, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
    %bv = make_partition_view %b : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>
    %x = constant <f32: 1.5> : tile<128x256xf32>
    // CHECK: store_view_tko {{.*}} : tile<128x256xf32>
    %u = store_view_tko weak %x, %bv[%zero, %zero] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> token
    return
  }

  // Elements of 64 bits take two registers.
  // CHECK-LABEL: entry @wide
  entry @wide(%p: tile<ptr<f64>>) {
    %zero = constant <i32: 0> : tile<i32>
    %b = make_tensor_view %p, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf64, strides=[256,1]>
    %bv = make_partition_view %b : partition_view<tile=(128x256), tensor_view<128x256xf64, strides=[256,1]>>
    %x = constant <f64: 1.5> : tile<128x256xf64>
    // CHECK: store_view_tko {{.*}} : tile<64x256xf64>
    // expected-remark @+1 {{take 65536 registers (a block has 32768 for its largest tile), and are computed in 2 slices}}
    %u = store_view_tko weak %x, %bv[%zero, %zero] : tile<128x256xf64>, partition_view<tile=(128x256), tensor_view<128x256xf64, strides=[256,1]>>, tile<i32> -> token
    return
  }

  // A hint leaves the kernel with 4 warps, whose threads have 128 registers for a tile.
  // CHECK-LABEL: entry @few_warps
  entry @few_warps(%p: tile<ptr<f32>>) optimization_hints=<sm_90 = {num_worker_warps_per_cta = 4}> {
    %zero = constant <i32: 0> : tile<i32>
    %b = make_tensor_view %p, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
    %bv = make_partition_view %b : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>
    %x = constant <f32: 1.5> : tile<128x256xf32>
    // CHECK: store_view_tko {{.*}} : tile<64x256xf32>
    // expected-remark @+1 {{take 32768 registers (a block has 16384 for its largest tile), and are computed in 2 slices}}
    %u = store_view_tko weak %x, %bv[%zero, %zero] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> token
    return
  }

  // Operands of a product lie in shared memory; products that add up share an accumulator.
  // CHECK-LABEL: entry @products
  entry @products(%p: tile<ptr<f16>>, %q: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %a = make_tensor_view %p, shape = [512, 512], strides = [512, 1] : tensor_view<512x512xf16, strides=[512,1]>
    %av = make_partition_view %a : partition_view<tile=(128x256), tensor_view<512x512xf16, strides=[512,1]>>
    %bv = make_partition_view %a : partition_view<tile=(256x256), tensor_view<512x512xf16, strides=[512,1]>>
    %c = make_tensor_view %q, shape = [512, 512], strides = [512, 1] : tensor_view<512x512xf32, strides=[512,1]>
    %cv = make_partition_view %c : partition_view<tile=(128x256), tensor_view<512x512xf32, strides=[512,1]>>
    %start = constant <f32: 0.0> : tile<128x256xf32>
    %x, %t0 = load_view_tko weak %av[%zero, %zero] : partition_view<tile=(128x256), tensor_view<512x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x256xf16>, token
    %y, %t1 = load_view_tko weak %bv[%zero, %zero] : partition_view<tile=(256x256), tensor_view<512x512xf16, strides=[512,1]>>, tile<i32> -> tile<256x256xf16>, token
    // CHECK: mmaf {{.*}} : tile<128x256xf16>, tile<256x256xf16>, tile<128x256xf32>
    %d = mmaf %x, %y, %start : tile<128x256xf16>, tile<256x256xf16>, tile<128x256xf32>
    %e = mmaf %x, %y, %d : tile<128x256xf16>, tile<256x256xf16>, tile<128x256xf32>
    %u = store_view_tko weak %e, %cv[%zero, %zero] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<512x512xf32, strides=[512,1]>>, tile<i32> -> token
    return
  }

  // Five tiles at once are too much for 16 warps; 8 warps with smaller tiles hold them.
  // CHECK-LABEL: entry @many_tiles
  entry @many_tiles(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %a = make_tensor_view %p, shape = [131072], strides = [1] : tensor_view<131072xf32, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(32768), tensor_view<131072xf32, strides=[1]>>
    %b = make_tensor_view %q, shape = [32768], strides = [1] : tensor_view<32768xf32, strides=[1]>
    %bv = make_partition_view %b : partition_view<tile=(32768), tensor_view<32768xf32, strides=[1]>>
    %x0, %t0 = load_view_tko weak %av[%zero] : partition_view<tile=(32768), tensor_view<131072xf32, strides=[1]>>, tile<i32> -> tile<32768xf32>, token
    %x1, %t1 = load_view_tko weak %av[%one] : partition_view<tile=(32768), tensor_view<131072xf32, strides=[1]>>, tile<i32> -> tile<32768xf32>, token
    %y0 = mulf %x0, %x1 : tile<32768xf32>
    %y1 = addf %x0, %x1 : tile<32768xf32>
    %y2 = maxf %x0, %x1 : tile<32768xf32>
    %z0 = fma %y0, %y1, %y2 : tile<32768xf32>
    %z1 = fma %z0, %x0, %x1 : tile<32768xf32>
    // CHECK: store_view_tko {{.*}} : tile<16384xf32>
    // expected-remark @+1 {{take 163840 registers (a block has 32768 for its largest tile), and are computed in 2 slices}}
    %u = store_view_tko weak %z1, %bv[%zero] : tile<32768xf32>, partition_view<tile=(32768), tensor_view<32768xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// -----

// Warpgroups get as many warps as their accumulators need, whatever the hint; three hold 36864. Others
// are split, such as these of 8-bit elements: warpgroups read them along k only.

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  // CHECK-LABEL: entry @hinted
  entry @hinted(%p: tile<ptr<f32>>) optimization_hints=<sm_90 = {num_worker_warps_per_cta = 4}> {
    %zero = constant <i32: 0> : tile<i32>
    %c = make_tensor_view %p, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
    %cv = make_partition_view %c : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>
    %a = constant <f16: 1.5> : tile<128x64xf16>
    %b = constant <f16: 1.5> : tile<64x256xf16>
    %start = constant <f32: 0.0> : tile<128x256xf32>
    // CHECK: mmaf {{.*}} tile<128x256xf32>
    %d = mmaf %a, %b, %start : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
    %u = store_view_tko weak %d, %cv[%zero, %zero] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> token
    return
  }
  // CHECK-LABEL: entry @three
  entry @three(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %c = make_tensor_view %p, shape = [192, 192], strides = [192, 1] : tensor_view<192x192xf32, strides=[192,1]>
    %cv = make_partition_view %c : partition_view<tile=(192x192), tensor_view<192x192xf32, strides=[192,1]>>
    %a = constant <f16: 1.5> : tile<192x64xf16>
    %b = constant <f16: 1.5> : tile<64x192xf16>
    %start = constant <f32: 0.0> : tile<192x192xf32>
    // CHECK: mmaf {{.*}} tile<192x192xf32>
    %d = mmaf %a, %b, %start : tile<192x64xf16>, tile<64x192xf16>, tile<192x192xf32>
    %u = store_view_tko weak %d, %cv[%zero, %zero] : tile<192x192xf32>, partition_view<tile=(192x192), tensor_view<192x192xf32, strides=[192,1]>>, tile<i32> -> token
    return
  }
  // CHECK-LABEL: entry @across_k
  entry @across_k(%p: tile<ptr<i32>>, %q: tile<ptr<i8>>) {
    %zero = constant <i32: 0> : tile<i32>
    %c = make_tensor_view %p, shape = [192, 192], strides = [192, 1] : tensor_view<192x192xi32, strides=[192,1]>
    %cv = make_partition_view %c : partition_view<tile=(192x192), tensor_view<192x192xi32, strides=[192,1]>>
    %q0 = make_tensor_view %q, shape = [192, 192], strides = [192, 1] : tensor_view<192x192xi8, strides=[192,1]>
    %qv = make_partition_view %q0 : partition_view<tile=(192x192), tensor_view<192x192xi8, strides=[192,1]>>
    %a, %t = load_view_tko weak %qv[%zero, %zero] : partition_view<tile=(192x192), tensor_view<192x192xi8, strides=[192,1]>>, tile<i32> -> tile<192x192xi8>, token
    %start = constant <i32: 0> : tile<192x192xi32>
    // CHECK: mmai {{.*}} tile<96x192xi32>
    %d = mmai %a, %a, %start signed signed : tile<192x192xi8>, tile<192x192xi8>, tile<192x192xi32>
    // expected-remark @+1 {{take 36864 registers (a block has 32768 for its largest tile), and are computed in 2 slices}}
    %u = store_view_tko weak %d, %cv[%zero, %zero] : tile<192x192xi32>, partition_view<tile=(192x192), tensor_view<192x192xi32, strides=[192,1]>>, tile<i32> -> token
    return
  }
}
