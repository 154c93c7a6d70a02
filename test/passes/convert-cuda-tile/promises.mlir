// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Parameters that are promised not to be negative, also by way of other promises. A promise in a branch
// holds there alone, and one of another bound says nothing.

cuda_tile.module @m {
  // CHECK: gpu.func @sizes({{.*}}) kernel attributes {tile_gpu.nonnegative = array<i64: 0, 2>}
  entry @sizes(%m: tile<i32>, %n: tile<i32>, %k: tile<i64>, %c: tile<i1>, %d: tile<i32>) {
    %m0 = assume bounded<0, ?>, %m : tile<i32>
    %k0 = assume div_by<16>, %k : tile<i64>
    %k1 = assume bounded<1, 4096>, %k0 : tile<i64>
    %n0 = assume bounded<-1, ?>, %n : tile<i32>
    if %c {
      %d0 = assume bounded<0, ?>, %d : tile<i32>
      print_tko "%i", %d0 : tile<i32> -> token
    }
    print_tko "%i %i %i", %m0, %n0, %k1 : tile<i32>, tile<i32>, tile<i64> -> token
    return
  }

  // CHECK: gpu.func @nothing({{.*}}) kernel {
  entry @nothing(%m: tile<i32>) {
    print_tko "%i", %m : tile<i32> -> token
    return
  }
}
