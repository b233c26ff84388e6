// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of all targets' names.
#include "codegen/NVPTX/Targets.h"
#include "codegen/CPU/CPUTarget.h"
#include "codegen/NVPTX/NVPTXTarget.h"
#include "codegen/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace taylor;

namespace {
/// The targets of one folder.
struct Family {
  llvm::ArrayRef<llvm::StringRef> (*names)();
  std::unique_ptr<Target> (*make)(llvm::StringRef name, std::string &error);
};
} // namespace

static const Family families[] = {{mlir::tile::cpu::targetNames, mlir::tile::cpu::makeCPUTarget},
                                  {mlir::simt::targetNames, mlir::simt::makeNVPTXTarget}};

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
    if (llvm::is_contained(family.names(), name))
      return family.make(name, error);
  error = "unsupported target '" + name.str() + "'; expected " + listNames();
  return nullptr;
}
