// RUN: tile-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: tile-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: tile-opt %s --symbol-dce | FileCheck %s --check-prefix=SYMBOL

// What upstream passes may do with our operations: merge, move, erase.

cuda_tile.module @kernels {
  // A private global that nobody names goes, a public one stays.
  // SYMBOL-NOT: @private_unused
  // SYMBOL: global @public_unused
  // SYMBOL: global private @private_used
  global private @private_unused <i32: 0> : tile<2xi32>
  global @public_unused <i32: 0> : tile<2xi32>
  global private @private_used <i32: 0> : tile<2xi32>

  // CSE-LABEL: entry @merge
  // CSE-NEXT: addf
  // CSE-NEXT: get_global @private_used
  // CSE-NEXT: load_ptr_tko weak
  // CSE-NEXT: load_ptr_tko relaxed
  // CSE-NEXT: load_ptr_tko relaxed
  // CSE-NEXT: store_ptr_tko
  // CSE-NEXT: store_ptr_tko
  // CSE-NEXT: load_ptr_tko weak
  // CSE-NEXT: atomic_rmw_tko
  // CSE-NEXT: atomic_rmw_tko
  // CSE-NEXT: alloca
  // CSE-NEXT: alloca
  // CSE-COUNT-3: ptr_to_int
  // CSE-NEXT: print
  entry @merge(%p: tile<ptr<f32>>, %x: tile<f32>) {
    %0 = addf %x, %x : tile<f32>
    %1 = addf %x, %x : tile<f32>
    %2 = get_global @private_used : tile<ptr<i32>>
    %3 = get_global @private_used : tile<ptr<i32>>
    // Two weak loads with nothing between are one; others order memory.
    %4, %5 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %6, %7 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %8, %9 = load_ptr_tko relaxed device %p : tile<ptr<f32>> -> tile<f32>, token
    %10, %11 = load_ptr_tko relaxed device %p : tile<ptr<f32>> -> tile<f32>, token
    %12 = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    %13 = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    %14, %15 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %16, %17 = atomic_rmw_tko relaxed device %p, addf, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %18, %19 = atomic_rmw_tko relaxed device %p, addf, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %20 = alloca num_elem = 4, alignment = 4 : tile<ptr<i32>>
    %21 = alloca num_elem = 4, alignment = 4 : tile<ptr<i32>>
    %22 = ptr_to_int %2 : tile<ptr<i32>> -> tile<i64>
    %23 = ptr_to_int %3 : tile<ptr<i32>> -> tile<i64>
    %24 = ptr_to_int %20 : tile<ptr<i32>> -> tile<i64>
    %25 = ptr_to_int %21 : tile<ptr<i32>> -> tile<i64>
    print "%d %d %d %d", %22, %23, %24, %25 : tile<i64>, tile<i64>, tile<i64>, tile<i64>
    print "%f %f %f %f %f %f %f", %0, %1, %4, %6, %8, %10, %14 : tile<f32>, tile<f32>, tile<f32>, tile<f32>, tile<f32>, tile<f32>, tile<f32>
    return
  }

  // What may be undefined stays in the loop, which may not run at all.
  // LICM-LABEL: entry @hoist
  // LICM-NEXT: addi %arg1, %arg1 : tile<i32>
  // LICM-NEXT: constant <i32: 3>
  // LICM-NEXT: divi %arg1, %cst_3_i32 unsigned
  // LICM-NEXT: make_tensor_view
  // LICM-NEXT: iota
  // LICM-NEXT: reduce
  // LICM: for
  // LICM-NEXT: addi {{.*}} overflow<no_wrap>
  // LICM-NEXT: divi %arg1, %arg1 signed
  // LICM-NEXT: assume div_by<16>
  // LICM-NEXT: load_ptr_tko
  // LICM-NEXT: print
  entry @hoist(%p: tile<ptr<f32>>, %n: tile<i32>) {
    for %i in (%n to %n, step %n) : tile<i32> {
      %0 = addi %n, %n : tile<i32>
      %1 = addi %n, %n overflow<no_wrap> : tile<i32>
      %2 = constant <i32: 3> : tile<i32>
      %3 = divi %n, %2 unsigned : tile<i32>
      %4 = divi %n, %n signed : tile<i32>
      %5 = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
      %6 = assume div_by<16>, %n : tile<i32>
      %7, %8 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
      %9 = iota : tile<8xi32>
      %10 = reduce %9 dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
      (%a: tile<i32>, %b: tile<i32>) {
        %12 = addi %a, %b : tile<i32>
        yield %12 : tile<i32>
      }
      %11:1 = get_tensor_shape %5 : tensor_view<?xf32, strides=[1]> -> tile<i32>
      print "%d %d %d %d %d %f %d %d", %0, %1, %3, %4, %6, %7, %10, %11 : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<f32>, tile<i32>, tile<i32>
    }
    return
  }

  // A branch that jumps is not moved, one that computes is.
  // LICM-LABEL: entry @branches
  // LICM-NEXT: %[[CHOICE:.*]] = if %arg0 -> (tile<f32>) {
  // LICM: loop {
  // LICM-NEXT: if %arg0 {
  // LICM-NEXT: break
  // LICM: print "%f", %[[CHOICE]]
  entry @branches(%c: tile<i1>, %x: tile<f32>) {
    loop {
      if %c {
        break
      }
      %0 = if %c -> (tile<f32>) {
        %1 = negf %x : tile<f32>
        yield %1 : tile<f32>
      } else {
        yield %x : tile<f32>
      }
      print "%f", %0 : tile<f32>
    }
    return
  }
}
