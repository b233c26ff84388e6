// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands of taylor-bench. Each prints a table and gives its rows as JSON.
#pragma once
#include "runtime/bench/Problem.h"
#include <nlohmann/json_fwd.hpp>

namespace taylor::bench {

/// Forward, backward and both against opponents, interleaved in this process.
nlohmann::json benchAttention(const Request &request, const std::vector<std::string> &directions,
                              const std::vector<std::string> &opponents);

/// What a call through torch costs beyond the C interface: T = 1, one thread, no gradient.
nlohmann::json benchOverhead(const Request &request);

/// Time of taylorc for one specification, in a process of its own, without the kernel cache.
nlohmann::json benchCompile(const Request &request);

} // namespace taylor::bench
