// RUN: tile-opt %S/../../examples/matmul.mlir --lower-to-tile_gpu | FileCheck %s --check-prefix=PLAIN
// RUN: tile-opt %S/../../examples/matmul.mlir --lower-to-tile_gpu --launch=managed | FileCheck %s --check-prefix=MANAGED
// RUN: tile-opt %S/../../examples/matmul.mlir --lower-to-ptx --launch managed | FileCheck %s --check-prefix=PTX
// RUN: tile-translate %S/../../examples/matmul.mlir --mlir-to-ptx | FileCheck %s --check-prefix=PLAIN-PTX

// Kernels for any launcher have exactly the entry's parameters and make their tensor maps; ours may
// pass more and start another grid.

// PLAIN-NOT: tile_gpu.managed
// PLAIN: gpu.func @matmul({{([^,]*, ){5}[^,]*}}) kernel
// PLAIN-NOT: tile_gpu.launch_grid
// PLAIN: tile_gpu.acquire_map_slot 3

// MANAGED: tile_gpu.managed
// MANAGED: gpu.func @matmul({{.*}}!tile_gpu.tensor_map<{{.*}}) kernel
// MANAGED-SAME: tile_gpu.launch_grid
// MANAGED-NOT: tile_gpu.acquire_map_slot
// MANAGED: gpu.return

// PTX: .entry matmul(
// PTX: .param .align 64 .b8 matmul_param_{{[0-9]+}}[128]
// PLAIN-PTX: .entry matmul(
// PLAIN-PTX-NOT: .align 64 .b8
// PLAIN-PTX: )
