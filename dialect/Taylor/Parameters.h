// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is set from outside of a specification: free parameters (`--set order=4`) and the mask
// (`--mask=causal`).
#ifndef TAYLOR_DIALECT_TAYLOR_PARAMETERS_H
#define TAYLOR_DIALECT_TAYLOR_PARAMETERS_H

#include "dialect/Taylor/TaylorDialect.h"
#include <string>

namespace taylor {

/// A free parameter and the text of its value.
struct ParameterSetting {
  std::string name, value;
};

/// Splits `name=value`; on failure `error` says what was expected.
mlir::FailureOr<ParameterSetting> parseParameterSetting(llvm::StringRef text, std::string &error);

/// Splits `name=value,name=value`, which may be empty; on failure `error` says what was expected.
mlir::FailureOr<llvm::SmallVector<ParameterSetting>> parseParameterSettings(llvm::StringRef text,
                                                                            std::string &error);

/// Replaces the defaults in `parameters(..)` of a specification. An unknown name or a value of the wrong kind
/// is an error at the specification, which names the nearest parameter.
mlir::LogicalResult setParameters(SpecOp spec, llvm::ArrayRef<ParameterSetting> settings);

/// Gives every sum of a specification this mask. A specification that has no meaning under it is an error at
/// the operation that has none: a decay or a running sum under a bidirectional one.
mlir::LogicalResult setMask(SpecOp spec, Mask mask);

} // namespace taylor

#endif
