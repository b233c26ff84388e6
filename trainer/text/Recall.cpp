// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Recall.h"
#include "trainer/config/Config.h"
#include "trainer/support/Error.h"
#include "trainer/support/Random.h"
#include <algorithm>

namespace taylor::trainer {

constexpr int64_t kSpecial = 3; // <unk>, <s>, </s>
constexpr uint64_t kValidationSeed = 0x7265636174617374;

RecallTask::RecallTask(int64_t vocabulary, int64_t symbols, int64_t context, int64_t pairs)
    : symbols(symbols), context(context), pairs(pairs) {
  if (symbols < 2 || symbols > vocabulary - kSpecial)
    fail("expected data.symbols from 2 to ", vocabulary - kSpecial, ", as the vocabulary has, but got ",
         symbols);
  requireRoomForPairs(pairs, symbols, context);
}

void RecallTask::draw(uint64_t key, int64_t *inputs, int64_t *targets) const {
  int64_t keys = symbols / 2, behind = 2 * pairs, rest = context - behind;
  uint64_t keyOrder = mix(key ^ 1), places = mix(key ^ 2), values = mix(key ^ 3), others = mix(key ^ 4);
  auto below = [](uint64_t random, int64_t count) { return int64_t(random % uint64_t(count)); };
  std::fill_n(targets, context, -100);
  for (int64_t t = behind; t < context; ++t)
    inputs[t] = kSpecial + below(mix(others + t), symbols);
  for (int64_t i = 0; i < pairs; ++i) {
    int64_t asked = kSpecial + permute(i, keys, keyOrder);
    int64_t value = kSpecial + keys + below(mix(values + i), symbols - keys);
    inputs[2 * i] = asked;
    inputs[2 * i + 1] = value;
    int64_t question = behind + permute(i, rest, places);
    inputs[question] = asked;
    targets[question] = value;
  }
}

RecallSampler::RecallSampler(RecallTask task, int64_t batch, int64_t seed)
    : Sampler(batch), task(task), seed(seed) {}

void RecallSampler::sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const {
  task.draw(mix(mix(mix(seed) ^ uint64_t(step)) ^ uint64_t(i)), inputs, targets);
}

void RecallSampler::documents(int64_t step, int64_t i, int32_t *numbers) const {
  std::fill_n(numbers, task.length(), 0);
}

void RecallValidation::get(int64_t i, int64_t *inputs, int64_t *targets, int32_t *numbers) const {
  task.draw(mix(kValidationSeed ^ uint64_t(i)), inputs, targets);
  if (numbers)
    std::fill_n(numbers, length(), 0);
}

} // namespace taylor::trainer
