// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification as plain PyTorch: one function `def NAME(q: Tensor, ..) -> Tensor` over arrays in the axis
// order of the specification, whose text is Python and TorchScript at once.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_TORCHPRINTER_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_TORCHPRINTER_H

#include "dialect/Taylor/TaylorDialect.h"
#include <string>

namespace taylor {

/// The text of a specification, with the values its parameters have now. Fails, with a message at the
/// operation, on what a specification may hold but PyTorch text cannot say.
mlir::FailureOr<std::string> printTorch(SpecOp spec);

} // namespace taylor

#endif
