// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_ATTRS_TD
#define TAYLOR_ATTRS_TD

include "dialect/Taylor/TaylorDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Taylor_Attr<string name, string attrMnemonic> : AttrDef<Taylor_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Taylor_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::taylor";
  let genSpecializedAttr = 0;
}

def Taylor_Mask : Taylor_Enum<"Mask", "which keys a query sees", [
  I32EnumAttrCase<"Causal", 0, "causal">, I32EnumAttrCase<"Bidirectional", 1, "bidirectional">]>;
def Taylor_MaskAttr : EnumAttr<Taylor_Dialect, Taylor_Mask, "mask">;

def Taylor_MaskChoice : Taylor_Enum<"MaskChoice", "which mask is asked for", [
  I32EnumAttrCase<"Written", 0, "written">,       // the specification's
  I32EnumAttrCase<"Causal", 1, "causal">, I32EnumAttrCase<"Bidirectional", 2, "bidirectional">]>;

def Taylor_Sum : Taylor_Enum<"Sum", "a sum over the visible keys of a row", [
  I32EnumAttrCase<"Numerator", 0, "numerator">, I32EnumAttrCase<"Mass", 1, "mass">,
  I32EnumAttrCase<"Count", 2, "count">, I32EnumAttrCase<"State", 3, "state">]>;
def Taylor_SumAttr : EnumAttr<Taylor_Dialect, Taylor_Sum, "sum">;
def Taylor_SumArrayAttr : TypedArrayAttrBase<Taylor_SumAttr, "list of sums">;

def Taylor_Reduction : Taylor_Enum<"Reduction", "how an axis is reduced", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Max", 2, "max">]>;
def Taylor_ReductionAttr : EnumAttr<Taylor_Dialect, Taylor_Reduction, "reduction">;

def Taylor_ScanKind : Taylor_Enum<"ScanKind", "a scan over tokens", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Shift", 1, "shift">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"High", 3, "high">, I32EnumAttrCase<"Low", 4, "low">]>;
def Taylor_ScanKindAttr : EnumAttr<Taylor_Dialect, Taylor_ScanKind, "scan_kind">;

def Taylor_Norm : Taylor_Enum<"Norm", "a norm over channels", [
  I32EnumAttrCase<"L2", 0, "l2">, I32EnumAttrCase<"RMS", 1, "rms">, I32EnumAttrCase<"Layer", 2, "layer">]>;
def Taylor_NormAttr : EnumAttr<Taylor_Dialect, Taylor_Norm, "norm">;

def Taylor_RopeLayout : Taylor_Enum<"RopeLayout", "which channels a rotation pairs", [
  I32EnumAttrCase<"Half", 0, "half">, I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;
def Taylor_RopeLayoutAttr : EnumAttr<Taylor_Dialect, Taylor_RopeLayout, "rope_layout">;

def Taylor_PairOutput : Taylor_Enum<"PairOutput", "where a pair's value is summed into", [
  I32EnumAttrCase<"Rows", 0, "rows">, I32EnumAttrCase<"Columns", 1, "columns">,
  I32EnumAttrCase<"Total", 2, "total">, I32EnumAttrCase<"Maximum", 3, "maximum">,
  I32EnumAttrCase<"Diagonals", 4, "diagonals">]>;

def Taylor_SourceKind : Taylor_Enum<"SourceKind", "where a model gets an argument", [
  I32EnumAttrCase<"Projection", 0, "projection">, I32EnumAttrCase<"Parameter", 1, "parameter">,
  I32EnumAttrCase<"Input", 2, "input">]>;

def Taylor_Initial : Taylor_Enum<"Initial", "the initial distribution of a learned parameter", [
  I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">,
  I32EnumAttrCase<"Constant", 2, "constant">, I32EnumAttrCase<"Uniform", 3, "uniform">,
  I32EnumAttrCase<"Normal", 4, "normal">]>;

def Taylor_SourceAttr : Taylor_Attr<"Source", "source"> {
  let summary = "where a model gets an argument of a specification";
  let description = [{
    `projection` or `projection(bias)`: of the hidden state, one feature per index of the axes other
    than b, t, u; `parameter(INITIAL)`: learned, INITIAL one of `zeros`, `ones`, `constant(c)`,
    `uniform(low, high)`, `normal(mean, deviation)`; `input`: the caller brings it.
  }];
  let parameters = (ins EnumParameter<Taylor_SourceKind>:$kind, "bool":$bias,
                        EnumParameter<Taylor_Initial>:$initial, "::mlir::FloatAttr":$first, "::mlir::FloatAttr":$second);
  let hasCustomAssemblyFormat = 1;
}

// The words are those of taylorc's options and of the manifest.
def Taylor_StorageType : Taylor_Enum<"StorageType", "type of arrays in memory; sums are accumulated in f32, of f64 in f64", [
  I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"BF16", 1, "bf16">, I32EnumAttrCase<"F16", 2, "f16">,
  I32EnumAttrCase<"F64", 3, "f64">]>;

// The others are those of `Form` (dialect/Tile/TileFacts.td).
def Taylor_FormChoice : Taylor_Enum<"FormChoice", "which form is asked for", [
  I32EnumAttrCase<"Auto", 0, "auto">, I32EnumAttrCase<"Parallel", 1, "parallel">, I32EnumAttrCase<"Long", 2, "long">,
  I32EnumAttrCase<"Chunked", 3, "chunked">, I32EnumAttrCase<"Recurrent", 4, "recurrent">]>;

def Taylor_CarryMode : Taylor_Enum<"CarryMode", "which tokens a call does not have", [
  I32EnumAttrCase<"Pieces", 0, "pieces">,         // those of earlier calls; sums within the call are over pairs
  I32EnumAttrCase<"Recurrent", 1, "recurrent">,   // the same; sums are recurrences
  I32EnumAttrCase<"Queries", 2, "queries">,       // earlier queries only: keys are all there
  I32EnumAttrCase<"Keys", 3, "keys">]>;           // those of earlier calls, of what keys become by themselves

def Taylor_CarryAttr : Taylor_Attr<"Carry", "carry"> {
  let summary = "what calls hand on to those that follow";
  let description = [{
    `carries` of a specification, as it was decided; `taylor-carry-states` makes arguments and
    results of it, and functions keep it. Features of states come in blocks of `block` components.
    Where a step over all keys may run instead, `channels` and `most_tokens` say which states are
    small enough: those not larger than so many tokens' keys and values, of so many numbers each.
    Without `channels` all are.

    ```mlir
    taylor.spec @f(%q: !q, %k: !k, %v: !v) carries #taylor.carry<pieces, block = 8> {
    ```
  }];
  let parameters = (ins EnumParameter<Taylor_CarryMode>:$mode, DefaultValuedParameter<"int64_t", "1">:$block,
                        DefaultValuedParameter<"int64_t", "0">:$channels,
                        DefaultValuedParameter<"int64_t", "kMostTokensOfStates">:$most_tokens);
  let builders = [AttrBuilder<(ins "::taylor::CarryMode":$mode, CArg<"int64_t", "1">:$block), [{
    return $_get($_ctxt, mode, block, 0, kMostTokensOfStates);
  }]>];
  let assemblyFormat = "`<` $mode (`,` struct($block, $channels, $most_tokens)^)? `>`";
  let extraClassDeclaration = [{
    /// Whether sums over keys go on from states.
    bool hasStates() const { return getMode() == CarryMode::Pieces || getMode() == CarryMode::Recurrent; }
  }];
}

def Taylor_RequestAttr : Taylor_Attr<"Request", "request"> {
  let summary = "what a compilation was asked for, as far as the manifest tells";
  let description = [{
    The module's attribute `taylor.request`. `hash` is of the text, the options and the compiler.

    ```mlir
    module attributes {taylor.request = #taylor.request<hash = "1f..", form = auto, dtype = bf16>} {
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$hash, EnumParameter<Taylor_FormChoice>:$form,
                        EnumParameter<Taylor_StorageType>:$dtype);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Taylor_TensorAttr : Taylor_Attr<"Tensor", "tensor"> {
  let summary = "an argument or result of a specification, as callers see it";
  let description = [{
    `source` is an argument's. The elements of one that is `ascending` must ascend along the last
    axis.

    ```mlir
    #taylor.tensor<"q", !taylor.array<[b, h, t, d = 64], f32>, source = <projection>>
    #taylor.tensor<"documents", !taylor.array<[b, u], i32>, source = <input>, ascending = unit>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type, OptionalParameter<"::taylor::SourceAttr">:$source,
                        OptionalParameter<"::mlir::UnitAttr">:$ascending);
  let assemblyFormat = "`<` $name `,` $type (`,` struct($source, $ascending)^)? `>`";
}

def Taylor_InterfaceAttr : Taylor_Attr<"Interface", "interface"> {
  let summary = "what callers of a specification must know, on any target";
  let description = [{
    The module's attribute `taylor.interface` (`taylor-declare-interface`). `mask` is causal where
    no query depends on a later token. With `aligned` keys are read at the positions of queries: a
    call must have 0 <= offset and offset + T <= U. `inputs` and `outputs` are lists of
    `#taylor.tensor`.

    ```mlir
    module attributes {taylor.interface = #taylor.interface<"softmax", parameters = {}, mask = causal,
        inputs = [#taylor.tensor<"q", !taylor.array<[b, h, t, d = 64], f32>, source = <projection>>, ..],
        outputs = [#taylor.tensor<"o", !taylor.array<[b, h, t, e = 64], f32>>]>} {
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$spec, "::mlir::DictionaryAttr":$parameters, EnumParameter<Taylor_Mask>:$mask,
                        OptionalParameter<"::mlir::UnitAttr">:$aligned, "::mlir::ArrayAttr":$inputs, "::mlir::ArrayAttr":$outputs);
  let assemblyFormat = "`<` $spec `,` struct($parameters, $mask, $aligned, $inputs, $outputs) `>`";
}

def Taylor_PairSumAttr : Taylor_Attr<"PairSum", "pair_sum"> {
  let summary = "one output of a pairwise operation";
  let description = [{
    `rows`, `columns`, `diagonals`, `total`: a yielded scalar, by number, summed over visible pairs
    into the axes of the result. `rows` and `columns` may be `weighted`: contracted over u (t) with
    the operation's next `weighted` array, which adds its channel axis to the result. `maximum`:
    the running maximum itself.
  }];
  let parameters = (ins EnumParameter<Taylor_PairOutput>:$kind, "int64_t":$yielded,
                        DefaultValuedParameter<"bool", "false">:$weighted);
  let assemblyFormat = "`<` $kind `,` $yielded (`,` `weighted` `=` $weighted^)? `>`";
}

#endif
