// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For source files alone: toml++ is all in its header.
#ifndef TAYLOR_TRAINER_CONFIG_TOML_H
#define TAYLOR_TRAINER_CONFIG_TOML_H
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include <string>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace taylor::trainer {

/// "FILE:LINE:COLUMN: ", before what is wrong there.
inline std::string place(const std::string &file, const toml::source_region &source) {
  return text(file, ":", source.begin.line, ":", source.begin.column, ": ");
}

/// Throws Error where a name has more parts than any of ours, of which each becomes a table in the one
/// before: the library goes through them by recursion.
void requireShallowToml(const std::string &contents, const std::string &file);

/// Throws Error where the file is no TOML.
inline toml::table parseToml(const std::string &file) {
  std::string contents = readFile(file);
  requireShallowToml(contents, file);
  try {
    return toml::parse(contents, file);
  } catch (const toml::parse_error &error) {
    fail(place(file, error.source()), "expected TOML, but got an error: ", error.description());
  }
}

} // namespace taylor::trainer
#endif
