// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/generation/Sampling.h"
#include <ATen/ATen.h>

namespace taylor::trainer {

int64_t sampleToken(const at::Tensor &logits, const SamplingOptions &options, at::Generator generator) {
  if (options.temperature == 0)
    return logits.argmax().item<int64_t>();
  // Relative to the largest one and in double precision, so that no temperature above 0 overflows there.
  at::Tensor relative = (logits - logits.max()).to(at::kDouble) / options.temperature;
  auto [sorted, order] = relative.sort(/*dim=*/0, /*descending=*/true);
  int64_t kept = options.topK > 0 ? std::min(options.topK, sorted.size(0)) : sorted.size(0);
  at::Tensor probabilities = sorted.narrow(0, 0, kept).softmax(0);
  if (options.topP < 1) {
    at::Tensor before = probabilities.cumsum(0) - probabilities; // the first is always kept
    probabilities = probabilities.masked_fill(before.ge(options.topP), 0);
  }
  int64_t choice = probabilities.multinomial(1, false, generator).item<int64_t>();
  return order[choice].item<int64_t>();
}

} // namespace taylor::trainer
