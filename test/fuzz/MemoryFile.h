// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of the fuzzer's bytes, for readers that take a path. It lies in memory: nothing is written to a
// disk.
#ifndef TAYLOR_TEST_FUZZ_MEMORYFILE_H
#define TAYLOR_TEST_FUZZ_MEMORYFILE_H
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace taylor::fuzz {

class MemoryFile {
public:
  MemoryFile(const uint8_t *data, size_t size) : descriptor(memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor < 0 || write(descriptor, data, size) != ssize_t(size))
      std::abort();
  }
  ~MemoryFile() { close(descriptor); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

} // namespace taylor::fuzz

#endif
