// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that an iteration of a loop ends with, and a loop that makes their products one iteration later.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_LATESUMS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_LATESUMS_H

#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::simt {

/// Whether the op is a product that matrix units compute while threads do something else.
bool runsBeside(Operation *op);

/// A sum that an iteration ends with: products, the first of which adds to `base`, of tiles that the
/// iteration computes. The loop carries the last one's result.
struct LateSum {
  SmallVector<DotOp> products;
  unsigned number = 0; ///< of the loop's results

  Value base() { return products.front().getC(); }
  /// The left operands.
  SmallVector<Value> tiles();
};

/// The late sums of one loop.
class LateSums {
public:
  explicit LateSums(scf::ForOp loop) : loop(loop) {}

  /// Finds sums of products that wait for others of the iteration, and whose right operands `isLate` takes.
  /// False: there is none, or a late product waits for nothing.
  bool collect(llvm::function_ref<bool(Value buffer)> isLate);

  llvm::MutableArrayRef<LateSum> getSums() { return sums; }
  /// Registers of the tiles that wait for the next iteration.
  int64_t countWaiting();

  /// A tile that is another result rounded is rounded at the iteration's end: the product before has been
  /// awaited then, and the tile takes its operand's registers.
  void roundLate();
  /// Makes, in the body of `made`, what the loop's body does and `isLeftOut` does not name, and yields.
  /// `made` carries the loop's values, with the base of each sum in its place, and the late products' left
  /// operands. `multiply` makes the products of a sum, of the iteration before, and stands where the sum is
  /// read first.
  using Multiply = llvm::function_ref<Value(LateSum &sum, ValueRange tiles, Value base, IRMapping &mapping)>;
  void fillBody(OpBuilder &builder, scf::ForOp made, llvm::function_ref<bool(Operation *)> isLeftOut,
                Multiply multiply);
  /// What the loop gives, of the results of `made`: the products of the last iteration follow.
  SmallVector<Value> finish(scf::ForOp made, Multiply multiply);
  /// What an iteration without its late products hands on, of a clone of its body: the loop's values, each
  /// sum's base in place of the sum, and the left operands.
  SmallVector<Value> handedOn(IRMapping &mapping);

private:
  std::optional<LateSum> asLateSum(OpOperand &yielded, llvm::function_ref<bool(Value)> isLate);
  bool waitsForProduct(Value tile);
  LateSum *findSum(unsigned number);

  scf::ForOp loop;
  SmallVector<LateSum> sums;
};

} // namespace mlir::simt
#endif
