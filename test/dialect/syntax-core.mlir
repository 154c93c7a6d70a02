// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s

// Constants, shape manipulation, grid, promises, printing: custom syntax and generic form.

cuda_tile.module @kernels {
  // CHECK: entry @constants() {
  entry @constants() {
    // CHECK-NEXT: %true = constant <i1: true> : tile<i1>
    %true = constant <i1: true> : tile<i1>
    // CHECK-NEXT: %cst_i1 = constant <i1: [true, false, false, true]> : tile<4xi1>
    %cst_i1 = constant <i1: [true, false, false, true]> : tile<4xi1>
    // CHECK-NEXT: %false = constant <i1: false> : tile<4xi1>
    %false = constant <i1: false> : tile<4xi1>
    // CHECK-NEXT: %cst_NaN_f16 = constant <f16: 0x7E00> : tile<f16>
    %cst_NaN_f16 = constant <f16: 0x7E00> : tile<f16>
    // CHECK-NEXT: %cst_bf16 = constant <bf16: -1.000000e+00> : tile<bf16>
    %cst_bf16 = constant <bf16: -1.000000e+00> : tile<bf16>
    // CHECK-NEXT: %cst_-3_i8 = constant <i8: -3> : tile<i8>
    %cst_-3_i8 = constant <i8: -3> : tile<i8>
    // CHECK-NEXT: %cst_7_i32 = constant <i32: 7> : tile<4x4xi32>
    %cst_7_i32 = constant <i32: 7> : tile<4x4xi32>
    // CHECK-NEXT: %cst_i64 = constant <i64: {{\[\[}}1, 2], [3, 4{{\]\]}}> : tile<2x2xi64>
    %cst_i64 = constant <i64: [[1, 2], [3, 4]]> : tile<2x2xi64>
    // CHECK-NEXT: %cst_f32 = constant <f32: [5.000000e-01, 1.000000e+00]> : tile<2xf32>
    %cst_f32 = constant <f32: [5.000000e-01, 1.000000e+00]> : tile<2xf32>
    // CHECK-NEXT: %cst_f32_0 = constant <f32: 0xFF800000> : tile<f32>
    %cst_f32_0 = constant <f32: 0xFF800000> : tile<f32>
    // CHECK-NEXT: %cst_f64 = constant <f64: 1.250000e-01> : tile<f64>
    %cst_f64 = constant <f64: 1.250000e-01> : tile<f64>
    // CHECK-NEXT: %cst_3_bf16 = constant <bf16: 3.000000e+00> : tile<bf16>
    %cst_3_bf16 = constant <bf16: 3.000000e+00> : tile<bf16>
    // CHECK-NEXT: %cst_1_tf32 = constant <tf32: 1.000000e+00> : tile<8xtf32>
    %cst_1_tf32 = constant <tf32: 1.000000e+00> : tile<8xtf32>
    // CHECK-NEXT: %cst_f8E4M3FN = constant <f8E4M3FN: [1.000000e+00, 4.480000e+02]> : tile<2xf8E4M3FN>
    %cst_f8E4M3FN = constant <f8E4M3FN: [1.000000e+00, 4.480000e+02]> : tile<2xf8E4M3FN>
    // CHECK-NEXT: %cst_2_f8E8M0FNU = constant <f8E8M0FNU: 2.000000e+00> : tile<f8E8M0FNU>
    %cst_2_f8E8M0FNU = constant <f8E8M0FNU: 2.000000e+00> : tile<f8E8M0FNU>
    // CHECK-NEXT: %cst_6_f4E2M1FN = constant <f4E2M1FN: 6.000000e+00> : tile<4xf4E2M1FN>
    %cst_6_f4E2M1FN = constant <f4E2M1FN: 6.000000e+00> : tile<4xf4E2M1FN>
    // CHECK-NEXT: %cst_i8 = constant <i8: "0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F"> : tile<128xi8>
    %cst_i8 = constant <i8: "0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F"> : tile<128xi8>
    // CHECK-NEXT: %cst_i1_1 = constant <i1: "0x0100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010101"> : tile<128xi1>
    %cst_i1_1 = constant <i1: "0x0100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010100010101"> : tile<128xi1>
    // CHECK-NEXT: %0 = iota : tile<128xi32>
    %0 = iota : tile<128xi32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @shapes(%arg0: tile<f32>, %arg1: tile<i32>, %arg2: tile<i1>, %arg3: tile<ptr<f32>>) {
  entry @shapes(%arg0: tile<f32>, %arg1: tile<i32>, %arg2: tile<i1>, %arg3: tile<ptr<f32>>) {
    // CHECK-NEXT: %reshape = reshape %arg0 : tile<f32> -> tile<1x1xf32>
    %reshape = reshape %arg0 : tile<f32> -> tile<1x1xf32>
    // CHECK-NEXT: %bcast = broadcast %reshape : tile<1x1xf32> -> tile<4x2xf32>
    %bcast = broadcast %reshape : tile<1x1xf32> -> tile<4x2xf32>
    // CHECK-NEXT: %0 = permute %bcast [1, 0] : tile<4x2xf32> -> tile<2x4xf32>
    %0 = permute %bcast [1, 0] : tile<4x2xf32> -> tile<2x4xf32>
    // CHECK-NEXT: %1 = cat %0, %0 dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>
    %1 = cat %0, %0 dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>
    // CHECK-NEXT: %2 = extract %1[%arg1, %arg1] : tile<4x4xf32> -> tile<2x1xf32>
    %2 = extract %1[%arg1, %arg1] : tile<4x4xf32> -> tile<2x1xf32>
    // CHECK-NEXT: %3 = insert %2, %1[%arg1, %arg1] : tile<2x1xf32>, tile<4x4xf32>
    %3 = insert %2, %1[%arg1, %arg1] : tile<2x1xf32>, tile<4x4xf32>
    // CHECK-NEXT: %4 = select %arg2, %arg0, %arg0 : tile<i1>, tile<f32>
    %4 = select %arg2, %arg0, %arg0 : tile<i1>, tile<f32>
    // CHECK-NEXT: %5 = offset %arg3, %arg1 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %5 = offset %arg3, %arg1 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    // CHECK-NEXT: %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4xf32>
    %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4xf32>
    // CHECK-NEXT: %6 = pack %cst_1_f32 : tile<4xf32> -> tile<16xi8>
    %6 = pack %cst_1_f32 : tile<4xf32> -> tile<16xi8>
    // CHECK-NEXT: %7 = unpack %6 : tile<16xi8> -> tile<32xi4>
    %7 = unpack %6 : tile<16xi8> -> tile<32xi4>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @grid() {
  entry @grid() {
    // CHECK-NEXT: %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    // CHECK-NEXT: %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
    %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @promises(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  entry @promises(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
    // CHECK-NEXT: %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
    %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
    // CHECK-NEXT: %assume_0 = assume bounded<0, ?>, %arg1 : tile<i32>
    %assume_0 = assume bounded<0, ?>, %arg1 : tile<i32>
    // CHECK-NEXT: %assume_assume = assume bounded<?, 100>, %assume_0 : tile<i32>
    %assume_assume = assume bounded<?, 100>, %assume_0 : tile<i32>
    // CHECK-NEXT: %reshape = reshape %arg1 : tile<i32> -> tile<1xi32>
    %reshape = reshape %arg1 : tile<i32> -> tile<1xi32>
    // CHECK-NEXT: %assume_reshape = assume div_by<8>, %reshape : tile<1xi32>
    %assume_reshape = assume div_by<8>, %reshape : tile<1xi32>
    // CHECK-NEXT: %0 = iota : tile<16xi32>
    %0 = iota : tile<16xi32>
    // CHECK-NEXT: %assume_1 = assume div_by<4, every 4 along 0>, %0 : tile<16xi32>
    %assume_1 = assume div_by<4, every 4 along 0>, %0 : tile<16xi32>
    // CHECK-NEXT: %assume_assume_2 = assume same_elements<[1]>, %assume_1 : tile<16xi32>
    %assume_assume_2 = assume same_elements<[1]>, %assume_1 : tile<16xi32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @debugging(%arg0: tile<i1>, %arg1: tile<f32>, %arg2: tile<i32>) {
  entry @debugging(%arg0: tile<i1>, %arg1: tile<f32>, %arg2: tile<i32>) {
    // CHECK-NEXT: assert %arg0, "out of range" : tile<i1>
    assert %arg0, "out of range" : tile<i1>
    // CHECK-NEXT: %0 = print_tko "hello\0A" -> token
    %0 = print_tko "hello\0A" -> token
    // CHECK-NEXT: %1 = print_tko "%f of %d, 100%%", %arg1, %arg2 token=%0 : tile<f32>, tile<i32> -> token
    %1 = print_tko "%f of %d, 100%%", %arg1, %arg2 token=%0 : tile<f32>, tile<i32> -> token
    // CHECK-NEXT: print "hello"
    print "hello"
    // CHECK-NEXT: print "%5.2f", %arg1 : tile<f32>
    print "%5.2f", %arg1 : tile<f32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @reductions() {
  entry @reductions() {
    // CHECK-NEXT: %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4x8xf32>
    %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4x8xf32>
    // CHECK-NEXT: %cst_2_i32 = constant <i32: 2> : tile<4x8xi32>
    %cst_2_i32 = constant <i32: 2> : tile<4x8xi32>
    // CHECK-NEXT: %reduce = reduce %cst_1_f32 dim=1 identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4xf32>
    %reduce = reduce %cst_1_f32 dim=1 identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4xf32>
    // CHECK-NEXT: (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      // CHECK-NEXT: %1 = addf %reduce_lhs, %reduce_rhs : tile<f32>
      %1 = addf %reduce_lhs, %reduce_rhs : tile<f32>
      // CHECK-NEXT: yield %1 : tile<f32>
      yield %1 : tile<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %reduce_0:2 = reduce %cst_1_f32, %cst_2_i32 dim=0 identities=[0xFF800000 : f32, 0 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<8xf32>, tile<8xi32>
    %reduce_0:2 = reduce %cst_1_f32, %cst_2_i32 dim=0 identities=[0xFF800000 : f32, 0 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<8xf32>, tile<8xi32>
    // CHECK-NEXT: (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
    (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
      // CHECK-NEXT: %1 = maxf %reduce_lhs0, %reduce_rhs0 : tile<f32>
      %1 = maxf %reduce_lhs0, %reduce_rhs0 : tile<f32>
      // CHECK-NEXT: %2 = addi %reduce_lhs1, %reduce_rhs1 : tile<i32>
      %2 = addi %reduce_lhs1, %reduce_rhs1 : tile<i32>
      // CHECK-NEXT: yield %1, %2 : tile<f32>, tile<i32>
      yield %1, %2 : tile<f32>, tile<i32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %0 = scan %cst_2_i32 dim=0 reverse=true identities=[1 : i32] : tile<4x8xi32> -> tile<4x8xi32>
    %0 = scan %cst_2_i32 dim=0 reverse=true identities=[1 : i32] : tile<4x8xi32> -> tile<4x8xi32>
    // CHECK-NEXT: (%arg0: tile<i32>, %arg1: tile<i32>) {
    (%arg0: tile<i32>, %arg1: tile<i32>) {
      // CHECK-NEXT: %1 = muli %arg0, %arg1 : tile<i32>
      %1 = muli %arg0, %arg1 : tile<i32>
      // CHECK-NEXT: yield %1 : tile<i32>
      yield %1 : tile<i32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
}
