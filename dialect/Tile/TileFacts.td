// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What callers of an artifact are told of its programs (runtime/MANIFEST.md), as attributes: the manifest is a
// reading of these.
#ifndef TAYLOR_DIALECT_TILE_TILEFACTS_TD
#define TAYLOR_DIALECT_TILE_TILEFACTS_TD
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/Tile/TileDialect.td"

def Tile_CostAttr : AttrDef<Tile_Dialect, "Cost"> {
  let mnemonic = "cost";
  let summary = "what a function costs in one form on one target (`taylor::FormCost`)";
  let description = [{
    Picoseconds, operations and the size of the first state. Only fields that are not 0 are written.

    ```mlir
    #tile.cost<call = 4.0e+06, pair = 1.5, query_operations = 96.0, features = 65, channels = 65>
    ```
  }];
  let parameters = (ins "::taylor::FormCost":$cost);
  let hasCustomAssemblyFormat = 1;
}

// The words are those of taylorc's --form and of the manifest.
def Tile_Form : I32EnumAttr<"Form", "how a function's sums over keys are computed", [
    I32EnumAttrCase<"Parallel", 0, "parallel">,     // all pairs
    I32EnumAttrCase<"Long", 1, "long">,             // all pairs, with tiles for long sequences
    I32EnumAttrCase<"Chunked", 2, "chunked">,       // pairs within chunks, and states between them
    I32EnumAttrCase<"Recurrent", 3, "recurrent">]> { // token after token, from state to state
  let cppNamespace = "::taylor";
  let genSpecializedAttr = 0;
}

// The words are those of names of functions, of the manifest and of the runtime's calls.
def Tile_FunctionRole : I32EnumAttr<"FunctionRole", "what a function of a specification is for", [
    I32EnumAttrCase<"Joint", 0, "joint">,           // outputs and gradients, before they are split
    I32EnumAttrCase<"Forward", 1, "forward">,
    I32EnumAttrCase<"Backward", 2, "backward">,
    I32EnumAttrCase<"Step", 3, "step">,             // a new token or a few, after those of earlier calls
    I32EnumAttrCase<"Append", 4, "append">,         // what is kept of new keys
    I32EnumAttrCase<"Extend", 5, "extend">]> {      // `Step` for many queries
  let cppNamespace = "::taylor";
  let genSpecializedAttr = 0;
}

def Tile_FormAttr : AttrDef<Tile_Dialect, "Form"> {
  let mnemonic = "form";
  let summary = "which function a program computes, in which form, and why";
  let description = [{
    Of a `taylor.function`, and of the `tile.program` that it becomes. `function` is what callers
    call, and the name of its first form; further forms have names of their own. `because` says in
    words why which form runs, `left_out` why the chunked form is not among those to choose from,
    and `smaller_tiles` why the plan has smaller tiles than the target would choose. `in_place`
    lists pairs of a state before the call and after it that may be one array.

    ```mlir
    #tile.form<parallel of forward, cost = <call = 4.0e+06, pair = 1.5>, because = "--form=parallel">
    #tile.form<recurrent of step, in_place = [["input:initial.n", "output:final.n"]]>
    ```
  }];
  let parameters = (ins EnumParameter<Tile_Form>:$kind, EnumParameter<Tile_FunctionRole>:$function,
                        OptionalParameter<"::mlir::tile::CostAttr">:$cost,
                        OptionalParameter<"::mlir::StringAttr">:$because,
                        OptionalParameter<"::mlir::StringAttr">:$left_out,
                        OptionalParameter<"::mlir::StringAttr">:$smaller_tiles,
                        OptionalParameter<"::mlir::ArrayAttr">:$in_place);
  let builders = [AttrBuilder<(ins "::taylor::Form":$kind, "::taylor::FunctionRole":$function), [{
    return $_get($_ctxt, kind, function, ::mlir::tile::CostAttr(), ::mlir::StringAttr(), ::mlir::StringAttr(),
                 ::mlir::StringAttr(), ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "`<` $kind `of` $function (`,` struct($cost, $because, $left_out, $smaller_tiles, $in_place)^)? `>`";
  let extraClassDeclaration = [{
    FormAttr withCost(const ::taylor::FormCost &cost) const;
    /// Empty text: without.
    FormAttr withReason(const ::llvm::Twine &because) const;
    FormAttr withLeftOut(const ::llvm::Twine &why) const;
    FormAttr withSmallerTiles(const ::llvm::Twine &why) const;
    FormAttr withInPlace(::mlir::ArrayAttr pairs) const;
    /// Why which form runs, as the manifest says it: `because`, and what is left out.
    std::string describeReason() const;
  }];
}

def Tile_NamedArrayAttr : AttrDef<Tile_Dialect, "NamedArray"> {
  let mnemonic = "named_array";
  let summary = "an array of a program: `#tile.named_array<\"input:q\", !tile.array<[b, h, t], f32>>`";
  let description = [{
    `because` says in words why an array of the workspace has memory, as its `tile.workspace` does.

    ```mlir
    #tile.named_array<"columns.0", !tile.array<[b, g, u, d = 64], f32>, because = "every block of queries reads it">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::Type":$type, OptionalParameter<"::mlir::StringAttr">:$because);
  let assemblyFormat = "`<` $name `,` $type (`,` struct($because)^)? `>`";
}

def Tile_ProgramFactsAttr : AttrDef<Tile_Dialect, "ProgramFacts"> {
  let mnemonic = "program_facts";
  let summary = "what remains of a program when its kernels are code";
  let description = [{
    One for each program in the module's attribute `tile.programs` (`taylor-describe-programs`).
    `tensors` and `workspace` are lists of `#tile.named_array`, in the program's order; `kernels`
    are names; `plan` is the program's.

    ```mlir
    module attributes {tile.programs = [#tile.program_facts<"forward",
        form = <parallel of forward>,
        tensors = [#tile.named_array<"input:x", !tile.array<[b, h, t], f32>>],
        kernels = ["double"], workspace = []>]} {
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::tile::FormAttr":$form, "::mlir::ArrayAttr":$tensors,
                        "::mlir::ArrayAttr":$kernels, "::mlir::ArrayAttr":$workspace,
                        OptionalParameter<"::mlir::tile::PlanAttr">:$plan);
  let assemblyFormat = "`<` $name `,` struct($form, $tensors, $kernels, $workspace, $plan) `>`";
  let extraClassDeclaration = [{
    /// Callers call it by its function's name; others are further forms of that.
    bool isFirstForm() const {
      return getName().getValue() == ::taylor::stringifyFunctionRole(getForm().getFunction());
    }
  }];
}

// The words are those of the manifest.
def Tile_TargetKind : I32EnumAttr<"TargetKind", "machines of one kind have artifacts, drivers and reports in common", [
    I32EnumAttrCase<"Cpu", 0, "cpu">, I32EnumAttrCase<"Ptx", 1, "ptx">]> {
  let cppNamespace = "::taylor";
  let genSpecializedAttr = 0;
}

def Tile_TargetAttr : AttrDef<Tile_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "the machine that a module's programs are for";
  let description = [{
    The module's attribute `tile.target`. `cpu` is LLVM's name of a processor, and `features` what
    the code needs of it; GPUs have neither.

    ```mlir
    module attributes {tile.target = #tile.target<"x86-64-v3", kind = cpu, cpu = "x86-64-v3", features = ["avx2", "fma"]>} {
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, EnumParameter<Tile_TargetKind>:$kind, OptionalParameter<"::mlir::StringAttr">:$cpu,
                        OptionalParameter<"::mlir::ArrayAttr">:$features);
  let assemblyFormat = "`<` $name `,` struct($kind, $cpu, $features) `>`";
}

#endif
