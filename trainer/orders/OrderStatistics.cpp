// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/orders/OrderStatistics.h"
#include "trainer/support/Error.h"
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <cmath>

namespace taylor::trainer {

namespace {

at::Tensor zeros(std::vector<int64_t> shape) { return at::zeros(shape, at::kDouble); }

// [H, rows, keys] -> [H]
at::Tensor sumOfMagnitudes(const at::Tensor &pairs) { return pairs.abs().sum({1, 2}); }

at::Tensor sumOfSquares(const at::Tensor &array) { return array.flatten(1).square().sum(1); }

std::vector<double> column(const at::Tensor &table, int64_t head) {
  at::Tensor values = table.select(1, head).contiguous();
  const double *begin = values.mutable_data_ptr<double>();
  return {begin, begin + values.numel()};
}

} // namespace

OrderStatistics::OrderStatistics(const WeightSeries &series, int64_t layers, int64_t heads, int64_t orders)
    : series(series), orders(orders), sums(layers) {
  for (LayerSums &layer : sums) {
    for (at::Tensor *table : {&layer.magnitude, &layer.weightError, &layer.outputError})
      *table = zeros({orders + 1, heads});
    for (at::Tensor *row : {&layer.weight, &layer.output})
      *row = zeros({heads});
  }
}

// By the exponential itself, or by Horner's rule where the series ends.
at::Tensor OrderStatistics::wholeWeights(const at::Tensor &scores, const at::Tensor &factor) const {
  if (!series.isFinite())
    return scores.exp().mul_(factor);
  at::Tensor sum = at::full_like(scores, series.coefficient(series.lastOrder()));
  for (int64_t n = series.lastOrder() - 1; n >= 0; --n)
    sum.mul_(scores).add_(series.coefficient(n));
  return sum.mul_(factor);
}

// Queries [begin, end) with the keys up to end.
void OrderStatistics::addBlock(LayerSums &layer, const SeriesOperands &operands, int64_t begin, int64_t end,
                               Truncated &truncated) {
  auto rows = [&](const at::Tensor &array) { return array.slice(1, begin, end); };
  at::Tensor key = operands.key.slice(1, 0, end), value = operands.value.slice(1, 0, end);
  at::Tensor visible =
      at::arange(end).unsqueeze(0).le(at::arange(begin, end).unsqueeze(1)); // [rows, keys]: u <= t
  at::Tensor hidden = visible.logical_not();
  // A hidden pair's score may be anything, also too large for exp: it is 0 here, and its factor too.
  at::Tensor scores = at::matmul(rows(operands.query), key.transpose(1, 2)).masked_fill_(hidden, 0);
  at::Tensor factor = visible.to(at::kDouble).unsqueeze(0);
  if (operands.decay.defined())
    factor = (rows(operands.decay).unsqueeze(2) - operands.decay.slice(1, 0, end).unsqueeze(1))
                 .masked_fill_(hidden, 0)
                 .exp_()
                 .mul_(factor);

  at::Tensor whole = wholeWeights(scores, factor);
  if (!whole.isfinite().all().item<bool>()) {
    double largest = scores.abs().max().item<double>();
    fail("expected finite weights, but queries ", begin, " to ", end - 1, " have others: ",
         std::isfinite(largest) ? text("scores reach ", largest, ", beyond fp64") : "scores are not finite",
         "; is the checkpoint sound?");
  }
  layer.weight += sumOfMagnitudes(whole);
  rows(truncated.wholeNumerator).copy_(at::matmul(whole, value));
  rows(truncated.wholeMass).copy_(whole.sum(2));

  // s^n f for a finite series; s^n f / n! for all orders, since s^n alone may be too large.
  at::Tensor power = factor.expand_as(scores).clone(), sum = at::zeros_like(scores);
  for (int64_t n = 0; n <= orders; ++n) {
    if (n > 0)
      power.mul_(scores);
    if (n > 0 && !series.isFinite())
      power.div_(double(n));
    double coefficient = series.isFinite() ? series.coefficient(n) : 1;
    layer.magnitude[n].add_(sumOfMagnitudes(power) * std::abs(coefficient));
    sum.add_(power, coefficient);
    layer.weightError[n].add_(sumOfMagnitudes(sum - whole));
    rows(truncated.numerator[n]).copy_(at::matmul(sum, value));
    rows(truncated.mass[n]).copy_(sum.sum(2));
    if (series.isFinite() && n >= series.lastOrder())
      power.zero_(); // further powers have no coefficient, and could overflow
  }
  layer.pairs += visible.sum().item<int64_t>();
}

void OrderStatistics::add(int64_t index, const std::map<std::string, at::Tensor> &inputs,
                          const std::function<void(int64_t)> &advance) {
  c10::NoGradGuard noGrad;
  LayerSums &layer = sums[index];
  SeriesOperands operands = series.operands(inputs);
  int64_t heads = operands.query.size(0), tokens = operands.query.size(1), channels = operands.value.size(2);
  Truncated truncated;
  truncated.wholeNumerator = zeros({heads, tokens, channels});
  truncated.wholeMass = zeros({heads, tokens});
  for (int64_t n = 0; n <= orders; ++n) {
    truncated.numerator.push_back(zeros({heads, tokens, channels}));
    truncated.mass.push_back(zeros({heads, tokens}));
  }
  int64_t block = std::max<int64_t>(1, kBlockScores / (heads * tokens));
  for (int64_t begin = 0; begin < tokens; begin += block) {
    int64_t end = std::min(begin + block, tokens);
    addBlock(layer, operands, begin, end, truncated);
    advance(end - begin);
  }

  at::Tensor count = at::arange(1, tokens + 1, at::kDouble).expand({heads, tokens});
  at::Tensor whole = series.finish(inputs, {truncated.wholeNumerator, truncated.wholeMass, count});
  layer.output += sumOfSquares(whole);
  for (int64_t n = 0; n <= orders; ++n) {
    at::Tensor output = series.finish(inputs, {truncated.numerator[n], truncated.mass[n], count});
    layer.outputError[n].add_(sumOfSquares(output - whole));
  }
}

HeadOrders OrderStatistics::head(int64_t index, int64_t head) const {
  const LayerSums &layer = sums[index];
  return {column(layer.magnitude / double(layer.pairs), head), column(layer.weightError / layer.weight, head),
          column((layer.outputError / layer.output).sqrt(), head)};
}

} // namespace taylor::trainer
