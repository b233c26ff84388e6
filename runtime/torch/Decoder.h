// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention over a sequence that grows: what earlier tokens left is kept, so that new ones cost what they
// add.
//
//   taylor::Decoder decoder({.spec = "examples/specs/softmax.mlir", .headDim = 64});
//   taylor::Decoder::Memory memory;
//   at::Tensor o = decoder.extend({q, k, v}, memory);      // a prompt of any length
//   o = decoder.extend({q1, k1, v1}, memory);              // and one token after the other
#ifndef TAYLOR_RUNTIME_TORCH_DECODER_H
#define TAYLOR_RUNTIME_TORCH_DECODER_H
#include "runtime/torch/Attention.h"
#include <array>

namespace taylor {

class Decoder {
public:
  enum class Kind {
    State, ///< Sums of finitely many orders are states (taylorc --decode=auto): a token's time and memory do
           ///< not depend on the prefix.
    Cache, ///< Keys are kept as they are once they are prepared (rotated, convolved, ..), or as they came
           ///< where there is nothing to prepare, and new queries see all of them; of queries that are mixed
           ///< with earlier ones, the last.
    Whole, ///< All inputs are kept, and everything is computed anew: what reads tokens to come.
  };

  /// What one sequence's (or batch's) earlier tokens left; empty before the first.
  struct Memory {
    std::vector<at::Tensor> states; ///< What the manifest calls initial.*.
    /// Of keys that are prepared what Manifest::cache says, else one per input, where it is kept; with room
    /// for more tokens than there are.
    std::vector<at::Tensor> cache;
    int64_t tokens = 0;
    /// Of the axes b, h and g (TaylorDim) as the tokens so far had them; -1: no input has the axis.
    std::array<int64_t, 3> sizes = {-1, -1, -1};
  };

  /// Compiles as Attention does, with the function `step`. Throws c10::Error. Of a specification that is not
  /// causal a token sees those so far, and outputs of earlier tokens stay what they were.
  explicit Decoder(AttentionOptions options);

  Kind kind() const { return how; }
  /// As Attention::specification().
  const std::string &specification() const { return attention.specification(); }
  /// Inputs that extend() takes, and outputs: without states.
  const std::vector<TensorInfo> &inputs() const { return given; }
  const std::vector<TensorInfo> &outputs() const { return made; }

  /// The first output, [B, H, T, e] for an attention, of T new tokens, which are queries and keys at once
  /// (inputs as Attention::call takes them, without a gradient), after those in `memory`; adds them to it.
  /// Dtype and channels are the options'; batch and heads stay what they were. Throws c10::Error that names
  /// the input, and leaves `memory` as it was.
  at::Tensor extend(const std::vector<at::Tensor> &inputs, Memory &memory) const;

  /// Bytes of what is kept of the tokens so far, without the room for more.
  int64_t bytes(const Memory &memory) const;

  /// One sequence of a batch's memory.
  struct Place {
    const Memory *memory;
    int64_t row; ///< Along the axis b.
  };
  /// Whether sequences of any lengths can be one batch: all that is kept are states, of each sequence its
  /// own.
  bool joinsAnyLength() const;
  /// The memory of a batch of these sequences, in this order. They have equally many tokens, unless
  /// joinsAnyLength().
  Memory gather(const std::vector<Place> &places) const;

private:
  /// Calls visit(input, axis, size) for the axes b, h and g, whose sizes all tokens of a memory share.
  template <typename Visit> void forEachLastingAxis(const std::vector<at::Tensor> &inputs, Visit visit) const;
  /// The number of new tokens; throws where inputs do not fit each other, the options or `memory`.
  int64_t check(const std::vector<at::Tensor> &inputs, const Memory &memory) const;
  /// The inputs with `added` new tokens after those in memory, where they are kept.
  std::vector<at::Tensor> keep(const std::vector<at::Tensor> &inputs, int64_t added, Memory &memory) const;
  /// Room for `added` new tokens in what is kept of keys.
  void makeRoom(const std::vector<at::Tensor> &inputs, int64_t added, Memory &memory) const;
  bool preparesKeys() const { return how == Kind::Cache && !attention.manifest().cache.empty(); }
  /// Of what stands in Memory::cache.
  const std::vector<TensorInfo> &keptInfos() const {
    return preparesKeys() ? attention.manifest().cache : given;
  }

  Attention attention;
  Kind how;
  std::vector<TensorInfo> given, made, states;
};

} // namespace taylor

#endif
