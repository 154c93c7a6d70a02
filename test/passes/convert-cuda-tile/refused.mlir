// RUN: tile-opt --convert-cuda-tile --split-input-file --verify-diagnostics %s

// What has no code yet is refused with the operation, its place and what to do instead.

cuda_tile.module @kernels {
  entry @fp4(%p: tile<ptr<f4E2M1FN>>) {
    // expected-error @+1 {{no code generation for elements of f4E2M1FN}}
    %0 = constant <f4E2M1FN: 1.0> : tile<8xf4E2M1FN>
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

// -----

cuda_tile.module @kernels {
  // expected-error @+1 {{'cuda_tile.global': no code generation for elements of f8E8M0FNU}}
  global @scales <f8E8M0FNU: [1.0, 2.0]> : tile<2xf8E8M0FNU>
}
