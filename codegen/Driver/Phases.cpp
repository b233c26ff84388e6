// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Phases.h"

using namespace mlir;
using namespace taylor;

void Phases::plan(Emission emission, bool hasBackward, ArrayRef<std::unique_ptr<Target>> targets) {
  names = {"sizes and types", hasBackward ? "forward and backward" : "forward"};
  begun = 0;
  if (emission == Emission::Pairwise)
    return;
  bool isOne = emission == Emission::Explanation;
  for (const std::unique_ptr<Target> &target : targets.take_front(isOne ? 1 : targets.size())) {
    std::vector<std::string> own = target->getPhases();
    size_t count = own.size();
    if (emission == Emission::Tile || (emission == Emission::Manifest && !target->isLaunchedByManifest()))
      count = 0;
    else if (emission == Emission::Vector || emission == Emission::LLVM)
      count = emission == Emission::Vector ? 1 : 2;
    else if (emission == Emission::Assembly || emission == Emission::Explanation)
      count = 3;
    own.resize(std::min(count, own.size()));
    own.insert(own.begin(), "tiles");
    for (const std::string &phase : own)
      names.push_back(target->getName() + ": " + phase);
  }
  if (emission == Emission::Artifact)
    names.push_back("shared object");
}

void Phases::begin() {
  if (begun == names.size())
    return;
  ++begun;
  if (onPhase)
    onPhase("phase " + std::to_string(begun) + " of " + std::to_string(names.size()) + ", " +
            names[begun - 1]);
}
