// RUN: tile-opt %s --load-passes=%S/Inputs/rename_entries.py --rename-entries | FileCheck %s
// RUN: tile-opt %s --load-passes %S/Inputs/rename_entries.py --pass-pipeline='builtin.module(rename-entries{prefix=a_},cse,rename-entries{prefix=b_})' | FileCheck %s --check-prefix=TWICE
// RUN: tile-opt --load-passes=%S/Inputs/rename_entries.py --help | FileCheck %s --check-prefix=HELP
// RUN: not tile-opt %s --load-passes=%t.missing.py 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tile-opt %s --load-passes=%S/Inputs/rename_entries.py --load-passes=%S/Inputs/rename_entries.py 2>&1 | FileCheck %s --check-prefix=AGAIN

// Passes of a Python file stand beside all others.

// CHECK: entry @my_k()
// TWICE: entry @b_a_k()
// HELP: --rename-entries {{.*}}Put a prefix in front of the names of entries
// MISSING: tile-opt: error: cannot load passes from {{.*}}.missing.py
// AGAIN: tile-opt: error: pass 'rename-entries' is registered already
entry @k() {
  return
}
