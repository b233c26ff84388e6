// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Tokens.h"
#include "trainer/support/Error.h"
#include <cstdio>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

/// The shard whose range [starts[s], starts[s + 1]) holds i.
int64_t shardOf(const std::vector<int64_t> &starts, int64_t i) {
  return std::upper_bound(starts.begin(), starts.end() - 1, i) - starts.begin() - 1;
}

} // namespace

std::string shardName(const std::string &split, int64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%05lld", (long long)number);
  return split + "-" + digits;
}

Tokens::Tokens(const fs::path &folder, const std::string &name, int64_t count, int64_t vocabulary)
    : vocabulary(vocabulary) {
  for (int64_t s = 0; s < count; ++s) {
    Shard shard;
    shard.path = folder / shardName(name, s);
    shard.tokenFile = MappedFile(shard.path.string() + ".tokens");
    shard.documentFile = MappedFile(shard.path.string() + ".documents");
    std::span<const uint64_t> starts = shard.starts();
    uint64_t size = shard.tokenFile.size() / 2;
    if (shard.tokenFile.size() % 2 || shard.documentFile.size() % 8 || starts.size() < 2 || starts[0] != 0 ||
        starts.back() != size)
      fail("expected tokens with an index that fits, but '", shard.path.string(), ".documents' does not");
    tokenStarts.push_back(tokenStarts.back() + size);
    documentStarts.push_back(documentStarts.back() + starts.size() - 1);
    shards.push_back(std::move(shard));
  }
}

std::span<const uint16_t> Tokens::from(int64_t position) const {
  int64_t s = shardOf(tokenStarts, position);
  return {shards[s].tokens() + (position - tokenStarts[s]), size_t(tokenStarts[s + 1] - position)};
}

void Tokens::checkAll() const {
  for (const Shard &shard : shards)
    check({shard.tokens(), shard.tokenFile.size() / 2});
}

void Tokens::failUnknown(std::span<const uint16_t> some) const {
  auto unknown = std::find_if(some.begin(), some.end(), [&](int64_t token) { return token >= vocabulary; });
  for (const Shard &shard : shards)
    if (const uint16_t *first = shard.tokens();
        &*unknown >= first && &*unknown < first + shard.tokenFile.size() / 2)
      fail("expected tokens below ", vocabulary, ", the number of the tokenizer's pieces, but '",
           shard.path.string(), ".tokens' is damaged: token ", &*unknown - first, " is ", *unknown,
           "; taylor-train prepare --verify '", shard.path.parent_path().string(), "' checks all files");
  fail("expected tokens below ", vocabulary, ", but got ", *unknown);
}

std::span<const uint16_t> Tokens::document(int64_t i) const {
  int64_t s = shardOf(documentStarts, i);
  const Shard &shard = shards[s];
  uint64_t begin = shard.starts()[i - documentStarts[s]], end = shard.starts()[i - documentStarts[s] + 1];
  if (begin > end || end > shard.tokenFile.size() / 2)
    fail("expected documents in ascending order, but '", shard.path.string(),
         ".documents' is damaged at entry ", i - documentStarts[s]);
  return {shard.tokens() + begin, size_t(end - begin)};
}

Tokens::Place Tokens::documentAt(int64_t position) const {
  int64_t s = shardOf(tokenStarts, position);
  std::span<const uint64_t> starts = shards[s].starts();
  auto next = std::upper_bound(starts.begin(), starts.end() - 1, uint64_t(position - tokenStarts[s]));
  return {documentStarts[s] + (next - starts.begin()) - 1, tokenStarts[s] + int64_t(*next)};
}

} // namespace taylor::trainer
