// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compilation is asked for: everything besides the specification that decides what comes out. From the
// one table of these options come the command lines of taylorc and taylor-run, the arguments that one of them
// hands to the other, and an artifact's key.
#ifndef TAYLOR_CODEGEN_DRIVER_COMPILEOPTIONS_H
#define TAYLOR_CODEGEN_DRIVER_COMPILEOPTIONS_H

#include "codegen/Targets/Choices.h"
#include "codegen/Targets/CostModel.h"
#include "dialect/Taylor/Parameters.h"
#include "dialect/Tile/TileDialect.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace taylor {

/// Their meaning is in the table's help (CompileOptions.cpp).
struct CompileOptions {
  /// In the order in which the artifact has them; empty: native.
  std::vector<std::string> targets;
  /// Sums are accumulated in f32 (f64 for f64).
  StorageType dtype = StorageType::F32;
  /// Channels of queries and keys (axis d), and of values (axis e); 0: as the specification writes.
  int64_t headDim = 0, valueDim = 0;
  /// Overrides `causal` and `bidirectional` in the specification.
  std::optional<Mask> mask;
  bool documents = false;
  /// Values of free parameters, over the defaults of the specification.
  std::vector<ParameterSetting> parameters;
  F32Products f32Products = F32Products::FMA;
  BF16Products bf16Products = BF16Products::Auto;
  RowSumsChoice rowSums = RowSumsChoice::Separate;
  FormChoice form = FormChoice::Auto;
  /// Queries of a chunk; 0: the target's choice.
  int64_t chunk = 0;
  /// Measured factors that correct the target's costs (taylor-bench forms --calibrate); not in the table,
  /// whose texts name their file.
  std::vector<CostSample> formCosts;
  bool states = false, forwardOnly = false;
  /// Empty: no function `step`.
  std::optional<Decode> decode;
  /// Which specification of a file with several; empty: the only one.
  std::string spec;

  bool hasBackward() const { return !forwardOnly && form != FormChoice::Recurrent; }
  int64_t getHeadDim() const { return headDim ? headDim : 64; }
  int64_t getValueDim() const { return valueDim ? valueDim : getHeadDim(); }
  /// One canonical line, the same for options that mean the same: part of an artifact's hash.
  std::string getKey() const;
  /// Arguments by which taylorc gets these options: those that differ from the defaults.
  std::vector<std::string> getArguments() const;
  /// Why the storage type has no operands for the products that are asked for, as a message; empty if it has.
  std::string checkProducts() const;
  /// What contradicts itself, as a message; empty if all is sound.
  std::string check() const;
};

/// An option as command lines write it: --NAME=VALUE.
struct CompileOption {
  llvm::StringRef name;
  /// What help shows of its value: "f32|bf16" names all words that it may be; empty: a flag.
  llvm::StringRef value;
  llvm::StringRef help;
  /// Takes a value as it was written; a message where it is malformed, else "".
  std::function<std::string(CompileOptions &, llvm::StringRef)> read;
  /// The values that `read` would have to be given; none where the option has its default.
  std::function<std::vector<std::string>(const CompileOptions &)> write;
  bool isRepeatable;
  /// --NAME alone stands for the first of its words.
  bool isValueOptional = false;
};

llvm::ArrayRef<CompileOption> compileOptionTable();

} // namespace taylor

#endif
