// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_DISTRIBUTED_NCCL_H
#define TAYLOR_TRAINER_DISTRIBUTED_NCCL_H
#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace taylor::trainer {

/// Collectives of tensors on this process's first GPU. Loads the library that links libtorch's CUDA part,
/// which is built where NCCL's and CUDA's headers are (the torch wheel brings them). Throws Error where there
/// is none.
c10::intrusive_ptr<c10d::Backend> makeNccl(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                                           std::chrono::milliseconds timeout);

/// The library's one function.
extern "C" c10d::Backend *taylorMakeNccl(c10d::Store *store, int rank, int size, int64_t timeoutMilliseconds);

} // namespace taylor::trainer
#endif
