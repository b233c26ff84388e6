// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_DISTRIBUTED_GRADIENTREDUCER_H
#define TAYLOR_TRAINER_DISTRIBUTED_GRADIENTREDUCER_H
#include "trainer/distributed/Group.h"
#include "trainer/model/Model.h"
#include <functional>
#include <memory>

namespace taylor::trainer {

/// Gives all processes the parameters of the first.
void broadcastParameters(const Group &group, const std::vector<Parameter> &parameters);

/// Adds gradients over the processes of a group while the backward still computes others (libtorch's Reducer:
/// buckets of up to 25 MB, in the order in which gradients come). Li et al., "PyTorch Distributed", VLDB
/// 2020. Behind the last backward of a step every process has the same gradients, bit for bit: the sum, not
/// the mean, since losses are weighted by what they are of the whole batch.
class GradientReducer {
public:
  /// Every parameter must take part in every backward. Gives all processes the first's parameters.
  GradientReducer(const Group &group, const std::vector<Parameter> &parameters);
  ~GradientReducer();

  /// Computes loss() and its gradients, which are added to the parameters'. `last` of a step's: afterwards
  /// gradients are those of all processes. Returns the loss, detached.
  at::Tensor backward(const std::function<at::Tensor()> &loss, bool last);

private:
  struct Parts;
  std::unique_ptr<Parts> parts; // null of a process that is alone
};

} // namespace taylor::trainer
#endif
