// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices of a compilation that targets see (Choices.td): `stringifyStorageType` and `symbolizeStorageType`,
// and so for each.
#ifndef TAYLOR_CODEGEN_TARGETS_CHOICES_H
#define TAYLOR_CODEGEN_TARGETS_CHOICES_H
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>

#include "codegen/Targets/Choices.h.inc"

namespace taylor {

/// bf16 or f16.
inline bool isNarrow(StorageType type) { return type == StorageType::BF16 || type == StorageType::F16; }
/// "unsupported target 'NAME'; expected a, b or c", the names that are known.
std::string unsupportedTarget(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

/// Of an element.
inline int64_t bytesOf(StorageType type) { return isNarrow(type) ? 2 : type == StorageType::F64 ? 8 : 4; }

} // namespace taylor

#endif
