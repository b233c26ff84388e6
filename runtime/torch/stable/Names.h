// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dtypes in messages, as Python names them: what reads these messages calls us from there.
#ifndef TAYLOR_RUNTIME_TORCH_STABLE_NAMES_H
#define TAYLOR_RUNTIME_TORCH_STABLE_NAMES_H
#include <algorithm>
#include <cctype>
#include <string>
#include <torch/headeronly/core/ScalarType.h>

namespace taylor {

/// torch.bfloat16.
inline std::string pythonName(torch::headeronly::ScalarType dtype) {
  using enum torch::headeronly::ScalarType;
  switch (dtype) {
  case Byte:
    return "torch.uint8";
  case Char:
    return "torch.int8";
  case Short:
    return "torch.int16";
  case Int:
    return "torch.int32";
  case Long:
    return "torch.int64";
  case Half:
    return "torch.float16";
  case Float:
    return "torch.float32";
  case Double:
    return "torch.float64";
  case ComplexHalf:
    return "torch.complex32";
  case ComplexFloat:
    return "torch.complex64";
  case ComplexDouble:
    return "torch.complex128";
  default: // Python writes the name in small letters: Bool, BFloat16, UInt16, Float8_e4m3fn.
    std::string name = torch::headeronly::toString(dtype);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return char(std::tolower(letter)); });
    return "torch." + name;
  }
}

inline std::string pythonConversion(const std::string &name, torch::headeronly::ScalarType dtype) {
  return "; convert it: " + name + ".to(" + pythonName(dtype) + ")";
}

} // namespace taylor

#endif
