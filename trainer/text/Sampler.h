// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens to the sequences of a step.
#ifndef TAYLOR_TRAINER_TEXT_SAMPLER_H
#define TAYLOR_TRAINER_TEXT_SAMPLER_H
#include "trainer/text/Tokens.h"
#include <cstdint>
#include <vector>

namespace taylor::trainer {

/// Gives sequence i of the batch of a step as a function of (seed, step, i) alone, i counted in the batch of
/// all processes together: nothing to save for a resumed run, nothing shared between processes, and the same
/// batch for any number of them. Thread-safe. Throws Error where the tokens' files are damaged.
class Sampler {
public:
  virtual ~Sampler() = default;
  /// Positions of each sequence.
  virtual int64_t length() const = 0;
  /// `inputs` and `targets` have room for length() tokens; a target of -100 is not learned.
  virtual void sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const = 0;
  /// The number of each position's document, ascending: the input `documents` of kernels compiled with
  /// --documents. Room for length() numbers.
  virtual void documents(int64_t step, int64_t i, int32_t *numbers) const = 0;
  /// How many targets of sequences [begin, end) of a step's batch are learned.
  virtual int64_t counted(int64_t step, int64_t begin, int64_t end) const = 0;
  /// The same for the whole batch.
  int64_t counted(int64_t step) const { return counted(step, 0, batch); }
  /// What each target of a sequence counts in the step's loss: one over the number of targets that are
  /// averaged with it.
  virtual double weight(int64_t step, int64_t i) const { return 1.0 / counted(step); }

protected:
  explicit Sampler(int64_t batch) : batch(batch) {}
  int64_t batch;
};

/// Sequences of context + 1 tokens cut from the stream of documents without regard to their borders. Each
/// pass over the text visits every sequence once, in an order and from a first token that depend on seed and
/// pass.
class PackedSampler : public Sampler {
public:
  /// Throws Error if the text is shorter than one sequence.
  PackedSampler(const Tokens &tokens, int64_t context, int64_t batch, int64_t seed);
  int64_t length() const override { return context; }
  void sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const override;
  void documents(int64_t step, int64_t i, int32_t *numbers) const override;
  using Sampler::counted;
  int64_t counted(int64_t step, int64_t begin, int64_t end) const override { return (end - begin) * context; }
  int64_t sequences() const { return count; } // in one pass

private:
  int64_t position(int64_t step, int64_t i) const; // of the sequence's first token

  const Tokens &tokens;
  int64_t context;
  uint64_t seed;
  int64_t count;
};

/// A document at random, with replacement, for each sequence, as the paper's code trains: its first `context`
/// tokens without </s>, padded with </s>. Inputs are all but the last token, targets all but the first. The
/// batch is cut into `groups` equal parts, one per GPU of the paper. Targets of positions whose input is
/// padding are not learned, nor what lies after the longest document of the group, so that the others learn
/// one </s>. Where that leaves nothing of the group out, the last target of its first sequence is left out
/// instead (the paper's code does it to escape a fault of transformers). A group whose documents are all
/// empty learns nothing. The loss is the mean of the groups' means.
class DocumentSampler : public Sampler {
public:
  /// `end` is </s>. Throws Error if `groups` does not divide `batch`, or there is no document or no second
  /// token.
  DocumentSampler(const Tokens &tokens, int64_t context, int64_t batch, int64_t groups, int64_t seed,
                  int64_t end);
  int64_t length() const override { return context - 1; }
  void sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const override;
  void documents(int64_t step, int64_t i, int32_t *numbers) const override; // all 0
  using Sampler::counted;
  int64_t counted(int64_t step, int64_t begin, int64_t end) const override;
  double weight(int64_t step, int64_t i) const override;

private:
  std::span<const uint16_t> draw(int64_t step, int64_t i) const; // cut to the context
  /// Lengths of what a group draws: of the longest, and of the shortest.
  struct Lengths {
    int64_t longest, shortest;
  };
  Lengths lengths(int64_t step, int64_t group) const;
  int64_t counted(int64_t i, int64_t length, Lengths group) const;

  const Tokens &tokens;
  int64_t context, groupSize;
  uint64_t seed;
  int64_t end;
};

} // namespace taylor::trainer
#endif
