// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_SHA256_H
#define TAYLOR_TRAINER_SUPPORT_SHA256_H
#include <string>
#include <string_view>

namespace taylor::trainer {

// SHA-256 (FIPS 180-4) in hexadecimal, as sha256sum prints it.
std::string sha256(std::string_view bytes);

} // namespace taylor::trainer
#endif
