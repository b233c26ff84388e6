// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Warpgroup.h"
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Report.h"
#include <algorithm>

namespace taylor::runtime::ptx {

void Warpgroup::clear() {
  events.clear();
  first = 0;
  done.fill(0);
  hasLeft.fill(false);
}

static std::string described(const Instruction &i) {
  return "line " + std::to_string(i.line) + " '" + i.text + "'";
}

void Warpgroup::execute(const Warp &w, const Instruction &i, std::array<uint64_t, 3> values) {
  unsigned group = w.index / 4, member = w.index % 4;
  size_t count = w.block.launch.warps();
  if (4 * group + 4 > count)
    raise(w, i, FaultKind::Divergent, 0, 0,
          "requires a warpgroup of four warps, but warp " + std::to_string(w.index) +
              " is in the last group of a block of " + std::to_string(count));
  uint64_t number = done[member]++;
  if (number == first + events.size()) {
    for (unsigned k = 0; k < 4; ++k)
      if (hasLeft[k])
        raise(w, i, FaultKind::Divergent, 0, 0,
              "requires all four warps of the warpgroup, but warp " + std::to_string(4 * group + k) +
                  " has exited");
    events.push_back({&i, values, w.index});
  }
  const Event &event = events[number - first];
  if (event.at != &i)
    raise(w, i, FaultKind::Divergent, 0, 0,
          "requires the same in all four warps of the warpgroup, but warp " + std::to_string(event.warp) +
              " executes " + described(*event.at));
  if (event.values != values)
    raise(w, i, FaultKind::Divergent, 0, 0,
          "requires the same descriptors and scale in all four warps of the warpgroup, but those of warp " +
              std::to_string(event.warp) + " differ");
  while (!events.empty() && *std::ranges::min_element(done) > first) {
    events.pop_front();
    ++first;
  }
}

void Warpgroup::leave(const Warp &w, const Instruction &i) {
  uint64_t number = done[w.index % 4];
  hasLeft[w.index % 4] = true;
  if (number < first + events.size()) {
    const Event &event = events[number - first];
    raise(w, i, FaultKind::Divergent, 0, 0,
          "exits, but warp " + std::to_string(event.warp) + " of its warpgroup executes " +
              described(*event.at));
  }
}

} // namespace taylor::runtime::ptx
