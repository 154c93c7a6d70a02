// RUN: head -c 100 %S/../data/cases/vadd-13.3.tilebc | not tile-translate --tilebc-to-mlir - 2>&1 | FileCheck %s

// CHECK: byte 12: error: section function of 131 bytes, 84 left
