// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX text: the parser, and the interpreter's first steps of each kernel on memory of its own. Whatever the
// text says, the interpreter stays within that memory.
#include "runtime/Error.h"
#include "runtime/ptx/Interpreter.h"
#include <algorithm>

using namespace taylor::runtime;

namespace {

constexpr unsigned kMostThreads = 128; // of a block that is run: registers take memory for each warp
constexpr uint64_t kMostSteps = 500;

void start(const ptx::Module &module, const ptx::KernelSignature &kernel) {
  ptx::GridSize block{kernel.required[0] ? kernel.required[0] : 32, std::max(kernel.required[1], 1u),
                      std::max(kernel.required[2], 1u)};
  if (uint64_t(block.x) * block.y * block.z > kMostThreads || kernel.parameterBytes > 4096)
    return;
  alignas(64) std::byte memory[1024] = {};
  // Addresses of that memory, wherever a kernel looks for one.
  std::vector<std::byte> parameters(kernel.parameterBytes);
  auto address = reinterpret_cast<uintptr_t>(memory);
  for (size_t at = 0; at + sizeof(address) <= parameters.size(); at += sizeof(address))
    std::copy_n(reinterpret_cast<std::byte *>(&address), sizeof(address), &parameters[at]);
  ptx::MemoryRange range{memory, sizeof(memory), "memory"};
  ptx::InterpreterOptions options;
  options.profile = true;
  options.limit = kMostSteps;
  // Without checks, instructions whose operands nothing wrote run too.
  for (bool checks : {true, false}) {
    options.checks = checks;
    ptx::launch(module, kernel.name, {}, block, 256, parameters, {&range, 1}, options);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    ptx::Module module = ptx::parse({reinterpret_cast<const char *>(data), size});
    for (const ptx::KernelSignature &kernel : module.kernels())
      try {
        start(module, kernel);
      } catch (const Error &) { // more shared memory than a block may have
      }
  } catch (const Error &) {
  }
  return 0;
}
