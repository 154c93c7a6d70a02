// RUN: tile-opt --order-memory %s | FileCheck %s

// Tokens order memory operations of a tile block. Its threads run at different times, so that order
// becomes a barrier where the two operations conflict. Loads that may see what was written before them
// are marked; those that are not may be done ahead of time.

cuda_tile.module @kernels {
  // A store that a load's token orders after it: threads must have read before others write.
  // CHECK-LABEL: entry @load_then_store
  // CHECK-SAME: {tile_gpu.free_loads}
  // CHECK-NOT: tile_gpu.ordered
  entry @load_then_store(%p: tile<ptr<f32>>) {
    // CHECK: load_ptr_tko
    %v, %t0 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: store_ptr_tko
    %t1 = store_ptr_tko weak %p, %v token=%t0 : tile<ptr<f32>>, tile<f32> -> token
    // CHECK-NEXT: return
    return
  }

  // Without a token nothing is ordered; two loads never conflict.
  // CHECK-LABEL: entry @unordered
  entry @unordered(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    // CHECK-NOT: tile_gpu.barrier
    // CHECK-NOT: tile_gpu.ordered
    // CHECK: return
    %v, %t0 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %w, %t1 = load_ptr_tko weak %p token=%t0 : tile<ptr<f32>> -> tile<f32>, token
    %t2 = store_ptr_tko weak %q, %v : tile<ptr<f32>>, tile<f32> -> token
    return
  }

  // An acquire orders the loads after it, a release the loads before it.
  // CHECK-LABEL: entry @acquire_release
  entry @acquire_release(%p: tile<ptr<f32>>, %flag: tile<ptr<i32>>, %one: tile<i32>) {
    // CHECK: load_ptr_tko acquire
    // CHECK-NOT: tile_gpu.ordered
    %f, %t0 = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
    // CHECK: tile_gpu.barrier
    // CHECK-NEXT: load_ptr_tko weak {{.*}} {tile_gpu.ordered}
    %v, %t1 = load_ptr_tko weak %p token=%t0 : tile<ptr<f32>> -> tile<f32>, token
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: store_ptr_tko release
    %t2 = store_ptr_tko release device %flag, %one token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    return
  }

  // One barrier orders everything before it.
  // CHECK-LABEL: entry @one_barrier
  entry @one_barrier(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %x: tile<f32>) {
    // CHECK: store_ptr_tko
    // CHECK-NEXT: store_ptr_tko
    %t0 = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    %t1 = store_ptr_tko weak %q, %x : tile<ptr<f32>>, tile<f32> -> token
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: load_ptr_tko {{.*}} {tile_gpu.ordered}
    // CHECK-NEXT: load_ptr_tko {{.*}} {tile_gpu.ordered}
    %v, %t2 = load_ptr_tko weak %p token=%t0 : tile<ptr<f32>> -> tile<f32>, token
    %w, %t3 = load_ptr_tko weak %q token=%t1 : tile<ptr<f32>> -> tile<f32>, token
    return
  }

  // join_tokens stands for all its operands.
  // CHECK-LABEL: entry @joined
  entry @joined(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %x: tile<f32>) {
    %t0 = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    %v, %t1 = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token
    %t2 = join_tokens %t0, %t1 : token
    // CHECK: join_tokens
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: load_ptr_tko
    %w, %t3 = load_ptr_tko weak %p token=%t2 : tile<ptr<f32>> -> tile<f32>, token
    return
  }

  // A carried token orders a round after the one before it.
  // CHECK-LABEL: entry @carried
  entry @carried(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %t0 = make_token : token
    // CHECK: for
    %r = for %i in (%n to %n, step %n) : tile<i32> iter_values(%t = %t0) -> (token) {
      // CHECK-NEXT: tile_gpu.barrier
      // CHECK-NEXT: load_ptr_tko
      %v, %t1 = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
      // CHECK-NEXT: tile_gpu.barrier
      // CHECK-NEXT: store_ptr_tko
      %t2 = store_ptr_tko weak %p, %v token=%t1 : tile<ptr<f32>>, tile<f32> -> token
      continue %t2 : token
    }
    return
  }

  // The token that leaves a branch stands for what either side has done.
  // CHECK-LABEL: entry @branch
  entry @branch(%p: tile<ptr<f32>>, %x: tile<f32>, %c: tile<i1>) {
    %t0 = make_token : token
    // CHECK: if
    %t1 = if %c -> (token) {
      // CHECK-NEXT: store_ptr_tko
      %t2 = store_ptr_tko weak %p, %x token=%t0 : tile<ptr<f32>>, tile<f32> -> token
      yield %t2 : token
    } else {
      yield %t0 : token
    }
    // CHECK: tile_gpu.barrier
    // CHECK-NEXT: load_ptr_tko
    %v, %t3 = load_ptr_tko weak %p token=%t1 : tile<ptr<f32>> -> tile<f32>, token
    return
  }

  // Tokens that leave a loop by `break`.
  // CHECK-LABEL: entry @break
  entry @break(%p: tile<ptr<f32>>, %x: tile<f32>, %c: tile<i1>) {
    %t0 = make_token : token
    %t1 = loop iter_values(%t = %t0) : token -> token {
      // CHECK: tile_gpu.barrier
      // CHECK-NEXT: store_ptr_tko
      %t2 = store_ptr_tko weak %p, %x token=%t : tile<ptr<f32>>, tile<f32> -> token
      if %c {
        break %t2 : token
      }
      continue %t2 : token
    }
    // CHECK: tile_gpu.barrier
    // CHECK-NEXT: load_ptr_tko
    %v, %t3 = load_ptr_tko weak %p token=%t1 : tile<ptr<f32>> -> tile<f32>, token
    return
  }
}
