// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random inputs: a function of seed, name and index alone, so that they are the same on every machine and in
// any order.
#ifndef TAYLOR_CODEGEN_RUN_RANDOMARRAY_H
#define TAYLOR_CODEGEN_RUN_RANDOMARRAY_H

#include "dialect/Reference/Array.h"
#include "dialect/Taylor/TaylorDialect.h"

namespace taylor::run {

/// Normal numbers with a mean and a deviation.
void fillNormal(reference::Array &array, llvm::StringRef name, uint64_t seed, double mean, double deviation);

/// Makes `count` numbers of an array NaN, infinity or -infinity.
void fillUnreal(reference::Array &array, llvm::StringRef name, uint64_t seed, int64_t count);

/// What an argument of a specification gets where no file gives it: standard normal numbers, times `scale`
/// where the array has queries and score channels; learned parameters near their initial value; integers that
/// number documents, three runs of tokens by position.
void fillRandom(reference::Array &array, llvm::StringRef name, SourceAttr source, bool isInteger,
                uint64_t seed, double scale, const reference::Environment &environment);

} // namespace taylor::run

#endif
