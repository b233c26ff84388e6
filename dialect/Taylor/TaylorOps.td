// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_OPS_TD
#define TAYLOR_OPS_TD

include "dialect/Taylor/TaylorAttrs.td"
include "dialect/Taylor/TaylorInterfaces.td"
include "dialect/Taylor/TaylorTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Taylor_Op<string mnemonic, list<Trait> traits = []> : Op<Taylor_Dialect, mnemonic, traits>;

// An operation on arrays: custom syntax (formulas), verified, differentiable.
class Taylor_ArrayOp<string mnemonic, list<Trait> traits = []>
    : Taylor_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

defvar Differentiable = DeclareOpInterfaceMethods<Taylor_DifferentiableOpInterface>;

// What passes ask of operations on arrays (TaylorInterfaces.td); an operation says what differs from a map.
defvar OfArrays = Taylor_ArrayOpInterface;
defvar HasFormula = Taylor_FormulaOpInterface;

//===----------------------------------------------------------------------===//
// Containers
//===----------------------------------------------------------------------===//

def Taylor_SpecOp : Taylor_Op<"spec", [IsolatedFromAbove, Symbol, SingleBlock,
                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "one attention";
  let description = [{
    The maths of one attention, from named arguments to named results. An argument says where a
    model gets it (`from projection(bias)`, `from parameter(ones)`, `from input`); `from projection`
    is the default of an array with a token axis. `parameters(order : index = 10)` are numbers that
    are free until compilation (`--set order=4`).

    ```mlir
    taylor.spec @softmax(%q: !q, %k: !k, %v: !v) {
      %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
      %o = taylor.map %n / %z : !o, !row
      taylor.yield %o : !o
    }
    ```
    Arguments and results keep their names: a checkpoint's tensors are named after them.

    `prepares_keys`, after the parameters, says that calls see new keys alone, and that its results
    are what later calls read of them: `cache.NAME`, and `final.NAME` where one call goes on in the
    next. Only `taylor-prepare-keys` writes it. `carries #taylor.carry<..>` before it says what
    calls hand on (`taylor-plan-states`, `taylor-plan-steps`, and `taylor-carry-states` where that
    hangs on what it finds). `of @softmax`, after the name, says that `taylor-plan-steps` made this
    specification of that one, for a function that decodes. `form #tile.form<..>`, before `carries`,
    says which function. Derived functions inherit these. `series {..}` before them says
    of the half that comes before a series which one it is; only `taylor-split-series` writes it.

    ```mlir
    taylor.spec @softmax.step_keys of @softmax(%k: !k, %v: !v) form #tile.form<parallel of append> carries #taylor.carry<keys> prepares_keys { .. taylor.yield "cache.v" %v, "cache.key0" %kr : !v, !k }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$arg_names,
                       TypedArrayAttrBase<Taylor_SourceAttr, "list of sources">:$sources,
                       DictionaryAttr:$parameters, OptionalAttr<DictionaryAttr>:$series, OptionalAttr<AnyAttr>:$form,
                       OptionalAttr<StrAttr>:$step_of, OptionalAttr<Taylor_CarryAttr>:$carries, UnitAttr:$prepares_keys);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Taylor_FunctionOp : Taylor_Op<"function", [IsolatedFromAbove, Symbol, SingleBlock,
                                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a derived function of a specification: its forward or its backward";
  let description = [{
    What `taylor-derive-backward` makes of a specification: `@NAME.forward` from inputs to outputs
    and saved arrays, `@NAME.backward` from inputs, outputs, saved arrays and cotangents to
    gradients. `arg_names` and the names of the yield are the roles of runtime/MANIFEST.md:
    `input:q`, `saved:m`, `cotangent:o`; `output:o`, `gradient:q`. `sources` (forward only) and
    `spec_name` carry what the manifest tells a model. `plan #tile.plan<..>`, after the parameters,
    says how the function becomes a tile program (`taylor-plan-tiles`), and after it
    `form #tile.form<..>` what the manifest tells of that program. `carries` and `prepares_keys`,
    the last before the attributes, are the specification's.

    ```mlir
    taylor.function @softmax.forward of @softmax("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [...] {
      ...
      taylor.yield "output:o" %o, "saved:m" %m : !o, !row
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$spec_name, StrArrayAttr:$arg_names,
                       OptionalAttr<TypedArrayAttrBase<Taylor_SourceAttr, "list of sources">>:$sources,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$parameters,
                       OptionalAttr<AnyAttr>:$plan, OptionalAttr<AnyAttr>:$form,
                       OptionalAttr<Taylor_CarryAttr>:$carries, UnitAttr:$prepares_keys);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// "NAME.forward", the name of a specification's function.
    static std::string nameOf(::llvm::StringRef spec, ::taylor::FunctionRole role);
    /// The part of the name after the specification's: "forward", "forward_chunked"; empty without.
    ::llvm::StringRef getShortName() { return getSymName().rsplit('.').second; }
    /// By that part; nothing where it says none.
    std::optional<::taylor::FunctionRole> getRole() { return ::mlir::tile::roleOfName(getShortName()); }
    /// Whether it is another form of a function of the module (taylor-plan-forms).
    bool isTwin();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Taylor_YieldOp : Taylor_Op<"yield", [Pure, Terminator, ParentOneOf<[
    "SpecOp", "FunctionOp", "MapOp", "ReduceOp", "ScanOp", "RecurrencesOp", "RecurrenceOp", "PairwiseOp"]>]> {
  let summary = "the results of a specification, a function or a region";
  let description = [{
    A specification's results keep the names of their values; in a function each name is written; in
    a region the operands are scalars and have no names.

    ```mlir
    taylor.yield %o : !o                                    // in a specification
    taylor.yield "output:o" %o, "saved:m" %m : !o, !row     // in a function
    taylor.yield %y : f64                                   // in a region
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, OptionalAttr<StrArrayAttr>:$names);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// All others
//===----------------------------------------------------------------------===//

include "dialect/Taylor/TaylorSums.td"
include "dialect/Taylor/TaylorLocal.td"
include "dialect/Taylor/TaylorScalars.td"
include "dialect/Taylor/TaylorStates.td"

#endif
