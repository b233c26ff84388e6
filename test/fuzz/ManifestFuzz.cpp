// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests: the reader, and what the runtime computes from one before a kernel runs.
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/Forms.h"

using namespace taylor::runtime;

namespace {

/// Costs, workspaces and grids of every form of every function, for sizes of one kind.
void compute(const Manifest &manifest, const Dims &dims) {
  for (const TargetInfo &target : manifest.targets)
    for (size_t i = 0; i < target.functions.size(); ++i) {
      const TargetFunction &function = target.functions[i];
      int form = chooseForm(function, manifest, dims, "", manifest.functions[i].name, target.name);
      WorkspaceLayout layout(function.forms[size_t(form)], dims);
      for (const KernelInfo &kernel : function.forms[size_t(form)].kernels)
        for (const Extent &extent : kernel.grid)
          extent.evaluate(dims.data());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  for (bool partial : {false, true})
    try {
      Manifest manifest = Manifest::parse(text, partial);
      for (const FunctionInfo &function : manifest.functions)
        for (const Slot &slot : function.slots)
          manifest.tensor(slot);
      compute(manifest, {2, 4, 2, 33, 65, 32});
      compute(manifest, {1, 1, 1, 0, 0, 0});
      compute(manifest, {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX});
    } catch (const Error &) {
    }
  return 0;
}
