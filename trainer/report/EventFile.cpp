// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/report/EventFile.h"
#include "trainer/support/Error.h"
#include <array>
#include <chrono>
#include <cstring>
#include <unistd.h>

namespace taylor::trainer {

namespace {

enum Wire { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

template <typename T> void appendRaw(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

void appendKey(std::string &out, int field, Wire wire) { appendVarint(out, field << 3 | wire); }

void appendBytes(std::string &out, int field, std::string_view bytes) {
  appendKey(out, field, Bytes);
  appendVarint(out, bytes.size());
  out.append(bytes);
}

std::string beginEvent() {
  std::string event;
  appendKey(event, 1, Fixed64);
  appendRaw(event,
            std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  return event;
}

/// A CRC of bytes that hold CRCs is weak; TensorFlow's record format rotates and offsets it.
uint32_t maskedCrc(std::string_view bytes) {
  uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

} // namespace

uint32_t crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> table;
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78U : 0); // Castagnoli, reflected
    }
    return table;
  }();
  uint32_t crc = ~0U;
  for (unsigned char byte : bytes)
    crc = table[(crc ^ byte) & 0xff] ^ crc >> 8;
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path &folder) {
  char host[256] = "host";
  ::gethostname(host, sizeof host - 1);
  auto now = std::chrono::system_clock::now().time_since_epoch();
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  std::filesystem::path path;
  // TensorBoard reads the files of a folder in the order of their names: a number after the time keeps it.
  for (int number = 0; path.empty() || std::filesystem::exists(path); ++number)
    path = folder / text("events.out.tfevents.", seconds, ".", host, ".", ::getpid(), ".", number);
  file.open(path, std::ios::binary);
  if (!file)
    fail("cannot write '", path.string(), "': ", std::strerror(errno));
  std::string event = beginEvent();
  appendBytes(event, 3, "brain.Event:2");
  record(event);
}

void EventFile::scalar(int64_t step, const std::string &tag, float value) {
  std::string entry, summary, event = beginEvent();
  appendBytes(entry, 1, tag);
  appendKey(entry, 2, Fixed32);
  appendRaw(entry, value);
  appendBytes(summary, 1, entry);
  appendKey(event, 2, Varint);
  appendVarint(event, step);
  appendBytes(event, 5, summary);
  record(event);
}

void EventFile::record(const std::string &event) {
  std::string out;
  appendRaw(out, uint64_t(event.size()));
  appendRaw(out, maskedCrc(out));
  out += event;
  appendRaw(out, maskedCrc(event));
  file.write(out.data(), out.size());
}

} // namespace taylor::trainer
