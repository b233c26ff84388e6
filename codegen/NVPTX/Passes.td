// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_NVPTX_PASSES_TD
#define TAYLOR_CODEGEN_NVPTX_PASSES_TD
include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"taylor-simt-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "who holds which elements of a tile: layouts for all tiles, buffers for what threads exchange";
  let description = [{
    Every tile gets a layout (`#simt.layout`), and every `tile.dot` becomes a `simt.dot`:

    1. Products come first. Of the two axes of a product's result the one that a later product keeps becomes the rows, so that a computed left operand, such as
       weights, stays in the registers of the threads that computed it. Where two products disagree the majority wins and the other reads a buffer.
    2. What is computed from a product or for one has its layout; a tile with fewer axes has the projection.
    3. The rest is local to elements: neighbours in memory in neighbouring threads.

    Operands that are loaded go through buffers, by `simt.copy`; so does what a loop loads in each iteration. Where an operation needs a tile in another layout, it is
    renumbered, computed again (loads, positions, splats) or exchanged through a buffer. Effects on buffers are in the order of the text, without barriers.

    ```mlir
    %k = tile.load %array[b = %b, g = %g, u = %j] : !array -> !tile.tile<[d = 64, u = 64], bf16>
    %s = tile.dot %q, %k over(d) : .. -> !tile.tile<[t = 128, u = 64], f32>
    // becomes
    %0 = simt.alloc "k" : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
    simt.copy %array[b = %b, g = %g, u = %j], %0 : ..
    %s = simt.dot mma16 %q, %0 over(d) : .. -> !tile.tile<[t = 128, u = 64], f32, #fragment_t_u>
    ```
  }];
  let options = [
    Option<"warps", "warps", "int64_t", /*default=*/"0", "warps of a block: 1, 2, 4, 8 or 16; 0: 4, or 8 where a thread would need too many registers">,
    Option<"f32Products", "f32-products", "std::string", /*default=*/"\"fma\"", "products of f32: tf32 (mma.sync, operands rounded) or fma">,
    Option<"registers", "registers", "int64_t", /*default=*/"200", "32-bit registers per thread for what a loop carries and multiplies; operands beyond them stay in shared memory">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::simt::SimtDialect"];
}
#endif
