// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Features/Features.h"

#include <algorithm>

using namespace taylor;

static constexpr int64_t kMost = int64_t(1) << 62;
/// Far beyond what has a use. One component has a monomial of every order, however high, and orders are
/// counted one by one.
static constexpr int64_t kMostOrder = 1000;

static std::optional<int64_t> multiply(int64_t a, int64_t b) {
  if (a != 0 && b > kMost / a)
    return std::nullopt;
  return a * b;
}

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

std::optional<int64_t> Features::countOf(int64_t order) const {
  if (order == 0)
    return block;
  // Multisets of `order` blocks, each block's components in every combination.
  int64_t blocks = ceilDiv(channels, block), multisets = 1;
  for (int64_t i = 0; i < order; ++i) {
    std::optional<int64_t> product = multiply(multisets, blocks + i);
    if (!product)
      return std::nullopt;
    multisets = *product / (i + 1);
  }
  std::optional<int64_t> all = multisets;
  for (int64_t i = 0; i < order && all; ++i)
    all = multiply(*all, block);
  return all;
}

std::optional<int64_t> Features::count() const {
  if (last > kMostOrder)
    return std::nullopt;
  int64_t sum = 0;
  for (int64_t order = first; order <= last; ++order) {
    std::optional<int64_t> some = countOf(order);
    if (!some || *some > kMost - sum)
      return std::nullopt;
    sum += *some;
  }
  return sum;
}

void Features::forEach(llvm::function_ref<void(const Feature &)> visit) const {
  for (int64_t order = last; order >= std::max<int64_t>(first, 1); --order)
    forEachOf(order, visit);
  if (first == 0)
    for (int64_t i = 0; i < block; ++i)
      visit({0, {}, i == 0 ? 1.0 : 0.0});
}

void Features::forEachOf(int64_t order, llvm::function_ref<void(const Feature &)> visit) const {
  // Digits that count: the blocks, none before the one to its left; then the place in each block.
  int64_t most = ceilDiv(channels, block) - 1;
  llvm::SmallVector<int64_t> blocks(order, 0), places(order, 0), components(order, 0);
  for (;;) {
    // n! / prod(count!): one factor (i + 1) / (its place in the run of equal blocks) per component.
    double multiplicity = 1.0;
    int64_t run = 0;
    for (int64_t i = 0; i < order; ++i) {
      run = i > 0 && blocks[i] == blocks[i - 1] ? run + 1 : 1;
      multiplicity *= double(i + 1) / double(run);
      components[i] = blocks[i] * block + places[i];
      if (components[i] >= channels)
        multiplicity = 0.0;
    }
    visit({order, components, multiplicity});
    int64_t digit = order - 1;
    for (; digit >= 0 && ++places[digit] == block; --digit)
      places[digit] = 0;
    if (digit >= 0)
      continue;
    digit = order - 1;
    while (digit >= 0 && blocks[digit] == most)
      --digit;
    if (digit < 0)
      return;
    std::fill(blocks.begin() + digit, blocks.end(), blocks[digit] + 1);
  }
}
