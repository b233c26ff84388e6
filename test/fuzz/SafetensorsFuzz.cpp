// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors. Every byte of every tensor lies in the file.
#include "test/fuzz/MemoryFile.h"
#include "trainer/checkpoint/Safetensors.h"
#include "trainer/support/Error.h"

using namespace taylor::trainer;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  taylor::fuzz::MemoryFile input(data, size);
  try {
    SafetensorsFile file(input.path());
    size_t bytes = 0;
    volatile char last = 0;
    for (const auto &[name, tensor] : file.tensors()) {
      bytes += tensor.size;
      for (size_t i = 0; i < tensor.size; ++i)
        last = tensor.data[i];
    }
    (void)last;
    if (bytes > size)
      std::abort();
  } catch (const Error &) {
  }
  return 0;
}
