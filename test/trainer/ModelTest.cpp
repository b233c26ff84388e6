// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Model.h"
#include "Failure.h"
#include "trainer/checkpoint/HuggingFace.h"
#include "trainer/generation/Sampling.h"
#include "trainer/model/Cost.h"
#include "trainer/optimization/Evaluation.h"
#include "trainer/optimization/Optimizer.h"
#include "trainer/optimization/Updates.h"
#include "trainer/text/Recall.h"
#include "trainer/training/BatchLoader.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

using namespace taylor;
using namespace taylor::trainer;

namespace {

const Group alone;

/// A manifest's entry: axes "b h t d", sizes of channels from d, e, j.
runtime::TensorInfo info(const std::string &name, const std::string &axes, runtime::Source source) {
  runtime::TensorInfo info;
  info.name = name;
  info.source = source;
  std::istringstream stream(axes);
  for (std::string axis; stream >> axis;)
    info.axes.push_back({axis, runtime::axisDim(axis),
                         axis == "d"   ? 8
                         : axis == "e" ? 6
                         : axis == "j" ? 3
                                       : 0});
  return info;
}

runtime::Source projection(bool bias) {
  runtime::Source source;
  source.kind = runtime::Source::Kind::Projection;
  source.bias = bias;
  return source;
}

runtime::Source learned(double value) {
  runtime::Source source;
  source.kind = runtime::Source::Kind::Parameter;
  source.initial.kind = runtime::Initial::Kind::Constant;
  source.initial.value = value;
  return source;
}

runtime::Source brought() {
  runtime::Source source;
  source.kind = runtime::Source::Kind::Input;
  return source;
}

/// A made-up attention with every kind of argument: sum over j of taps, gate, feature-major projections.
AttentionFunction madeUp() {
  AttentionFunction attention;
  attention.inputs = {info("q", "b h t d", projection(false)), info("k", "b g u d", projection(false)),
                      info("v", "b g u e", projection(true)),  info("gate", "b h t", projection(true)),
                      info("taps", "h d j", learned(0.5)),     info("swapped", "t h b", projection(false))};
  attention.output = info("o", "b h t e", {});
  attention.call = [](const std::vector<at::Tensor> &x) {
    at::Tensor k = x[1].repeat_interleave(2, 1), v = x[2].repeat_interleave(2, 1);
    at::Tensor s = at::matmul(x[0] * x[4].sum(2).unsqueeze(1), k.transpose(2, 3)).tril();
    return at::matmul(s, v) * (x[3].sigmoid() + x[5].permute({2, 1, 0})).unsqueeze(3);
  };
  return attention;
}

ModelConfig tiny() {
  ModelConfig config;
  config.hidden = 32;
  config.intermediate = 48;
  config.layers = 2;
  config.heads = 4;
  config.kvHeads = 2;
  config.headDim = 8;
  config.valueDim = 6;
  return config;
}

std::map<std::string, at::Tensor> byName(const Model &model) {
  std::map<std::string, at::Tensor> result;
  for (const Parameter &parameter : model.parameters())
    result[parameter.name] = parameter.value;
  return result;
}

TEST(Model, ModulesFollowFromTheManifestAlone) {
  Model model(tiny(), 50, madeUp(), false, 1);
  auto tensors = byName(model);
  std::map<std::string, std::vector<int64_t>> expected = {
      {"self_attn.q_proj.weight", {32, 32}},   {"self_attn.k_proj.weight", {16, 32}},
      {"self_attn.v_proj.weight", {12, 32}},   {"self_attn.v_proj.bias", {12}},
      {"self_attn.gate_proj.weight", {4, 32}}, {"self_attn.gate_proj.bias", {4}},
      {"self_attn.taps", {4, 8, 3}},           {"self_attn.swapped_proj.weight", {4, 32}},
      {"self_attn.o_proj.weight", {32, 24}},   {"mlp.gate_proj.weight", {48, 32}},
      {"mlp.up_proj.weight", {48, 32}},        {"mlp.down_proj.weight", {32, 48}},
      {"input_layernorm.weight", {32}},        {"post_attention_layernorm.weight", {32}}};
  for (const char *layer : {"model.layers.0.", "model.layers.1."})
    for (const auto &[name, shape] : expected) {
      ASSERT_TRUE(tensors.contains(layer + name)) << name;
      EXPECT_EQ(tensors[layer + name].sizes().vec(), shape) << name;
    }
  for (const char *name : {"model.embed_tokens.weight", "lm_head.weight"})
    EXPECT_EQ(tensors[name].sizes().vec(), (std::vector<int64_t>{50, 32}));
  EXPECT_EQ(tensors.size(), 2 * expected.size() + 3);
  EXPECT_EQ(tensors["model.layers.0.self_attn.taps"].min().item<float>(), 0.5f);
}

TEST(Model, EveryParameterLearnsAndTheLossIsCausal) {
  for (bool bf16 : {false, true}) {
    AttentionFunction attention = madeUp();
    if (bf16)
      for (runtime::TensorInfo &input : attention.inputs)
        input.dtype = TAYLOR_BF16;
    Model model(tiny(), 50, attention, bf16, 1);
    at::Tensor tokens = at::randint(50, {2, 9}, at::kLong), targets = at::randint(50, {2, 9}, at::kLong);
    at::Tensor loss = model.losses(tokens, targets).sum();
    EXPECT_EQ(loss.scalar_type(), at::kFloat);
    EXPECT_NEAR(loss.item<double>() / 18, std::log(50.0), 0.2);
    loss.backward();
    for (const Parameter &parameter : model.parameters()) {
      ASSERT_TRUE(parameter.value.grad().defined()) << parameter.name;
      EXPECT_GT(parameter.value.grad().abs().sum().item<double>(), 0) << parameter.name;
    }
    c10::NoGradGuard noGrad;
    at::Tensor before = model.logits(model.hidden(tokens));
    tokens.select(1, 8).fill_(7);
    at::Tensor after = model.logits(model.hidden(tokens));
    EXPECT_TRUE(at::equal(before.narrow(1, 0, 8), after.narrow(1, 0, 8)));
  }
}

TEST(Model, IgnoredTargetsDoNotCount) {
  Model model(tiny(), 50, madeUp(), false, 1);
  at::Tensor tokens = at::randint(50, {1, 6}, at::kLong), targets = at::randint(50, {1, 6}, at::kLong);
  at::Tensor first = model.losses(tokens.narrow(1, 0, 3), targets.narrow(1, 0, 3)).sum();
  targets.narrow(1, 3, 3).fill_(-100);
  EXPECT_NEAR(model.losses(tokens, targets).sum().item<double>(), first.item<double>(), 1e-5);
}

TEST(Model, ActivationCheckpointingChangesNoBit) {
  for (bool bf16 : {false, true}) {
    AttentionFunction attention = madeUp();
    int calls = 0;
    attention.call = [&calls, call = attention.call](const std::vector<at::Tensor> &inputs) {
      ++calls;
      return call(inputs);
    };
    if (bf16)
      for (runtime::TensorInfo &input : attention.inputs)
        input.dtype = TAYLOR_BF16;
    Model model(tiny(), 50, attention, bf16, 1);
    at::Tensor tokens = at::randint(50, {2, 9}, at::kLong), targets = at::randint(50, {2, 9}, at::kLong);
    std::vector<std::vector<at::Tensor>> gradients;
    std::vector<double> losses;
    std::vector<int> counts;
    for (bool recomputes : {false, true}) {
      model.setActivationCheckpointing(recomputes);
      calls = 0;
      at::Tensor loss = model.losses(tokens, targets).sum();
      loss.backward();
      losses.push_back(loss.item<double>());
      counts.push_back(calls);
      gradients.emplace_back();
      for (const Parameter &parameter : model.parameters()) {
        gradients.back().push_back(parameter.value.grad().clone());
        parameter.value.mutable_grad() = at::Tensor();
      }
    }
    EXPECT_EQ(losses[0], losses[1]);
    EXPECT_EQ(counts[0], 2);
    EXPECT_EQ(counts[1], 4); // each layer once more
    for (size_t i = 0; i < gradients[0].size(); ++i)
      EXPECT_TRUE(at::equal(gradients[0][i], gradients[1][i])) << model.parameters()[i].name;
    // Without gradients nothing is computed twice.
    c10::NoGradGuard noGrad;
    calls = 0;
    model.losses(tokens, targets).sum();
    EXPECT_EQ(calls, 2);
  }
}

TEST(Model, NumbersOfDocumentsReachEveryLayer) {
  AttentionFunction attention = madeUp();
  attention.documents = true;
  std::vector<at::Tensor> seen;
  attention.call = [&seen, call = attention.call](std::vector<at::Tensor> inputs) {
    seen.push_back(inputs.back());
    inputs.pop_back();
    return call(inputs);
  };
  Model model(tiny(), 50, attention, false, 1);
  model.setActivationCheckpointing(true);
  at::Tensor tokens = at::randint(50, {1, 3}, at::kLong),
             numbers = at::tensor({0, 0, 1}, at::kInt).view({1, 3});
  model.losses(tokens, tokens, numbers).sum().backward();
  ASSERT_EQ(seen.size(), 4u);
  for (const at::Tensor &documents : seen)
    EXPECT_TRUE(at::equal(documents, numbers));
  seen.clear();
  model.hidden(tokens); // one document
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(at::equal(seen[0], at::zeros({1, 3}, at::kInt)));
}

TEST(Model, CostsAreCountedFromShapesAlone) {
  AttentionFunction attention = madeUp();
  attention.device = at::kMeta;
  Model model(tiny(), 50, attention, false, 1);
  EXPECT_TRUE(model.parameters()[0].value.is_meta());
  ModelCost cost = costOf(model, 9);
  EXPECT_EQ(cost.parameters, Model(tiny(), 50, madeUp(), false, 1).parameterCount());
  // q k v gate swapped o, gate up down, in two layers, and the head.
  int64_t layer = 32 * 32 + 16 * 32 + 12 * 32 + 4 * 32 + 4 * 32 + 32 * 24 + 3 * 48 * 32;
  EXPECT_EQ(cost.multiplied, 2 * layer + 50 * 32);
  EXPECT_EQ(cost.attentionPerToken, 2 * (8 + 6) * 5 * 4 * 2); // five pairs on average, four heads, two layers
  EXPECT_EQ(cost.trainingPerToken(), 6.0 * cost.multiplied + 3 * cost.attentionPerToken);
}

TEST(Updates, MicroBatchesGiveTheWholeBatchsGradient) {
  at::Tensor tokens = at::randint(50, {5, 9}, at::kLong), targets = at::randint(50, {5, 9}, at::kLong);
  targets.narrow(0, 3, 2).narrow(1, 2, 7).fill_(-100); // micro-batches of different numbers of targets
  std::vector<std::vector<at::Tensor>> weights;
  std::vector<UpdateResult> results;
  for (int64_t size : {0, 2}) {
    Config config;
    config.train.microBatch = size;
    config.schedule.warmup = 0;
    config.optimizer.epsilon = 1e-3; // a step is then no mere sign of the gradient
    Model model(tiny(), 50, madeUp(), false, 1);
    Optimizer optimizer(config.optimizer, model.parameters(), alone);
    Updates updates(config, model, optimizer, alone);
    results.push_back(updates.update({tokens, targets, {}, at::full({5}, 1.0 / 31), 31}, 0));
    weights.emplace_back();
    for (const Parameter &parameter : model.parameters())
      weights.back().push_back(parameter.value.detach());
  }
  EXPECT_NEAR(results[0].loss, std::log(50.0), 0.2);
  EXPECT_NEAR(results[0].loss, results[1].loss, 1e-6);
  EXPECT_NEAR(results[0].gradientNorm, results[1].gradientNorm, 1e-5);
  for (size_t i = 0; i < weights[0].size(); ++i)
    EXPECT_LT((weights[0][i] - weights[1][i]).abs().max().item<double>(), 1e-6);
}

TEST(Updates, WhatIsNotFiniteOrUnusualIsLeftOut) {
  Config config;
  config.train.onNonFinite = "skip";
  config.train.skipAbove = 6;
  config.schedule.warmup = 0;
  bool spoiled = false;
  AttentionFunction attention = madeUp();
  attention.call = [&spoiled, call = attention.call](const std::vector<at::Tensor> &inputs) {
    at::Tensor output = call(inputs);
    return spoiled ? output * NAN : output;
  };
  Model model(tiny(), 50, attention, false, 1);
  Optimizer optimizer(config.optimizer, model.parameters(), alone);
  Updates updates(config, model, optimizer, alone);
  at::Tensor tokens = at::randint(50, {1, 4}, at::kLong), targets = at::randint(50, {1, 4}, at::kLong);
  auto weight = [&] { return model.parameters()[0].value.detach().clone(); };
  at::Tensor before = weight();
  spoiled = true;
  EXPECT_TRUE(updates.update({tokens, targets, {}, at::full({1}, 0.25), 4}, 0).skipped);
  EXPECT_TRUE(at::equal(before, weight()));
  EXPECT_EQ(updates.state().skipped, 1);
  EXPECT_TRUE(updates.state().losses.empty());
  spoiled = false;
  // A window of norms far below this batch's: an outlier, which joins the window.
  UpdateState state;
  for (size_t i = 0; i < OutlierDetector::kSize; ++i) {
    state.losses.push_back(4 + 0.1 * (i % 3));
    state.norms.push_back(1e-3 * (1 + 0.1 * (i % 3)));
  }
  updates.restore(state);
  EXPECT_TRUE(updates.update({tokens, targets, {}, at::full({1}, 0.25), 4}, 1).skipped);
  EXPECT_TRUE(at::equal(before, weight()));
  EXPECT_EQ(updates.state().norms.size(), OutlierDetector::kSize);
  EXPECT_GT(updates.state().norms.back(), 0.01);
  config.train.onNonFinite = "stop";
  spoiled = true;
  EXPECT_EQ(failure([&] { updates.update({tokens, targets, {}, at::full({1}, 0.25), 4}, 1); }).substr(0, 56),
            "expected a finite loss, but got nan at step 2 (learning ");
}

// A run whose first loss is not finite is not held against it for ever.
TEST(Evaluation, OnlyAFiniteLossIsABest) {
  Config config;
  config.evaluation.patience = 3;
  Model model(tiny(), 50, madeUp(), false, 1);
  RecallValidation sequences(RecallTask(50, 8, 9, 2), 1);
  Evaluation evaluation(config, model, sequences, alone);
  for (double loss : {double(NAN), double(INFINITY)})
    EXPECT_FALSE(evaluation.stopsAt(loss));
  EXPECT_EQ(evaluation.state().best, INFINITY);
  EXPECT_EQ(evaluation.state().since, 2);
  EXPECT_FALSE(evaluation.stopsAt(5));
  EXPECT_EQ(evaluation.state().best, 5);
  EXPECT_FALSE(evaluation.stopsAt(NAN));
  EXPECT_FALSE(evaluation.stopsAt(6));
  EXPECT_TRUE(evaluation.stopsAt(NAN));
  EXPECT_EQ(evaluation.state().best, 5);
}

struct CountingSampler : Sampler {
  CountingSampler() : Sampler(8) {}
  double seconds = 0; // that each sequence takes
  int64_t length() const override { return 2; }
  void documents(int64_t, int64_t i, int32_t *numbers) const override { numbers[0] = numbers[1] = i; }
  int64_t counted(int64_t, int64_t begin, int64_t end) const override { return end - begin; }
  void sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const override {
    if (step == 3)
      fail("no step 3");
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    inputs[0] = step;
    inputs[1] = i;
    targets[0] = i;
    targets[1] = -100;
  }
};

TEST(BatchLoader, GivesAShareOfEachStepInOrder) {
  CountingSampler sampler;
  double waited = 0;
  BatchLoader loader(sampler, true, 4, 3, 1, 5);
  for (int64_t step : {1, 2}) {
    Batch batch = loader.next(waited);
    EXPECT_TRUE(at::equal(batch.inputs,
                          at::tensor({step, int64_t(4), step, int64_t(5), step, int64_t(6)}).view({3, 2})));
    EXPECT_EQ(batch.counted, 8); // of all processes
    EXPECT_TRUE(at::equal(batch.weights, at::full({3}, 0.125)));
    EXPECT_TRUE(at::equal(batch.documents.select(1, 0), at::arange(4, 7).to(at::kInt)));
  }
  EXPECT_GE(waited, 0);
  EXPECT_EQ(failure([&] { loader.next(waited); }), "no step 3");
  BatchLoader unused(sampler, false, 0, 3, 0, 3); // ends while batches are ready that no one takes
}

TEST(BatchLoader, TellsHowLongAStepWaitedForItsTokens) {
  CountingSampler slow, fast;
  slow.seconds = 0.1;
  double waited = 0;
  BatchLoader loader(slow, false, 0, 2, 0, 2);
  loader.next(waited);
  double first = waited;
  EXPECT_GE(first, 0.15); // two sequences, less what had begun
  loader.next(waited);
  EXPECT_GE(waited, first + 0.15); // added to what it was
  BatchLoader ready(fast, false, 0, 2, 0, 3);
  std::this_thread::sleep_for(std::chrono::duration<double>(0.3));
  waited = 0;
  for (int step = 0; step < 2; ++step)
    ready.next(waited);
  EXPECT_LT(waited, 0.1); // made while no one asked
}

// By which processes find that their parameters are no longer the same.
TEST(Model, ChecksumSeesTheLastBitOfOneWeight) {
  Model a(tiny(), 50, madeUp(), false, 1), b(tiny(), 50, madeUp(), false, 1);
  EXPECT_EQ(a.checksum(), b.checksum());
  at::NoGradGuard guard;
  for (const Parameter &parameter : b.parameters()) {
    at::Tensor bits = parameter.value.detach().view(at::kInt).flatten();
    bits[-1] += 1;
    EXPECT_NE(a.checksum(), b.checksum()) << parameter.name;
    bits[-1] -= 1;
  }
  EXPECT_EQ(a.checksum(), b.checksum());
}

TEST(Model, StartsDependOnSeedAndNameAlone) {
  AttentionFunction plain = madeUp();
  plain.inputs.resize(3);
  Model a(tiny(), 50, madeUp(), false, 1), b(tiny(), 50, plain, false, 1), c(tiny(), 50, plain, false, 2);
  auto first = byName(a), second = byName(b), third = byName(c);
  for (const auto &[name, value] : second)
    EXPECT_TRUE(at::equal(value, first[name])) << name;
  EXPECT_FALSE(at::equal(second["lm_head.weight"], third["lm_head.weight"]));
  EXPECT_NEAR(second["lm_head.weight"].std().item<double>(), 0.02, 0.002);
  EXPECT_NEAR(second["model.layers.0.mlp.down_proj.weight"].std().item<double>(), 0.01, 0.001); // 4 sums
  ModelConfig config = tiny();
  config.initialization = "uniform";
  Model uniform(config, 50, madeUp(), false, 1);
  auto tensors = byName(uniform);
  EXPECT_LE(tensors["model.layers.0.self_attn.gate_proj.bias"].abs().max().item<double>(),
            1 / std::sqrt(32.0));
  EXPECT_NEAR(tensors["model.layers.0.mlp.up_proj.weight"].std().item<double>(), 1 / std::sqrt(32.0 * 3),
              0.01);
}

TEST(Model, RefusesWhatNoModelCanServe) {
  auto message = [](runtime::TensorInfo input) {
    AttentionFunction attention = madeUp();
    attention.inputs.push_back(std::move(input));
    return failure([&] { Model(tiny(), 50, attention, false, 1); });
  };
  EXPECT_EQ(message(info("documents", "b t", brought())),
            "unsupported source 'input' of argument '%documents': taylor-train has nothing to bring for it; "
            "use 'from projection' or 'from parameter(..)', or train it from your own program");
  EXPECT_EQ(message(info("w", "h t", projection(false))),
            "requires argument '%w' of the specification to have the axes b and t or u once each: "
            "a model projects it from a hidden state of every token");
  EXPECT_EQ(message(info("w", "u e", learned(1))),
            "unsupported axis 'u' of the learned argument '%w': its size is not known when a model is built");
  EXPECT_EQ(
      message(info("o", "b h t", projection(false))),
      "unsupported argument name '%o' in the specification: o_proj is the projection behind the attention; "
      "rename the argument");
}

TEST(Optimizer, StepsAsAdamWIsDefined) {
  OptimizerConfig config;
  config.clip = 0;
  at::Tensor matrix = at::randn({3, 4}).requires_grad_(true), vector = at::randn({4}).requires_grad_(true);
  at::Tensor m = matrix.detach().to(at::kDouble), v = vector.detach().to(at::kDouble);
  Optimizer optimizer(config, {{"m", matrix}, {"v", vector}}, alone);
  at::Tensor meanM = at::zeros_like(m), squareM = at::zeros_like(m), meanV = at::zeros_like(v),
             squareV = at::zeros_like(v);
  auto reference = [&](at::Tensor &x, at::Tensor &mean, at::Tensor &square, const at::Tensor &g, double decay,
                       int step) {
    x = x * (1 - 0.01 * decay);
    mean = 0.9 * mean + 0.1 * g;
    square = 0.95 * square + 0.05 * g * g;
    x = x - 0.01 * (mean / (1 - std::pow(0.9, step))) / ((square / (1 - std::pow(0.95, step))).sqrt() + 1e-8);
  };
  for (int step = 1; step <= 5; ++step) {
    optimizer.zeroGradients();
    at::Tensor loss = (matrix * matrix * 0.5).sum() + vector.exp().sum();
    loss.backward();
    reference(m, meanM, squareM, matrix.grad().to(at::kDouble), 0.1, step);
    reference(v, meanV, squareV, vector.grad().to(at::kDouble), 0, step); // vectors do not decay
    optimizer.step(0.01);
  }
  EXPECT_LT((matrix.detach().to(at::kDouble) - m).abs().max().item<double>(), 1e-5);
  EXPECT_LT((vector.detach().to(at::kDouble) - v).abs().max().item<double>(), 1e-5);
  EXPECT_EQ(optimizer.state().at("step.m").item<float>(), 5);
}

TEST(Optimizer, ClipsTheWholeGradient) {
  OptimizerConfig config;
  config.clip = 1;
  at::Tensor a = at::zeros({2}).requires_grad_(true), b = at::zeros({1, 1}).requires_grad_(true);
  Optimizer optimizer(config, {{"a", a}, {"b", b}}, alone);
  a.mutable_grad() = at::full({2}, 2.0f);
  b.mutable_grad() = at::full({1, 1}, 1.0f);
  EXPECT_NEAR(optimizer.clipGradients(), 3, 1e-6);
  EXPECT_NEAR(a.grad()[0].item<double>(), 2.0 / 3, 1e-5);
  EXPECT_NEAR(b.grad().item<double>(), 1.0 / 3, 1e-5);
  EXPECT_NEAR(optimizer.clipGradients(), 1, 1e-5);
}

TEST(HuggingFace, LlamasAttentionIsKnownByWhatItComputes) {
  ModelConfig config = tiny();
  config.valueDim = config.headDim = 8;
  auto rotate = [](const at::Tensor &x) {
    at::Tensor angles =
        at::outer(at::arange(x.size(2), at::kDouble), at::pow(10000.0, at::arange(4, at::kDouble) / -4))
            .to(at::kFloat);
    at::Tensor turn = at::cat({angles, angles}, 1),
               half = at::cat({-x.narrow(3, 4, 4), x.narrow(3, 0, 4)}, 3);
    return x * turn.cos() + half * turn.sin();
  };
  AttentionFunction attention = madeUp();
  attention.inputs.resize(3);
  attention.inputs[2].source = projection(false);
  bool clamped = false, turned = true;
  attention.call = [&](const std::vector<at::Tensor> &x) {
    at::Tensor q = turned ? rotate(x[0]) : x[0], k = turned ? rotate(x[1]) : x[1];
    at::Tensor s = at::matmul(q, k.repeat_interleave(2, 1).transpose(2, 3)) / std::sqrt(8.0);
    at::Tensor w = (clamped ? s.clamp_max(5) : s).exp().tril();
    return at::matmul(w / w.sum(3, true), x[2].repeat_interleave(2, 1));
  };
  EXPECT_TRUE(computesLlamaAttention(attention, config, false));
  ModelConfig uneven = config; // which transformers' Llama refuses
  uneven.hidden = config.hidden + 1;
  EXPECT_FALSE(computesLlamaAttention(attention, uneven, false));
  clamped = true;
  EXPECT_FALSE(computesLlamaAttention(attention, config, false));
  clamped = turned = false;
  EXPECT_FALSE(computesLlamaAttention(attention, config, false));
  EXPECT_FALSE(computesLlamaAttention(madeUp(), config, false));
}

// Tensors of `meta` and of the processor meet no more than those of a GPU and of the processor.
TEST(HuggingFace, AttentionOnADeviceIsComparedOnTheProcessor) {
  ModelConfig config = tiny();
  config.valueDim = config.headDim = 8;
  for (bool bf16 : {false, true}) {
    AttentionFunction attention = madeUp();
    attention.inputs.resize(3);
    attention.inputs[2].source = projection(false);
    attention.device = at::kMeta;
    attention.documents = true;
    attention.call = [&](const std::vector<at::Tensor> &x) {
      EXPECT_EQ(x.size(), 4u);
      for (const at::Tensor &input : x)
        EXPECT_TRUE(input.is_meta());
      return at::zeros(x[0].sizes(), x[0].options().device(at::kCPU));
    };
    EXPECT_FALSE(computesLlamaAttention(attention, config, bf16));
  }
}

TEST(Generation, SamplesFromTheKeptTokensOnly) {
  at::Tensor logits = at::tensor({0.0f, 3.0f, 2.0f, 1.0f});
  at::Generator generator = at::detail::createCPUGenerator(1);
  auto drawn = [&](double temperature, int64_t topK, double topP) {
    SamplingOptions options;
    options.temperature = temperature;
    options.topK = topK;
    options.topP = topP;
    std::set<int64_t> tokens;
    for (int i = 0; i < 300; ++i)
      tokens.insert(sampleToken(logits, options, generator));
    return tokens;
  };
  EXPECT_EQ(drawn(0, 0, 1), (std::set<int64_t>{1}));
  EXPECT_EQ(drawn(1, 0, 1), (std::set<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(drawn(1, 2, 1), (std::set<int64_t>{1, 2}));
  EXPECT_EQ(drawn(1, 0, 0.7), (std::set<int64_t>{1, 2})); // 0.64 and 0.24 of the probability
  EXPECT_EQ(drawn(1, 0, 1e-9), (std::set<int64_t>{1}));
  EXPECT_EQ(drawn(0.01, 0, 1), (std::set<int64_t>{1}));
  EXPECT_EQ(drawn(1e-300, 0, 1), (std::set<int64_t>{1}));
}

/// What each token's probability is, by the definition and in double precision.
std::vector<double> exactProbabilities(const std::vector<float> &logits, const SamplingOptions &options) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  if (options.topK > 0)
    order.resize(std::min(order.size(), size_t(options.topK)));
  auto sum = [&] {
    double total = 0;
    for (size_t token : order)
      total += std::exp(double(logits[token]) / options.temperature);
    return total;
  };
  double total = sum(), held = 0;
  size_t kept = 0;
  while (kept < order.size() && held < options.topP)
    held += std::exp(double(logits[order[kept++]]) / options.temperature) / total;
  order.resize(kept);
  std::vector<double> result(logits.size());
  for (total = sum(); size_t token : order)
    result[token] = std::exp(double(logits[token]) / options.temperature) / total;
  return result;
}

// Draws against the exact distribution by Pearson's chi-square. Bounds: the statistic's 0.999 quantile for as
// many degrees of freedom as there are tokens kept, less one; seeds are fixed, so this either holds always or
// never.
TEST(Generation, DrawsFromTheExactDistribution) {
  const std::vector<float> logits = {1.5f, -0.5f, 0.25f, 3.0f, 2.9f, -2.0f, 0.0f, 1.0f};
  const double quantile[] = {0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32};
  at::Tensor tensor = at::tensor(logits);
  struct Case {
    double temperature;
    int64_t topK;
    double topP;
    size_t kept;
  };
  for (auto [temperature, topK, topP, kept] :
       {Case{1, 0, 1, 8}, Case{0.5, 0, 1, 8}, Case{2, 0, 1, 8}, Case{1, 3, 1, 3}, Case{1, 100, 1, 8},
        Case{1, 0, 0.9, 4}, Case{1.5, 6, 0.8, 3}, Case{2, 5, 0.95, 5}}) {
    SamplingOptions options{temperature, topK, topP};
    std::vector<double> exact = exactProbabilities(logits, options);
    ASSERT_EQ(size_t(std::count_if(exact.begin(), exact.end(), [](double p) { return p > 0; })), kept)
        << temperature << " " << topK << " " << topP;
    at::Generator generator = at::detail::createCPUGenerator(7);
    constexpr int draws = 20000;
    std::vector<int> counts(logits.size());
    for (int i = 0; i < draws; ++i)
      ++counts[size_t(sampleToken(tensor, options, generator))];
    double statistic = 0;
    for (size_t token = 0; token < logits.size(); ++token) {
      if (exact[token] == 0)
        EXPECT_EQ(counts[token], 0) << token;
      else
        statistic += std::pow(counts[token] - draws * exact[token], 2) / (draws * exact[token]);
    }
    EXPECT_LT(statistic, quantile[kept - 1]) << temperature << " " << topK << " " << topP;
  }
}

} // namespace
