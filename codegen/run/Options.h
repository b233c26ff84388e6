// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of taylor-run.
#ifndef TAYLOR_CODEGEN_RUN_OPTIONS_H
#define TAYLOR_CODEGEN_RUN_OPTIONS_H

#include "codegen/Driver/CompileOptions.h"
#include "dialect/Reference/Precision.h"
#include "dialect/Tile/TileSizes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <set>
#include <string>

namespace taylor::run {

using reference::Dtype;

/// "f32", "bf16", "f16", "f64", "i32", as options, manifests and diagnostics write them.
llvm::StringRef nameOf(Dtype dtype);
std::optional<Dtype> dtypeNamed(llvm::StringRef name);
using reference::Real;

enum class Device { Reference, Eager, Tile, CPU, Ptx, Cuda };

/// Whether it runs compiled kernels.
inline bool runsKernels(Device device) {
  return device == Device::CPU || device == Device::Ptx || device == Device::Cuda;
}

struct RunOptions {
  std::string spec, functions, kernel, target, references, cases;
  /// The arguments next to --cases, for each of its lines.
  std::vector<std::string> casesArguments;
  Device device = Device::Reference;
  /// Sizes by axis as given; axes that are not given follow from others.
  std::map<std::string, int64_t> shape;
  std::map<std::string, std::string> inputs, cotangents, outputs, gradients;
  /// Arguments whose gradients kernels are not asked for.
  std::set<std::string> absentGradients;
  /// What is as in taylorc, for the reference too; of the rest each run knows by itself.
  CompileOptions compile;
  std::optional<Dtype> dtype;
  std::string layout = "bhtc";
  /// State or Cache: the function `step` that taylorc --decode=.. adds, in place of the forward.
  std::optional<Decode> decode;
  /// Tokens at which pieces of the sequence begin, each from the states of the one before; empty: one call.
  std::vector<int64_t> pieces;
  std::optional<int64_t> offset;
  /// Tokens that hold no numbers in a second run, whether those are infinities, and how many tokens share a
  /// tile in which they may spread.
  std::set<int64_t> spoiledKeys, spoiledQueries;
  std::string spoiledWith = "nan";
  int64_t spoiledTile = 1;
  bool spoils() const { return !spoiledKeys.empty() || !spoiledQueries.empty(); }
  uint64_t seed = 0;
  /// With --device=ptx: the order of warps, and whether to count what kernels execute.
  uint64_t ptxSeed = 0;
  bool ptxSeedGiven = false, ptxProfile = false;
  double scale = 1;
  /// How many elements of each random array over queries are NaN or infinite.
  int64_t unreal = 0;
  std::optional<double> tolerance;
  /// Sizes of tiles, with --device=tile, and whether any was given.
  TileSizes tiles;
  bool tilesGiven = false;
  int64_t threads = 0;
  bool gradient = false, check = false, strict = false, forwardOnly = false, poison = false, print = false,
       printForm = false, help = false, version = false;

  /// Whether who evaluates is asked for gradients.
  bool hasGradients() const { return (gradient || check) && !forwardOnly; }
};

/// Reads the arguments after the program's name. Errors name the option and what it expects.
llvm::Expected<RunOptions> parseOptions(llvm::ArrayRef<const char *> arguments);

/// The text of --help.
std::string helpText();

} // namespace taylor::run

#endif
