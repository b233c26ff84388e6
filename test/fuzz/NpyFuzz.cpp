// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npy files. What is read has as many values as its sizes say.
#include "codegen/run/Npy.h"
#include "test/fuzz/MemoryFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  taylor::fuzz::MemoryFile file(data, size);
  llvm::Expected<taylor::run::NpyArray> array = taylor::run::readNpy(file.path());
  if (!array) {
    if (llvm::toString(array.takeError()).empty())
      std::abort();
    return 0;
  }
  size_t count = 1;
  for (int64_t length : array->sizes)
    count *= size_t(length);
  if (count != array->values.size())
    std::abort();
  return 0;
}
