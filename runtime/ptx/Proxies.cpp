// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Proxies.h"

namespace taylor::runtime::ptx {

void Order::reset(size_t count) {
  warps = count;
  clocks.assign(count, 0);
  fenced.assign(count, 0);
  products.assign(count, 0);
}

void Order::grow(size_t size) {
  if (size <= clocks.size())
    return;
  clocks.resize(size);
  fenced.resize(size);
}

void Order::join(const Order &other) {
  grow(other.clocks.size());
  for (size_t k = 0; k < other.clocks.size(); ++k) {
    clocks[k] = std::max(clocks[k], other.clocks[k]);
    fenced[k] = std::max(fenced[k], other.fenced[k]);
  }
  if (products.size() < other.products.size())
    products.resize(other.products.size());
  for (size_t w = 0; w < other.products.size(); ++w)
    products[w] = std::max(products[w], other.products[w]);
}

void Order::limit(unsigned warp, uint32_t clock) {
  products[warp] = productsOf(warp);
  clocks[warp] = std::min(clocks[warp], clock);
  fenced[warp] = std::min(fenced[warp], clock);
}

void Order::raise(unsigned writer, uint32_t clock) {
  grow(writer + 1);
  clocks[writer] = std::max(clocks[writer], clock);
}

void Order::fence(unsigned warp) {
  fenced[warp] = clocks[warp]++;
  for (size_t k = warps; k < clocks.size(); ++k)
    fenced[k] = clocks[k];
}

} // namespace taylor::runtime::ptx
