// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_FILES_H
#define TAYLOR_TRAINER_SUPPORT_FILES_H
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace taylor::trainer {

/// A file mapped for reading. Throws Error if it cannot be.
class MappedFile {
public:
  MappedFile() = default;
  explicit MappedFile(const std::filesystem::path &path);
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const char *data() const { return begin; }
  size_t size() const { return bytes; }
  std::string_view view() const { return {begin, bytes}; }

private:
  const char *begin = nullptr;
  size_t bytes = 0;
};

/// The bytes of a file (runtime/File.h). Throws Error, with its name, if it cannot be read.
std::string readFile(const std::filesystem::path &path);

/// What std::filesystem tells, but Error where it throws: a file may go while it is looked at.
int64_t sizeOf(const std::filesystem::path &path); // bytes
int64_t timeOf(const std::filesystem::path &path); // of the last change, since some epoch
/// Nothing where there is none; a folder must be empty.
void removeFile(const std::filesystem::path &path);

/// Throws Error where a folder cannot be made: something on the way is a file, or cannot be written to.
/// `what` it is for, "the run", and which `option` names another stand in the message.
void requireFolder(const std::filesystem::path &folder, std::string_view what, std::string_view option);

/// Throws Error where a file of this name cannot be written, before what it is to hold has been computed.
void requireWritable(const std::filesystem::path &path, std::string_view option);

/// A file that is written piece by piece and flushed to the disk (fsync) at the end, so that a rename that
/// follows cannot outlive the contents. Throws Error, for example when the disk is full.
class DurableFile {
public:
  explicit DurableFile(const std::filesystem::path &path);
  ~DurableFile();
  DurableFile(const DurableFile &) = delete;
  DurableFile &operator=(const DurableFile &) = delete;

  void write(std::string_view contents);
  void finish();

private:
  std::filesystem::path path;
  int descriptor;
};

/// The same of contents that are there.
void writeDurably(const std::filesystem::path &path, std::string_view contents);

/// The same, but at no instant is there less than the old file or the new one: written under a hidden name,
/// then renamed.
void replaceDurably(const std::filesystem::path &path, std::string_view contents);

/// Gives a folder the name of another next to it. What had the name before has that of `made` then, or is
/// removed. Throws Error.
void replaceFolder(const std::filesystem::path &made, const std::filesystem::path &target);

/// A folder that appears whole or not at all: files are written to `path()`, a hidden sibling of the target,
/// and commit() renames it over the target (what stood there is removed after). Without commit() it is
/// removed; what a killed process left of the same target goes when the next begins. One process at a time
/// may write a target.
class AtomicFolder {
public:
  explicit AtomicFolder(std::filesystem::path target);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder &) = delete;
  AtomicFolder &operator=(const AtomicFolder &) = delete;

  const std::filesystem::path &path() const { return temporary; }
  void commit();

private:
  std::filesystem::path target, temporary;
};

/// Holds an exclusive lock on a file while it lives; `waiting` is called once if another process has it. A
/// lock ends with its process, however that ends; the file stays. Throws Error, which ends in `wayOut`, where
/// the file cannot be made, or its folder.
class FileLock {
public:
  FileLock(const std::filesystem::path &path, void (*waiting)(), const char *wayOut = "");
  ~FileLock();
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

  /// Null if another process has it.
  static std::unique_ptr<FileLock> attempt(const std::filesystem::path &path);
  /// Whether the file that is locked still has this name: it, or its folder, may have been removed or
  /// replaced.
  bool isStill(const std::filesystem::path &path) const;
  /// False where the file system has no locks, so that no one is kept out.
  bool excludes() const { return exclusive; }

private:
  FileLock(const std::filesystem::path &path, const char *wayOut);

  int descriptor;
  bool exclusive = true;
};

/// runtime::userCacheFolder(). Throws Error where there is none.
std::filesystem::path cacheFolder();

/// FNV-1a, 64 bit, continued from `hash`.
uint64_t fnv1a(std::string_view bytes, uint64_t hash = 0xcbf29ce484222325ULL);

/// Bytes before the first that is not UTF-8 (RFC 3629: no overlong forms, no surrogates); the size if all is
/// well.
size_t validUtf8Prefix(std::string_view bytes);

} // namespace taylor::trainer
#endif
