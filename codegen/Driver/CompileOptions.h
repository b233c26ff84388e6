// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compilation is asked for: everything beside the specification that decides what comes out.
#ifndef TAYLOR_CODEGEN_DRIVER_COMPILEOPTIONS_H
#define TAYLOR_CODEGEN_DRIVER_COMPILEOPTIONS_H

#include "codegen/Targets/Choices.h"
#include "codegen/Targets/CostModel.h"
#include "dialect/Taylor/Parameters.h"
#include <optional>
#include <string>
#include <vector>

namespace taylor {

struct CompileOptions {
  /// Names of targets, in the order in which the artifact has them.
  std::vector<std::string> targets = {"native"};
  /// Storage type of arrays. Sums are accumulated in f32 (f64 for f64).
  StorageType dtype = StorageType::F32;
  /// Channels of queries and keys (axis d). Where nobody chose it, a size that the specification writes
  /// counts.
  int64_t headDim = 64;
  bool isHeadDimChosen = true;
  /// Channels of values (axis e); 0: as the specification writes, or as headDim.
  int64_t valueDim = 0;
  /// Overrides `causal` and `bidirectional` in the specification.
  std::optional<Mask> mask;
  /// Whether sequences are of several documents, which an input numbers.
  bool documents = false;
  /// Values of free parameters, over the defaults of the specification.
  std::vector<ParameterSetting> parameters;
  /// How GPUs multiply numbers of f32: by multiply-adds, or on matrix units, operands rounded to 11 bits.
  F32Products f32Products = F32Products::FMA;
  /// How targets that multiply bf16 take operands that are computed in f32, where storage is bf16: rounded
  /// to bf16; split into two numbers of it, on GPUs, with twice or three times the products; or `Auto`,
  /// which is rounded.
  BF16Products bf16Products = BF16Products::Auto;
  /// How GPUs sum into rows where pairs are summed into columns too: in a kernel of their own and always to
  /// the same bits, or in any order.
  RowSumsChoice rowSums = RowSumsChoice::Separate;
  /// How sums over pairs are computed: `parallel`, over all pairs; `long`, with the target's tiles for long
  /// sequences; `chunked`, over pairs of a chunk, with states between chunks (finite sums of powers only); or
  /// `auto`, the first and those of the others that may cost less, of which each call takes the cheapest one.
  /// Levels that are printed have one form: of `auto` the parallel one. `recurrent`: token after token, with
  /// states as arguments and results; forward only.
  std::string form = "auto";
  /// Queries of a chunk; 0: the target's choice.
  int64_t chunk = 0;
  /// Measured factors that correct the target's costs (taylor-bench forms --calibrate).
  std::vector<CostSample> formCosts;
  /// States before and after a call as arguments and results (taylor-carry-states).
  bool states = false;
  /// No backward: for calls that nobody differentiates, in half the time of compilation or less.
  bool forwardOnly = false;
  /// A function `step` for few new tokens: none where empty; `state`: the recurrent form, with states as
  /// above; `cache`: over what is kept of all keys, by the caller: inputs as they came, or what a function
  /// `append` prepares of them (taylor-prepare-keys), where `extend` does the same as `step` for many tokens;
  /// `auto`: `state` where the sums over keys have finitely many orders, and states no larger than keys and
  /// values of a million tokens in f32, else `cache`.
  std::string decode;
  /// Which specification of a file with several; empty: the only one.
  std::string spec;

  bool hasBackward() const { return !forwardOnly && form != "recurrent"; }
  int64_t getValueDim() const { return valueDim ? valueDim : headDim; }
  /// One canonical line, the same for options that mean the same: part of an artifact's hash.
  std::string getKey() const;
  /// The first field that is out of range, as a message; empty if all are sound.
  std::string check() const;
};

} // namespace taylor

#endif
