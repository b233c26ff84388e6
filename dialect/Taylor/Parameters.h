// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said from outside of a specification: which one of a file (`--spec`), free parameters
// (`--set order=4`) and the mask (`--mask=causal`).
#ifndef TAYLOR_DIALECT_TAYLOR_PARAMETERS_H
#define TAYLOR_DIALECT_TAYLOR_PARAMETERS_H

#include "dialect/Taylor/TaylorDialect.h"
#include <string>

namespace taylor {

/// The specification of this name, or, where the name is empty, the only one; the others are erased. An error
/// at the module that names all of them where there is no such one, or several.
mlir::FailureOr<SpecOp> selectSpec(mlir::ModuleOp module, llvm::StringRef name);

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
