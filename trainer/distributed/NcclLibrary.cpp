// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libtaylor_nccl.so: apart, since who trains on processors has no need of libtorch's CUDA part (1.5 GB).
#include "trainer/distributed/Nccl.h"
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

c10d::Backend *taylor::trainer::taylorMakeNccl(c10d::Store *store, int rank, int size,
                                               int64_t timeoutMilliseconds) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = std::chrono::milliseconds(timeoutMilliseconds);
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(c10::intrusive_ptr<c10d::Store>::reclaim(store),
                                                             rank, size, options);
  return backend.release();
}
