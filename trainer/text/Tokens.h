// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TEXT_TOKENS_H
#define TAYLOR_TRAINER_TEXT_TOKENS_H
#include "trainer/support/Files.h"
#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace taylor::trainer {

/// One split, mapped from disk: the tokens of all documents one after another, each document <s> ... </s>, or
/// without </s> where it was cut short. It lies in shards of whole documents, NAME-00000 and on, of two files
/// each: .tokens (uint16, native order) and .documents (uint64: where in the shard each document begins, then
/// the end).
class Tokens {
public:
  Tokens() = default;
  /// Tokens below `vocabulary` are sound. Throws Error if a shard is missing, or its two files do not fit
  /// each other by their sizes.
  Tokens(const std::filesystem::path &folder, const std::string &name, int64_t shards,
         int64_t vocabulary = 65536);

  int64_t size() const { return tokenStarts.back(); }
  int64_t documents() const { return documentStarts.back(); }

  /// The tokens of [begin, begin + count), across documents and shards. Throws Error where one is not sound.
  template <typename Integer> void copy(int64_t begin, int64_t count, Integer *to) const {
    while (count > 0) {
      std::span<const uint16_t> piece = from(begin);
      piece = piece.first(std::min<int64_t>(count, piece.size()));
      check(piece);
      to = std::copy(piece.begin(), piece.end(), to);
      begin += piece.size();
      count -= piece.size();
    }
  }

  /// Throws Error where the index of documents is damaged. The tokens themselves are not looked at: that
  /// takes long where somebody wants sizes, or a beginning.
  std::span<const uint16_t> document(int64_t i) const;
  /// Throws Error where one of these, which are some of ours, is not sound.
  /// So too of all, which reads them.
  void checkAll() const;
  void check(std::span<const uint16_t> some) const {
    uint16_t largest = 0;
    for (uint16_t token : some)
      largest = std::max(largest, token);
    if (largest >= vocabulary)
      failUnknown(some);
  }
  /// The number of the document that holds the token at a position, and where the next one begins.
  struct Place {
    int64_t document, next;
  };
  Place documentAt(int64_t position) const;

private:
  struct Shard {
    std::filesystem::path path; // without the ending, for messages
    MappedFile tokenFile, documentFile;
    const uint16_t *tokens() const { return reinterpret_cast<const uint16_t *>(tokenFile.data()); }
    std::span<const uint64_t> starts() const {
      return {reinterpret_cast<const uint64_t *>(documentFile.data()), documentFile.size() / 8};
    }
  };
  std::span<const uint16_t> from(int64_t position) const; // to the end of its shard
  [[noreturn]] void failUnknown(std::span<const uint16_t> some) const;

  std::vector<Shard> shards;
  int64_t vocabulary = 65536;
  std::vector<int64_t> tokenStarts{0}, documentStarts{0}; // of each shard, then the end
};

/// "training-00003", the files of a shard without their endings.
std::string shardName(const std::string &split, int64_t number);

} // namespace taylor::trainer
#endif
