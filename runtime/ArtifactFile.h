// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact file, checked and loaded.
#ifndef TAYLOR_RUNTIME_ARTIFACTFILE_H
#define TAYLOR_RUNTIME_ARTIFACTFILE_H
#include "runtime/Manifest.h"
#include <array>
#include <memory>
#include <string>

namespace taylor::runtime {

/// FNV-1a, 64 bit, over little-endian 64-bit words, the last one padded with 0 (TaylorTrailer.checksum).
uint64_t wordChecksum(const void *data, size_t size);

class DeviceCode;

/// Run-time sizes in the order of TaylorDim.
using Dims = std::array<int64_t, TAYLOR_DIM_COUNT>;

/// A loaded artifact. Immutable after load, so any number of threads may use it.
class Artifact {
public:
  /// Reads the whole file, checks its trailer, loads exactly the checked bytes (a later change of the file
  /// does not reach them), checks ABI, manifest, functions and images. An artifact for processors alone must
  /// have code for this one. Throws Error that begins with the path.
  static std::shared_ptr<const Artifact> load(const std::string &path);

  /// The same of a file's bytes that the caller has read. `path` is a name for messages.
  static std::shared_ptr<const Artifact> fromBytes(const std::string &path, const std::string &bytes);

  /// The checks of `load` that need none of the file's code: ELF header, trailer, checksum. Throws Error that
  /// begins with the path.
  static void check(const std::string &path, const std::string &bytes);

  /// What `load` does with the table that the file brings: checks it and its manifest, functions and images.
  /// The table outlives the artifact. Throws Error that begins with `path`, a name for messages.
  static std::shared_ptr<const Artifact> fromTable(const std::string &path, const TaylorArtifact &table);

  /// True if the file ends in a trailer that fits its contents; loads nothing.
  static bool intact(const std::string &path);

  ~Artifact();
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;

  const Manifest &manifest() const { return contents; }
  /// A function's code for this processor.
  struct HostForm {
    const FormCode *code;
    const TaylorFunction *entry;
  };
  /// Code of manifest().functions[i] for this processor: of the targets that it can run, the one that asks
  /// for most of it; for calls of these sizes, in `form` where that is not empty (chooseForm). Throws Error
  /// where there is none.
  HostForm function(int i, const Dims &dims, std::string_view form) const;
  /// Code for GPUs, loaded when it is first run. Throws Error where there is none.
  DeviceCode &device() const;
  const std::string &path() const { return file; }
  /// TaylorTrailer.checksum of the file; 0 of a table.
  uint64_t checksum() const { return sum; }

private:
  Artifact() = default;
  std::string file;
  uint64_t sum = 0;
  void *library = nullptr;
  int descriptor = -1;
  Manifest contents;
  void readTable(const TaylorArtifact &table);
  void chooseProcessor(const TaylorArtifact &table);
  const TargetInfo *processor = nullptr; ///< Null where no target is for this processor.
  /// By function and form.
  std::vector<std::vector<const TaylorFunction *>> entries;
  std::unique_ptr<DeviceCode> code;
};

} // namespace taylor::runtime

#endif
