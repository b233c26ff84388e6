// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/optimization/Evaluation.h"
#include "trainer/report/Progress.h"
#include "trainer/text/Sampler.h"
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace taylor::trainer {

Evaluation::Evaluation(const Config &config, const Model &model, const Tokens &text)
    : config(config), model(model), text(text),
      starts(evaluationStarts(text, config.train.context, config.evaluation.sequences)) {}

double Evaluation::run() const {
  c10::NoGradGuard noGrad;
  int64_t context = config.train.context, count = starts.size();
  int64_t most = config.train.microBatch ? config.train.microBatch : config.train.batch;
  double total = 0;
  Progress progress("evaluating", count);
  for (int64_t begin = 0; begin < count; begin += most) {
    int64_t batch = std::min(most, count - begin);
    at::Tensor tokens = at::empty({batch, context + 1}, at::kLong);
    for (int64_t i = 0; i < batch; ++i)
      text.copy(starts[begin + i], context + 1, tokens.mutable_data_ptr<int64_t>() + i * (context + 1));
    tokens = tokens.to(model.device());
    total += model.lossSum(tokens.narrow(1, 0, context), tokens.narrow(1, 1, context)).item<double>();
    progress.update(begin + batch, "");
  }
  progress.finish();
  return total / (count * context);
}

bool Evaluation::stopsAt(double loss) {
  bool better = current.count == 0 || loss < current.best;
  current.best = better ? loss : current.best;
  current.since = better ? 0 : current.since + 1;
  ++current.count;
  return config.evaluation.patience > 0 && current.since >= config.evaluation.patience;
}

} // namespace taylor::trainer
