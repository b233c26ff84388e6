// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Gpus.h"
#include <algorithm>

namespace taylor::trainer {

const std::vector<Gpu> &knownGpus() {
  static const std::vector<Gpu> gpus = {{"B200", 180e9, 2250e12, 75e12},
                                        {"H200", 141e9, 989e12, 67e12},
                                        {"H100", 80e9, 989e12, 67e12},
                                        {"L40S", 48e9, 362e12, 91.6e12},
                                        {"A100-SXM4-40GB", 40e9, 312e12, 19.5e12},
                                        {"A100", 80e9, 312e12, 19.5e12},
                                        {"A40", 48e9, 150e12, 37.4e12},
                                        {"A10", 24e9, 125e12, 31.2e12},
                                        {"RTX 4090", 24e9, 165e12, 82.6e12},
                                        {"RTX 3090", 24e9, 71e12, 35.6e12}};
  return gpus;
}

const Gpu *findGpu(const std::string &name) {
  auto upper = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
  };
  for (const Gpu &gpu : knownGpus())
    if (upper(name).find(upper(gpu.name)) != std::string::npos)
      return &gpu;
  return nullptr;
}

} // namespace taylor::trainer
