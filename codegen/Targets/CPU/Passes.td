// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_PASSES_TD
#define TAYLOR_CODEGEN_TARGETS_CPU_PASSES_TD
include "mlir/Pass/PassBase.td"

def LowerTileToVector : Pass<"taylor-lower-tile-to-vector", "::mlir::ModuleOp"> {
  let summary = "tile programs to loops over vectors and LLVM pointers, with the ABI of runtime/artifact.h";
  let description = [{
    Each `tile.program @forward` becomes the functions of one TaylorFunction: `taylor_forward_run`,
    `_workspace`, `_blocks`, and one private function per kernel; kernels that come out as the same
    code share one. The module's attribute `taylor.functions` lists name, number of kernels and
    bytes of scratch.

    ```mlir
    %y = tile.map (%a = %x) : (!tile.tile<[t = 64], f32>) -> !tile.tile<[t = 64], f32> { .. math.exp .. }
    // becomes
    scf.for %i = .. { %a = llvm.load %p : vector<16xf32>  %r = math.exp %a : vector<16xf32>  llvm.store %r, %q }
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"native\"",
           "processor to compile for: native, x86-64-v3, x86-64-v4, znver4, znver5 or sapphirerapids">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels">,
    Statistic<"numCopies", "copies", "kernels whose code an earlier one has">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def CPUExpandMath : Pass<"taylor-cpu-expand-math"> {
  let summary = "elementary functions as polynomials on vectors, f32 and f64, without a library";
  let description = [{
    exp and exp2 in f32 have a relative error below 2e-7. They are 0 below 2^-125, and with the flag
    `afn` below 2^-64: such are weights, whose products then are no subnormal numbers. The others
    are expm1, log, log1p, log2, log10, tanh, erf, sin, cos, powf, fpowi and rsqrt;
    codegen/Targets/Math/VectorMath.h has their errors. Any other op that is not an instruction is
    an error, so the code calls no library.

    ```mlir
    %y = math.exp2 %x : vector<16xf32>
    // becomes: x = n + r, 2^x = 2^n p(r)
    %p = math.fma %c5, %r, %c4 : vector<16xf32>   // .. Horner's rule
    %y = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%p, %n, ..)
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"native\"",
           "processor to compile for: native, x86-64-v3, x86-64-v4, znver4, znver5 or sapphirerapids">
  ];
  let statistics = [Statistic<"numFunctions", "functions", "functions written as instructions">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def CPULowerToLLVM : Pass<"taylor-cpu-lower-to-llvm"> {
  let summary = "ops that taylor-lower-tile-to-vector and taylor-cpu-expand-math leave, to the LLVM dialect";
  let description = [{
    Upstream's conversions: scf to cf, then arith, cf, math and vector to LLVM. Input: the loops
    over vectors and LLVM pointers of `taylor-lower-tile-to-vector` after `taylor-cpu-expand-math`.
    Output: functions whose bodies are in the LLVM dialect alone. Functions, calls and returns of
    func are left to upstream's `convert-func-to-llvm`, which needs the whole module. This pass
    needs one function, so several run at the same time.

    ```mlir
    scf.for %i = %a to %b step %c { %y = vector.fma %x, %w, %z : vector<16xf32> .. }
    // becomes
    ^loop(%i: i64):  %y = llvm.intr.fmuladd(%x, %w, %z) : (vector<16xf32>, ..) -> vector<16xf32>  ..  llvm.cond_br %more, ^loop(%n : i64), ^end
    ```
  }];
  let statistics = [Statistic<"numFunctions", "functions", "functions in the LLVM dialect">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect"];
}
#endif
