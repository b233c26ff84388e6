// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_OPTIMIZATION_OPTIMIZER_H
#define TAYLOR_TRAINER_OPTIMIZATION_OPTIMIZER_H
#include "trainer/config/Config.h"
#include "trainer/distributed/Group.h"
#include "trainer/model/Model.h"
#include <map>

namespace taylor::trainer {

/// AdamW around torch's fused kernel (3.6 times as fast on two threads as torch::optim::AdamW, which has no
/// fused form). State is kept by parameter name, so that it can be saved as tensors.
///
/// Where config.shard is set, each process of the group owns whole parameters, about as many numbers as the
/// others: it alone has their moments and updates them, and hands their values to the others (Rajbhandari et
/// al., "ZeRO", SC 2020, stage 1).
class Optimizer {
public:
  /// `group` must outlive this.
  Optimizer(const OptimizerConfig &config, const std::vector<Parameter> &parameters, const Group &group);

  /// The 2-norm of the whole gradient before clipping; scales the gradient down to config.clip where it is
  /// larger.
  double clipGradients();
  /// One update with the learning rate given. Parameters without a gradient stay.
  void step(double learningRate);
  void zeroGradients();

  using State = std::map<std::string, at::Tensor>;
  /// "exp_avg.NAME", "exp_avg_sq.NAME", "step.NAME" for each parameter. All processes call it; the first gets
  /// all tensors, on the processor what others own, and the others get what they own.
  State state() const;
  /// Tensors of those names and shapes for a file's content, in the first process.
  State room() const;
  /// All processes call it, the first with a state that room() made and somebody filled.
  void restore(const State &filled);

private:
  struct Entry {
    std::string name;
    at::Tensor value;
    int64_t owner; // -1: all
    bool decays;
    at::Tensor mean, square, step; // undefined of what another owns
  };
  bool owns(const Entry &entry) const { return entry.owner < 0 || entry.owner == group.rank(); }
  void updateOwned(double learningRate);

  OptimizerConfig config;
  const Group &group;
  std::vector<Entry> entries;
};

} // namespace taylor::trainer
#endif
