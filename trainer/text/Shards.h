// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one split's shards so that a killed process can go on where it last committed.
#ifndef TAYLOR_TRAINER_TEXT_SHARDS_H
#define TAYLOR_TRAINER_TEXT_SHARDS_H
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace taylor::trainer {

struct ShardInfo {
  int64_t tokens = 0, documents = 0;
  std::string tokensHash, documentsHash; // SHA-256 of the two files
};

/// What of a split is on disk: shards that are whole, and how much of the one that is being written.
struct SplitState {
  std::vector<ShardInfo> shards;
  int64_t tokens = 0, documents = 0; // of the unfinished shard
  int64_t allTokens() const;
  int64_t allDocuments() const;
};

/// A shard is written under a hidden name and gets its own once it is whole and flushed, and a committed
/// state has it:
///
///   flush();  save state() durably;  publish();
///
/// Between commits a shard may be finished and another begun: those files are written again by a resumed
/// process.
class SplitWriter {
public:
  /// Goes on after `state`; what hidden files hold beyond it is cut off. A shard is closed before the
  /// document that would make it longer than `shardTokens`. Throws Error, here and below, where files cannot
  /// be written, or are not as the state says.
  SplitWriter(std::filesystem::path folder, std::string name, int64_t shardTokens, SplitState state = {});
  ~SplitWriter();
  SplitWriter(const SplitWriter &) = delete;
  SplitWriter &operator=(const SplitWriter &) = delete;

  void add(std::span<const uint16_t> document);
  /// Closes the shard; the next document begins another. Nothing where it has no document.
  void finishShard();
  /// Everything added is on the disk after it.
  void flush();
  const SplitState &state() const { return current; }
  /// Gives finished shards their names.
  void publish();

private:
  struct File {
    int descriptor = -1;
    std::string buffer;
  };
  std::filesystem::path pathOf(int64_t shard, const char *ending, bool hidden) const;
  void openShard();
  void append(File &file, const void *data, size_t size);
  void drain(File &file, const char *ending);
  void sync(File &file, const char *ending);
  void close(File &file);
  [[noreturn]] void failWrite(const char *ending) const;

  std::filesystem::path folder;
  std::string name;
  int64_t shardTokens;
  SplitState current;
  size_t published;
  bool isOpen = false;
  File tokens, documents;
};

} // namespace taylor::trainer
#endif
