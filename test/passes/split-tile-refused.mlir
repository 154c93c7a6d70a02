// RUN: tile-opt --pass-pipeline='builtin.module(split-tile{budget=64 rows=8 columns=8})' --split-input-file --verify-diagnostics %s | FileCheck %s

// Kernels that stay as they are, and why.

// CHECK-NOT: tile<64xf32>

cuda_tile.module @kernels {
  entry @along_reduction(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a = make_tensor_view %p, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
    %b = make_tensor_view %q, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
    %bv = make_partition_view %b : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
    %x, %t0 = load_view_tko weak %av[%zero] : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
    // expected-remark @+1 {{and are not split: 'reduce' along dimension 0 needs the whole of tile<128xf32>; give the kernel smaller tiles and a larger grid}}
    %m = reduce %x dim=0 identities=[0xFF800000 : f32] : tile<128xf32> -> tile<f32>
    (%e: tile<f32>, %s: tile<f32>) {
      %r = maxf %e, %s : tile<f32>
      yield %r : tile<f32>
    }
    %m1 = reshape %m : tile<f32> -> tile<1xf32>
    %ms = broadcast %m1 : tile<1xf32> -> tile<128xf32>
    %y = subf %x, %ms : tile<128xf32>
    %t1 = store_view_tko weak %y, %bv[%zero] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @atomic(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x = constant <f32: 1.0> : tile<128xf32>
    %a = make_tensor_view %p, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
    // expected-remark @+1 {{this 'atomic_red_view_tko' would run once for each slice}}
    %t = atomic_red_view_tko relaxed device %av[%zero], addf, %x : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @release(%p: tile<ptr<f32>>, %flag: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %x = constant <f32: 1.0> : tile<128xf32>
    %a = make_tensor_view %p, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
    %t = store_view_tko weak %x, %av[%zero] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
    // expected-remark @+1 {{this release 'store_ptr_tko' would run once for each slice}}
    %u = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @print(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x = constant <f32: 1.0> : tile<128xf32>
    %a = make_tensor_view %p, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
    %t = store_view_tko weak %x, %av[%zero] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
    // expected-remark @+1 {{this 'print_tko' would run once for each slice}}
    %u = print_tko "x=%f", %x token=%t : tile<128xf32> -> token
    return
  }
}

// -----

// Slice 1 would load what slice 0 has stored.

cuda_tile.module @kernels {
  entry @transpose_in_place(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %a = make_tensor_view %p, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %av = make_partition_view %a : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %x, %t0 = load_view_tko weak %av[%zero, %zero] : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x16xf32>, token
    %y = permute %x [1, 0] : tile<16x16xf32> -> tile<16x16xf32>
    // expected-remark @+1 {{a token orders 'load_view_tko' and 'store_view_tko', and one slice of the first may touch what another slice of the second does; leave the token out if they never touch the same memory, or access the same tile of one view in both; otherwise give the kernel smaller tiles and a larger grid}}
    %t1 = store_view_tko weak %y, %av[%zero, %zero] token = %t0 : tile<16x16xf32>, partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}

// -----

// Rounds of the loop may store overlapping rows: nothing is known of the stride.

cuda_tile.module @kernels {
  entry @overlapping_rounds(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %token = make_token : token
    %x = constant <f32: 1.0> : tile<8x16xf32>
    %a = make_tensor_view %p, shape = [8, 64], strides = [%n, 1] : tile<i32> -> tensor_view<8x64xf32, strides=[?,1]>
    %av = make_partition_view %a : partition_view<tile=(8x16), tensor_view<8x64xf32, strides=[?,1]>>
    %acc, %r = for %j in (%zero to %n, step %one) : tile<i32> iter_values(%c = %x, %t = %token) -> (tile<8x16xf32>, token) {
      // expected-remark @+1 {{a token orders rounds of 'store_view_tko', and one slice of the first may touch}}
      %u = store_view_tko weak %c, %av[%zero, %j] token = %t : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<8x64xf32, strides=[?,1]>>, tile<i32> -> token
      %d = addf %c, %c : tile<8x16xf32>
      continue %d, %u : tile<8x16xf32>, token
    }
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @thin_product(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x = constant <f16: 1.0> : tile<8x8xf16>
    %y = constant <f32: 1.0> : tile<8x8xf32>
    %c = mmaf %x, %x, %y : tile<8x8xf16>, tile<8x8xf16>, tile<8x8xf32>
    %d = ftof %c : tile<8x8xf32> -> tile<8x8xf16>
    // expected-remark @+1 {{a matrix product in 2 slices is smaller than one matrix instruction}}
    %e = mmaf %d, %x, %y : tile<8x8xf16>, tile<8x8xf16>, tile<8x8xf32>
    %a = make_tensor_view %p, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>
    %av = make_partition_view %a : partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>>
    %t = store_view_tko weak %e, %av[%zero, %zero] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
    return
  }
}

// -----

// The 16 slices that would fit are more than a dimension is long, and the sum needs all elements.

cuda_tile.module @kernels {
  entry @too_short(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x = constant <f32: 1.0> : tile<1024xf32>
    %y = scan %x dim=0 reverse=false identities=[0.0 : f32] : tile<1024xf32> -> tile<1024xf32>
    (%e: tile<f32>, %s: tile<f32>) {
      %r = addf %e, %s : tile<f32>
      yield %r : tile<f32>
    }
    %z = reshape %y : tile<1024xf32> -> tile<4x4x4x4x4xf32>
    %a = make_tensor_view %p, shape = [4, 4, 4, 4, 4], strides = [256, 64, 16, 4, 1] : tensor_view<4x4x4x4x4xf32, strides=[256,64,16,4,1]>
    %av = make_partition_view %a : partition_view<tile=(4x4x4x4x4), tensor_view<4x4x4x4x4xf32, strides=[256,64,16,4,1]>>
    // expected-remark @+1 {{no dimension of the tile stored here can be cut into 16 slices}}
    %t = store_view_tko weak %z, %av[%zero, %zero, %zero, %zero, %zero] : tile<4x4x4x4x4xf32>, partition_view<tile=(4x4x4x4x4), tensor_view<4x4x4x4x4xf32, strides=[256,64,16,4,1]>>, tile<i32> -> token
    return
  }
}

// -----

// A branch after a store leaves the kernel: later slices would be missing.

cuda_tile.module @kernels {
  entry @leaves(%p: tile<ptr<f32>>, %c: tile<i1>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %x = constant <f32: 1.0> : tile<128xf32>
    %a = make_tensor_view %p, shape = [512], strides = [1] : tensor_view<512xf32, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>
    %t = store_view_tko weak %x, %av[%zero] : tile<128xf32>, partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>, tile<i32> -> token
    if %c {
      // expected-remark @+1 {{'return' would leave before all slices are done}}
      return
    }
    %u = store_view_tko weak %x, %av[%one] : tile<128xf32>, partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
