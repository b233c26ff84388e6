// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of all targets' names.
#include "codegen/Targets/NVPTX/Targets.h"
#include "codegen/Targets/CPU/CPUTarget.h"
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

static const Family families[] = {{mlir::tile::cpu::targetNames, isProcessor, mlir::tile::cpu::makeCPUTarget},
                                  {mlir::simt::targetNames, isGPU, mlir::simt::makeNVPTXTarget}};

/// "a, b or c".
static std::string listNames() {
  std::vector<std::string> names;
  for (const Family &family : families)
    for (llvm::StringRef name : family.names())
      names.push_back(name.str());
  std::string last = names.back();
  names.pop_back();
  return llvm::join(names, ", ") + " or " + last;
}

std::unique_ptr<Target> taylor::makeTarget(llvm::StringRef name, std::string &error) {
  for (const Family &family : families)
    if (family.has(name))
      return family.make(name, error);
  error = "unsupported target '" + name.str() + "'; expected " + listNames();
  return nullptr;
}
