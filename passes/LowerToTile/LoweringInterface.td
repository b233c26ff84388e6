// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_LOWERING_INTERFACE_TD
#define TAYLOR_LOWERING_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Taylor_LoweringOpInterface : OpInterface<"LoweringOpInterface"> {
  let cppNamespace = "::taylor";
  let description = [{
    How an operation on arrays becomes tiles: what the plan of kernels asks of it, and the tiles
    that it gives. The dialect does not know of tiles, so each operation has it as an external
    model, next to the code that emits it (ArrayOps.cpp, TokenOps.cpp, PairLowering.cpp,
    StateLowering.cpp).
  }];
  let methods = [
    InterfaceMethod<[{
      Gives memory to operands and results that must have it (`FunctionMemory::keep`), and says
      because of what: other blocks read them, or a block reads them again and again. By default
      none.
    }],
    "void", "chooseKept", (ins "::taylor::FunctionMemory &":$kept), "", [{ return; }]>,
    InterfaceMethod<[{
      Whether a block that computes it reads other places of arrays than its own: such a value is
      not computed at the end of a loop over pairs.
    }],
    "bool", "readsElsewhere", (ins), "", [{ return false; }]>,
    InterfaceMethod<"The operands that are read where a tile of it is computed.",
    "::mlir::OperandRange", "getTileOperands", (ins), "", [{ return $_op->getOperands(); }]>,
    InterfaceMethod<"The table of angles that it reads, which a kernel before makes.",
    "std::optional<::taylor::AngleTable>", "getAngles", (ins), "", [{ return std::nullopt; }]>,
    InterfaceMethod<"The tile of one of its results, at the frame.",
    "::mlir::Value", "emitTile",
    (ins "::mlir::Value":$result, "::taylor::TileEmitter &":$emitter, "::taylor::Frame &":$frame)>,
    InterfaceMethod<[{
      The token axis along which a kernel of its own goes, one block after the other; else nothing.
    }],
    "std::optional<::taylor::AxisRef>", "getWalk", (ins), "", [{ return std::nullopt; }]>,
    InterfaceMethod<"The body of that kernel. It calls `store` with each tile of the result.",
    "void", "emitWalk",
    (ins "::taylor::TileEmitter &":$emitter, "::taylor::Frame &":$frame, "::taylor::StoreTile":$store), "",
    [{ llvm_unreachable("goes along no axis"); }]>
  ];
}

#endif
