// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which forms functions have on a target, as passes over functions at the pairwise level.
#ifndef TAYLOR_CODEGEN_FORMS_PASSES_TD
#define TAYLOR_CODEGEN_FORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanFormsPass : Pass<"taylor-plan-forms", "::mlir::ModuleOp"> {
  let summary = "a function for each form, with a plan that the target has room for";
  let description = [{
    Rule: each `taylor.function` gets the target's plan (`#tile.plan`), and says in `form` which
    form it is and because of what. With `alternatives`, `forward` and `backward` get a twin in the
    chunked form, named after it. Twins whose sums have no such form are left out, and the functions
    that they are twins of say why.

    A plan is the largest of the target's that a block's memory has room for. That is known of
    kernels, so functions whose plan can shrink are lowered in a copy, which is thrown away. What
    finds no room with the smallest plan stays as it is, and is refused where its code is made.

    ```mlir
    taylor.function @f.forward of @f(..) { .. }
    // becomes, target=x86-64-v3 alternatives=true
    taylor.function @f.forward of @f(..) plan #tile.plan<..> form #tile.form<"parallel" of "forward"> { .. }
    taylor.function @f.forward_chunked of @f(..) plan #tile.plan<.., chunked, ..> form #tile.form<"chunked" of "forward"> { .. }
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"native\"", "machine to plan for, as in taylorc --target">,
    Option<"form", "form", "std::string", /*default=*/"\"auto\"", "form of functions that do not say theirs: auto (parallel), parallel, chunked or recurrent">,
    Option<"alternatives", "alternatives", "bool", /*default=*/"false", "twins in the chunked form">
  ];
  let statistics = [
    Statistic<"numPlans", "plans", "plans given to functions">,
    Statistic<"numShrunk", "shrunk", "plans made smaller for want of room">,
    Statistic<"numTwins", "twins", "functions in the chunked form">
  ];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::tile::TileDialect", "::taylor::fusion::FusionDialect"];
}

def ChooseFormsPass : Pass<"taylor-choose-forms", "::mlir::ModuleOp"> {
  let summary = "costs of functions, and of twins those that pay";
  let description = [{
    Rule: `form` of each function gets its cost on the target (`codegen/CostModel`). A twin stays
    where it costs less from some number of tokens on (up to 2^20, one head that attends to itself);
    else it goes. The function that it is a twin of says why.

    ```mlir
    taylor.function @f.forward .. form #tile.form<"parallel" of "forward"> { .. }
    taylor.function @f.forward_chunked .. form #tile.form<"chunked" of "forward"> { .. }
    // becomes
    taylor.function @f.forward .. form #tile.form<"parallel" of "forward", cost = <pair = 3.1, ..>, because = "chunked from about 700 tokens on ..">
    taylor.function @f.forward_chunked .. form #tile.form<"chunked" of "forward", cost = <query = 2100.0, ..>> { .. }
    ```
  }];
  let options = [Option<"targetName", "target", "std::string", /*default=*/"\"native\"", "machine whose costs count, as in taylorc --target">];
  let statistics = [Statistic<"numKept", "kept", "twins that pay">, Statistic<"numErased", "erased", "twins that do not">];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::tile::TileDialect"];
}

def MatchFormsPass : Pass<"taylor-match-forms", "::mlir::ModuleOp"> {
  let summary = "of programs in several forms those that take the same tensors";
  let description = [{
    Rule: a program that is a further form of a function stays if it declares the tensors of the
    function's first form, in the same order; else it goes, and the first form says why. Callers
    bring the tensors before they know which form runs. Which arguments a program needs is known
    when it is made: a state may hold what sums over pairs read again.

    ```mlir
    tile.program @backward form #tile.form<"parallel" of "backward"> { %q = tile.tensor "input:q" .. }
    tile.program @backward_chunked form #tile.form<"chunked" of "backward"> { .. }
    // becomes
    tile.program @backward form #tile.form<"parallel" of "backward", because = "parallel: the chunked form takes other tensors"> { .. }
    ```
  }];
  let statistics = [Statistic<"numDropped", "dropped", "programs that take other tensors">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

#endif
