// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file that holds the code of all targets: runtime/artifact.h says what is in it.
#ifndef TAYLOR_CODEGEN_ARTIFACT_ARTIFACT_H
#define TAYLOR_CODEGEN_ARTIFACT_ARTIFACT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace taylor {

/// One function of a processor's code: the object defines `symbol` + "_workspace", "_blocks" and "_run".
struct HostFunction {
  std::string name;
  std::string symbol;
  int64_t kernels = 0;
  /// Bytes that each thread brings.
  int64_t scratch = 0;
};

/// Code for one processor.
struct HostCode {
  std::string target;
  std::vector<HostFunction> functions;
  /// Object files. Symbols of two targets in one artifact differ.
  std::vector<llvm::SmallVector<char, 0>> objects;
};

/// Code for one GPU.
struct DeviceImage {
  std::string target;
  /// PTX text; else a cubin.
  bool isPtx = true;
  std::string bytes;
};

/// Code of all targets, in the order of the manifest.
struct ArtifactCode {
  std::vector<HostCode> hosts;
  /// An object that hosts' code calls, linked once; empty: none.
  llvm::ArrayRef<char> support = {};
  std::vector<DeviceImage> images;
};

/// Links the objects with a table of functions and images and with the manifest, appends the trailer and puts
/// the file in place in one step. Without a host's code the file holds data alone. Nothing is left behind
/// after a failure, whose reason is in `error`.
mlir::LogicalResult writeArtifact(const ArtifactCode &code, llvm::StringRef manifest, llvm::StringRef path,
                                  std::string &error);

/// The same as bytes: a temporary file (TMPDIR) is gone again.
mlir::FailureOr<std::string> makeArtifact(const ArtifactCode &code, llvm::StringRef manifest,
                                          std::string &error);

} // namespace taylor

#endif
