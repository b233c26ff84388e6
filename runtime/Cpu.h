// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this machine's processor can do, in LLVM's words.
#ifndef TAYLOR_RUNTIME_CPU_H
#define TAYLOR_RUNTIME_CPU_H
#include <string>
#include <vector>

namespace taylor::runtime {

/// The first of these LLVM feature names ("avx512bf16", a leading '+' is ignored) that this machine lacks or
/// that is unknown; "" where it has all.
std::string missingFeature(const std::vector<std::string> &features);

/// The same against a given list of Linux flags, separated by spaces (the "flags" line of /proc/cpuinfo).
std::string missingFeature(const std::vector<std::string> &features, const std::string &flags);

/// Why the system keeps this process from running code with these features, which the processor has; "" where
/// it does not. Registers of the matrix unit ("amx-tile") are a process's on request alone: the first call
/// asks (arch_prctl with ARCH_REQ_XCOMP_PERM, Linux 5.16), for all threads.
std::string deniedFeature(const std::vector<std::string> &features);

/// The "flags" line of /proc/cpuinfo (x86) or "Features" (Arm): what processor and operating system support.
const std::string &cpuFlags();

/// The processor's name for messages: "Intel(R) Xeon(R) Processor".
const std::string &cpuName();

/// The "vendor_id" line of /proc/cpuinfo: "GenuineIntel", "AuthenticAMD"; "" where there is none (Arm).
const std::string &cpuVendor();

/// Processors that this process may use (its affinity mask).
int cpuCount();

} // namespace taylor::runtime

#endif
