// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/Exponentials.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/Algebra/Degrees.h"
#include "passes/Algebra/PairwiseRewrite.h"

#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Moves outputs without an exponential, such as a count, to an operation of their own, which needs no
/// maximum.
void splitOutputs(PairwiseOp op) {
  Block &weight = op.getWeight().front();
  llvm::SmallDenseSet<Value> exponential;
  for (Operation &scalar : weight.without_terminator())
    if (isa<math::ExpOp>(scalar) ||
        llvm::any_of(scalar.getOperands(), [&](Value x) { return exponential.contains(x); }))
      exponential.insert(scalar.getResult(0));
  SmallVector<unsigned> group;
  bool hasExponential = false; // a maximum has no operation for itself
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    PairSumAttr sum = op.getSum(i);
    bool isMaximum = sum.getKind() == PairOutput::Maximum;
    bool isExponential =
        !isMaximum && exponential.contains(weight.getTerminator()->getOperand(sum.getYielded()));
    hasExponential |= isExponential;
    group.push_back(isMaximum || isExponential ? 0 : 1);
  }
  if (hasExponential && llvm::is_contained(group, 1))
    dividePairwise(op, group);
}

/// Sums into rows that have no exponential in common get an operation each: each has its own maximum.
void separateExponents(PairwiseOp op, const DenseMap<Operation *, unsigned> &exponentOf) {
  bool isOfRows = llvm::all_of(op.getSums().getAsRange<PairSumAttr>(),
                               [](PairSumAttr sum) { return sum.getKind() == PairOutput::Rows; });
  if (!isOfRows || op.hasMaximum())
    return;
  llvm::IntEqClasses classes(op.getNumResults()); // of sums
  DenseMap<unsigned, unsigned> firstWith;         // the first sum with an exponent
  std::optional<unsigned> firstWithout;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    bool hasExponent = false;
    for (Value part :
         collectScalars(op.getWeight().front().getTerminator()->getOperand(op.getSum(i).getYielded())))
      if (auto known = exponentOf.find(part.getDefiningOp()); known != exponentOf.end()) {
        classes.join(i, firstWith.try_emplace(known->second, i).first->second);
        hasExponent = true;
      }
    if (!hasExponent) {
      firstWithout = firstWithout.value_or(i);
      classes.join(i, *firstWithout);
    }
  }
  classes.compress();
  if (classes.getNumClasses() > 1)
    dividePairwise(
        op, llvm::map_to_vector(llvm::seq(op.getNumResults()), [&](unsigned i) { return classes[i]; }));
}

} // namespace

void taylor::groupExponents(Block &block) {
  llvm::for_each(llvm::to_vector(block.getOps<PairwiseOp>()), splitOutputs);
  DenseMap<Operation *, unsigned> exponentOf;
  for (auto [k, exponent] : llvm::enumerate(findExponents(block)))
    for (auto [op, exp] : exponent.sites)
      exponentOf[exp] = k;
  for (PairwiseOp op : llvm::to_vector(block.getOps<PairwiseOp>()))
    separateExponents(op, exponentOf);
}
