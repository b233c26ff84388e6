// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_RUNTIME_LAB_BENCH_OPPONENTS_H
#define TAYLOR_RUNTIME_LAB_BENCH_OPPONENTS_H
#include "runtime/lab/bench/Problem.h"
#include <functional>

namespace taylor::bench {

/// One way to compute the attention, on inputs in the manifest's order.
struct Contender {
  std::string name;
  std::function<at::Tensor(const std::vector<at::Tensor> &)> forward;
  /// Runs in Taylor's runtime, whose kept memory is its own.
  bool isOurs = true;
};

/// The attention of an artifact's file, which takes the inputs of `manifest` in the same order. Throws
/// runtime::Error where it does not.
Attention loadOpponent(const std::string &file, const Manifest &manifest, const Request &request);

/// `sdpa`: torch's scaled_dot_product_attention on the arrays [b,h,t,d], [b,g,u,d] and [b,g,u,e], softmax
/// whatever the specification is; `eager`: the specification as plain PyTorch code (taylorc --emit=torch),
/// run as TorchScript; `FILE.so`: another artifact with the same inputs. Throws runtime::Error.
Contender makeOpponent(const std::string &name, const Manifest &manifest, const Request &request);

} // namespace taylor::bench

#endif
