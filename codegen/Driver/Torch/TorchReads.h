// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays read at other positions than their own: at those of queries, of keys, or of pairs of both.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_TORCHREADS_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_TORCHREADS_H

#include "codegen/Driver/Torch/TorchExpression.h"
#include "codegen/Driver/Torch/TorchHelpers.h"

namespace taylor {

/// An array over keys, read at the positions of the queries.
TorchText readAtQueries(TorchScope &scope, TorchText keys);
/// Of an array over queries, what stands at each key; 0 where that is no query.
TorchText readAtKeys(TorchScope &scope, TorchText queries);
/// An array over lags, read at all pairs of a query and a key; others as they are.
TorchText readAtPairs(TorchScope &scope, TorchText lags);

/// The helpers that these texts call.
llvm::ArrayRef<TorchHelper> getReadTorchHelpers();

} // namespace taylor

#endif
