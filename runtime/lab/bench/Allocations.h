// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Peak memory by counting allocations. This program's malloc family stands before libc's, so that torch, MKL
// and the runtime are counted alike.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_ALLOCATIONS_H
#define TAYLOR_RUNTIME_LAB_BENCH_ALLOCATIONS_H
#include <cstdint>

namespace taylor::bench {

/// False where allocations are not counted (a sanitizer owns malloc); peaks are then 0.
bool countsAllocations();

/// Counts allocations while it lives. One at a time.
class AllocationCount {
public:
  AllocationCount();
  ~AllocationCount();
  /// Highest sum of live bytes allocated since construction, less those freed since, at least 0.
  int64_t peak() const;
};

} // namespace taylor::bench

#endif
