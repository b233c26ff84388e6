// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_ERROR_H
#define TAYLOR_TRAINER_SUPPORT_ERROR_H
#include "runtime/Error.h"
#include <string>

namespace taylor::trainer {

/// What the user can mend: a bad file, setting or specification. Its text is the whole message; the program
/// prints it and exits with 1. Opens as everywhere in Taylor: "expected X, but got Y", "requires X",
/// "unsupported X". The runtime throws the same.
using runtime::Error;
using runtime::fail;

/// Joins the parts as a stream would: text("T = ", 64). (The standard library of GCC 12 has no <format>.)
template <typename... Parts> std::string text(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

} // namespace taylor::trainer
#endif
