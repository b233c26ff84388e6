// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Debug.h"

#include "llvm/ADT/SmallVectorExtras.h"

// With NDEBUG the header hides these. The libraries have them in every build.
#undef isCurrentDebugType
#undef setCurrentDebugTypes
namespace llvm {
bool isCurrentDebugType(const char *type, int level);
void setCurrentDebugTypes(const char **types, unsigned count);
} // namespace llvm

bool taylor::isDebugged(const char *type) {
  return llvm::DebugFlag && llvm::isCurrentDebugType(type, /*level=*/1);
}

void taylor::setDebugTypes(llvm::ArrayRef<std::string> types) {
  auto names = llvm::map_to_vector(types, [](const std::string &type) { return type.c_str(); });
  llvm::DebugFlag = !types.empty();
  llvm::setCurrentDebugTypes(names.data(), names.size());
}

taylor::DebugLine::DebugLine(const char *type) { stream << "[" << type << "] "; }

taylor::DebugLine::~DebugLine() {
  stream << "\n";
  llvm::dbgs() << text;
}
