// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What GPUs can do, from their vendor's data sheets.
#ifndef TAYLOR_TRAINER_MODEL_GPUS_H
#define TAYLOR_TRAINER_MODEL_GPUS_H
#include <string>
#include <vector>

namespace taylor::trainer {

struct Gpu {
  std::string name;  // part of what the driver calls it, "H100"
  double memory;     // bytes
  double bf16, fp32; // operations per second: dense products of bf16 on tensor cores; fp32, not tf32
};

// Newest first. SXM variants where there are several.
const std::vector<Gpu> &knownGpus();

// The first whose name occurs in `name`, in capital letters or small ones; null if none does.
const Gpu *findGpu(const std::string &name);

} // namespace taylor::trainer
#endif
