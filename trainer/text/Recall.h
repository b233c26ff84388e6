// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task instead of text.
#ifndef TAYLOR_TRAINER_TEXT_RECALL_H
#define TAYLOR_TRAINER_TEXT_RECALL_H
#include "trainer/text/Sampler.h"
#include "trainer/text/Validation.h"

namespace taylor::trainer {

/// Multi-query associative recall (Arora et al., "Zoology: Measuring and Improving Recall in Efficient
/// Language Models", 2023): `pairs` different keys, each with a value after it; then random tokens, and
/// among them at random places every key once more, where its value is to be said. Nothing else is learned.
/// What recalls all pairs has kept all pairs, so the task weighs the state of an attention. Keys are the
/// first half of `symbols` tokens, values the second; the vocabulary's three special pieces in front are left
/// out.
class RecallTask {
public:
  /// Throws Error where `context` has no room for the pairs and the questions, `symbols` for the keys or
  /// `vocabulary` for the symbols.
  RecallTask(int64_t vocabulary, int64_t symbols, int64_t context, int64_t pairs);
  int64_t length() const { return context; }
  int64_t questions() const { return pairs; }
  /// The sequence of that key; room for length() tokens each. A target that is not learned is -100.
  void draw(uint64_t key, int64_t *inputs, int64_t *targets) const;

private:
  int64_t symbols, context, pairs;
};

/// A new sequence of the task each time.
class RecallSampler : public Sampler {
public:
  RecallSampler(RecallTask task, int64_t batch, int64_t seed);
  int64_t length() const override { return task.length(); }
  void sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const override;
  void documents(int64_t step, int64_t i, int32_t *numbers) const override; // all 0
  using Sampler::counted;
  int64_t counted(int64_t step, int64_t begin, int64_t end) const override {
    return (end - begin) * task.questions();
  }

private:
  RecallTask task;
  uint64_t seed;
};

/// Sequences that no sampler gives, the same for all seeds.
class RecallValidation : public ValidationSequences {
public:
  RecallValidation(RecallTask task, int64_t count) : task(task), sequences(count) {}
  int64_t count() const override { return sequences; }
  int64_t length() const override { return task.length(); }
  void get(int64_t i, int64_t *inputs, int64_t *targets, int32_t *numbers) const override;

private:
  RecallTask task;
  int64_t sequences;
};

} // namespace taylor::trainer
#endif
