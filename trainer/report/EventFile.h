// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_REPORT_EVENTFILE_H
#define TAYLOR_TRAINER_REPORT_EVENTFILE_H
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace taylor::trainer {

/// Scalars for TensorBoard. An event file is a list of records: length (uint64), its masked CRC-32C, the
/// bytes, their masked CRC-32C, all little-endian. The bytes are a protobuf message Event {double wall_time =
/// 1; int64 step = 2; string file_version = 3; Summary summary = 5}, Summary {repeated Value value = 1},
/// Value {string tag = 1; float simple_value = 2}: so small a part of protobuf that it is written by hand.
class EventFile {
public:
  /// A new file in the folder. Throws Error.
  explicit EventFile(const std::filesystem::path &folder);
  void scalar(int64_t step, const std::string &tag, float value);
  /// Whether all of it was written.
  bool flush() { return bool(file.flush()); }

private:
  void record(const std::string &event);
  std::ofstream file;
};

uint32_t crc32c(std::string_view bytes);

} // namespace taylor::trainer
#endif
