// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention for C++ programs on libtorch: a specification, compiled for a head size and dtype, as a
// differentiable function.
//
//   taylor::AttentionOptions options{.spec = "examples/specs/softmax.mlir", .headDim = 64};
//   taylor::Attention attention(options);
//   // Build the modules that give the inputs:
//   for (const taylor::TensorInfo &input : attention.manifest().inputs) ...
//   // q [B, H, T, d], k [B, G, U, d], v [B, G, U, e]
//   at::Tensor o = attention.call({q, k, v});
#ifndef TAYLOR_RUNTIME_TORCH_ATTENTION_H
#define TAYLOR_RUNTIME_TORCH_ATTENTION_H
#include "runtime/Manifest.h"
#include "runtime/torch/Dtype.h"
#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace taylor {

using runtime::Initial;
using runtime::Manifest;
using runtime::Source;
using runtime::TensorAxis;
using runtime::TensorInfo;

struct AttentionOptions {
  std::string spec;                  ///< Path of a .mlir file, its text, or the path of a compiled .so.
  int64_t headDim = 64;              ///< d: channels of a score.
  int64_t valueDim = 0;              ///< e: channels of a value; 0: as headDim.
  at::ScalarType dtype = at::kFloat; ///< kFloat, kBFloat16, kHalf or kDouble; under autocast, autocast's.
  std::map<std::string, std::string> parameters = {}; ///< Free parameters: {"order", "10"}.
  /// TAYLOR_CPU; TAYLOR_CUDA: kernels for GPU 0 are compiled now; TAYLOR_PTX: on tensors of the processor,
  /// code for GPUs in the interpreter, with every access checked.
  TaylorDevice device = TAYLOR_CPU;
  std::string form = {}; ///< "parallel", "long", "chunked", or "" for the compiler's default.
  std::string mask = {}; ///< "causal", "bidirectional", or "" as written.
  /// "auto", "state" or "cache": step() is there, for few new tokens (taylorc --decode).
  std::string decode = {};
  bool forwardOnly = false; ///< No backward: a call whose gradient is asked for is refused.
  /// Packed sequences: one more input, after all others, numbers the document of each key, i32 [B, U].
  bool documents = false;
};

/// One specification. Copies share everything; any thread may call any of them.
class Attention {
public:
  /// Compiles, or takes from the kernel cache, the kernel for these sizes and this dtype, so that every error
  /// of the specification comes here. A file is read once: editing it during a run changes nothing. Throws
  /// c10::Error.
  explicit Attention(const AttentionOptions &options);

  /// Inputs with axes, source and initial distribution; outputs; sizes. Of the kernel for options.dtype.
  const Manifest &manifest() const { return *description; }

  /// What AttentionOptions::spec takes for the same attention, whatever becomes of the file: the text, or of
  /// an artifact its path and checksum.
  const std::string &specification() const { return spec; }

  /// The first output on inputs in the manifest's order, [B, H, T, e] for an attention, differentiable once.
  /// Other head sizes and dtypes than those of the constructor compile another kernel. `offset` is the
  /// position of query 0, U - T by default. Inputs may be strided views ([B, T, H, d] permuted); a last axis
  /// that is a channel and has another stride than 1 is copied. Inputs from parameters may have any floating
  /// dtype. Throws c10::Error that names the input.
  at::Tensor call(const std::vector<at::Tensor> &inputs, std::optional<int64_t> offset = std::nullopt) const;

  /// All outputs.
  std::vector<at::Tensor> callAll(const std::vector<at::Tensor> &inputs,
                                  std::optional<int64_t> offset = std::nullopt) const;

  /// All outputs but states, of new tokens: the function `step` of options.decode, without gradients. Inputs
  /// are those of the manifest except for initial.*. `states` are these, in the manifest's order, and become
  /// those after the last token, in their memory. Over a cache, inputs over keys have all keys so far, the
  /// new ones last; where keys are prepared (Manifest::cache is not empty) this throws: call decode().
  std::vector<at::Tensor> step(const std::vector<at::Tensor> &inputs, const std::vector<at::Tensor> &states,
                               std::optional<int64_t> offset = std::nullopt) const;

  /// The same where keys are prepared (Manifest::cache), of new tokens after `tokens` others. `inputs` are
  /// those of the new tokens, over keys too; `cache` is as in the manifest, its arrays over u with room for
  /// the new tokens, which are added to it.
  std::vector<at::Tensor> decode(const std::vector<at::Tensor> &inputs, const std::vector<at::Tensor> &cache,
                                 const std::vector<at::Tensor> &states, int64_t tokens) const;

private:
  std::string spec, options;           ///< As the operator takes them.
  std::shared_ptr<const void> program; ///< What was compiled for them, kept as long as this.
  std::shared_ptr<const Manifest> description;
};

} // namespace taylor

#endif
