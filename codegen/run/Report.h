// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables that taylor-run prints.
#ifndef TAYLOR_CODEGEN_RUN_REPORT_H
#define TAYLOR_CODEGEN_RUN_REPORT_H

#include "codegen/run/Problem.h"
#include "dialect/Reference/Contract.h"

namespace taylor::run {

/// One line per comparison: error, what is allowed, the reference's norm, the error of eager code, the
/// verdict.
class ComparisonTable {
public:
  explicit ComparisonTable(bool withEager) : withEager(withEager) {}
  void add(const std::string &name, const reference::Comparison &comparison);
  /// Whether all comparisons pass.
  bool passes() const;
  /// Prints to stdout, and gives whether all passed.
  bool print() const;

private:
  struct Row {
    std::string name;
    reference::Comparison comparison;
  };
  std::vector<Row> rows;
  bool withEager;
};

/// One line per array: name, sizes, 2-norm, largest magnitude, number of NaN and infinities if there are any.
void printSummary(llvm::StringRef name, const Array &array);

/// Every element, with the last axis along a line.
void printElements(const Array &array);

} // namespace taylor::run

#endif
