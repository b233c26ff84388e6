// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/Choices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <vector>

using namespace mlir::simt;

/// The oldest first. Second-level caches are those of the smallest chip of the name, an eighth left out for
/// what blocks do not read in common.
///                                   PTX  shared memory: block, SM  threads blocks cache     starts early
static const Machine kTargets[] = {{"sm_80", 80, 163 << 10, 164 << 10, 2048, 32, 35 << 20},
                                   {"sm_86", 80, 99 << 10, 100 << 10, 1536, 16, 5 << 20},
                                   {"sm_89", 80, 99 << 10, 100 << 10, 1536, 24, 21 << 20},
                                   {"sm_90", 80, 227 << 10, 228 << 10, 2048, 32, 43 << 20, false, true},
                                   {"sm_90a", 80, 227 << 10, 228 << 10, 2048, 32, 43 << 20, true, true},
                                   {"sm_100", 86, 227 << 10, 228 << 10, 2048, 32, 110 << 20, false, true},
                                   {"sm_120", 87, 99 << 10, 100 << 10, 1536, 24, 28 << 20, false, true}};

/// 103 of "sm_103"; 0 for other names, also for those that end in a letter: code for sm_90a runs nowhere
/// else.
static unsigned capabilityOf(llvm::StringRef name) {
  unsigned number = 0;
  bool isPlain = name.consume_front("sm_") && !name.starts_with("0") && name.size() <= 3;
  return isPlain && !name.getAsInteger(10, number) ? number : 0;
}

/// The target with the experiments of these words.
static Machine withExperiments(Machine target, llvm::StringRef words) {
  target.name += words.str();
  target.assignsRoles = words.contains("+roles");
  target.overlapsUses = words.contains("+overlap");
  target.persistsBlocks = words.contains("+persistent");
  target.rotatesOperands = words.contains("+computed");
  target.hasLongTiles = words.contains("+lengths");
  target.startsEarly = words.contains("+early");
  return target;
}

/// Targets of the table with experiments, each once: whoever has found one keeps its address.
static llvm::ArrayRef<Machine> experiments() {
  static const auto made = [] {
    std::vector<Machine> made;
    for (const Machine &target : kTargets)
      for (llvm::StringRef loops :
           {"", "+roles", "+roles+overlap", "+roles+persistent", "+roles+overlap+persistent", "+computed"})
        for (llvm::StringRef lengths : {"", "+lengths"})
          for (llvm::StringRef early : {"", "+early"}) {
            std::string products = (loops + lengths).str(), words = products + early.str();
            if (!words.empty() && (products.empty() || target.startsProducts) &&
                (early.empty() || target.hasDependentLaunches))
              made.push_back(withExperiments(target, words));
          }
    return made;
  }();
  return made;
}

const Machine *mlir::simt::findTarget(llvm::StringRef name) {
  if (name.contains('+')) {
    const Machine *found =
        llvm::find_if(experiments(), [&](const Machine &target) { return target.name == name; });
    return found == experiments().end() ? nullptr : found;
  }
  const Machine *newest = nullptr;
  for (const Machine &target : kTargets) {
    if (target.name == name)
      return &target;
    if (unsigned number = capabilityOf(target.name); number && number <= capabilityOf(name))
      newest = &target;
  }
  return newest;
}

llvm::ArrayRef<llvm::StringRef> mlir::simt::targetNames() {
  static const auto names =
      llvm::map_to_vector(kTargets, [](const Machine &target) { return llvm::StringRef(target.name); });
  return names;
}

std::string mlir::simt::describeUnknownTarget(llvm::StringRef name) {
  return taylor::unsupportedTarget(name, targetNames());
}
