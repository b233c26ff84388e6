// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Model.h"
#include "dialect/AxisRole.h"
#include "trainer/model/Linear.h"
#include "trainer/model/Recompute.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <cmath>

namespace taylor::trainer {

namespace {

using runtime::Initial;
using runtime::Source;
using runtime::TensorAxis;
using runtime::TensorInfo;

/// More would not be addressed, with model.hidden of them for each.
constexpr int64_t kMostFeatures = int64_t(1) << 40;

bool isToken(const TensorAxis &axis) { return axis.name == AxisRole::Query || axis.name == AxisRole::Key; }

/// Whether calls choose the size of an axis; a model knows those of the others.
bool isOfCalls(const TensorAxis &axis) { return axis.name == AxisRole::Batch || isToken(axis); }

int64_t batchAxis(const TensorInfo &info) {
  for (size_t i = 0; i < info.axes.size(); ++i)
    if (info.axes[i].name == AxisRole::Batch)
      return int64_t(i);
  return -1;
}

/// The order of the array's axes as places in [b, token, the other axes]; for a permute from there.
std::vector<int64_t> placesOfAxes(const TensorInfo &info) {
  std::vector<int64_t> places;
  int64_t next = 2;
  for (const TensorAxis &axis : info.axes)
    places.push_back(axis.name == AxisRole::Batch ? 0 : isToken(axis) ? 1 : next++);
  return places;
}

std::vector<int64_t> inverse(const std::vector<int64_t> &permutation) {
  std::vector<int64_t> result(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    result[permutation[i]] = i;
  return result;
}

/// A projected array has one batch and one token axis: that is what a linear map of [B, T, C] gives.
void checkProjected(const TensorInfo &info, const char *what) {
  int batches = 0, tokens = 0;
  for (const TensorAxis &axis : info.axes) {
    batches += axis.name == AxisRole::Batch;
    tokens += isToken(axis);
  }
  if (batches != 1 || tokens != 1)
    fail("requires ", what, " '%", info.name,
         "' of the specification to have the axes b and t or u once each: "
         "a model projects it from a hidden state of every token");
}

void checkInput(const TensorInfo &info) {
  if (info.name == "o" && info.source.kind == Source::Kind::Projection)
    fail(
        "unsupported argument name '%o' in the specification: o_proj is the projection behind the attention; "
        "rename the argument");
  if (info.source.kind == Source::Kind::Input)
    fail("unsupported source 'input' of argument '%", info.name,
         "': taylor-train has nothing to bring for it; "
         "use 'from projection' or 'from parameter(..)', or train it from your own program");
  if (info.source.kind == Source::Kind::Projection)
    return checkProjected(info, "argument");
  for (const TensorAxis &axis : info.axes)
    if (isOfCalls(axis))
      fail("unsupported axis '", axis.name, "' of the learned argument '%", info.name,
           "': its size is not known when a model is built");
}

void fill(at::Tensor tensor, const Initial &initial, at::Generator generator) {
  switch (initial.kind) {
  case Initial::Kind::Zeros:
    tensor.zero_();
    return;
  case Initial::Kind::Ones:
    tensor.fill_(1.0);
    return;
  case Initial::Kind::Constant:
    tensor.fill_(initial.value);
    return;
  case Initial::Kind::Uniform:
    tensor.uniform_(initial.low, initial.high, generator);
    return;
  case Initial::Kind::Normal:
    tensor.normal_(initial.mean, initial.deviation, generator);
    return;
  }
}

Initial constant(double value) {
  Initial initial;
  initial.kind = Initial::Kind::Constant;
  initial.value = value;
  return initial;
}

Initial uniform(double limit) {
  Initial initial;
  initial.kind = Initial::Kind::Uniform;
  initial.low = -limit;
  initial.high = limit;
  return initial;
}

Initial normal(double deviation) {
  Initial initial;
  initial.kind = Initial::Kind::Normal;
  initial.deviation = deviation;
  return initial;
}

} // namespace

//===-- building
//----------------------------------------------------------------------------------------------===//

Model::Model(const ModelConfig &config, int64_t vocabulary, AttentionFunction theAttention, bool bf16,
             uint64_t seed)
    : config(config), attention(std::move(theAttention)), bf16(bf16), seed(seed) {
  for (const TensorInfo &info : attention.inputs)
    checkInput(info);
  checkProjected(attention.output, "output");

  embedding =
      create("model.embed_tokens.weight", {vocabulary, config.hidden}, normal(config.initialDeviation));
  for (int64_t i = 0; i < config.layers; ++i)
    layers.push_back(createLayer(i));
  finalNorm = create("model.norm.weight", {config.hidden}, constant(1));
  head.weight = create("lm_head.weight", {vocabulary, config.hidden}, normal(config.initialDeviation));
}

at::Tensor Model::create(const std::string &name, std::vector<int64_t> shape, const Initial &initial) {
  c10::NoGradGuard noGrad;
  bool isShape = attention.device.is_meta();
  at::Tensor tensor = at::empty(shape, at::TensorOptions(isShape ? at::kMeta : at::kCPU).dtype(at::kFloat));
  if (!isShape) {
    fill(tensor, initial, at::detail::createCPUGenerator(fnv1a(name, fnv1a(text(seed)))));
    tensor = tensor.to(attention.device); // filled on the processor: the same start everywhere
  }
  tensor.requires_grad_(true);
  all.push_back({name, tensor});
  return tensor;
}

Model::Linear Model::createLinear(const std::string &name, int64_t inputs, int64_t outputs, bool bias,
                                  double gain) {
  double limit = 1 / std::sqrt(double(inputs));
  bool isUniform = config.initialization == "uniform"; // torch's own for nn.Linear
  Linear linear;
  linear.weight = create(name + ".weight", {outputs, inputs},
                         isUniform ? uniform(limit) : normal(config.initialDeviation * gain));
  if (bias)
    linear.bias = create(name + ".bias", {outputs}, isUniform ? uniform(limit) : constant(0));
  return linear;
}

Model::Layer Model::createLayer(int64_t index) {
  std::string prefix = text("model.layers.", index, ".");
  // What is added to the residual stream starts smaller the more layers add to it.
  double residualGain = 1 / std::sqrt(2.0 * config.layers);
  Layer layer;
  layer.inputNorm = create(prefix + "input_layernorm.weight", {config.hidden}, constant(1));
  for (const TensorInfo &info : attention.inputs) {
    std::vector<int64_t> shape;
    int64_t features = 1;
    for (const TensorAxis &axis : info.axes) {
      if (isOfCalls(axis))
        continue;
      shape.push_back(axisSize(axis));
      if (shape.back() > 0 && features > kMostFeatures / shape.back())
        fail("unsupported sizes: argument '%", info.name,
             "' of the specification has more than 2^40 elements");
      features *= shape.back();
    }
    bool projected = info.source.kind == Source::Kind::Projection;
    std::string name = prefix + "self_attn." + info.name;
    layer.projections.push_back(
        projected ? createLinear(name + "_proj", config.hidden, features, info.source.bias, 1) : Linear());
    layer.learned.push_back(projected ? at::Tensor() : create(name, shape, info.source.initial));
  }
  int64_t features = 1;
  for (const TensorAxis &axis : attention.output.axes)
    if (!isOfCalls(axis)) {
      if (axisSize(axis) > 0 && features > kMostFeatures / axisSize(axis))
        fail("unsupported sizes: the specification's output has more than 2^40 elements for a token");
      features *= axisSize(axis);
    }
  layer.output = createLinear(prefix + "self_attn.o_proj", features, config.hidden, false, residualGain);
  layer.postAttentionNorm = create(prefix + "post_attention_layernorm.weight", {config.hidden}, constant(1));
  layer.gate = createLinear(prefix + "mlp.gate_proj", config.hidden, config.intermediate, false, 1);
  layer.up = createLinear(prefix + "mlp.up_proj", config.hidden, config.intermediate, false, 1);
  layer.down =
      createLinear(prefix + "mlp.down_proj", config.intermediate, config.hidden, false, residualGain);
  return layer;
}

int64_t Model::axisSize(const TensorAxis &axis) const {
  if (axis.isChannel())
    return axis.size;
  return axis.name == AxisRole::Head ? config.heads : config.keyValueHeads();
}

std::string Model::checksum() const {
  std::string sums;
  for (const Parameter &parameter : all)
    sums += text(parameter.value.detach().view(at::kInt).sum().item<int64_t>(), ' ');
  return sums;
}

int64_t Model::parameterCount() const {
  int64_t count = 0;
  for (const Parameter &parameter : all)
    count += parameter.value.numel();
  return count;
}

//===-- running
//-----------------------------------------------------------------------------------------------===//

at::Tensor Model::linear(const at::Tensor &x, const Linear &linear) const {
  if (!bf16)
    return trainer::linear(x, linear.weight, linear.bias);
  at::Tensor bias = linear.bias.defined() ? linear.bias.to(at::kBFloat16) : at::Tensor();
  return at::linear(x.to(at::kBFloat16), linear.weight.to(at::kBFloat16), bias);
}

at::Tensor Model::norm(const at::Tensor &x, const at::Tensor &weight) const {
  return at::rms_norm(x, weight.sizes(), weight, config.normEpsilon);
}

at::Tensor Model::attend(const at::Tensor &x, const Layer &layer, const at::Tensor &documents,
                         const Groups *groups) const {
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < attention.inputs.size(); ++i) {
    const TensorInfo &info = attention.inputs[i];
    if (layer.learned[i].defined()) {
      inputs.push_back(layer.learned[i].to(scalarType(info.dtype)));
      continue;
    }
    std::vector<int64_t> shape = {x.size(0), x.size(1)};
    for (const TensorAxis &axis : info.axes)
      if (!isOfCalls(axis))
        shape.push_back(axisSize(axis));
    at::Tensor projected = linear(x, layer.projections[i]).view(shape).permute(placesOfAxes(info));
    inputs.push_back(projected.to(scalarType(info.dtype)));
  }
  if (attention.documents && !groups)
    inputs.push_back(documents);
  at::Tensor output =
      groups ? extendGroups(inputs, size_t(&layer - layers.data()), *groups) : attention.call(inputs);
  output = output.permute(inverse(placesOfAxes(attention.output)));
  return linear(output.flatten(2), layer.output);
}

at::Tensor Model::hidden(const at::Tensor &tokens, const at::Tensor &documents) const {
  return run(tokens, documents, nullptr);
}

at::Tensor Model::extend(const at::Tensor &tokens, const std::vector<SequenceGroup *> &groups) const {
  for (SequenceGroup *group : groups)
    group->layers.resize(layers.size());
  return run(tokens, {}, &groups);
}

at::Tensor Model::extendGroups(const std::vector<at::Tensor> &inputs, size_t layer,
                               const Groups &groups) const {
  if (groups.size() == 1)
    return attention.extend(inputs, groups[0]->layers[layer]);
  std::vector<at::Tensor> outputs;
  int64_t begin = 0;
  for (SequenceGroup *group : groups) {
    std::vector<at::Tensor> share;
    for (size_t i = 0; i < inputs.size(); ++i) {
      int64_t axis = batchAxis(attention.inputs[i]);
      share.push_back(axis < 0 ? inputs[i] : inputs[i].narrow(axis, begin, group->size));
    }
    outputs.push_back(attention.extend(share, group->layers[layer]));
    begin += group->size;
  }
  return at::cat(outputs, batchAxis(attention.output));
}

at::Tensor Model::runLayer(const at::Tensor &x, const Layer &layer, const at::Tensor &documents,
                           const Groups *groups) const {
  AutocastGuard autocast(bf16, attention.device.type());
  at::Tensor attended = x + attend(norm(x, layer.inputNorm), layer, documents, groups);
  at::Tensor y = norm(attended, layer.postAttentionNorm);
  return attended + linear(at::silu(linear(y, layer.gate)) * linear(y, layer.up), layer.down);
}

at::Tensor Model::run(const at::Tensor &tokens, at::Tensor documents, const Groups *groups) const {
  AutocastGuard autocast(bf16, attention.device.type());
  if (attention.documents && !documents.defined())
    documents = at::zeros(tokens.sizes(), tokens.options().dtype(at::kInt));
  at::Tensor x = at::embedding(embedding, tokens);
  for (const Layer &layer : layers) {
    if (recomputes && x.requires_grad())
      x = recomputed(
          x, [=, this, &layer](const at::Tensor &x) { return runLayer(x, layer, documents, nullptr); });
    else
      x = runLayer(x, layer, documents, groups);
  }
  return norm(x, finalNorm);
}

std::string Model::findNonFinite(const at::Tensor &tokens, at::Tensor documents) const {
  c10::NoGradGuard noGrad;
  AutocastGuard autocast(bf16, attention.device.type());
  auto isFinite = [](const at::Tensor &x) { return x.isfinite().all().item<bool>(); };
  if (attention.documents && !documents.defined())
    documents = at::zeros(tokens.sizes(), tokens.options().dtype(at::kInt));
  at::Tensor x = at::embedding(embedding, tokens);
  for (size_t i = 0; i < layers.size(); ++i) {
    at::Tensor y = runLayer(x, layers[i], documents, nullptr);
    if (!isFinite(y))
      return text(isFinite(attend(norm(x, layers[i].inputNorm), layers[i], documents, nullptr))
                      ? "the output of model.layers."
                      : "what the attention gives in model.layers.",
                  i);
    x = y;
  }
  return isFinite(logits(norm(x, finalNorm))) ? "" : "the logits";
}

at::Tensor Model::logits(const at::Tensor &hidden) const {
  AutocastGuard autocast(bf16, attention.device.type());
  return linear(hidden, head).to(at::kFloat);
}

static at::Tensor lossesOf(const at::Tensor &logits, const at::Tensor &targets) {
  return at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten(), {}, at::Reduction::None)
      .view(targets.sizes())
      .sum(1);
}

Score Model::score(const at::Tensor &tokens, const at::Tensor &targets, const at::Tensor &documents) const {
  at::Tensor scores = logits(hidden(tokens, documents));
  return {lossesOf(scores, targets), (scores.argmax(-1) == targets).sum(1)};
}

at::Tensor Model::losses(const at::Tensor &tokens, const at::Tensor &targets,
                         const at::Tensor &documents) const {
  return lossesOf(logits(hidden(tokens, documents)), targets);
}

AutocastGuard::AutocastGuard(bool bf16, at::DeviceType device)
    : active(bf16), device(device), before(at::autocast::is_autocast_enabled(device)) {
  if (!active)
    return;
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, true);
}

AutocastGuard::~AutocastGuard() {
  if (!active)
    return;
  at::autocast::set_autocast_enabled(device, before);
  if (!before)
    at::autocast::clear_cache();
}

} // namespace taylor::trainer
