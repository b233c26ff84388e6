// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTENUMS_TD
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTENUMS_TD
include "mlir/IR/EnumAttr.td"

def Simt_ProductKind : I32EnumAttr<"ProductKind", "the instruction of a product", [
    I32EnumAttrCase<"mma16", 0>, // bf16 or f16 operands, mma.m16n8k16
    I32EnumAttrCase<"tf32", 1>,  // f32 operands rounded to tf32, mma.m16n8k8
    I32EnumAttrCase<"fma", 2>,   // f32 or f64, one multiply-add per pair of elements
    I32EnumAttrCase<"wgmma", 3>  // bf16 or f16 operands, wgmma.m64nNk16 by four warps, asynchronous
  ]> {
  let cppNamespace = "::mlir::simt";
}

#endif
