// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The folder of the kernel cache. Its entries are code that this process runs, so nothing is taken from a
// folder or file that somebody else could have written (README.md, "The kernel cache").
#ifndef TAYLOR_RUNTIME_CACHEFOLDER_H
#define TAYLOR_RUNTIME_CACHEFOLDER_H
#include <optional>
#include <string>

namespace taylor::runtime {

/// $TAYLOR_CACHE_DIR, else $XDG_CACHE_HOME/taylor, else ~/.cache/taylor.
std::string cacheFolder();

/// An open folder of entries. Files in it are named without a folder. They are reached through the folder's
/// descriptor and never through a symbolic link, so what was checked is what is read.
class CacheFolder {
public:
  /// Opens the folder where it exists. Throws Error where others may write it.
  CacheFolder();
  CacheFolder(const CacheFolder &) = delete;
  ~CacheFolder();

  /// A file's bytes, or nothing where it does not exist. Throws Error where it is no regular file, or others
  /// may write it.
  std::optional<std::string> read(const std::string &name) const;

  /// Creates the folder if need be. Throws Error where it cannot be written; what follows needs this.
  void requireWritable();
  /// Writes a file, which appears whole or not at all.
  void write(const std::string &name, const std::string &bytes) const;
  void remove(const std::string &name) const;
  void rename(const std::string &from, const std::string &to) const;
  /// What another program than ours wrote here: its bytes, whatever its mode. Throws Error.
  std::string readOutput(const std::string &name) const;

  std::string pathOf(const std::string &name) const { return path + "/" + name; }

private:
  friend class CompileLock;
  void openFolder();
  int create(const std::string &name, int flags) const;
  std::string path;
  int descriptor = -1;
};

/// An exclusive lock on a file of the cache, held until destruction or the end of the process, however it
/// ends. Forked children do not hold it.
class CompileLock {
public:
  /// Waits for $TAYLOR_LOCK_SECONDS (600) at most, then throws Error; says on stderr that it waits. `what`
  /// is what the holder compiles.
  CompileLock(const CacheFolder &folder, const std::string &name, const std::string &what);
  CompileLock(const CompileLock &) = delete;
  ~CompileLock();

private:
  int descriptor = -1;
};

} // namespace taylor::runtime

#endif
