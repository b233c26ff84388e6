// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands for libFuzzer where a fuzzer is built without it: reads the files that are named. A reader that
// fails ends the process; the last line of its output names the file, as libFuzzer's does.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      fprintf(stderr, "error: could not read '%s'\n", argv[i]);
      return 1;
    }
    fprintf(stderr, "Running: %s\n", argv[i]);
    std::vector<uint8_t> input((std::istreambuf_iterator<char>(file)), {});
    input.shrink_to_fit(); // sanitizers see a reader that goes past the end
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  return 0;
}
