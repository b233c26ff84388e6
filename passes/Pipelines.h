// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The named stages from a specification to its forward and backward functions, shared by taylor-opt and
// taylorc.
#ifndef TAYLOR_PASSES_PIPELINES_H
#define TAYLOR_PASSES_PIPELINES_H

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "passes/EnumOption.h"

namespace taylor {

struct PairwiseOptions : mlir::PassPipelineOptions<PairwiseOptions> {
  Option<int64_t> headDim{*this, "head-dim", llvm::cl::desc("size of d, the channels of a score"),
                          llvm::cl::init(64)};
  Option<int64_t> valueDim{*this, "value-dim",
                           llvm::cl::desc("size of e, the channels of a value; 0: as head-dim"),
                           llvm::cl::init(0)};
  Option<StorageType> dtype{*this, "dtype", llvm::cl::desc("storage type"), llvm::cl::init(StorageType::F32),
                            wordsOf<StorageType>()};
  Option<std::string> parameters{*this, "parameters",
                                 llvm::cl::desc("values of free parameters, such as order=10,window=5"),
                                 llvm::cl::init("")};
  Option<MaskChoice> mask{*this, "mask", llvm::cl::desc("mask instead of the specification's"),
                          llvm::cl::init(MaskChoice::Written), wordsOf<MaskChoice>()};
  Option<bool> documents{*this, "documents", llvm::cl::desc("compile for sequences of several documents"),
                         llvm::cl::init(false)};
};

/// From a specialised `taylor.spec @f` to `taylor.function @f.forward` and `@f.backward`.
void buildSpecializedToPairwisePipeline(mlir::OpPassManager &manager);

/// Its first half: specifications whose sums over keys are `taylor.pairwise`, and which hand on what they say
/// (`carries`); those of steps over all keys have keys that are prepared apart.
void buildSpecializedToPairsPipeline(mlir::OpPassManager &manager);
/// Its second half: the backward, if not `forwardOnly`, and both functions simplified.
void buildPairsToPairwisePipeline(mlir::OpPassManager &manager, bool forwardOnly = false);

/// From `taylor.spec @f` to `taylor.function @f.forward` and `@f.backward`: taylor-specialize, then the
/// above.
void buildPairwisePipeline(mlir::OpPassManager &manager, const PairwiseOptions &options);

/// Makes the pipeline known as `taylor-to-pairwise`.
void registerPipelines();

} // namespace taylor

#endif
