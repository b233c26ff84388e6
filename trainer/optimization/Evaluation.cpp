// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/optimization/Evaluation.h"
#include "trainer/report/Progress.h"
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace taylor::trainer {

Evaluation::Evaluation(const Config &config, const Model &model, const ValidationSequences &sequences,
                       const Group &group)
    : config(config), model(model), sequences(sequences), group(group) {}

EvaluationResult Evaluation::run() const {
  c10::NoGradGuard noGrad;
  int64_t length = sequences.length(), counted = 0;
  int64_t first = sequences.count() * group.rank() / group.size(),
          last = sequences.count() * (group.rank() + 1) / group.size();
  int64_t most = config.train.microBatch ? config.train.microBatch : config.train.batch / group.size();
  bool documents = config.data.usesDocuments();
  double loss = 0, correct = 0;
  std::optional<Progress> progress;
  if (group.isFirst())
    progress.emplace("evaluating", last - first);
  for (int64_t begin = first; begin < last; begin += most) {
    int64_t batch = std::min(most, last - begin);
    at::Tensor inputs = at::empty({batch, length}, at::kLong),
               targets = at::empty({batch, length}, at::kLong);
    at::Tensor numbers = documents ? at::empty({batch, length}, at::kInt) : at::Tensor();
    for (int64_t i = 0; i < batch; ++i)
      sequences.get(begin + i, inputs.mutable_data_ptr<int64_t>() + i * length,
                    targets.mutable_data_ptr<int64_t>() + i * length,
                    documents ? numbers.mutable_data_ptr<int32_t>() + i * length : nullptr);
    counted += (targets != -100).sum().item<int64_t>();
    auto there = [&](const at::Tensor &tensor) {
      return tensor.defined() ? tensor.to(model.device()) : tensor;
    };
    Score score = model.score(there(inputs), there(targets), there(numbers));
    loss += score.losses.sum().item<double>();
    correct += score.correct.sum().item<double>();
    if (progress)
      progress->update(begin + batch - first, "");
  }
  if (progress)
    progress->finish();
  std::vector<double> all = group.sum({loss, correct, double(counted)});
  return {all[0] / all[2], all[1] / all[2]};
}

bool Evaluation::stopsAt(double loss) {
  bool better = std::isfinite(loss) && loss < current.best;
  current.best = better ? loss : current.best;
  current.since = better ? 0 : current.since + 1;
  ++current.count;
  return config.evaluation.patience > 0 && current.since >= config.evaluation.patience;
}

} // namespace taylor::trainer
