// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TEXT_BYTES_H
#define TAYLOR_TRAINER_TEXT_BYTES_H
#include "trainer/text/Inputs.h"
#include <cstdint>
#include <filesystem>
#include <memory>

namespace taylor::trainer {

/// A file's contents, decompressed, from the beginning to the end, in memory that does not grow with the
/// file.
class Bytes {
public:
  virtual ~Bytes() = default;
  /// Up to `room` bytes, 0 at the end. Throws Error where the file cannot be read or is damaged.
  virtual size_t read(char *to, size_t room) = 0;
  /// Leaves out so many bytes, as read() would give them. Throws Error if there are fewer.
  virtual void skip(int64_t count);
  /// How many bytes of the file itself were read.
  virtual int64_t consumed() const = 0;
};

/// Throws Error if the file cannot be opened.
std::unique_ptr<Bytes> openBytes(const std::filesystem::path &path, Compression compression);

} // namespace taylor::trainer
#endif
