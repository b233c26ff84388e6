// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_FUSION_OPS_TD
#define TAYLOR_FUSION_OPS_TD
include "dialect/Taylor/TaylorTypes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "passes/LowerToTile/Fusion/FusionDialect.td"

def Fusion_Annotation : NativeOpTrait<"Annotation"> { let cppNamespace = "::taylor"; }

class Fusion_Op<string mnemonic, list<Trait> traits = []>
  : Op<Fusion_Dialect, mnemonic, !listconcat([Fusion_Annotation], traits)>;

def Fusion_KernelKind : I32EnumAttr<"KernelKind", "what a kernel does", [
  I32EnumAttrCase<"Angles", 0, "angles">, I32EnumAttrCase<"Local", 1, "local">, I32EnumAttrCase<"Scan", 2, "scan">,
  I32EnumAttrCase<"States", 3, "states">, I32EnumAttrCase<"Steps", 4, "steps">, I32EnumAttrCase<"Pairs", 5, "pairs">
]> {
  let cppNamespace = "::taylor::fusion";
}

def Fusion_KeepOp : Fusion_Op<"keep", [HasParent<"::taylor::FunctionOp">]> {
  let summary = "a value has memory, and because of what";
  let description = [{
    The value is read from memory where it is read; all others are computed there. `parts of` a
    reduction over tokens are its sums over blocks of tokens, one sum a block. A sum into columns
    that is kept `apart` is read by later kernels alone: its own kernel computes nothing from it.
    `because` is for readers, of `--explain` too. No pass reads it.

    ```mlir
    fusion.keep %kr because "every block of queries reads it" : !k
    fusion.keep parts of %sum because "each block of tokens has a sum of its own" : !w
    fusion.keep apart %dk because "a block of columns has no room for what is computed from it" : !k
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$value, UnitAttr:$parts, UnitAttr:$apart, StrAttr:$because);
  let assemblyFormat = [{
    (`parts` `of` $parts^)? (`apart` $apart^)? $value `because` $because attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Fusion_KernelOp : Fusion_Op<"kernel", [HasParent<"::taylor::FunctionOp">, NoTerminator, SingleBlock]> {
  let summary = "a kernel: its grid, and what it stores";
  let description = [{
    | kind | a block computes | operations |
    |---|---|---|
    | `angles` | a table of angles | one `fusion.table` |
    | `local` | what it stores, at its own place, with loops over keys for sums into rows | `fusion.store`, a `fusion.sum` for each sum of these loops |
    | `scan` | one array along its tokens, block after block | one `fusion.store` |
    | `states` | states of chunks | a `fusion.store` for each state |
    | `steps` | a recurrence, token after token | a `fusion.store` for each state |
    | `pairs` | sums into columns, totals and diagonals of one operation, and what is finished with them | a `fusion.sum` for each sum, then `fusion.store` |

    Kernels run in the order of the text. `stage` is the number of kernels that must come before,
    one after the other. `grid` lists axes; token axes are in blocks. Where there are no tokens and
    many channels, blocks are panels of the axis `channels`. With `asked`, the kernel runs only
    where the caller asks for one of these results. A kernel of kind `steps` has memory for the sums
    that it gives, and says `because` of what.

    ```mlir
    fusion.kernel @attend local stage 2 grid(b, h, t) {
      fusion.sum %n#0 : !o
      fusion.store %o as ["output:o"] : !o
    }
    fusion.kernel @combine local stage 3 grid(h) channels("f" = 528) asked ["gradient:w"] { .. }
    ```
  }];
  let arguments = (ins OptionalAttr<SymbolNameAttr>:$sym_name, Fusion_KernelKind:$kind, I64Attr:$stage, StrArrayAttr:$grid,
                       OptionalAttr<StrAttr>:$channels, OptionalAttr<I64Attr>:$channels_size, OptionalAttr<StrArrayAttr>:$asked,
                       OptionalAttr<StrAttr>:$because);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    ($sym_name^)? $kind `stage` $stage `grid` `` custom<Names>($grid)
    (`channels` `` `(` $channels^ `=` $channels_size `)`)? (`asked` $asked^)? (`because` $because^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::taylor::fusion::KernelKind":$kind, "int64_t":$stage,
                                 "::llvm::ArrayRef<::taylor::AxisRef>":$axes)>];
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    /// In the order in which it computes them.
    ::std::vector<::taylor::fusion::StoreOp> getStores();
    ::std::vector<::taylor::fusion::SumOp> getSums();
    bool isLocal() { return getKind() == KernelKind::Local; }
    /// The operation whose kernel this is: the scan, the states, the steps, the operation over pairs; else
    /// null.
    ::mlir::Operation *getPlanned();
    ::llvm::SmallVector<::taylor::AxisRef> getAxes();
    /// Null in kernels of other kinds than angles, and so is the rotated array whose angles it makes.
    ::taylor::fusion::TableOp getTable();
    ::mlir::Value getRotated();
  }];
}

def Fusion_StoreOp : Fusion_Op<"store", [HasParent<"KernelOp">]> {
  let summary = "a kernel computes a value and stores it";
  let description = [{
    `in workspace` where it is kept (`fusion.keep`), and `as` these results of the function. `parts
    of` a reduction over tokens are its sums over blocks of tokens.

    ```mlir
    fusion.store %kr in workspace : !k
    fusion.store %o as ["output:o"] : !o
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$value, UnitAttr:$parts, UnitAttr:$workspace, OptionalAttr<StrArrayAttr>:$names);
  let assemblyFormat = [{
    (`parts` `of` $parts^)? $value (`in` `workspace` $workspace^)? (`as` $names^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Fusion_SumOp : Fusion_Op<"sum", [HasParent<"KernelOp">]> {
  let summary = "a sum over pairs that the loops of a kernel make";
  let description = [{
    With `asked`, it is summed only where the caller asks for one of these results.

    ```mlir
    fusion.sum %dk asked ["gradient:k"] : !k
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$value, OptionalAttr<StrArrayAttr>:$asked);
  let assemblyFormat = "$value (`asked` $asked^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Fusion_TableOp : Fusion_Op<"table", [HasParent<"KernelOp">]> {
  let summary = "a kernel makes the table of angles of a rotation";
  let description = [{
    Cosines and sines, which have memory `because` all rotations with the same positions and
    frequencies read them.

    ```mlir
    fusion.table of %qr because "rotations of the same positions and frequencies read it" : !q
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$rotated, StrAttr:$because);
  let assemblyFormat = "`of` $rotated `because` $because attr-dict `:` type($rotated)";
  let hasVerifier = 1;
}

#endif
