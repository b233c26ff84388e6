// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Gpus.h"
#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace taylor::trainer {

const std::vector<Gpu> &knownGpus() {
  static const std::vector<Gpu> gpus = {
      {"GB200", 186e9, 2500e12, 80e12},     {"B200", 180e9, 2250e12, 75e12},
      {"GH200", 96e9, 989e12, 67e12},       {"H200", 141e9, 989e12, 67e12},
      {"H100", 80e9, 989e12, 67e12},        {"L40S", 48e9, 362e12, 91.6e12},
      {"A100 40GB", 40e9, 312e12, 19.5e12}, {"A100", 80e9, 312e12, 19.5e12},
      {"A40", 48e9, 150e12, 37.4e12},       {"A10", 24e9, 125e12, 31.2e12},
      {"RTX 4090", 24e9, 165e12, 82.6e12},  {"RTX 3090", 24e9, 71e12, 35.6e12}};
  return gpus;
}

/// In capital letters.
static std::set<std::string> wordsOf(const std::string &name) {
  std::set<std::string> words;
  std::string word;
  for (unsigned char c : name + " ") {
    if (std::isalnum(c))
      word += char(std::toupper(c));
    else if (!word.empty())
      words.insert(std::exchange(word, {}));
  }
  return words;
}

const Gpu *findGpu(const std::string &name) {
  std::set<std::string> given = wordsOf(name);
  for (const Gpu &gpu : knownGpus())
    if (std::ranges::includes(given, wordsOf(gpu.name)))
      return &gpu;
  for (const Gpu &gpu : knownGpus())
    if (!given.empty() && std::ranges::includes(wordsOf(gpu.name), given))
      return &gpu;
  return nullptr;
}

} // namespace taylor::trainer
