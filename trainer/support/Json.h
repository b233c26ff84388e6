// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For source files alone: the JSON library is all in its header.
#ifndef TAYLOR_TRAINER_SUPPORT_JSON_H
#define TAYLOR_TRAINER_SUPPORT_JSON_H
#include <nlohmann/json.hpp>
#include <string_view>

namespace taylor::trainer {

/// No file of ours nests deeper, and functions of the library that copy, compare and print recurse.
constexpr int kDeepestJson = 64;

/// Whether the bytes can be handed to the library: no mark of byte order at their head and no NUL, which it
/// takes for the end of its input and for nothing, and no arrays and objects within more than deepestJson
/// others. Linear in the bytes.
bool isPlainJson(std::string_view bytes);

/// The value that the bytes are, or a discarded one (is_discarded(), and so neither an object nor anything
/// else) where they are no JSON or not plain.
template <typename Json = nlohmann::json> Json parseJson(std::string_view bytes) {
  return isPlainJson(bytes) ? Json::parse(bytes, nullptr, /*allow_exceptions=*/false)
                            : Json(nlohmann::detail::value_t::discarded);
}

} // namespace taylor::trainer
#endif
