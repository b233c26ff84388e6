// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Sampler.h"
#include "trainer/support/Error.h"
#include "trainer/support/Random.h"
#include "trainer/text/Validation.h"

namespace taylor::trainer {

PackedSampler::PackedSampler(const Tokens &tokens, int64_t context, int64_t batch, int64_t seed)
    : Sampler(batch), tokens(tokens), context(context), seed(seed) {
  if (tokens.size() < context + 1)
    fail("requires at least train.context + 1 = ", context + 1, " tokens of training text, but there are ",
         tokens.size(), "; lower train.context or give more text");
  // The first token moves by up to context - 1 from pass to pass where there is room, so that borders move
  // too.
  count = std::max<int64_t>(1, (tokens.size() - context) / context);
}

int64_t PackedSampler::position(int64_t step, int64_t i) const {
  int64_t number = step * batch + i, pass = number / count;
  uint64_t key = mix(mix(seed) ^ uint64_t(pass));
  int64_t room = tokens.size() - (count * context + 1);
  int64_t first = mix(key) % uint64_t(std::min(room, context - 1) + 1);
  return first + permute(number % count, count, key) * context;
}

void PackedSampler::sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const {
  int64_t begin = position(step, i);
  tokens.copy(begin, context, inputs);
  tokens.copy(begin + 1, context, targets);
}

void PackedSampler::documents(int64_t step, int64_t i, int32_t *numbers) const {
  numberDocuments(tokens, position(step, i), context, numbers);
}

DocumentSampler::DocumentSampler(const Tokens &tokens, int64_t context, int64_t batch, int64_t groups,
                                 int64_t seed, int64_t end)
    : Sampler(batch), tokens(tokens), context(context), groupSize(batch / std::max<int64_t>(groups, 1)),
      seed(seed), end(end) {
  if (groups < 1 || batch % groups != 0)
    fail("requires groups of equal size, but a batch of ", batch, " cannot be cut into ", groups);
  if (context < 2)
    fail("requires train.context of at least 2, an input and a target, but got ", context);
  if (tokens.documents() < 1)
    fail("requires at least one document to train on, but there is none");
}

std::span<const uint16_t> DocumentSampler::draw(int64_t step, int64_t i) const {
  uint64_t key = mix(mix(mix(seed) ^ uint64_t(step)) ^ uint64_t(i));
  int64_t number = int64_t((unsigned __int128)(key)*uint64_t(tokens.documents()) >> 64);
  std::span<const uint16_t> document = tokens.document(number);
  if (!document.empty() && document.back() == end)
    document = document.first(document.size() - 1);
  return document.first(std::min<size_t>(document.size(), context));
}

DocumentSampler::Lengths DocumentSampler::lengths(int64_t step, int64_t group) const {
  Lengths found{0, context};
  for (int64_t i = group * groupSize; i < (group + 1) * groupSize; ++i) {
    int64_t length = draw(step, i).size();
    found = {std::max(found.longest, length), std::min(found.shortest, length)};
  }
  return found;
}

// The group's tensors have `longest - 1` positions: every input is real where no document is shorter than
// that.
int64_t DocumentSampler::counted(int64_t i, int64_t length, Lengths group) const {
  int64_t positions = std::max<int64_t>(group.longest - 1, 0);
  bool dropped = i % groupSize == 0 && group.shortest >= positions && positions > 0;
  return std::min(length, positions) - dropped;
}

void DocumentSampler::sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const {
  std::span<const uint16_t> document = draw(step, i);
  tokens.check(document);
  auto token = [&](int64_t t) { return t < int64_t(document.size()) ? document[t] : end; };
  int64_t learned = counted(i, document.size(), lengths(step, i / groupSize));
  for (int64_t t = 0; t < context - 1; ++t) {
    inputs[t] = token(t);
    targets[t] = t < learned ? token(t + 1) : -100;
  }
}

void DocumentSampler::documents(int64_t step, int64_t i, int32_t *numbers) const {
  std::fill_n(numbers, context - 1, 0);
}

int64_t DocumentSampler::counted(int64_t step, int64_t first, int64_t last) const {
  int64_t sum = 0;
  Lengths group{};
  for (int64_t i = first; i < last; ++i) {
    if (i == first || i % groupSize == 0)
      group = lengths(step, i / groupSize);
    sum += counted(i, draw(step, i).size(), group);
  }
  return sum;
}

double DocumentSampler::weight(int64_t step, int64_t i) const {
  int64_t first = i / groupSize * groupSize, groups = batch / groupSize;
  return 1.0 / (double(groups) * std::max<int64_t>(counted(step, first, first + groupSize), 1));
}

} // namespace taylor::trainer
