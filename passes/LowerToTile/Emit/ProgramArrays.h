// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arrays of a tile program: tensors of the function's arguments and results, workspace for what it keeps.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_PROGRAMARRAYS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_PROGRAMARRAYS_H

#include "passes/LowerToTile/Emit/TileEmitter.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"

namespace taylor {

class ProgramArrays {
public:
  /// A result of the function, as a tensor.
  struct Result {
    mlir::Value tensor;
    bool isOptional = false;
  };

  ProgramArrays(FunctionOp function, const TileSizes &sizes)
      : function(function), sizes(sizes), kept(function) {}

  /// Declares them all in the program that `program` builds.
  void declare(mlir::OpBuilder &program);
  Result getResult(mlir::StringAttr name) const { return results.lookup(name); }
  /// Where a value that is kept lies, before its kernel has run too; null where it has no memory.
  mlir::Value getHome(mlir::Value value) const { return homes.lookup(value); }
  mlir::Value getHome(fusion::StoreOp store) const;
  /// What kernels read from memory now: arguments, and what kernels before them have stored.
  const ArrayMemory &getMemory() const { return memory; }
  /// From now on what the kernel computes is read from memory.
  void remember(fusion::KernelOp kernel);

private:
  mlir::tile::ArrayType storageOf(ArrayType type, mlir::Type elementType) const;
  /// The memory of one sum per part, which are added where they are read.
  mlir::tile::ArrayType inParts(mlir::Value array, mlir::tile::ExtentAttr parts) const;
  /// Numbers of tokens, where each block adds to one of them again and again: those of different heads lie
  /// `TileSizes::lineBytes` or more apart.
  mlir::tile::ArrayType apart(mlir::tile::ArrayType rows) const;
  /// One partial sum per block: the kernel's grid, then the channels.
  mlir::tile::ArrayType partsMemory(fusion::KernelOp kernel, ArrayType type) const;

  void declareTensors(mlir::OpBuilder &program);
  void declareArraysOf(fusion::KernelOp kernel, mlir::OpBuilder &program);
  void declareAngles(fusion::KernelOp kernel, mlir::OpBuilder &program);
  /// The type of a kernel's sum over pairs.
  mlir::tile::ArrayType sumMemory(fusion::KernelOp kernel, mlir::OpResult sum) const;
  /// The result that is the memory of what a kernel stores in workspace; null where it needs its own.
  mlir::Value resultInPlace(fusion::StoreOp store) const;
  mlir::tile::ArrayType storedMemory(fusion::KernelOp kernel, fusion::StoreOp store) const;

  FunctionOp function;
  const TileSizes &sizes;
  FunctionMemory kept;
  ArrayMemory memory;
  llvm::DenseMap<mlir::Value, mlir::Value> homes;
  llvm::DenseMap<mlir::Operation *, mlir::Value> partsHomes;
  llvm::DenseMap<mlir::StringAttr, Result> results;
};

} // namespace taylor

#endif
