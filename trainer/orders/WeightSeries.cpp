// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/orders/WeightSeries.h"
#include "dialect/AxisRole.h"
#include "runtime/Cache.h"
#include "trainer/support/Error.h"
#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

namespace taylor::trainer {

namespace {

taylor::AttentionOptions optionsFor(const std::string &specification, const ModelConfig &model) {
  taylor::AttentionOptions options;
  options.spec = specification;
  options.headDim = model.headWidth();
  options.valueDim = model.valueWidth();
  options.dtype = at::kDouble;
  options.forwardOnly = true;
  return options;
}

int64_t placeOf(const runtime::TensorInfo &info, std::initializer_list<AxisRole> roles) {
  for (size_t i = 0; i < info.axes.size(); ++i)
    for (AxisRole role : roles)
      if (info.axes[i].name == role)
        return i;
  return -1;
}

/// [H, T] or [H, T, channel] from an array with the axes b (of size 1), h or g, t or u and at most one
/// channel in whatever order; an axis of heads that is missing or smaller is repeated.
at::Tensor arrange(at::Tensor array, const runtime::TensorInfo &info, int64_t heads) {
  std::vector<int64_t> order;
  int64_t head = placeOf(info, {AxisRole::Head, AxisRole::KeyHead}),
          token = placeOf(info, {AxisRole::Query, AxisRole::Key}), batch = placeOf(info, {AxisRole::Batch});
  for (int64_t place : {batch, head, token})
    if (place >= 0)
      order.push_back(place);
  for (int64_t place = 0; place < int64_t(info.axes.size()); ++place)
    if (place != head && place != token && place != batch)
      order.push_back(place);
  array = array.permute(order);
  if (batch >= 0)
    array = array.squeeze(0);
  if (head < 0)
    array = array.unsqueeze(0);
  return array.repeat_interleave(heads / array.size(0), 0);
}

} // namespace

/// taylorc --emit=series, read.
struct WeightSeries::Halves {
  int64_t first;
  std::optional<std::vector<double>> coefficients;
  std::map<std::string, std::string> sums;
  std::string operands, rest;
};

WeightSeries::Halves WeightSeries::describe(const AttentionConfig &attention) {
  if (attention.specification.ends_with(".so"))
    fail("requires the text of a specification, but got the compiled '", attention.specification,
         "'; pass the file it was compiled from with --attention SPEC.mlir");
  std::vector<std::string> options;
  for (const auto &[name, value] : attention.parameters)
    options.insert(options.end(), {"--set", name + "=" + formatExactly(value)});
  if (!attention.mask.empty())
    options.push_back("--mask=" + attention.mask);
  nlohmann::json json = nlohmann::json::parse(runtime::compileText(
      attention.text.empty() ? runtime::Specification::read(attention.specification)
                             : runtime::Specification{attention.text, attention.specification},
      "series", options));
  Halves halves{json.at("first"), std::nullopt, json.at("sums"), json.at("operands"), json.at("rest")};
  if (!json.at("coefficients").is_null())
    halves.coefficients = json.at("coefficients").get<std::vector<double>>();
  return halves;
}

WeightSeries::WeightSeries(const AttentionConfig &attention, const ModelConfig &model)
    : WeightSeries(describe(attention), model) {}

WeightSeries::WeightSeries(const Halves &halves, const ModelConfig &model)
    : heads(model.heads), first(halves.first), coefficients(halves.coefficients), sumNames(halves.sums),
      before(optionsFor(halves.operands, model)), rest(optionsFor(halves.rest, model)) {
  const runtime::TensorInfo &output = rest.manifest().outputs[0];
  if (placeOf(output, {AxisRole::Head}) < 0)
    fail("requires an axis h of the output '%", output.name, "', by which heads are told apart");
}

int64_t WeightSeries::lastOrder() const { return first + int64_t(coefficients->size()) - 1; }

double WeightSeries::coefficient(int64_t n) const {
  if (!isFinite())
    return 1 / std::tgamma(double(n) + 1);
  return n < first || n > lastOrder() ? 0 : (*coefficients)[n - first];
}

SeriesOperands WeightSeries::operands(const std::map<std::string, at::Tensor> &inputs) const {
  std::vector<at::Tensor> given;
  for (const runtime::TensorInfo &info : before.manifest().inputs)
    given.push_back(inputs.at(info.name));
  std::vector<at::Tensor> results = before.callAll(given);
  auto result = [&](size_t i) { return arrange(results[i], before.manifest().outputs[i], heads); };
  return {result(0), result(1), result(2), results.size() > 3 ? result(3) : at::Tensor()};
}

at::Tensor WeightSeries::finish(const std::map<std::string, at::Tensor> &inputs,
                                const SeriesSums &sums) const {
  std::map<std::string, at::Tensor> given = inputs;
  for (const auto &[kind, name] : sumNames)
    given[name] = (kind == "numerator" ? sums.numerator
                   : kind == "mass"    ? sums.mass
                                       : sums.count)
                      .unsqueeze(0);
  std::vector<at::Tensor> ordered;
  for (const runtime::TensorInfo &info : rest.manifest().inputs)
    ordered.push_back(given.at(info.name).contiguous());
  return rest.call(ordered).movedim(placeOf(rest.manifest().outputs[0], {AxisRole::Head}), 0);
}

} // namespace taylor::trainer
