// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every part of the runtime throws; the C interface turns it into taylor_last_error().
#ifndef TAYLOR_RUNTIME_ERROR_H
#define TAYLOR_RUNTIME_ERROR_H
#include <sstream>
#include <stdexcept>

namespace taylor::runtime {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What taylorc refuses on purpose (TAYLOR_REFUSED), with its message.
struct Refused : Error {
  using Error::Error;
};

/// Throws an Error of the given pieces, streamed one after the other.
template <typename... Pieces> [[noreturn]] void fail(const Pieces &...pieces) {
  std::ostringstream text;
  (text << ... << pieces);
  throw Error(text.str());
}

} // namespace taylor::runtime

#endif
