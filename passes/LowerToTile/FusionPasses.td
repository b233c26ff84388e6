// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that plan kernels, in pipeline order (taylor-plan-kernels). Each takes and gives valid IR and can run alone.
#ifndef TAYLOR_FUSION_PASSES_TD
#define TAYLOR_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrepareKernelsPass : Pass<"taylor-prepare-kernels", "::mlir::ModuleOp"> {
  let summary = "functions as kernels want them, or why they have none";
  let description = [{
    Requires sizes of all channels (`taylor-specialize`) and operations of the pairwise level: no
    recurrences, norms or parameters. It says so, and fails, where a function has others.

    Rule: a sum over pairs within one batch and one head (or group) is what a block can make. A sum
    that goes over more becomes such a sum and a `taylor.reduce`. On targets that want many blocks
    (`row-sums` other than `parts`) a sum or mean over tokens and heads or batches, as gradients of
    parameters are, is one over tokens, then over heads, then over batches: one block that adds the
    sums of thousands waits for memory as often. Operations whose pairs are of one
    document get the array that says where each document ends, if their loops need it. A row operand
    x * a, which every block of keys reads, gets its factor a as an array by itself, so that x is
    read where it lies and no product is kept. Unless products are of 16 bits or keys are read once,
    keys and values of 16 bits are converted by a `taylor.map`, once for all blocks of queries.

    ```mlir
    %n = taylor.pairwise { s = dot(%q, %k), x = exp(s) } visible(u <= t) -> rows(x, %v) : (..) -> !taylor.array<[b, h, t, e = 8], f32>
    // becomes, where %k and %v are arguments in bf16
    %0 = taylor.map %v : !taylor.array<[b, g, u, e = 8], f32>
    %1 = taylor.map %k : !taylor.array<[b, g, u, d = 16], f32>
    %n = taylor.pairwise { s = dot(%q, %1), x = exp(s) } visible(u <= t) -> rows(x, %0) : (..) -> !taylor.array<[b, h, t, e = 8], f32>
    ```
  }];
  let statistics = [
    Statistic<"numSums", "sums", "sums over tokens, heads and batches, one after the other">,
    Statistic<"numFactors", "factors", "factors of rows by themselves">,
    Statistic<"numConverted", "converted", "arguments of 16 bits that are converted once">
  ];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::arith::ArithDialect"];
}

class PlanPass<string name> : Pass<name, "::taylor::FunctionOp"> {
  let dependentDialects = ["::taylor::fusion::FusionDialect"];
}

def KeepValuesPass : PlanPass<"taylor-keep-values"> {
  let summary = "what must have memory, and because of what";
  let description = [{
    Rule: each operation says which operands and results must have memory
    (`LoweringOpInterface::chooseKept`): what other tokens, heads or blocks read, what a loop reads
    again and again, what is summed by several blocks. Each such value gets a `fusion.keep`.
    README.md lists the reasons.

    ```mlir
    %kr = taylor.rope %k : !k
    %n:2 = taylor.pairwise { s = dot(%q, %kr), x = exp(s) } visible(u <= t) -> rows(x, %v), rows(x) : ..
    // becomes
    %kr = taylor.rope %k : !k
    %n:2 = taylor.pairwise { s = dot(%q, %kr), x = exp(s) } visible(u <= t) -> rows(x, %v), rows(x) : ..
    fusion.keep %kr because "every block of queries reads it" : !k
    ```
  }];
  let statistics = [Statistic<"numKept", "kept", "values with memory">];
}

def FormKernelsPass : PlanPass<"taylor-form-kernels"> {
  let summary = "a kernel for each value that has memory or is a result";
  let description = [{
    Rule: each value that a function keeps or yields is stored by one `fusion.kernel`. Its stage is
    one more than the last stage of what it reads from memory. Values of one stage over the same
    grid share a kernel. A kernel of its own have tables of angles, running sums, states, steps, and
    each operation over pairs with sums into columns. What is computed from such sums alone, and
    from what lay in memory before, is stored by the same kernel where a block has room for it; sums
    that other kernels read are kept too. Values without tokens with more than 256 channels are cut
    in panels of channels. Kernels that the function has are formed anew.

    ```mlir
    fusion.keep %kr because "every block of queries reads it" : !k
    taylor.yield "output:o" %o : !o
    // becomes
    fusion.keep %kr because "every block of queries reads it" : !k
    fusion.kernel angles stage 0 grid(u) { fusion.table of %kr because "rotations of the same positions and frequencies read it" : !k }
    fusion.kernel local stage 2 grid(b, h, t) { fusion.store %o as ["output:o"] : !o }
    fusion.kernel local stage 1 grid(b, g, u) { fusion.store %kr in workspace : !k }
    taylor.yield "output:o" %o : !o
    ```
  }];
  let statistics = [Statistic<"numFormed", "formed", "kernels, each time that they are formed">];
}

def DelayStoresPass : PlanPass<"taylor-delay-stores"> {
  let summary = "fewer kernels: what is ready early waits for a later kernel over the same grid";
  let description = [{
    Rule: what a kernel that is local to tokens stores goes to a later one of the same grid, if all
    of it is read after that one's stage alone, or not at all.

    ```mlir
    fusion.kernel local stage 0 grid(b, h, t) { fusion.store %x as ["output:x"] : !row }
    fusion.kernel local stage 2 grid(b, h, t) { fusion.store %o as ["output:o"] : !o }
    // becomes
    fusion.kernel local stage 2 grid(b, h, t) {
      fusion.store %o as ["output:o"] : !o
      fusion.store %x as ["output:x"] : !row
    }
    ```
  }];
  let statistics = [Statistic<"numDelayed", "delayed", "arrays that a later kernel stores">];
}

def OrderStoresPass : PlanPass<"taylor-order-stores"> {
  let summary = "the order in which a kernel computes what it stores, so that few tiles live at once";
  let description = [{
    Rule: what others are computed from comes first: once stored, its tile may be dropped. A sum
    over pairs lives from its loop until the last array that is computed from it. So the arrays of
    one sum are neighbours, and the sum from which least is computed comes first. The same holds for
    arrays that are read from memory.

    ```mlir
    fusion.kernel local stage 2 grid(b, h, t) {
      fusion.store %o as ["output:o"] : !o
      fusion.store %n#1 as ["saved:z"] : !row
    }
    // becomes, %o being %n#0 / %n#1
    fusion.kernel local stage 2 grid(b, h, t) {
      fusion.store %n#1 as ["saved:z"] : !row
      fusion.store %o as ["output:o"] : !o
    }
    ```
  }];
  let statistics = [Statistic<"numOrdered", "ordered", "kernels that store in another order">];
}

def JoinRowsPass : PlanPass<"taylor-join-rows"> {
  let summary = "a kernel that loops over keys also stores what one over the same tokens would compute for it";
  let description = [{
    Rule, where the plan says `kernels=joined` and operands of products are not split: let an early
    kernel be local to tokens, over the grid of a later one that loops over keys and reads what the
    early one stores. If no kernel between them reads it and a block has room for it, the later
    kernel stores it, before its own arrays. A launch less, and rows are read once.

    ```mlir
    fusion.kernel local stage 1 grid(b, h, t) { fusion.store %qr in workspace : !q }
    fusion.kernel local stage 2 grid(b, h, t) { fusion.store %dq as ["gradient:q"] : !q }
    // becomes, %dq being summed over keys from %qr
    fusion.kernel local stage 2 grid(b, h, t) {
      fusion.store %qr in workspace : !q
      fusion.store %dq as ["gradient:q"] : !q
    }
    ```
  }];
  let statistics = [Statistic<"numJoined", "joined", "arrays that a kernel with a loop stores too">];
}

def FitKernelsPass : PlanPass<"taylor-fit-kernels"> {
  let summary = "more memory, until no two kernels compute the same sums and each block has room";
  let description = [{
    Rule: sums into rows get memory where two kernels would compute them, and where a block has no
    room for what is computed from them after the loop (`block-bytes`, `product-bytes`). Sums into
    columns are kept apart where others wait for their turn and leave no room: a later kernel
    computes what depends on them. After each such finding kernels are formed anew
    (taylor-form-kernels, taylor-delay-stores, taylor-order-stores, taylor-join-rows). This ends,
    since memory is only added, and a function has finitely many values. More rounds than
    `max-rounds` are an error.

    ```mlir
    fusion.kernel scan stage 0 grid(b, h) { fusion.store %c in workspace as ["output:c"] : !row }
    fusion.kernel local stage 0 grid(b, h, t) { fusion.store %n as ["output:n"] : !row }
    // becomes, %c being a running sum of %n, which a loop over keys makes
    fusion.keep %n because "two kernels would compute it" : !row
    fusion.kernel local stage 0 grid(b, h, t) { fusion.store %n in workspace as ["output:n"] : !row }
    fusion.kernel scan stage 1 grid(b, h) { fusion.store %c in workspace as ["output:c"] : !row }
    ```
  }];
  let options = [Option<"maxRounds", "max-rounds", "int64_t", /*default=*/"1000", "most times that kernels are formed anew">];
  let statistics = [Statistic<"numRounds", "rounds", "times that kernels are formed anew">];
}

def OrderKernelsPass : PlanPass<"taylor-order-kernels"> {
  let summary = "kernels in the order in which they run, with their names and loops over keys";
  let description = [{
    Rule: kernels run by stage, then by kind, then as they were formed. A kernel that loops over
    keys is called `attend` and has a `fusion.sum` for each sum of its loops. Others are called by
    their tokens or their kind; those that are local to tokens and run after the first kernel of
    pairs begin with `finish_`. A name that is taken gets a number.

    ```mlir
    fusion.kernel local stage 2 grid(b, h, t) { fusion.store %o as ["output:o"] : !o }
    fusion.kernel local stage 1 grid(b, g, u) { fusion.store %kr in workspace : !k }
    // becomes
    fusion.kernel @columns local stage 1 grid(b, g, u) { fusion.store %kr in workspace : !k }
    fusion.kernel @attend local stage 2 grid(b, h, t) {
      fusion.sum %n : !o
      fusion.store %o as ["output:o"] : !o
    }
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels", "kernels">];
}

def FindDemandPass : PlanPass<"taylor-find-demand"> {
  let summary = "which kernels and sums serve only what callers may leave out";
  let description = [{
    Rule: saved arrays, gradients and states handed on may be null; outputs may not. A kernel all of
    whose stores serve such results only is `asked` for by these; so is a sum of a kernel that runs
    for others too.

    ```mlir
    fusion.kernel @pairs pairs stage 1 grid(b, g) {
      fusion.sum %dk : !k
      fusion.sum %dv : !v
      fusion.store %dk as ["gradient:k"] : !k
      fusion.store %dv as ["gradient:v"] : !v
    }
    // becomes
    fusion.kernel @pairs pairs stage 1 grid(b, g) asked ["gradient:k", "gradient:v"] {
      fusion.sum %dk asked ["gradient:k"] : !k
      fusion.sum %dv asked ["gradient:v"] : !v
      fusion.store %dk as ["gradient:k"] : !k
      fusion.store %dv as ["gradient:v"] : !v
    }
    ```
  }];
  let statistics = [Statistic<"numAsked", "asked", "kernels and sums that some callers do not ask for">];
}

#endif
