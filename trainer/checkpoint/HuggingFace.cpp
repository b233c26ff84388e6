// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/checkpoint/HuggingFace.h"
#include "dialect/AxisRole.h"
#include "trainer/checkpoint/HuggingFaceFiles.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/support/Files.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace taylor::trainer {

namespace {

/// x [B, H, T, D] turned by position in Hugging Face's layout: channel c pairs with c + D/2.
at::Tensor rotate(const at::Tensor &x) {
  int64_t tokens = x.size(2), half = x.size(3) / 2;
  at::Tensor frequencies = at::pow(kRopeTheta, at::arange(half, at::kDouble) * (-1.0 / half));
  at::Tensor angles = at::outer(at::arange(tokens, at::kDouble), frequencies);
  at::Tensor cosine = angles.cos().to(at::kFloat), sine = angles.sin().to(at::kFloat);
  at::Tensor first = x.narrow(3, 0, half), second = x.narrow(3, half, half);
  return at::cat({first * cosine - second * sine, second * cosine + first * sine}, 3);
}

std::vector<std::string> axisNames(const runtime::TensorInfo &info) {
  std::vector<std::string> names;
  for (const runtime::TensorAxis &axis : info.axes)
    names.push_back(axis.name);
  return names;
}

bool hasAxes(const runtime::TensorInfo &info, std::initializer_list<AxisRole> roles) {
  auto is = [](const runtime::TensorAxis &axis, AxisRole role) { return axis.name == role; };
  return std::equal(info.axes.begin(), info.axes.end(), roles.begin(), roles.end(), is);
}

bool isPlainProjection(const runtime::TensorInfo &info, const char *name,
                       std::initializer_list<AxisRole> axes) {
  return info.name == name && info.source.kind == runtime::Source::Kind::Projection && !info.source.bias &&
         hasAxes(info, axes);
}

ordered_json describeInitial(const runtime::Initial &initial) {
  using Kind = runtime::Initial::Kind;
  switch (initial.kind) {
  case Kind::Zeros:
    return {{"kind", "zeros"}};
  case Kind::Ones:
    return {{"kind", "ones"}};
  case Kind::Constant:
    return {{"kind", "constant"}, {"value", initial.value}};
  case Kind::Uniform:
    return {{"kind", "uniform"}, {"low", initial.low}, {"high", initial.high}};
  case Kind::Normal:
    return {{"kind", "normal"}, {"mean", initial.mean}, {"deviation", initial.deviation}};
  }
  return {};
}

/// What a model is built from: the manifest's description of the arguments, which Python then needs no
/// compiler for.
ordered_json describeInputs(const Model &model) {
  ordered_json inputs = ordered_json::array();
  for (const runtime::TensorInfo &info : model.attentionInputs()) {
    ordered_json source;
    if (info.source.kind == runtime::Source::Kind::Projection)
      source = {{"kind", "projection"}, {"bias", info.source.bias}};
    else
      source = {{"kind", "parameter"}, {"initial", describeInitial(info.source.initial)}};
    inputs.push_back({{"name", info.name}, {"axes", axisNames(info)}, {"source", source}});
  }
  return inputs;
}

ordered_json describeSizes(const Model &model) {
  ordered_json sizes = {{nameOf(AxisRole::Head), model.settings().heads},
                        {nameOf(AxisRole::KeyHead), model.settings().keyValueHeads()}};
  auto add = [&](const runtime::TensorInfo &info) {
    for (const runtime::TensorAxis &axis : info.axes)
      if (axis.isChannel())
        sizes[axis.name] = axis.size;
  };
  for (const runtime::TensorInfo &info : model.attentionInputs())
    add(info);
  add(model.attentionOutput());
  return sizes;
}

} // namespace

bool computesLlamaAttention(const AttentionFunction &attention, const ModelConfig &config, bool bf16) {
  using enum AxisRole;
  if (attention.inputs.size() != 3 ||
      !isPlainProjection(attention.inputs[0], "q", {Batch, Head, Query, Channel}) ||
      !isPlainProjection(attention.inputs[1], "k", {Batch, KeyHead, Key, Channel}) ||
      !isPlainProjection(attention.inputs[2], "v", {Batch, KeyHead, Key, ValueChannel}) ||
      !hasAxes(attention.output, {Batch, Head, Query, ValueChannel}) ||
      config.valueWidth() != config.headWidth() || config.headWidth() % 2 != 0 ||
      config.hidden % config.heads != 0) // which LlamaConfig refuses
    return false;
  c10::NoGradGuard noGrad;
  at::Generator generator = at::detail::createCPUGenerator(1);
  int64_t tokens = 33, group = config.heads / config.keyValueHeads();
  auto random = [&](int64_t heads, double deviation) {
    at::Tensor x = at::empty({2, heads, tokens, config.headWidth()}, at::kFloat);
    x.normal_(0, deviation, generator);
    return bf16 ? x.to(at::kBFloat16) : x;
  };
  // Scores of deviation 4: what clips them, or adds to the mass, shows.
  at::Tensor q = random(config.heads, 2), k = random(config.keyValueHeads(), 2),
             v = random(config.keyValueHeads(), 1);
  std::vector<at::Tensor> inputs = {q, k, v};
  if (attention.documents) // all of one
    inputs.push_back(at::zeros({2, tokens}, at::kInt));
  for (at::Tensor &input : inputs)
    input = input.to(attention.device);
  at::Tensor output = attention.call(inputs).cpu().to(at::kFloat); // the formula's place on every device
  auto repeated = [&](const at::Tensor &x) { return x.to(at::kFloat).repeat_interleave(group, 1); };
  at::Tensor expected = at::scaled_dot_product_attention(rotate(q.to(at::kFloat)), rotate(repeated(k)),
                                                         repeated(v), {}, 0.0, /*is_causal=*/true);
  double error = (output - expected).norm().item<double>() / expected.norm().item<double>();
  return error < (bf16 ? 2e-2 : 1e-4);
}

void writeHuggingFace(const fs::path &folder, const ModelDescription &description,
                      const std::string &specification, const Model &built, const Tokenizer &tokenizer) {
  const ModelConfig &model = description.model;
  ordered_json taylor = {{"specification", description.attention},
                         {"parameters", description.attentionParameters},
                         {"mask", description.attentionMask},
                         {"value_dim", model.valueWidth()},
                         {"precision", description.bf16 ? "bf16" : "fp32"}};
  // The text too: what `transformers` copies or saves of a model is its configuration.
  if (!isNativeCode(description.attention))
    taylor["text"] = specification;
  if (!description.isLlama) {
    if (isNativeCode(description.attention))
      taylor["text"] = nullptr;
    taylor["inputs"] = describeInputs(built);
    taylor["output"] = axisNames(built.attentionOutput());
    taylor["sizes"] = describeSizes(built);
  }
  ordered_json config = {
      // A model with another attention must not load as a Llama: it would run, and compute something else.
      {"architectures", {description.isLlama ? "LlamaForCausalLM" : "TaylorForCausalLM"}},
      {"model_type", description.isLlama ? "llama" : "taylor"},
      {"vocab_size", description.vocabulary},
      {"hidden_size", model.hidden},
      {"intermediate_size", model.intermediate},
      {"num_hidden_layers", model.layers},
      {"num_attention_heads", model.heads},
      {"num_key_value_heads", model.keyValueHeads()},
      {"head_dim", model.headWidth()},
      {"max_position_embeddings", description.context},
      {"rms_norm_eps", model.normEpsilon},
      {"rope_theta", kRopeTheta},
      {"hidden_act", "silu"},
      {"attention_bias", false},
      {"attention_dropout", 0.0},
      {"mlp_bias", false},
      {"initializer_range", model.initialDeviation},
      {"tie_word_embeddings", false},
      {"bos_token_id", tokenizer.beginning()},
      {"eos_token_id", tokenizer.end()},
      {"torch_dtype", "float32"},
      {"use_cache", true},
      {"taylor", taylor}};
  if (!description.isLlama)
    config["auto_map"] = {{"AutoConfig", "configuration_taylor.TaylorConfig"},
                          {"AutoModel", "modeling_taylor.TaylorModel"},
                          {"AutoModelForCausalLM", "modeling_taylor.TaylorForCausalLM"}};
  ordered_json generation = {
      {"bos_token_id", tokenizer.beginning()}, {"eos_token_id", tokenizer.end()}, {"use_cache", true}};
  ordered_json tokens = {{"tokenizer_class", "LlamaTokenizer"},
                         {"add_bos_token", true},
                         {"add_eos_token", false},
                         {"legacy", false},
                         {"add_prefix_space", tokenizer.addsPrefix()},
                         {"clean_up_tokenization_spaces", false},
                         {"model_max_length", description.context}};
  ordered_json special = {{"bos_token", tokenizer.piece(tokenizer.beginning())},
                          {"eos_token", tokenizer.piece(tokenizer.end())},
                          {"unk_token", tokenizer.piece(tokenizer.unknown())}};
  tokens.update(special);
  writeDurably(folder / "config.json", config.dump(2) + "\n");
  writeDurably(folder / "generation_config.json", generation.dump(2) + "\n");
  writeDurably(folder / "tokenizer_config.json", tokens.dump(2) + "\n");
  writeDurably(folder / "special_tokens_map.json", special.dump(2) + "\n");
  writeDurably(folder / "tokenizer.model", tokenizer.model());
  if (!description.isLlama) {
    writeDurably(folder / "configuration_taylor.py", configurationFile);
    writeDurably(folder / "modeling_taylor.py", modelingFile);
  }
}

} // namespace taylor::trainer
