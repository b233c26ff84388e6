// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_GENERATION_SAMPLING_H
#define TAYLOR_TRAINER_GENERATION_SAMPLING_H
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <cstdint>

namespace taylor::trainer {

struct SamplingOptions {
  double temperature = 0.8; // 0: always the likeliest token
  int64_t topK = 0;         // 0: all
  double topP = 1.0;
};

/// One token from logits [V], divided by the temperature: those not among the topK largest, and of these
/// those after the smallest set of likeliest ones that holds topP of their probability, are left out.
int64_t sampleToken(const at::Tensor &logits, const SamplingOptions &options, at::Generator generator);

} // namespace taylor::trainer
#endif
