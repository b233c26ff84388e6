// Code of another processor is not run where it would stop at an instruction that this one lacks.
// UNSUPPORTED: avx512bw
// RUN: not taylor-tile-check %s --target=x86-64-v4 2>&1 | FileCheck %s
// CHECK: --target=x86-64-v4: requires a processor with avx512{{[a-z]+}} to run its code, but {{.+}} has none

module {}
