// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TEXT_VALIDATION_H
#define TAYLOR_TRAINER_TEXT_VALIDATION_H
#include "trainer/text/Tokens.h"

namespace taylor::trainer {

/// What an evaluation reads, the same each time.
class ValidationSequences {
public:
  virtual ~ValidationSequences() = default;
  virtual int64_t count() const = 0;
  /// Positions of a sequence.
  virtual int64_t length() const = 0;
  /// Room for length() each. A target of -100 does not count. `numbers` as in Sampler::documents; may be
  /// null.
  virtual void get(int64_t i, int64_t *inputs, int64_t *targets, int32_t *numbers) const = 0;
};

/// Sequences of the validation text, spread evenly over it. Targets after a short document do not count.
class ValidationText : public ValidationSequences {
public:
  /// Cut as the training text is: from the stream of documents, context + 1 tokens each (`byDocument` false),
  /// or from the beginning of a document, `context` tokens without </s>, as DocumentSampler's. Up to `wanted`
  /// sequences; 0: all there are. `end` is </s>. Throws Error if there is not one; `wayOut` says how there
  /// would be more text.
  ValidationText(const Tokens &tokens, int64_t context, int64_t wanted, bool byDocument, int64_t end,
                 const std::string &wayOut);

  int64_t count() const override { return int64_t(sequences.size()); }
  int64_t length() const override { return byDocument ? context - 1 : context; }
  void get(int64_t i, int64_t *inputs, int64_t *targets, int32_t *numbers) const override;

private:
  const Tokens &tokens;
  int64_t context;
  bool byDocument;
  int64_t end;
  std::vector<int64_t> sequences; // first tokens, or numbers of documents
};

/// The number of each token's document for `count` tokens from `begin` on, ascending from 0.
void numberDocuments(const Tokens &tokens, int64_t begin, int64_t count, int32_t *numbers);

} // namespace taylor::trainer
#endif
