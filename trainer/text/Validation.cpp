// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Validation.h"
#include "trainer/support/Error.h"

namespace taylor::trainer {

/// Up to `wanted` of `fit`, spread evenly.
static std::vector<int64_t> spread(int64_t fit, int64_t wanted) {
  int64_t count = wanted == 0 ? fit : std::min(wanted, fit);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i)
    places.push_back(i * fit / count);
  return places;
}

ValidationText::ValidationText(const Tokens &tokens, int64_t context, int64_t wanted, bool byDocument,
                               int64_t end, const std::string &wayOut)
    : tokens(tokens), context(context), byDocument(byDocument), end(end) {
  if (byDocument) {
    std::vector<int64_t> usable; // those with a token to predict
    for (int64_t i = 0; i < tokens.documents(); ++i) {
      std::span<const uint16_t> document = tokens.document(i);
      if (document.size() > 2 || (document.size() == 2 && document[1] != end))
        usable.push_back(i);
    }
    if (usable.empty())
      fail("requires a validation document of two tokens or more, but there is none; ", wayOut);
    for (int64_t place : spread(usable.size(), wanted))
      sequences.push_back(usable[place]);
    return;
  }
  int64_t fit = (tokens.size() - 1) / context;
  if (fit < 1)
    fail("requires at least train.context + 1 = ", context + 1, " tokens of validation text, but there are ",
         tokens.size(), "; lower train.context, or ", wayOut);
  for (int64_t place : spread(fit, wanted))
    sequences.push_back(place * context);
}

void ValidationText::get(int64_t i, int64_t *inputs, int64_t *targets, int32_t *numbers) const {
  if (!byDocument) {
    tokens.copy(sequences[i], context, inputs);
    tokens.copy(sequences[i] + 1, context, targets);
    if (numbers)
      numberDocuments(tokens, sequences[i], context, numbers);
    return;
  }
  std::span<const uint16_t> document = tokens.document(sequences[i]);
  if (document.back() == end)
    document = document.first(document.size() - 1);
  tokens.check(document.first(std::min<size_t>(document.size(), context)));
  for (int64_t t = 0; t < length(); ++t) {
    inputs[t] = t < int64_t(document.size()) ? document[t] : end;
    targets[t] = t + 1 < int64_t(document.size()) ? document[t + 1] : -100;
    if (numbers)
      numbers[t] = 0;
  }
}

void numberDocuments(const Tokens &tokens, int64_t begin, int64_t count, int32_t *numbers) {
  int64_t next = tokens.documentAt(begin).next;
  int32_t number = 0;
  for (int64_t t = 0; t < count; ++t) {
    if (begin + t >= next) {
      next = tokens.documentAt(begin + t).next;
      ++number;
    }
    numbers[t] = number;
  }
}

} // namespace taylor::trainer
