// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Bytes.h"
#include "trainer/support/Error.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

[[noreturn]] void failShorter() {
  fail("requires the files as they were when the preparation began, but one has become shorter");
}

class FileBytes : public Bytes {
public:
  explicit FileBytes(const fs::path &path)
      : path(path), descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status;
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0)
      failRead();
    if (!S_ISREG(status.st_mode)) { // a FIFO would be waited for
      ::close(descriptor);
      fail("expected a file, but '", path.string(), "' is something else");
    }
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~FileBytes() override {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  size_t read(char *to, size_t room) override {
    ssize_t count;
    while ((count = ::read(descriptor, to, room)) < 0)
      if (errno != EINTR)
        failRead();
    position += count;
    return count;
  }
  void skip(int64_t count) override {
    struct stat status;
    if (::fstat(descriptor, &status) != 0)
      failRead();
    if (count > status.st_size - position)
      failShorter();
    position += count;
    if (::lseek(descriptor, position, SEEK_SET) < 0)
      failRead();
  }
  int64_t consumed() const override { return position; }

private:
  [[noreturn]] void failRead() { fail("cannot read '", path.string(), "': ", std::strerror(errno)); }
  fs::path path;
  int descriptor;
  int64_t position = 0;
};

/// What both formats need: compressed bytes in pieces, and where they end.
class CompressedBytes : public Bytes {
public:
  CompressedBytes(const fs::path &path, const char *format)
      : path(path), format(format), file(path), buffer(1 << 18) {}
  int64_t consumed() const override { return file.consumed(); }

protected:
  /// The next piece, empty at the end of the file.
  size_t refill() { return file.read(buffer.data(), buffer.size()); }
  [[noreturn]] void failDamaged(const char *how) {
    fail("expected ", format, " data, but '", path.string(), "' is damaged near byte ", file.consumed(), ": ",
         how);
  }
  fs::path path;
  const char *format;
  FileBytes file;
  std::vector<char> buffer;
};

class GzipBytes : public CompressedBytes {
public:
  explicit GzipBytes(const fs::path &path) : CompressedBytes(path, "gzip") {
    if (::inflateInit2(&stream, 15 + 16) != Z_OK) // 16: a gzip header
      throw std::bad_alloc();
  }
  ~GzipBytes() override { ::inflateEnd(&stream); }
  size_t read(char *to, size_t room) override {
    stream.next_out = reinterpret_cast<Bytef *>(to);
    stream.avail_out = uInt(std::min<size_t>(room, 1 << 30));
    size_t given = stream.avail_out;
    while (stream.avail_out == given) {
      if (stream.avail_in == 0) {
        stream.avail_in = uInt(refill());
        stream.next_in = reinterpret_cast<Bytef *>(buffer.data());
      }
      bool ended = stream.avail_in == 0; // zlib may still hold some of what it read
      if (ended && !inMember)
        return 0;
      for (; !inMember && hadMember && stream.avail_in > 0 && *stream.next_in == 0; --stream.avail_in)
        ++stream.next_in; // files are padded with zeros, which gzip(1) skips too
      if (!ended && stream.avail_in == 0)
        continue;
      inMember = true;
      int status = ::inflate(&stream, Z_NO_FLUSH);
      if (status == Z_STREAM_END) { // files may be joined
        inMember = false;
        hadMember = true;
        ::inflateReset(&stream);
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        failDamaged(stream.msg ? stream.msg : "zlib cannot read it");
      } else if (ended && stream.avail_out == given) {
        failDamaged("it ends in the middle");
      }
    }
    return given - stream.avail_out;
  }

private:
  z_stream stream{};
  bool inMember = false, hadMember = false;
};

class ZstdBytes : public CompressedBytes {
public:
  explicit ZstdBytes(const fs::path &path) : CompressedBytes(path, "zstd"), context(::ZSTD_createDCtx()) {
    if (!context)
      throw std::bad_alloc();
    ::ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31); // zstd --long=31
  }
  ~ZstdBytes() override { ::ZSTD_freeDCtx(context); }
  size_t read(char *to, size_t room) override {
    ZSTD_outBuffer output{to, room, 0};
    while (output.pos == 0) {
      if (input.pos == input.size)
        input = {buffer.data(), refill(), 0};
      bool ended = input.size == 0;
      if (ended && !inFrame)
        return 0;
      size_t status = ::ZSTD_decompressStream(context, &output, &input);
      if (::ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
        fail("out of memory while reading '", path.string(),
             "': decompressing it needs a window of up to 2 GB, which ",
             "zstd --long made; 'zstd -d FILE' and 'zstd' without --long write it anew");
      if (::ZSTD_isError(status))
        failDamaged(::ZSTD_getErrorName(status));
      inFrame = status != 0;
      if (ended && inFrame && output.pos == 0)
        failDamaged("it ends in the middle");
    }
    return output.pos;
  }

private:
  ZSTD_DCtx *context;
  ZSTD_inBuffer input{nullptr, 0, 0};
  bool inFrame = false;
};

} // namespace

void Bytes::skip(int64_t count) {
  std::vector<char> ignored(1 << 18);
  while (count > 0) {
    size_t some = read(ignored.data(), std::min<int64_t>(count, ignored.size()));
    if (some == 0)
      failShorter();
    count -= some;
  }
}

std::unique_ptr<Bytes> openBytes(const fs::path &path, Compression compression) {
  switch (compression) {
  case Compression::Gzip:
    return std::make_unique<GzipBytes>(path);
  case Compression::Zstd:
    return std::make_unique<ZstdBytes>(path);
  case Compression::None:
    break;
  }
  return std::make_unique<FileBytes>(path);
}

} // namespace taylor::trainer
