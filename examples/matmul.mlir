// C = A B in f16, one tile of 128x128 a block, accumulated in f32 along k in steps of 64.
// A is m x k, B is k x n; rows start at multiples of 16 bytes (`div_by<8>` elements).
entry @matmul(%a_ptr: tile<ptr<f16>>, %b_ptr: tile<ptr<f16>>, %c_ptr: tile<ptr<f16>>,
              %m_arg: tile<i32>, %n_arg: tile<i32>, %k_arg: tile<i32>) {
  %a_base = assume div_by<16>, %a_ptr : tile<ptr<f16>>
  %b_base = assume div_by<16>, %b_ptr : tile<ptr<f16>>
  %c_base = assume div_by<16>, %c_ptr : tile<ptr<f16>>
  %m = assume bounded<0, ?>, %m_arg : tile<i32>
  %n_positive = assume bounded<0, ?>, %n_arg : tile<i32>
  %n = assume div_by<8>, %n_positive : tile<i32>
  %k_positive = assume bounded<0, ?>, %k_arg : tile<i32>
  %k = assume div_by<8>, %k_positive : tile<i32>

  %a_tensor = make_tensor_view %a_base, shape = [%m, %k], strides = [%k, 1]
    : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
  %b_tensor = make_tensor_view %b_base, shape = [%k, %n], strides = [%n, 1]
    : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
  %c_tensor = make_tensor_view %c_base, shape = [%m, %n], strides = [%n, 1]
    : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
  %a = make_partition_view %a_tensor
    : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
  %b = make_partition_view %b_tensor
    : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
  %c = make_partition_view %c_tensor
    : partition_view<tile=(128x128), tensor_view<?x?xf16, strides=[?,1]>>

  %i, %j, %unused = get_tile_block_id : tile<i32>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %counts:2 = get_index_space_shape %a
    : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>> -> tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %step in (%first to %counts#1, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %lhs, %t0 = load_view_tko weak %a[%i, %step]
      : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x64xf16>, token
    %rhs, %t1 = load_view_tko weak %b[%step, %j]
      : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x128xf16>, token
    %next = mmaf %lhs, %rhs, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %next : tile<128x128xf32>
  }
  %result = ftof %sum : tile<128x128xf32> -> tile<128x128xf16>
  %t2 = store_view_tko weak %result, %c[%i, %j]
    : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> token
  return
}
