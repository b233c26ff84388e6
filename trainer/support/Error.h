// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_ERROR_H
#define TAYLOR_TRAINER_SUPPORT_ERROR_H
#include <sstream>
#include <stdexcept>
#include <string>

namespace taylor::trainer {

/// What the user can mend: a bad file, setting or specification. Its text is the whole message; the program
/// prints it and exits with 1. Opens as everywhere in Taylor: "expected X, but got Y", "requires X",
/// "unsupported X".
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Joins the parts as a stream would: text("T = ", 64). (The standard library of GCC 12 has no <format>.)
template <typename... Parts> std::string text(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) { throw Error(text(parts...)); }

} // namespace taylor::trainer
#endif
