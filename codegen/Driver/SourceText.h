// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of a text that MLIR's parser does not survive, or says in words that no user of the language knows.
// They are found before it reads.
#ifndef TAYLOR_CODEGEN_DRIVER_SOURCETEXT_H
#define TAYLOR_CODEGEN_DRIVER_SOURCETEXT_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>
#include <string>

namespace taylor {

struct TextFault {
  unsigned line, column; // from 1
  std::string message;
};

/// What MLIR's parser does not survive: brackets that are nested too deeply, for each of which it calls
/// itself and would leave its stack, and an attribute array<index: ..>.
std::optional<TextFault> findFatalFault(llvm::StringRef text);

/// What a text of a user has: what findFatalFault finds, a mark of byte order, comments after '#', a closing
/// brace too many or too few, a number that begins with its point, the name of a type that no line before
/// defines.
std::optional<TextFault> findTextFault(llvm::StringRef text);

/// Messages of `sources` then quote at most 200 columns of a line, those around the place: a text in one line
/// would fill the terminal.
void quoteShortly(llvm::SourceMgr &sources);

/// Reports what `findTextFault` finds as an error of the context.
llvm::LogicalResult checkText(llvm::StringRef text, llvm::StringRef fileName, mlir::MLIRContext &context);

} // namespace taylor

#endif
