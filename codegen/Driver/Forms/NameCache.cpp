// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of arrays that a caller keeps of keys. Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "dialect/Taylor/Carried.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-name-cache"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_NAMECACHEPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

namespace {

struct NameCache : taylor::impl::NameCachePassBase<NameCache> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<tile::ProgramOp>()) {
      bool prepares = program.getRole() == FunctionRole::Append;
      for (auto tensor : program.getBlock()->getOps<tile::TensorOp>()) {
        auto [role, name] = tensor.getName().split(':');
        bool isInput = role == "input";
        StringRef kind = isInput ? "cache:" : "append:";
        if (name.consume_front(kCachePrefix))
          rename(tensor, kind + name);
        else if (prepares && name.consume_front(isInput ? "initial." : "final."))
          rename(tensor, kind + kHandedOnPrefix + name);
      }
    }
  }

private:
  void rename(tile::TensorOp tensor, const Twine &name) {
    std::string text = name.str();
    LDBG() << tensor.getName() << " is kept by callers: " << text;
    tensor.setName(text);
    ++numRenamed;
  }
};

} // namespace
