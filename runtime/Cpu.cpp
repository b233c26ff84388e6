// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Cpu.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sched.h>
#include <set>
#include <sstream>
#include <sys/syscall.h>
#include <unistd.h>

namespace taylor::runtime {
namespace {

/// Linux and LLVM mostly differ in punctuation only: sse4_1 and sse4.1, avx512_bf16 and avx512bf16.
std::string plain(const std::string &name) {
  std::string letters;
  for (char c : name)
    if (c != '_' && c != '-' && c != '.' && c != '+')
      letters += c;
  return letters;
}

/// LLVM's name to Linux's where more than punctuation differs.
const std::map<std::string, std::string> &aliases() {
  static const std::map<std::string, std::string> names = {{"bmi", "bmi1"},
                                                           {"64bit", "lm"},
                                                           {"crc32", "sse4_2"},
                                                           {"evex512", "avx512f"},
                                                           {"lzcnt", "abm"},
                                                           {"pclmul", "pclmulqdq"},
                                                           {"prfchw", "3dnowprefetch"},
                                                           {"rdrnd", "rdrand"},
                                                           {"sahf", "lahf_lm"},
                                                           {"sha", "sha_ni"},
                                                           {"sse3", "pni"},
                                                           {"sgx", "sgx"},
                                                           {"shstk", "user_shstk"}};
  return names;
}

/// The text after "key : " of the first such line of /proc/cpuinfo.
std::string cpuinfo(std::initializer_list<const char *> keys) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    for (const char *key : keys)
      if (size_t colon = line.find(':'); line.rfind(key, 0) == 0 && colon != std::string::npos)
        return line.substr(std::min(line.size(), colon + 2));
  return "";
}

} // namespace

const std::string &cpuFlags() {
  static const std::string flags = cpuinfo({"flags", "Features"});
  return flags;
}

const std::string &cpuName() {
  static const std::string name = [] {
    std::string model = cpuinfo({"model name"});
    return model.empty() ? std::string("this processor") : model;
  }();
  return name;
}

const std::string &cpuVendor() {
  static const std::string vendor = cpuinfo({"vendor_id"});
  return vendor;
}

int cpuCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return 1;
}

std::string missingFeature(const std::vector<std::string> &features, const std::string &flags) {
  std::set<std::string> have;
  std::istringstream words(flags);
  for (std::string word; words >> word;)
    have.insert(plain(word));
  for (const std::string &feature : features) {
    if (feature.empty() || feature[0] == '-')
      continue;
    std::string name = feature[0] == '+' ? feature.substr(1) : feature;
    auto alias = aliases().find(name);
    if (!have.count(plain(alias == aliases().end() ? name : alias->second)))
      return name;
  }
  return "";
}

std::string missingFeature(const std::vector<std::string> &features) {
  return missingFeature(features, cpuFlags());
}

std::string deniedFeature(const std::vector<std::string> &features) {
  auto isTile = [](const std::string &feature) { return plain(feature).starts_with("amx"); };
  if (std::none_of(features.begin(), features.end(), isTile))
    return "";
  static const std::string reason = [] {
    // asm/prctl.h of Linux before 5.16 has no such names.
    constexpr long requestPermission = 0x1023, tileData = 18;
    if (syscall(SYS_arch_prctl, requestPermission, tileData) == 0)
      return std::string();
    return "the system denies this process the registers of amx-tile (arch_prctl: " +
           std::string(strerror(errno)) + ")";
  }();
  return reason;
}

} // namespace taylor::runtime
