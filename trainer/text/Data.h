// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Documents to tokens, once, and tokens to training sequences.
#ifndef TAYLOR_TRAINER_TEXT_DATA_H
#define TAYLOR_TRAINER_TEXT_DATA_H
#include "trainer/config/Config.h"
#include "trainer/support/Files.h"
#include "trainer/text/Tokenizer.h"
#include <memory>
#include <span>

namespace taylor::trainer {

// One split, mapped from disk: the tokens of all documents one after another, each document <s> ... </s>.
class TokenFile {
public:
  TokenFile() = default;
  // Reads NAME.tokens (uint16, native order) and NAME.documents (uint64: where each document begins, then the
  // end) in the folder. Throws Error if they do not fit each other.
  TokenFile(const std::filesystem::path &folder, const std::string &name);

  std::span<const uint16_t> tokens() const {
    return {reinterpret_cast<const uint16_t *>(tokenFile.data()), tokenFile.size() / 2};
  }
  int64_t size() const { return tokenFile.size() / 2; }
  int64_t documents() const { return documentFile.size() / 8 - 1; }
  std::span<const uint16_t> document(int64_t i) const;

private:
  MappedFile tokenFile, documentFile;
};

struct Data {
  std::string title;
  std::unique_ptr<Tokenizer> tokenizer;
  TokenFile training, validation;
};

// Finds the text, trains or loads the tokenizer and tokenizes, or takes all that from the cache, where an
// entry stands under a hash of the files' names, sizes and times and of the settings. A damaged entry is made
// again. Throws Error.
Data prepareData(const DataConfig &config, int64_t threads);

// Gives sequence i of the batch of a step as a function of (seed, step, i) alone: nothing to save for a
// resumed run, nothing shared between processes. `inputs` and `targets` have room for `context` tokens; a
// target of -100 is not learned (a sampler that pads needs it).
class Sampler {
public:
  virtual ~Sampler() = default;
  virtual void sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const = 0;
};

// Sequences of context + 1 tokens cut from the stream of documents without regard to their borders. Each pass
// over the text visits every sequence once, in an order and from a first token that depend on seed and pass.
class PackedSampler : public Sampler {
public:
  // Throws Error if the text is shorter than one sequence.
  PackedSampler(const TokenFile &tokens, int64_t context, int64_t batch, int64_t seed);
  void sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const override;
  int64_t sequences() const { return count; } // in one pass

private:
  const TokenFile &file;
  int64_t context, batch;
  uint64_t seed;
  int64_t count;
};

// Where the sequences of an evaluation begin: up to `wanted` (0: all that fit) of context + 1 tokens, spread
// evenly.
std::vector<int64_t> evaluationStarts(const TokenFile &tokens, int64_t context, int64_t wanted);

// A permutation of [0, count) chosen by key: where element i goes.
int64_t permute(int64_t i, int64_t count, uint64_t key);

} // namespace taylor::trainer
#endif
