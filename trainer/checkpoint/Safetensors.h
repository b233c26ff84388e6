// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The safetensors format: 8 bytes of little-endian header length, a JSON header {"name": {"dtype", "shape",
// "data_offsets": [begin, end]}, "__metadata__": {..}}, then the tensors' bytes without gaps.
#ifndef TAYLOR_TRAINER_CHECKPOINT_SAFETENSORS_H
#define TAYLOR_TRAINER_CHECKPOINT_SAFETENSORS_H
#include "trainer/support/Files.h"
#include <map>
#include <string>
#include <vector>

namespace taylor::trainer {

/// A tensor's bytes, dense and row-major, in the file (reading) or in memory (writing).
struct TensorView {
  std::string dtype; // "F32", "BF16", "F64", "F16", "I64", "I32", "U8", ..
  std::vector<int64_t> shape;
  const char *data = nullptr;
  size_t size = 0; // bytes
};

/// A file of named tensors, mapped. Everything the header says is checked before a byte is used: Throws Error
/// that names the file, and the tensor where there is one.
class SafetensorsFile {
public:
  explicit SafetensorsFile(const std::filesystem::path &path);
  const std::map<std::string, TensorView> &tensors() const { return entries; }
  const std::map<std::string, std::string> &metadata() const { return strings; }

private:
  MappedFile file;
  std::map<std::string, TensorView> entries;
  std::map<std::string, std::string> strings;
};

/// Writes and flushes a file, tensors in the order of their names. Throws Error.
void writeSafetensors(const std::filesystem::path &path, const std::map<std::string, TensorView> &tensors,
                      const std::map<std::string, std::string> &metadata);

/// Bytes of one element, or 0 for a dtype that is not known.
size_t dtypeSize(const std::string &dtype);

} // namespace taylor::trainer
#endif
