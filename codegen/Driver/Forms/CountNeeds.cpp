// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Forms/CountNeeds.h"

#include "codegen/Targets/CostModel.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/VisibleRanges.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

llvm::raw_ostream &taylor::operator<<(llvm::raw_ostream &stream, const PairLoopNeeds &needs) {
  stream << "@" << needs.kernel << (needs.intoColumns ? " into columns" : " into rows") << ", one of "
         << needs.loopsOfKernel << (needs.seesAll ? "" : ", of some keys") << ": sums of ";
  llvm::interleaveComma(needs.sums, stream);
  return stream << " channels, " << needs.totals << " totals, " << needs.products << " products, "
                << needs.pairArrays << " arrays of pairs, " << needs.queryScalars << ", " << needs.keyScalars
                << " and " << needs.numbers << " scalars of queries, keys and neither, "
                << needs.computedChannels << " computed channels"
                << (needs.hasExponentials ? ", exponentials" : "");
}

namespace {

/// The needs of one operation over pairs in one kernel.
class PairCounter {
public:
  PairCounter(const FunctionMemory &memory, PairwiseOp op, bool intoColumns) : memory(memory), op(op) {
    needs.intoColumns = intoColumns;
  }
  PairLoopNeeds count(fusion::KernelOp kernel);

private:
  void countScalars();
  void countSum(Value result);
  void countOperand(Value array);
  bool passesBy(ArrayType type) const {
    return type.has(needs.intoColumns ? AxisRole::Query : AxisRole::Key);
  }

  const FunctionMemory &memory;
  PairwiseOp op;
  PairLoopNeeds needs;
};

void PairCounter::countScalars() {
  llvm::SmallDenseSet<Value> seen;
  for (Value array : op.getScalars()) {
    if (!seen.insert(array).second)
      continue;
    auto type = cast<ArrayType>(array.getType());
    ++(type.has(AxisRole::Lag)     ? needs.pairArrays
       : type.has(AxisRole::Query) ? needs.queryScalars
       : type.has(AxisRole::Key)   ? needs.keyScalars
                                   : needs.numbers);
  }
}

void PairCounter::countOperand(Value array) {
  if (passesBy(cast<ArrayType>(array.getType())) && !isa<BlockArgument>(array) && !memory.contains(array))
    needs.computedChannels = std::max(needs.computedChannels, channelsOf(array));
}

void PairCounter::countSum(Value result) {
  unsigned number = cast<OpResult>(result).getResultNumber();
  PairSumAttr sum = op.getSum(number);
  bool isCarried = sum.getKind() == (needs.intoColumns ? PairOutput::Columns : PairOutput::Rows);
  if (isCarried)
    needs.sums.push_back(channelsOf(result));
  else if (sum.getKind() == PairOutput::Total)
    ++needs.totals;
  if (Value array = op.getArrayOfSum(number))
    countOperand(array);
}

PairLoopNeeds PairCounter::count(fusion::KernelOp kernel) {
  needs.kernel = kernel.getSymName().value_or("").str();
  needs.products = op.getNumProducts();
  VisibleRanges ranges(op);
  needs.seesAll = op.getVisible().empty() || ranges.isDiagonal();
  needs.hasExponentials = !op.getWeight().front().getOps<math::ExpOp>().empty();
  countScalars();
  for (int64_t i = 0; i < needs.products; ++i)
    for (Value array : {op.getProduct(i).first, op.getProduct(i).second})
      countOperand(array);
  for (fusion::SumOp sum : kernel.getSums())
    if (sum.getValue().getDefiningOp() == op)
      countSum(sum.getValue());
  return needs;
}

} // namespace

SmallVector<PairLoopNeeds> taylor::findKernelNeeds(FunctionOp function) {
  FunctionMemory memory(function);
  SmallVector<PairLoopNeeds> found;
  for (fusion::KernelOp kernel : fusion::getKernels(function)) {
    llvm::SmallSetVector<PairwiseOp, 2> operations;
    for (fusion::SumOp sum : kernel.getSums())
      if (auto op = sum.getValue().getDefiningOp<PairwiseOp>())
        operations.insert(op);
    for (PairwiseOp op : operations) {
      PairLoopNeeds needs =
          PairCounter(memory, op, kernel.getKind() == fusion::KernelKind::Pairs).count(kernel);
      needs.loopsOfKernel = operations.size();
      found.push_back(std::move(needs));
    }
  }
  return found;
}
