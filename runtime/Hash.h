// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_RUNTIME_HASH_H
#define TAYLOR_RUNTIME_HASH_H
#include <string>
#include <string_view>

namespace taylor::runtime {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hexadecimal digits. Copies none of them: they may be a
/// mapped file.
std::string sha256(std::string_view bytes);

} // namespace taylor::runtime

#endif
