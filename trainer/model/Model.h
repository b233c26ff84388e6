// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Llama-2 around an attention that is only known by its manifest.
//
// Shapes: B batch, T tokens, C model.hidden, V vocabulary.
#ifndef TAYLOR_TRAINER_MODEL_MODEL_H
#define TAYLOR_TRAINER_MODEL_MODEL_H
#include "runtime/torch/Decoder.h"
#include "trainer/config/Config.h"
#include <ATen/core/Tensor.h>
#include <functional>
#include <string>
#include <vector>

namespace taylor::trainer {

/// A compiled specification as a model sees it: what it wants, what it gives, and the call. Tensors of
/// `inputs` have the manifest's axes in the manifest's order and its dtypes; any strides with 1 on the last
/// axis do.
struct AttentionFunction {
  std::vector<runtime::TensorInfo> inputs;
  runtime::TensorInfo output;
  std::function<at::Tensor(const std::vector<at::Tensor> &)> call; // differentiable
  /// `call` takes one more tensor, after those of `inputs`: the number of each token's document, ascending,
  /// i32 [B, T].
  bool documents = false;
  /// The same without gradients, of tokens after those that the memory has, which it adds to it.
  std::function<at::Tensor(const std::vector<at::Tensor> &, Decoder::Memory &)> extend;
  /// What `extend` is and keeps; compiled when first asked for.
  std::function<const Decoder &()> decoder;
  at::Device device = at::kCPU; // of its tensors, and so of the model's
};

struct Parameter {
  std::string name; // as Hugging Face's Llama has it; "model.layers.0.self_attn.q_proj.weight"
  at::Tensor value; // fp32, a leaf
};

/// What a model says of targets.
struct Score {
  at::Tensor losses;  // [B] fp32: cross entropy summed over each sequence's targets that are not -100
  at::Tensor correct; // [B] int64: how many of these are the most likely token
};

/// Sequences of equally many tokens, and what these left in each layer (nothing before the first).
struct SequenceGroup {
  int64_t size = 1; // sequences
  std::vector<Decoder::Memory> layers;
};

class Model {
public:
  /// Builds the modules of one layer's attention from the roles of its inputs and nothing else. Argument %x
  /// with source projection becomes self_attn.x_proj, a linear map of the hidden state with one feature per
  /// index of x's axes other than b, t, u; with source parameter it becomes self_attn.x. The start of each
  /// tensor depends on the seed and the tensor's name, so two models that differ in their attention alone
  /// start equal in all they share. On the device `meta` the model has shapes and no numbers, and cannot run.
  /// Throws Error for a specification that no model can serve, naming the argument.
  Model(const ModelConfig &config, int64_t vocabulary, AttentionFunction attention, bool bf16, uint64_t seed);

  /// Where tokens and targets must be, and weights are.
  at::Device device() const { return attention.device; }
  /// tokens [B, T] int64 -> [B, T, C] fp32, after the last norm. `documents` [B, T] i32, for an attention
  /// that keeps them apart: undefined means that each sequence is one.
  at::Tensor hidden(const at::Tensor &tokens, const at::Tensor &documents = {}) const;
  /// The same of tokens after those that the groups have, as if all had come in one call. Sequences stand in
  /// the order of the groups, and each group attends by itself: they may be of different lengths.
  at::Tensor extend(const at::Tensor &tokens, const std::vector<SequenceGroup *> &groups) const;
  /// What keeps earlier tokens.
  const Decoder &decoder() const { return attention.decoder(); }
  /// [.., C] -> [.., V], fp32 whatever the precision.
  at::Tensor logits(const at::Tensor &hidden) const;
  /// tokens, targets [B, T].
  Score score(const at::Tensor &tokens, const at::Tensor &targets, const at::Tensor &documents = {}) const;
  /// The losses of score() alone.
  at::Tensor losses(const at::Tensor &tokens, const at::Tensor &targets,
                    const at::Tensor &documents = {}) const;
  /// Where numbers of a forward stop being finite, "the output of model.layers.0"; empty where all are
  /// finite.
  std::string findNonFinite(const at::Tensor &tokens, at::Tensor documents = {}) const;
  /// Whether only the input of each layer is kept for the backward, where the rest is computed again.
  void setActivationCheckpointing(bool on) { recomputes = on; }

  const std::vector<Parameter> &parameters() const { return all; }
  int64_t parameterCount() const;
  /// A text that differs where any bit of a parameter does, except for bits that make up for each other.
  std::string checksum() const;
  const ModelConfig &settings() const { return config; }
  /// What each call of the attention is given, in this order.
  const std::vector<runtime::TensorInfo> &attentionInputs() const { return attention.inputs; }
  const runtime::TensorInfo &attentionOutput() const { return attention.output; }

private:
  struct Linear {
    at::Tensor weight, bias; // [outputs, inputs], [outputs] or undefined
  };
  struct Layer {
    at::Tensor inputNorm, postAttentionNorm;
    std::vector<Linear> projections; // one per attention input; empty where the input is learned
    std::vector<at::Tensor> learned; // one per attention input; undefined where it is projected
    Linear output, gate, up, down;
  };

  at::Tensor create(const std::string &name, std::vector<int64_t> shape, const runtime::Initial &initial);
  Linear createLinear(const std::string &name, int64_t inputs, int64_t outputs, bool bias, double gain);
  Layer createLayer(int64_t index);
  at::Tensor linear(const at::Tensor &x, const Linear &linear) const;
  at::Tensor norm(const at::Tensor &x, const at::Tensor &weight) const;
  /// `groups`: null, or those whose tokens go on.
  using Groups = std::vector<SequenceGroup *>;
  at::Tensor attend(const at::Tensor &x, const Layer &layer, const at::Tensor &documents,
                    const Groups *groups) const;
  /// The attention of each group's share of the inputs.
  at::Tensor extendGroups(const std::vector<at::Tensor> &inputs, size_t layer, const Groups &groups) const;
  at::Tensor runLayer(const at::Tensor &x, const Layer &layer, const at::Tensor &documents,
                      const Groups *groups) const;
  at::Tensor run(const at::Tensor &tokens, at::Tensor documents, const Groups *groups) const;
  int64_t axisSize(const runtime::TensorAxis &axis) const;

  ModelConfig config;
  AttentionFunction attention;
  bool bf16;
  bool recomputes = false;
  uint64_t seed;
  at::Tensor embedding, finalNorm;
  Linear head;
  std::vector<Layer> layers;
  std::vector<Parameter> all;
};

/// While it lives, products of fp32 tensors run in bf16 on the device. The model casts on its own where the
/// dtype matters; this covers what is called inside, and empties the cache of cast weights at the end, when
/// the weights change.
class AutocastGuard {
public:
  explicit AutocastGuard(bool bf16, at::DeviceType device = at::kCPU);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard &) = delete;
  AutocastGuard &operator=(const AutocastGuard &) = delete;

private:
  bool active;
  at::DeviceType device;
  bool before;
};

} // namespace taylor::trainer
#endif
