// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Shards.h"
#include "runtime/Hash.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/text/Tokens.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

constexpr size_t kBufferSize = 1 << 20;

} // namespace

int64_t SplitState::allTokens() const {
  int64_t sum = tokens;
  for (const ShardInfo &shard : shards)
    sum += shard.tokens;
  return sum;
}

int64_t SplitState::allDocuments() const {
  int64_t sum = documents;
  for (const ShardInfo &shard : shards)
    sum += shard.documents;
  return sum;
}

SplitWriter::SplitWriter(fs::path theFolder, std::string theName, int64_t shardTokens, SplitState state)
    : folder(std::move(theFolder)), name(std::move(theName)), shardTokens(shardTokens),
      current(std::move(state)), published(0) {
  publish(); // the process may have been killed between its commit and that
  if (current.documents > 0)
    openShard();
}

SplitWriter::~SplitWriter() {
  close(tokens);
  close(documents);
}

fs::path SplitWriter::pathOf(int64_t shard, const char *ending, bool hidden) const {
  return folder / ((hidden ? "." : "") + shardName(name, shard) + ending);
}

void SplitWriter::failWrite(const char *ending) const {
  fail("cannot write '", pathOf(current.shards.size(), ending, true).string(), "': ", std::strerror(errno));
}

void SplitWriter::openShard() {
  auto open = [&](File &file, const char *ending, int64_t size) {
    fs::path path = pathOf(current.shards.size(), ending, true);
    file.descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file.descriptor < 0)
      failWrite(ending);
    if (int64_t there = ::lseek(file.descriptor, 0, SEEK_END); there < size)
      fail("expected ", size, " bytes in '", path.string(), "', but it has ", there,
           ": the unfinished preparation is damaged; begin anew with --overwrite");
    if (::ftruncate(file.descriptor, size) != 0 || ::lseek(file.descriptor, size, SEEK_SET) < 0)
      failWrite(ending);
  };
  int64_t before = current.documents;
  open(tokens, ".tokens", 2 * current.tokens);
  open(documents, ".documents", before > 0 ? 8 * (before + 1) : 0);
  isOpen = true;
  uint64_t zero = 0;
  if (before == 0)
    append(documents, &zero, 8);
}

void SplitWriter::add(std::span<const uint16_t> document) {
  if (isOpen && current.tokens + int64_t(document.size()) > shardTokens)
    finishShard();
  if (!isOpen)
    openShard();
  append(tokens, document.data(), document.size_bytes());
  current.tokens += document.size();
  uint64_t end = current.tokens;
  append(documents, &end, 8);
  ++current.documents;
}

void SplitWriter::append(File &file, const void *data, size_t size) {
  file.buffer.append(static_cast<const char *>(data), size);
  if (file.buffer.size() >= kBufferSize)
    drain(file, &file == &tokens ? ".tokens" : ".documents");
}

void SplitWriter::drain(File &file, const char *ending) {
  size_t done = 0;
  while (done < file.buffer.size()) {
    ssize_t written = ::write(file.descriptor, file.buffer.data() + done, file.buffer.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      int reason = errno;
      file.buffer.erase(0, done); // written once: a later drain goes on after it
      errno = reason;
      failWrite(ending);
    }
    done += written;
  }
  file.buffer.clear();
}

void SplitWriter::sync(File &file, const char *ending) {
  drain(file, ending);
  if (::fsync(file.descriptor) != 0)
    failWrite(ending);
}

void SplitWriter::close(File &file) {
  if (file.descriptor >= 0)
    ::close(file.descriptor);
  file.descriptor = -1;
}

void SplitWriter::flush() {
  if (!isOpen)
    return;
  sync(tokens, ".tokens");
  sync(documents, ".documents");
}

void SplitWriter::finishShard() {
  if (!isOpen)
    return;
  flush();
  close(tokens);
  close(documents);
  int64_t number = current.shards.size();
  current.shards.push_back({current.tokens, current.documents,
                            runtime::sha256(MappedFile(pathOf(number, ".tokens", true)).view()),
                            runtime::sha256(MappedFile(pathOf(number, ".documents", true)).view())});
  current.tokens = current.documents = 0;
  isOpen = false;
}

void SplitWriter::publish() {
  for (; published < current.shards.size(); ++published)
    for (const char *ending : {".tokens", ".documents"}) {
      fs::path hidden = pathOf(published, ending, true), path = pathOf(published, ending, false);
      if (::rename(hidden.c_str(), path.c_str()) != 0 && !(errno == ENOENT && fs::exists(path)))
        fail("cannot create '", path.string(), "': ", std::strerror(errno));
    }
}

} // namespace taylor::trainer
