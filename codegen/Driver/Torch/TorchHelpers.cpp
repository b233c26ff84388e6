// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that printed specifications call. Only those in use are printed. TorchScript compiled from C++
// knows aten operators and no Python module: no dtype constants, no keyword that aten lacks.
#include "codegen/Driver/Torch/TorchHelpers.h"
#include "codegen/Driver/Torch/TorchLocal.h"
#include "codegen/Driver/Torch/TorchReads.h"

using namespace llvm;
using namespace taylor;

namespace {

constexpr TorchHelper kHelpers[] = {
    {"constant", "", R"(def constant(x: float) -> Tensor:
    return torch.zeros([]).double() + x
)"},
    {"positions", "", R"(def positions(size: int, start: int, like: Tensor) -> Tensor:
    # start, start + 1, ..: in f32 at least, so that bf16 does not round them
    return torch.arange(size, device=like.device).float() + start + like.new_zeros([1])
)"},
};

} // namespace

SmallVector<TorchHelper> taylor::getTorchHelpers() {
  SmallVector<TorchHelper> helpers(std::begin(kHelpers), std::end(kHelpers));
  llvm::append_range(helpers, getLocalTorchHelpers());
  llvm::append_range(helpers, getReadTorchHelpers());
  return helpers;
}

std::string taylor::printTorchHelpers(const llvm::StringSet<> &names) {
  std::string text;
  SmallVector<TorchHelper> helpers = getTorchHelpers();
  for (const TorchHelper &helper : helpers) {
    bool isUsed = names.contains(helper.name);
    for (const TorchHelper &user : helpers)
      isUsed |= user.uses == helper.name && names.contains(user.name);
    if (isUsed)
      text += "\n" + helper.text.str() + "\n";
  }
  return text;
}
