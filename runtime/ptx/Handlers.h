// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The families of instructions; each returns null for what is not in its family or for types that it lacks.
#ifndef TAYLOR_RUNTIME_PTX_HANDLERS_H
#define TAYLOR_RUNTIME_PTX_HANDLERS_H
#include "runtime/ptx/Warp.h"
#include <algorithm>

namespace taylor::runtime::ptx {

Handler integerHandler(const Instruction &);
Handler floatHandler(const Instruction &);
Handler compareHandler(const Instruction &);
Handler convertHandler(const Instruction &);
Handler memoryHandler(const Instruction &);
Handler copyHandler(const Instruction &);
Handler matrixHandler(const Instruction &);
Handler collectiveHandler(const Instruction &);
Handler productHandler(const Instruction &);
Handler mbarrierHandler(const Instruction &);
Handler bulkHandler(const Instruction &);

/// f(Tag<T>()) for the integer type that a PTX type names; null for floats.
template <typename F> Handler byInteger(Type t, F f) {
  switch (t) {
  case Type::U8:
    return f(Tag<uint8_t>());
  case Type::U16:
    return f(Tag<uint16_t>());
  case Type::U32:
    return f(Tag<uint32_t>());
  case Type::U64:
    return f(Tag<uint64_t>());
  case Type::S8:
    return f(Tag<int8_t>());
  case Type::S16:
    return f(Tag<int16_t>());
  case Type::S32:
    return f(Tag<int32_t>());
  case Type::S64:
    return f(Tag<int64_t>());
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx

#endif
