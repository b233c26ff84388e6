// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that passes count, in every build: `taylor-opt --mlir-pass-statistics`.
//
// mlir::Pass::Statistic counts nothing where LLVM was built without assertions, as packages of it are, and
// its layout there is another one. So the `Statistic` of a pass's .td becomes this class
// (cmake/TaylorMLIR.cmake).
#ifndef TAYLOR_PASSES_STATISTICS_H
#define TAYLOR_PASSES_STATISTICS_H

#include <atomic>
#include <cstdint>

namespace llvm {
class raw_ostream;
}
namespace mlir {
class Pass;
}

namespace taylor {

/// One number of one pass. All passes of a kind in the process add to the same.
class PassStatistic {
public:
  PassStatistic(mlir::Pass *pass, const char *name, const char *description);

  PassStatistic &operator+=(uint64_t number) {
    count->fetch_add(number, std::memory_order_relaxed);
    return *this;
  }
  PassStatistic &operator++() { return *this += 1; }

private:
  std::atomic<uint64_t> *count;
};

/// Writes the numbers of each pass that has counted something, a line each, in the order of the passes'
/// names.
void printPassStatistics(llvm::raw_ostream &stream);

} // namespace taylor

#endif
