// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_DIALECT_TAYLOR_ANNOTATION_H
#define TAYLOR_DIALECT_TAYLOR_ANNOTATION_H

#include "mlir/IR/OpDefinition.h"

namespace taylor {

/// A trait of operations of other dialects that a `taylor.function` may hold: they say something about its
/// values, and compute nothing.
template <typename ConcreteType>
class Annotation : public mlir::OpTrait::TraitBase<ConcreteType, Annotation> {};

} // namespace taylor

#endif
