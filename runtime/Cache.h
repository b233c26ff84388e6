// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Specifications to artifacts: taylorc on first use, the kernel cache after (README.md).
#ifndef TAYLOR_RUNTIME_CACHE_H
#define TAYLOR_RUNTIME_CACHE_H
#include "runtime/ArtifactFile.h"
#include <memory>
#include <string>
#include <vector>

namespace taylor::runtime {

/// A specification by the path of its file or by its text. Text has the word "taylor.spec", or a line break
/// and no file of this name.
struct Specification {
  std::string text; ///< Contents.
  std::string name; ///< For messages: the path, or "specification text".
  /// Reads the file, where `spec` is a path; throws Error.
  static Specification read(const std::string &spec);
};

/// The artifact of a specification under options of taylorc ("--dtype=bf16", "--set", "order=10"), from the
/// cache or compiled now. Throws Error; taylorc's own messages are passed through whole.
std::shared_ptr<const Artifact> compile(const Specification &spec, const std::vector<std::string> &options);

/// The manifest alone (`--emit=manifest`), before head dimensions and dtype are known: names, axes and
/// sources of tensors.
Manifest compileManifest(const Specification &spec, const std::vector<std::string> &options);

/// What `--emit=LEVEL` prints for a specification; not kept, for levels that take a tenth of a second. Throws
/// Error as `compile` does.
std::string compileText(const Specification &spec, const std::string &level,
                        const std::vector<std::string> &options);

/// The compiler: $TAYLORC, else next to this library or program (there, or in ../bin), else in PATH.
/// Throws Error that says how to get it.
std::string findCompiler();

} // namespace taylor::runtime

#endif
