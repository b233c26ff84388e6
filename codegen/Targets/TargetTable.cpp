// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of all targets' names.
#include "codegen/Targets/CPU/CPUTarget.h"
#include "codegen/Targets/Choices.h"
#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/NVPTX/NVPTXTarget.h"
#include "codegen/Targets/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace taylor;

namespace {
/// The targets of one folder.
struct Family {
  llvm::ArrayRef<llvm::StringRef> (*names)();
  /// Whether it has a target of that name; a table may serve names beyond its own.
  bool (*has)(llvm::StringRef name);
  std::unique_ptr<Target> (*make)(llvm::StringRef name, std::string &error);
};
} // namespace

static bool isProcessor(llvm::StringRef name) { return mlir::tile::cpu::hasTarget(name); }
static bool isGPU(llvm::StringRef name) { return mlir::simt::findTarget(name); }

static const Family kFamilies[] = {
    {mlir::tile::cpu::targetNames, isProcessor, mlir::tile::cpu::makeCPUTarget},
    {mlir::simt::targetNames, isGPU, mlir::simt::makeNVPTXTarget}};

/// Makers of tests' targets. Made at its first use, which may come before this file's own constants.
static std::vector<std::unique_ptr<Target> (*)()> &addedTargets() {
  static std::vector<std::unique_ptr<Target> (*)()> added;
  return added;
}

bool taylor::addTarget(std::unique_ptr<Target> (*make)()) {
  addedTargets().push_back(make);
  return true;
}

std::string Target::check(const TargetProblem &problem) const {
  const char *option = problem.f32Products == F32Products::TF32      ? "--f32-products=tf32"
                       : problem.bf16Products == BF16Products::Split ? "--bf16-products=split"
                       : problem.rowSums == RowSumsChoice::Atomic    ? "--row-sums=atomic"
                                                                     : nullptr;
  return option ? "unsupported for " + getName() + ": " + option + "; it is for GPUs" : "";
}

std::string Target::checkLevel(Emission level) const {
  bool isReport = level == Emission::Report || level == Emission::ReportJSON;
  if (!isReport && level != Emission::PTX)
    return "";
  return "unsupported for " + getName() + ": " +
         (isReport ? "--report; it is about kernels of GPUs" : "--emit=ptx; it is the assembly of GPUs") +
         ", such as --target=sm_80";
}

std::unique_ptr<Target> taylor::makeTarget(llvm::StringRef name, std::string &error) {
  for (const Family &family : kFamilies)
    if (family.has(name))
      return family.make(name, error);
  for (auto make : addedTargets())
    if (std::unique_ptr<Target> target = make(); target->getName() == name)
      return target;
  std::vector<llvm::StringRef> names;
  for (const Family &family : kFamilies)
    llvm::append_range(names, family.names());
  std::vector<std::string> added;
  for (auto make : addedTargets())
    added.push_back(make()->getName());
  names.insert(names.end(), added.begin(), added.end());
  error = unsupportedTarget(name, names);
  return nullptr;
}

int64_t taylor::chooseStateBlock(llvm::ArrayRef<std::unique_ptr<Target>> targets, TargetProblem problem) {
  problem.states = true;
  int64_t block = 1;
  for (const std::unique_ptr<Target> &target : targets)
    block = std::max(block, target->planTiles(problem, TileUse::Chunked).featureBlock);
  return block;
}
