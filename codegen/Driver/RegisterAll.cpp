// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/RegisterAll.h"

#include "codegen/Driver/Forms/Passes.h"
#include "codegen/Targets/CPU/CPUPipeline.h"
#include "codegen/Targets/CPU/Passes.h"
#include "codegen/Targets/NVPTX/Emit/Emit.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

void taylor::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect, mlir::tile::TileDialect, mlir::simt::SimtDialect,
                  TaylorDialect, fusion::FusionDialect>();
  mlir::tile::cpu::registerCPUBackend(registry);
  mlir::simt::registerNVPTXBackend(registry);
}

void taylor::registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::registerPass([] { return mlir::createConvertFuncToLLVMPass(); });
  registerTaylorPasses();
  registerPipelines();
  registerLowerToTilePasses();
  registerTilePipeline();
  registerFormsPasses();
  registerStepPipeline();
  mlir::tile::cpu::registerCPUPasses();
  mlir::simt::registerNVPTXPasses();
  mlir::simt::registerSimtPipeline();
  mlir::simt::registerNVPTXPipelines();
}
