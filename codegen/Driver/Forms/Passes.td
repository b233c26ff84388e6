// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which forms functions have on a target, as passes over functions at the pairwise level.
#ifndef TAYLOR_CODEGEN_DRIVER_FORMS_PASSES_TD
#define TAYLOR_CODEGEN_DRIVER_FORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanStepsPass : Pass<"taylor-plan-steps", "::mlir::ModuleOp"> {
  let summary = "specifications for the functions that decode token after token";
  let description = [{
    Rule: next to each specification `@f` there is one of its step, `@f.step of @f`. Its `form` says
    whether it goes from state to state or reads all keys, and `carries` what one call leaves the
    next. With `decode=auto` that hangs on whether its sums over keys are recurrences, which
    taylor-carry-states finds out while it writes them: so there are two, `@f.step` over all keys
    and `@f.step.recurrent`, of which that pass leaves one.

    Calls of `@f` itself leave what steps go on from: `pieces` where these are recurrences,
    `queries` where they read all keys, unless `@f` says something else already
    (taylor-plan-states). With `decode=auto` it says nothing yet.

    Requires: `taylor-specialize`. Refuses arguments whose names begin with `cache.` or `carried.`.

    ```mlir
    taylor.spec @f(..) { .. }
    // becomes, decode=state block=8
    taylor.spec @f(..) carries #taylor.carry<pieces, block = 8> { .. }
    taylor.spec @f.step of @f(..) form #tile.form<recurrent of step, because = "--decode=state: its sums are recurrences"> carries #taylor.carry<recurrent, block = 8> { .. }
    // or, decode=auto
    taylor.spec @f(..) { .. }
    taylor.spec @f.step.recurrent of @f(..) form #tile.form<recurrent of step, because = "--decode=auto: its sums are recurrences"> carries #taylor.carry<recurrent, channels = 128> { .. }
    taylor.spec @f.step of @f(..) form #tile.form<parallel of step, because = "--decode=auto"> carries #taylor.carry<queries> { .. }
    ```
  }];
  let options = [
    Option<"decode", "decode", "::taylor::Decode", /*default=*/"::taylor::Decode::Auto", "what decodes, as in taylorc --decode",
           [{::taylor::wordsOf<::taylor::Decode>()}]>,
    Option<"requiresStates", "states", "bool", /*default=*/"false", "calls carry states: no step over all keys">,
    Option<"block", "block", "int64_t", /*default=*/"1", "features of a state that lie together">,
    Option<"channels", "channels", "int64_t", /*default=*/"128", "numbers of one key and its value, which states are compared with; 0: any states do">,
    Option<"mostTokens", "most-tokens", "int64_t", /*default=*/"::taylor::kMostTokensOfStates", "keys of so many tokens may be as large as states">
  ];
  let statistics = [
    Statistic<"numSteps", "steps", "specifications of steps">,
    Statistic<"numTwins", "twins", "specifications with two of them, of which one stays">
  ];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::tile::TileDialect"];
}

def NameStepsPass : Pass<"taylor-name-steps", "::mlir::ModuleOp"> {
  let summary = "functions that decode get their names";
  let description = [{
    Rule: the forward of a specification `of @f` (taylor-plan-steps) is `@f.step`. Where
    `taylor-prepare-keys` made a specification of its own for keys, its forward is `@f.append`, and
    there is `@f.extend`, a step for many queries. A recurrence says which arrays a caller may keep
    in one place.

    Requires: `taylor-split-backward`.

    ```mlir
    taylor.function @f.step.forward of @f(.., "input:initial.state0" %s ..) form #tile.form<recurrent of step, because = ".."> { .. }
    // becomes
    taylor.function @f.step of @f(.., "input:initial.state0" %s ..) form #tile.form<recurrent of step, because = "..", in_place = [["input:initial.state0", "output:final.state0"]]> { .. }
    ```
  }];
  let statistics = [
    Statistic<"numRecurrences", "recurrences", "steps from state to state">,
    Statistic<"numOverKeys", "over-keys", "steps over all keys">
  ];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::tile::TileDialect"];
}

def CheckLimitsPass : Pass<"taylor-check-limits", "::mlir::ModuleOp"> {
  let summary = "refuse functions that the runtime would not load";
  let description = [{
    Rule: a function with an array of more axes than `TAYLOR_MAX_RANK`, or with more arrays than
    `TAYLOR_MAX_TENSORS` (runtime/artifact.h), is an error, before any kernel is made.

    ```mlir
    taylor.function @f.forward of @f("input:q" %q: !taylor.array<[b, h, t, d = 8, i = 2, j = 2, k = 2, l = 2, m = 2], f32>) { .. }
    // becomes an error: unsupported array 'q' of 9 axes: kernels take at most 8; join some of its axes
    ```
  }];
  let statistics = [Statistic<"numFunctions", "functions", "functions that were checked">];
}

def NameCachePass : Pass<"taylor-name-cache", "::mlir::ModuleOp"> {
  let summary = "arrays that a caller keeps of keys are named so";
  let description = [{
    Rule: an array that is kept of keys is `cache:NAME` where a program reads it, and `append:NAME`
    where it writes that of new tokens. What `@append` itself hands on is `cache:carried.NAME` and
    `append:carried.NAME`.

    ```mlir
    tile.program @step { %k = tile.tensor "input:cache.k" .. }
    // becomes
    tile.program @step { %k = tile.tensor "cache:k" .. }
    ```
  }];
  let statistics = [Statistic<"numRenamed", "renamed", "arrays that are kept">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

def PlanFormsPass : Pass<"taylor-plan-forms", "::mlir::ModuleOp"> {
  let summary = "a function for each form, with a plan that the target has room for";
  let description = [{
    Rule: each `taylor.function` gets the target's plan (`#tile.plan`) for the problem that the
    module's `taylor.problem` says (channels, types, chunks: codegen/Targets/Target.h), and says in
    `form` which form it is and because of what. With `alternatives`, `forward` and `backward` get
    twins in other forms, named after these:

    * `long`, the parallel form with the target's tiles for long sequences, where it has such
      (`Target::getLongForm`), and a query sees all keys, or all up to its own.
    * `chunked`. Twins whose sums have no such form go in taylor-chunk-sums, and those that do not
      pay in taylor-choose-forms; the functions that they are twins of say why.

    Plans are made for the problem, before there are kernels. Where kernels need smaller tiles,
    taylor-fit-tiles makes them.

    ```mlir
    taylor.function @f.forward of @f(..) { .. }
    // becomes, target=x86-64-v3 alternatives=true
    taylor.function @f.forward of @f(..) plan #tile.plan<..> form #tile.form<parallel of forward> { .. }
    taylor.function @f.forward_chunked of @f(..) plan #tile.plan<.., form = chunked, ..> form #tile.form<chunked of forward> { .. }
    ```

    With `taylorc --target=sm_90a+lengths`, in bf16, there also is

    ```mlir
    taylor.function @f.forward_long of @f(..) plan #tile.plan<.., keys = 128, ..> form #tile.form<long of forward> { .. }
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"native\"", "machine to plan for, as in taylorc --target">,
    Option<"form", "form", "::taylor::FormChoice", /*default=*/"::taylor::FormChoice::Auto", "form of functions that do not say theirs; auto: parallel",
           [{::taylor::wordsOf<::taylor::FormChoice>()}]>,
    Option<"alternatives", "alternatives", "bool", /*default=*/"false", "twins in the long and the chunked form">
  ];
  let statistics = [
    Statistic<"numPlans", "plans", "plans given to functions">,
    Statistic<"numTwins", "twins", "functions in the long and the chunked form">
  ];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::tile::TileDialect"];
}

def FitTilesPass : Pass<"taylor-fit-tiles", "::mlir::ModuleOp"> {
  let summary = "smaller tiles where planned kernels need them";
  let description = [{
    Rule: what each loop over pairs of a planned kernel (`fusion.kernel`) holds at the same time is
    counted in arrays: sums with their channels, inner products, scalars of queries and of keys
    (codegen/Targets/KernelNeeds.h). The target knows what they take with the plan's tiles, and
    makes these smaller where that is too much (`Target::fitTiles`): on sm_90a in registers. `form`
    says why.

    Requires: `taylor-plan-kernels`.

    ```mlir
    taylor.function @f.backward .. plan #tile.plan<.., outer_queries = 64, ..> { .. fusion.kernel @pairs pairs .. }
    // becomes, target=sm_90a, where dk, dv and tables by lag need 272 registers
    taylor.function @f.backward .. plan #tile.plan<.., outer_queries = 32, ..> form #tile.form<.., smaller_tiles = "a loop over queries of @pairs needs about 272 registers for tiles, more than 240"> { .. }
    ```
  }];
  let options = [Option<"targetName", "target", "std::string", /*default=*/"\"native\"", "machine to plan for, as in taylorc --target">];
  let statistics = [Statistic<"numSmaller", "smaller", "functions that got smaller tiles">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

def ChooseFormsPass : Pass<"taylor-choose-forms", "::mlir::ModuleOp"> {
  let summary = "costs of functions, and of twins those that pay";
  let description = [{
    Rule: `form` of each function gets its cost on the target (codegen/Targets/CostModel). That of a
    `long` twin follows from the parallel form's and `Target::getLongForm`. A twin stays where it
    costs less than all others from some number of tokens on (up to 2^20, one head that attends to
    itself); else it goes. The function that it is a twin of says why. With `first-alone` every twin
    goes, and the function says what an artifact would have.

    ```mlir
    taylor.function @f.forward .. form #tile.form<parallel of forward> { .. }
    taylor.function @f.forward_chunked .. form #tile.form<chunked of forward> { .. }
    // becomes
    taylor.function @f.forward .. form #tile.form<parallel of forward, cost = <pair = 3.1, ..>, because = "chunked from about 700 tokens on ..">
    taylor.function @f.forward_chunked .. form #tile.form<chunked of forward, cost = <query = 2100.0, ..>> { .. }
    ```
  }];
  let options = [
    Option<"targetName", "target", "std::string", /*default=*/"\"native\"", "machine whose costs count, as in taylorc --target">,
    Option<"firstAlone", "first-alone", "bool", /*default=*/"false", "no twin stays">
  ];
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
    tile.program @backward form #tile.form<parallel of backward> { %q = tile.tensor "input:q" .. }
    tile.program @backward_chunked form #tile.form<chunked of backward> { .. }
    // becomes
    tile.program @backward form #tile.form<parallel of backward, left_out = "the chunked form takes other tensors"> { .. }
    ```
  }];
  let statistics = [Statistic<"numDropped", "dropped", "programs that take other tensors">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

#endif
