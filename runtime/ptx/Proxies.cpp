// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Proxies.h"
#include <algorithm>

namespace taylor::runtime::ptx {

void Order::reset(size_t count) {
  clocks.assign(count, 0);
  fenced.assign(count, 0);
}

void Order::join(const Order &other) {
  for (size_t k = 0; k < clocks.size(); ++k) {
    clocks[k] = std::max(clocks[k], other.clocks[k]);
    fenced[k] = std::max(fenced[k], other.fenced[k]);
  }
}

} // namespace taylor::runtime::ptx
