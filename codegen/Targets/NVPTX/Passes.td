// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_PASSES_TD
#define TAYLOR_CODEGEN_TARGETS_NVPTX_PASSES_TD
include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"taylor-simt-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "who holds which elements of a tile: layouts for all tiles, buffers for what threads exchange";
  let description = [{
    Every tile gets a layout (`#simt.layout`), and every `tile.dot` becomes a `simt.dot`:

    1. Products come first. A product's result has two axes; the one that a later product keeps
       becomes the rows. So a computed left operand, such as weights, stays in the registers of the
       threads that computed it. Where two products disagree, the majority wins and the other reads
       a buffer.
    2. A tile that is computed from a product or for one has its layout; a tile with fewer axes has
       the projection.
    3. All other tiles are local to elements: neighbours in memory are in neighbouring threads.

    Before that, values that a block computes before a loop with products, and reads again after the
    loop, are computed again there: registers are scarce in such loops.

    Loaded operands go through buffers, by `simt.copy`; so do the tiles that a loop loads in each
    iteration. A tile that an operation needs in another layout is renumbered, computed again
    (loads, positions, splats) or exchanged through a buffer. Effects on buffers are in the order of
    the text, without barriers.

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
    Option<"warps", "warps", "int64_t", /*default=*/"0",
           "warps of a block: 1, 2, 4, 8 or 16; 0: 4, or 8 where a thread would need too many registers">,
    Option<"f32Products", "f32-products", "::taylor::F32Products", /*default=*/"::taylor::F32Products::FMA",
           "how to multiply f32: tf32 (mma.sync, operands rounded) or fma", [{::taylor::wordsOf<::taylor::F32Products>()}]>,
    Option<"startsProducts", "start-products", "bool", /*default=*/"false",
           "products of 16 bits by wgmma where its shapes allow it: 64 rows for four warps">,
    Option<"registers", "registers", "int64_t", /*default=*/"210",
           "32-bit registers per thread for the tiles that a loop carries and multiplies; others stay in shared memory">,
    Option<"startedRegisters", "started-registers", "int64_t", /*default=*/"240",
           "the same in kernels with products by wgmma, whose operands are in shared memory">
  ];
  let statistics = [Statistic<"numKernels", "kernels", "kernels with layouts">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::simt::SimtDialect"];
}

def SinkOperands : Pass<"taylor-simt-sink-operands", "::mlir::ModuleOp"> {
  let summary = "operands of products are written when they are needed, where a block lacks room";
  let description = [{
    Rule: in a kernel whose buffers need more than `shared` bytes (taylor-simt-allocate-shared), the
    write of a buffer moves down to the first op of its block that reads the buffer, and so does
    what is computed for it alone. Operands of one product after another are then needed one after
    another, and share bytes. Other kernels stay: there all operands are written first, and one
    barrier follows.

    Buffers that are written at several places, that copies fill, or that a loop before the write
    reads stay where they are.

    ```mlir
    simt.write %x, %a : ..
    %y = tile.map (%p = %x) .. {..}
    simt.write %y, %b : ..
    %s = simt.dot fma %f, %a ..
    %t = simt.dot fma %f, %b ..
    // becomes, shared=1000
    simt.write %x, %a : ..
    %s = simt.dot fma %f, %a ..
    %y = tile.map (%p = %x) .. {..}
    simt.write %y, %b : ..
    %t = simt.dot fma %f, %b ..
    ```
  }];
  let options = [
    Option<"shared", "shared", "int64_t", /*default=*/"101376", "bytes of shared memory that a block may use">
  ];
  let statistics = [Statistic<"numSunk", "sunk", "writes that were moved">];
}

def ScheduleCopies : Pass<"taylor-simt-schedule-copies", "::mlir::ModuleOp"> {
  let summary = "asynchronous copies, iterations ahead of their use in loops; all waits and barriers";
  let description = [{
    Input: ops on buffers in the order of the text, each buffer with one slot, without commit, wait
    and barrier. Output: the same values, with copies in groups, and waits and barriers where they
    are needed. Conditions of scf.if and bounds of scf.for must be the same in all threads of a
    block.

    **Loops.** A copy that stands directly in a loop's body runs ahead under three conditions:

    * Its window follows, by pure ops, from the induction variable and from values outside the loop.
    * Nothing in the loop writes the array. One store may, after the last read: into the very window
      that the same iteration copied, if one of the array's axes is at the loop's number.
    * The buffer is otherwise only read, in that loop and after the copy.

    Numbers that are the same in all iterations are computed before the loop. A body gets *sync
    points*: wait for the copies that are read next; barrier; refill each slot that has had its last
    read, for as many iterations later as the buffer has slots; commit, one group for the copies
    that are needed at the same time.

    1. A buffer of one slot has a sync point before its first read; it shares an earlier one if only
       reads stand between. Another sync point, of any buffer, stands between its last read and that
       one.
    2. A buffer of several slots takes the last sync point before its first read, or makes one.
    3. A sync point moves up to right after the last read that it waits for, so that its copies
       start early.

    Bounds are checked by `if`; copies of iterations that do not exist are off, but their groups are
    committed, so that counts are the same in every iteration. The sync points of the iterations
    before the first come before the loop, and before the reads that precede it; with `early`,
    before loads too, together with copies that precede the loop.

    **Slots.** Each buffer in turn gets one more, up to `stages`, while all buffers fit into
    `shared` bytes. Buffers of at most an eighth of the largest come first: they cost little and
    save barriers. Then come those that with one slot could be refilled only when they are needed
    again, then smaller ones. A buffer whose window the iteration's store replaces (running sums)
    gets four times as many slots: nothing there takes as long as memory, so copies of several
    iterations should be under way. Where the buffers of all loops do not fit next to each other,
    even with one slot each, copies run ahead in innermost loops alone: those of a loop around
    others would lie next to all that these need.

    **Elsewhere** a copy is its own group, and its wait and a barrier stand before the first read. A
    barrier separates two accesses of which one writes, also from one iteration to the next, unless
    one stands between already. This is so for a buffer, and for an array that a kernel writes and
    reads in different ways. Accesses before a loop are separated from the loop's before the loop.

    **Groups** that no wait tells apart are one: a commit is removed if every wait still waits for
    all copies that it waited for.

    ```mlir
    scf.for %j = %c0 to %n step %c64 {
      simt.copy %keys[u = %j], %k : ..
      simt.copy %values[u = %j], %v : ..
      %s = simt.dot mma16 %q, %k over(d) : ..
      %w = tile.map (%x = %s) : .. { .. }
      %o1 = simt.dot mma16 %w, %v over(u) into %o : ..
    }
    // becomes, with stages = 1
    simt.copy %keys[u = %c0], %k if %first : ..
    simt.commit
    scf.for %j = %c0 to %n step %c64 {
      simt.wait 0
      simt.barrier
      simt.copy %values[u = %j], %v : ..
      simt.commit
      %s = simt.dot mma16 %q, %k over(d) : ..
      simt.wait 0
      simt.barrier
      simt.copy %keys[u = %next], %k if %more : ..
      simt.commit
      %w = tile.map (%x = %s) : .. { .. }
      %o1 = simt.dot mma16 %w, %v over(u) into %o : ..
    }
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", /*default=*/"2", "most slots of a buffer; at least 1">,
    Option<"shared", "shared", "int64_t", /*default=*/"101376", "bytes of shared memory that a block may use">,
    Option<"early", "early", "bool", /*default=*/"false",
           "in kernels with products by wgmma the first copies of a loop start before loads that precede it, too, not only before reads of buffers">
  ];
  let statistics = [Statistic<"numAhead", "ahead", "buffers whose copies run ahead of a loop">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::simt::SimtDialect"];
}

def AllocateShared : Pass<"taylor-simt-allocate-shared", "::mlir::ModuleOp"> {
  let summary = "bytes of shared memory for every buffer";
  let description = [{
    Sets `at` of every `simt.alloc` and `shared` in the `launch` of every kernel: the bytes that
    a block needs. Buffers that are not needed at the same time share bytes; one that a loop
    accesses is needed through the whole loop. Where a block has no room for that, one that each
    iteration writes before it reads it is needed for that part of the iteration alone. Swizzled
    buffers stand at multiples of 1024 bytes, others of 16. The largest are placed first, each at
    the first place with room. Between accesses of buffers that share bytes the pass puts a barrier,
    if none stands there, and a wait for copies under way.

    ```mlir
    tile.kernel @attend grid(..) launch #simt.launch<warps = 4> {
      %k = simt.alloc "k" : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
      %o = simt.alloc "o" : !simt.buffer<1 x [t = 64, e = 64], bf16, swizzle = 128>
      scf.for .. { .. simt.dot mma16 %q, %k .. }
      simt.write %x, %o : ..
    // becomes
    tile.kernel @attend grid(..) launch #simt.launch<warps = 4, shared = 16384> {
      %k = simt.alloc "k" at 0 : ..
      %o = simt.alloc "o" at 0 : ..
      scf.for .. { .. simt.dot mma16 %q, %k .. }
      simt.barrier
      simt.write %x, %o : ..
    ```
  }];
  let options = [
    Option<"shared", "shared", "int64_t", /*default=*/"101376", "bytes of shared memory that a block may use">
  ];
  let statistics = [Statistic<"numBuffers", "buffers", "buffers with a place">];
  let dependentDialects = ["::mlir::simt::SimtDialect"];
}

def StripMine : Pass<"taylor-simt-strip-mine", "::mlir::ModuleOp"> {
  let summary = "ops between two products in strips, so that a thread holds one strip at a time";
  let description = [{
    Rule: let products of one block add to sums over axis x. Their left operands are in registers
    and are computed from other products, in this block and without a barrier or a copy between. If
    a thread would need more than `registers` 32-bit registers for its products and the tiles that
    the surrounding loop carries, these products and all ops between are made for `strip` elements
    of x at a time: a strip of each score, its weights, then its share of each sum. A tile that is
    also read elsewhere stays whole, and strips take slices of it. Each sum has its terms in the
    same order as before, so not one bit changes.

    Why: ptxas keeps products in the order of the text. A tile of dO V^T between two accumulators of
    64 registers each is what spills. The price is that the left operand of an inner product is read
    from its buffer once per strip.

    ```mlir
    %p = simt.dot mma16 %v, %do over(e) : .. -> !tile.tile<[u = 128, t = 64], f32, #fragment>
    %w:2 = tile.map (%s = %S, %x = %p) .. -> (!tile.tile<[t = 64, u = 128], bf16, #fragment>, ..)
    %dv1 = simt.dot mma16 %w#0, %do over(t) into %dv : ..
    %dk1 = simt.dot mma16 %w#1, %q over(t) into %dk : ..
    // becomes, twice
    %do0 = simt.part %do from 0 : .. -> !simt.buffer<1 x [t = 32, e = 128], bf16, swizzle = 128, panel = 64>
    %p0 = simt.dot mma16 %v, %do0 over(e) : .. -> !tile.tile<[u = 128, t = 32], f32, #fragment>
    %s0 = tile.slice %S[t = 0, 32] : ..
    %w0:2 = tile.map (%s = %s0, %x = %p0) .. -> (!tile.tile<[t = 32, u = 128], bf16, #fragment>, ..)
    %dv0 = simt.dot mma16 %w0#0, %do0 over(t) into %dv : ..
    ```
  }];
  let options = [
    Option<"registers", "registers", "int64_t", /*default=*/"210",
           "32-bit registers per thread that a loop may need before its products are cut">,
    Option<"strip", "strip", "int64_t", /*default=*/"64", "elements of a strip, a multiple of 16">
  ];
  let statistics = [Statistic<"numStripped", "stripped", "runs of products in strips">];
  let dependentDialects = ["::mlir::simt::SimtDialect"];
}

def LowerToNVVM : Pass<"taylor-simt-lower-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "tile programs with layouts to the code of one thread: llvm and nvvm";
  let description = [{
    Each `tile.kernel` @k of a program @forward becomes a function `forward_k` with the parameters
    of README.md, "The contract"; the program goes. A tile becomes one number per register of its
    layout, numbers of 16 bits in pairs. Buffers are places in one array in shared memory
    (`simt.alloc` must have its `at`). Values that depend on the thread's number alone are computed
    at the start, but those for a window of an array that is opened after a loop are computed there.
    Constants are left to the instructions.

    ```mlir
    %y = tile.map (%a = %x) : (!tile.tile<[t = 64], f32, #l>) -> !tile.tile<[t = 64], f32, #l> { %r = arith.mulf %a, %a : f32 .. }
    // becomes, for a layout with two registers
    %y0 = arith.mulf %x0, %x0 fastmath<contract> : f32
    %y1 = arith.mulf %x1, %x1 fastmath<contract> : f32
    ```

    Blocks of a kernel with `longest` take places in the grid so that the longest come first, of as
    many heads at a time as `cache` holds what they read in common (Thread/GridOrder.cpp).

    Left for `taylor-nvptx-expand-math` and `taylor-nvptx-lower-to-llvm`: ops of arith, math and scf
    on numbers.
  }];
  let options = [
    Option<"cache", "cache", "int64_t", /*default=*/"0", "bytes of the second-level cache; 0: all heads at a time">
  ];
  let statistics = [Statistic<"numKernels", "kernels", "kernels lowered to code of a thread">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect", "::mlir::simt::SimtDialect"];
}

def NVPTXExpandMath : Pass<"taylor-nvptx-expand-math", "::mlir::ModuleOp"> {
  let summary = "elementary functions as instructions and polynomials, without a library";
  let description = [{
    In f32, exp and exp2 become `ex2.approx.ftz`, rsqrt `rsqrt.approx.ftz`, and with the flags `afn`
    and `arcp` sqrt `sqrt.approx` and division `div.full` (largest errors 2 units of the last place;
    PTX ISA, "Floating Point Instructions"). Without these, square roots and quotients are rounded
    to the nearest (`sqrt.rn`, `div.rn`): a floor or a comparison follows, which the last bit
    decides. All other functions, and those of f64, are the polynomials of
    codegen/Targets/Math/VectorMath.h, which use the same instructions in f32. Functions of 16-bit
    numbers are computed in f32. Any other op that is not an instruction is an error.

    ```mlir
    %y = math.exp %x : f32
    // becomes
    %0 = arith.mulf %x, %log2e : f32
    %y = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%0) : (f32) -> f32
    ```
  }];
  let statistics = [Statistic<"numFunctions", "functions", "functions written as instructions">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect"];
}

def NVPTXLowerToLLVM : Pass<"taylor-nvptx-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "arith, math and scf on numbers to the LLVM dialect, nvvm stays";
  let description = [{
    Upstream's conversions: scf to cf, then arith, cf and math to LLVM.

    ```mlir
    %s = scf.for %i = %a to %b step %c iter_args(%x = %zero) -> (f32) : i64 { .. }
    // becomes
    llvm.br ^loop(%a, %zero : i64, f32)
    ^loop(%i: i64, %x: f32): ..
    ```
  }];
  let statistics = [Statistic<"numFunctions", "functions", "functions in the LLVM dialect">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect", "::mlir::NVVM::NVVMDialect"];
}

def EmitPTX : Pass<"taylor-nvptx-emit", "::mlir::ModuleOp"> {
  let summary = "kernels in the LLVM dialect to PTX text, which takes their place in the module";
  let description = [{
    Translates to LLVM IR, runs LLVM's pipeline O3 without unrolling and vectorising loops, and its
    NVPTX code generator.

    ```mlir
    llvm.func @forward_attend(%b: i64, ..) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} { .. }
    // becomes
    simt.ptx "sm_80" entries [#simt.entry<"forward_attend", threads = 128, shared = 49152, ..>] {
      ".version 8.0"
      ".target sm_80"
      ..
    }
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"sm_80\"",
           "GPU to compile for: sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100 or sm_120">
  ];
  let statistics = [Statistic<"numKernels", "kernels", "kernels in PTX">];
  let dependentDialects = ["::mlir::simt::SimtDialect"];
}

include "codegen/Targets/NVPTX/StartedPasses.td"

#endif
