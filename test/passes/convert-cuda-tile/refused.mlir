// RUN: tile-opt --convert-cuda-tile --split-input-file --verify-diagnostics %s

// What has no code yet is refused with the operation, its place and what to do instead.

cuda_tile.module @kernels {
  entry @fp4(%p: tile<ptr<f4E2M1FN>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf4E2M1FN, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(64), tensor_view<64xf4E2M1FN, strides=[1]>>
    // expected-error @+1 {{no code generation for f4E2M1FN in memory; load i8, and unpack it}}
    %x, %t = load_view_tko weak %av[%zero] : partition_view<tile=(64), tensor_view<64xf4E2M1FN, strides=[1]>>, tile<i32> -> tile<64xf4E2M1FN>, token
    return
  }
}

// -----

cuda_tile.module @kernels {
  // expected-error @+1 {{'cuda_tile.entry': the name 'a.b' is no PTX identifier; use letters, digits, _ and $}}
  entry @"a.b"() {
    return
  }
}

// -----

cuda_tile.module @kernels {
  // expected-error @+1 {{'cuda_tile.entry': the name '__nv_sinf' belongs to the system; choose another}}
  entry @__nv_sinf() {
    return
  }
}
