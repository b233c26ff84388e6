// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification taken apart around its series (taylorc --emit=series), in fp64: what its sum over pairs
// multiplies, with which coefficients, and what it makes of the sums.
//
// Shapes: H query heads, T tokens, d channels of a score, e channels of a value.
#ifndef TAYLOR_TRAINER_ORDERS_WEIGHTSERIES_H
#define TAYLOR_TRAINER_ORDERS_WEIGHTSERIES_H
#include "runtime/torch/Attention.h"
#include "trainer/config/Config.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace taylor::trainer {

/// What the weights w[t,u] = exp(decay[t] - decay[u]) sum over n of c[n] <query[t], key[u]>^n are made of,
/// for one sequence. All fp64.
struct SeriesOperands {
  at::Tensor query; // [H, T, d], with the scale
  at::Tensor key;   // [H, T, d]
  at::Tensor value; // [H, T, e]
  at::Tensor decay; // [H, T] or undefined
};

/// The sums over visible keys that the rest of a specification reads.
struct SeriesSums {
  at::Tensor numerator; // [H, T, e]
  at::Tensor mass;      // [H, T]
  at::Tensor count;     // [H, T]
};

class WeightSeries {
public:
  /// Throws Error where the weights are no power series of one product, with taylorc's message at the line of
  /// the specification.
  WeightSeries(const AttentionConfig &attention, const ModelConfig &model);

  /// c[n] for all n if there are finitely many orders; else c[n] = 1/n!.
  bool isFinite() const { return coefficients.has_value(); }
  /// c[n]; 0 where the series has no such order.
  double coefficient(int64_t n) const;
  /// The highest order of a finite series.
  int64_t lastOrder() const;

  /// From one layer's inputs [1, ..] by name, as the attention is given them.
  SeriesOperands operands(const std::map<std::string, at::Tensor> &inputs) const;
  /// What the specification gives for these sums: [H, ..], fp64.
  at::Tensor finish(const std::map<std::string, at::Tensor> &inputs, const SeriesSums &sums) const;

private:
  struct Halves;
  static Halves describe(const AttentionConfig &attention);
  WeightSeries(const Halves &halves, const ModelConfig &model);

  int64_t heads, first;
  std::optional<std::vector<double>> coefficients; // of orders from `first` on
  std::map<std::string, std::string> sumNames;     // "numerator" -> the argument of `rest` that stands for it
  taylor::Attention before, rest;
};

} // namespace taylor::trainer
#endif
