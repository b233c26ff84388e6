// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function costs in one form on one target, before there is any code: the basis of the choice between
// forms. Operations and bytes are counted on the functions over arrays, where sums over pairs and reads of
// states are still operations of their own.
#ifndef TAYLOR_CODEGEN_TARGETS_COSTMODEL_H
#define TAYLOR_CODEGEN_TARGETS_COSTMODEL_H

#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/FormCost.h"
#include "dialect/Tile/TileSizes.h"

#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace taylor {

/// A measurement: the time of the chunked form over that of the parallel one, over what their counts say.
struct CostSample {
  /// The forward or the backward.
  FunctionRole function = FunctionRole::Forward;
  /// Of the function's first state: its rows, and its columns.
  int64_t features = 1, channels = 1;
  double factor = 1;
};

/// Picoseconds of one core, or of a whole GPU; for the choice only their ratios matter.
struct CostRates {
  /// Of a floating-point operation in a sum over pairs, and in one over features.
  double pair = 12, feature = 12;
  /// Of a byte of a state that is written or read in memory.
  double byte = 100;
  /// Of starting a kernel.
  double kernel = 2e6;
  /// A function with states costs its count times the factor of the nearest of the target's samples, by the
  /// logarithms of both sizes, and times that of this machine's, which were measured against the product.
  std::vector<CostSample> samples = {}, machine = {};
};

/// Reads samples from the text of a JSON file as taylor-bench forms --calibrate writes it. Errors say what
/// was expected.
llvm::Expected<std::vector<CostSample>> parseCostSamples(llvm::StringRef text);

/// Size of an array's channel; 1 without.
int64_t channelsOf(mlir::Value array);

/// Counts what the operations of a function, the forward or the backward, do, with the tiles of its plan.
/// Those that forms have in common (maps, norms, scans) are left out.
FormCost estimateCost(FunctionOp op, FunctionRole function, const CostRates &rates);

/// The fewest tokens of one head that attends to itself from which `other` costs less than `first`, to one in
/// a hundred; nothing where that is not so at 2^20 tokens.
std::optional<int64_t> findCrossover(const FormCost &first, const FormCost &other, bool causal);

} // namespace taylor

#endif
