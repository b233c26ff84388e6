// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Specification/Rewrites.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace taylor;

void taylor::dropUnused(SpecOp spec) {
  Block &body = spec.getBody().front();
  SmallVector<Operation *> operations = llvm::map_to_vector(body, [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ArrayRef(operations).drop_back()))
    if (op->use_empty())
      op->erase();
  llvm::BitVector unused(body.getNumArguments());
  SmallVector<Attribute> names, sources;
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    if (argument.use_empty()) {
      unused.set(index);
      continue;
    }
    names.push_back(spec.getArgNames()[index]);
    sources.push_back(spec.getSources()[index]);
  }
  body.eraseArguments(unused);
  OpBuilder builder(spec.getContext());
  spec.setArgNamesAttr(builder.getArrayAttr(names));
  spec.setSourcesAttr(builder.getArrayAttr(sources));
}
