// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For source files of commands alone: CLI11 is all in its header.
#ifndef TAYLOR_TRAINER_SUPPORT_NUMBERS_H
#define TAYLOR_TRAINER_SUPPORT_NUMBERS_H
#include "trainer/support/Error.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>

namespace taylor::trainer {

/// Refuses what is no whole number of 64 bits: CLI11 takes the largest one for all that lie beyond it.
inline const CLI::Validator kWholeNumber(
    [](std::string &given) {
      int64_t value;
      auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
      bool sound = error == std::errc() && end == given.data() + given.size();
      return sound ? std::string() : text("expected a whole number of 64 bits, but got '", given, "'");
    },
    "");

} // namespace taylor::trainer
#endif
