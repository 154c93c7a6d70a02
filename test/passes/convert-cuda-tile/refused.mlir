// RUN: tile-opt --convert-cuda-tile --split-input-file --verify-diagnostics %s

// What has no code yet is refused with the operation, its place and what to do instead.

cuda_tile.module @kernels {
  entry @return_in_for(%n: tile<i32>, %c: tile<i1>) {
    for %i in (%n to %n, step %n) : tile<i32> {
      if %c {
        // expected-error @+1 {{'cuda_tile.return': no code generation inside a 'for'; leave the kernel after the loop}}
        return
      }
    }
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @return_in_loop(%c: tile<i1>) {
    loop {
      if %c {
        // expected-error @+1 {{'cuda_tile.return': no code generation inside a 'loop'; leave the loop with 'break' first}}
        return
      }
    }
    return
  }
}

// -----

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
