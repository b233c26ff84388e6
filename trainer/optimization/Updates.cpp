// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/optimization/Updates.h"
#include "trainer/optimization/Schedule.h"
#include "trainer/support/Error.h"
#include "trainer/support/Main.h"
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <cmath>

namespace taylor::trainer {

Updates::Updates(const Config &config, const Model &model, Optimizer &optimizer, const Group &group)
    : config(config), model(model), optimizer(optimizer), group(group), reducer(group, model.parameters()) {}

void Updates::restore(UpdateState state) {
  skipped = state.skipped;
  losses.restore(std::move(state.losses));
  norms.restore(std::move(state.norms));
}

double Updates::backward(const Batch &batch) {
  int64_t count = batch.inputs.size(0);
  int64_t size = config.train.microBatch ? std::min(config.train.microBatch, count) : count;
  at::Tensor total = at::zeros({}, at::TensorOptions(model.device()).dtype(at::kDouble));
  for (int64_t begin = 0; begin < count; begin += size) {
    auto part = [&](const at::Tensor &whole) {
      return whole.defined() ? whole.narrow(0, begin, std::min(size, count - begin)).to(model.device())
                             : whole;
    };
    auto loss = [&] {
      at::Tensor losses = model.losses(part(batch.inputs), part(batch.targets), part(batch.documents));
      return (losses * part(batch.weights)).sum();
    };
    total += reducer.backward(loss, /*last=*/begin + size >= count);
  }
  return total.item<double>();
}

std::string Updates::findNonFinite(const Batch &batch) const {
  c10::NoGradGuard noGrad;
  auto isFinite = [](const at::Tensor &x) { return x.isfinite().all().item<bool>(); };
  for (const Parameter &parameter : model.parameters())
    if (!isFinite(parameter.value))
      return "the weight '" + parameter.name + "'";
  int64_t count = batch.inputs.size(0);
  int64_t size = config.train.microBatch ? std::min(config.train.microBatch, count) : count;
  for (int64_t begin = 0; begin < count; begin += size) {
    auto part = [&](const at::Tensor &whole) {
      return whole.defined() ? whole.narrow(0, begin, std::min(size, count - begin)).to(model.device())
                             : whole;
    };
    if (std::string where = model.findNonFinite(part(batch.inputs), part(batch.documents)); !where.empty())
      return where;
  }
  // A backward goes from the last layer to the first.
  for (auto parameter = model.parameters().rbegin(); parameter != model.parameters().rend(); ++parameter)
    if (const at::Tensor &gradient = parameter->value.grad(); gradient.defined() && !isFinite(gradient))
      return "the gradient of '" + parameter->name + "'";
  return "";
}

bool Updates::accepts(UpdateResult &result, int64_t step, const Batch &batch) {
  constexpr int64_t mostInRow = 100;
  for (auto [value, what] : {std::pair{result.loss, "loss"}, {result.gradientNorm, "gradient norm"}}) {
    if (std::isfinite(value))
      continue;
    std::string number = std::isnan(value) ? "nan" : text(value);
    bool stops = config.train.onNonFinite != "skip", last = !stops && ++skippedInRow == mostInRow;
    std::string where = stops || skipped == 0 || last ? findNonFinite(batch) : "";
    if (!where.empty())
      where = (stops ? "First" : "first") + (" not finite is " + where);
    if (last)
      fail("expected a finite ", what, ", but got ", number, " at step ", step + 1, " as in the ",
           mostInRow - 1, " before, whose updates were left out: the weights do not change any more; ",
           where);
    if (!stops) {
      result.why = skipped > 0 ? "" : text("its ", what, " is ", number, where.empty() ? "" : "; " + where);
      return false;
    }
    fail("expected a finite ", what, ", but got ", number, " at step ", step + 1, " (learning rate ",
         result.learningRate, "); the run stops before that update. ", where.empty() ? "" : where + ". ",
         step == 0
             ? "No update came before it: the first weights and the specification give it, which may take a "
               "logarithm, a root or a quotient of what is 0 there; train.on_nonfinite = skip leaves such "
               "updates "
               "out"
             : "A lower optimizer.learning_rate, a longer schedule.warmup or optimizer.clip = 1 may prevent "
               "it; "
               "train.on_nonfinite = skip leaves such updates out");
  }
  skippedInRow = 0;
  double most = config.train.skipAbove;
  if (most == 0)
    return true;
  bool usual = losses.score(result.loss) <= most;
  return (norms.score(result.gradientNorm) <= most) && usual;
}

UpdateResult Updates::update(const Batch &batch, int64_t step) {
  UpdateResult result;
  result.learningRate =
      config.optimizer.learningRate * learningRateFactor(config.schedule, config.train.steps, step);
  optimizer.zeroGradients();
  std::vector<double> mine = {backward(batch), double(interrupted())};
  for (const std::vector<double> &theirs : group.gather(mine)) {
    result.loss += theirs[0];
    result.signal = std::max(result.signal, int(theirs[1]));
  }
  result.gradientNorm = optimizer.clipGradients();
  result.skipped = !accepts(result, step, batch);
  if (result.skipped)
    ++skipped;
  else
    optimizer.step(result.learningRate);
  return result;
}

} // namespace taylor::trainer
