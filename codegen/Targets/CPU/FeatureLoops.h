// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Monomials of vectors, and their adjoint.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_FEATURELOOPS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_FEATURELOOPS_H
#include "codegen/Targets/CPU/TileRearranger.h"

namespace mlir::tile::cpu {

class FeatureLoops : VectorCode {
public:
  FeatureLoops(TileElements &tiles, TileRearranger &rearranger)
      : VectorCode(tiles), plan(tiles.plan), tiles(tiles), rearranger(rearranger) {}

  void emitExpand(ExpandOp expand);
  void emitContract(ContractOp contract);

private:
  struct Run;
  struct Tables;
  void emitExpandOne(ExpandOp expand);
  Tables tablesOf(FeaturesAttr features, ArrayRef<double> weights, Type element);
  /// Calls `body` for each order with the numbers of its features in the panel from `start` on: from, to.
  void forOrders(FeaturesAttr features, Value start, int64_t size,
                 function_ref<void(int64_t, Value, Value)> body);
  Run loadRun(const Tables &tables, FeaturesAttr features, int64_t order, Value number, Value end,
              Value start);
  /// Calls `body` for the features of a panel, run by run.
  void forRuns(FeaturesAttr features, const Tables &tables, Value start, int64_t size,
               function_ref<void(const Run &)> body);
  /// A vector of features of a run, from `number` on; `components` points to the last component of the first
  /// of them, null for order 0; a null `prefix` is 1. Lanes from `count` on are 0.
  Value emitRunLanes(const Tables &tables, Value prefix, Value number, Value count, const TileView &vector,
                     Value components);
  /// Vectors [first, past) of a row.
  struct VectorRange {
    int64_t first, past;
  };
  /// Calls `body` for so many vectors at once as registers hold together with their sums.
  void forRanges(int64_t vectors, function_ref<void(VectorRange)> body);
  /// The product of the components that a run's features share, except one; null where there are none.
  SmallVector<Value> loadPrefix(const TileView &vectors, StringAttr axis, const Run &run, VectorRange range,
                                std::optional<size_t> without = std::nullopt);
  /// In all lanes; null where all weights are 1.
  Value loadWeight(const Tables &tables, Index number, Type element);
  /// One component of the vectors at each token.
  SmallVector<Value> loadComponent(const TileView &view, StringAttr axis, Index component, VectorRange range);
  void storeComponent(const TileView &view, StringAttr axis, Index component, VectorRange range,
                      ArrayRef<Value> values);

  const KernelPlan &plan;
  TileElements &tiles;
  TileRearranger &rearranger;
};

} // namespace mlir::tile::cpu
#endif
