// Options of the pipeline.
// RUN: not taylor-opt %s --taylor-simt-pipeline=target=sm_75 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}unsupported target 'sm_75'; expected sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100 or sm_120{{$}}
// RUN: not taylor-opt %s --taylor-simt-pipeline=f32-products=fast 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: for the --f32-products option: Cannot find option named 'fast'!
// RUN: not taylor-opt %s --taylor-simt-pipeline=gpu=sm_80 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option gpu
tile.program @forward {
}
