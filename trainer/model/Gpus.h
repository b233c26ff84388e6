// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What GPUs can do, from their vendor's data sheets.
#ifndef TAYLOR_TRAINER_MODEL_GPUS_H
#define TAYLOR_TRAINER_MODEL_GPUS_H
#include <string>
#include <vector>

namespace taylor::trainer {

struct Gpu {
  std::string name;  // words of what the driver calls it, "H100"
  double memory;     // bytes
  double bf16, fp32; // operations per second: dense products of bf16 on tensor cores; fp32, not tf32
};

/// Newest first, and before a name those that have it among their words. SXM variants where there are
/// several.
const std::vector<Gpu> &knownGpus();

/// The first all of whose words are in `name`, as the driver spells it ("NVIDIA A100-SXM4-40GB"), else the
/// first that has all words of `name` ("4090"); in capital letters or small ones. Null if there is none: "RTX
/// A4000" is no A40.
const Gpu *findGpu(const std::string &name);

} // namespace taylor::trainer
#endif
