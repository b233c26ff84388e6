// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From object files to a shared object: lld within this process, or a linker of the machine.
#ifndef TAYLOR_CODEGEN_ARTIFACT_LINKER_H
#define TAYLOR_CODEGEN_ARTIFACT_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace taylor {

/// Writes `output`, a shared object for x86-64, from files of objects that need no library. By lld in this
/// process where the build has it (TAYLOR_LLD); else by `linkWithProgram`. `messages` is a file for a
/// program's words.
llvm::Error linkSharedObject(llvm::ArrayRef<std::string> objects, llvm::StringRef output,
                             llvm::StringRef messages);

/// The same by the first linker in PATH that does not fail (it may be another machine's): ld, or ld.lld.
/// Where all fail, the error has the words of all.
llvm::Error linkWithProgram(llvm::ArrayRef<std::string> objects, llvm::StringRef output,
                            llvm::StringRef messages);

/// The same by lld in this process; only where TAYLOR_LLD is defined. Positional arguments of llvm::cl are
/// empty afterwards; other options keep what they were set to.
llvm::Error linkInProcess(llvm::ArrayRef<std::string> objects, llvm::StringRef output);

} // namespace taylor

#endif
