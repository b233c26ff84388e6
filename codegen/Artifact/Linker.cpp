// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Artifact/Linker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <unistd.h>

using namespace taylor;
using llvm::SmallVector;
using llvm::StringRef;

/// Any linker does, since objects need nothing of libraries.
static SmallVector<std::string> findLinkers() {
  SmallVector<std::string> found;
  for (const char *name : {"ld", "ld.lld-22", "ld.lld"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      found.push_back(*path);
  return found;
}

/// This process's variables, except those by which GNU's linker makes other files.
static SmallVector<StringRef> linkerEnvironment() {
  SmallVector<StringRef> kept;
  for (char **entry = environ; *entry; ++entry) {
    StringRef name = StringRef(*entry).split('=').first;
    if (!llvm::is_contained({"LD_RUN_PATH", "LDEMULATION", "LD_OPTIONS", "GNUTARGET"}, name))
      kept.push_back(*entry);
  }
  return kept;
}

llvm::Error taylor::linkWithProgram(llvm::ArrayRef<std::string> objects, StringRef output,
                                    StringRef messages) {
  SmallVector<std::string> linkers = findLinkers();
  if (linkers.empty())
    return llvm::createStringError("requires a linker, but found neither ld nor ld.lld in PATH; install the "
                                   "package binutils or lld");
  SmallVector<StringRef> environment = linkerEnvironment();
  std::string failures;
  for (const std::string &linker : linkers) {
    SmallVector<StringRef> arguments = {
        linker, "-m",          "elf_x86_64",      "-shared", "--no-undefined-version",
        "-z",   "noexecstack", "--build-id=none", "-o",      output};
    arguments.append(objects.begin(), objects.end());
    std::optional<StringRef> redirects[] = {StringRef(""), messages, messages};
    std::string reason;
    int status = llvm::sys::ExecuteAndWait(linker, arguments, environment, redirects, 0, 0, &reason);
    if (!status)
      return llvm::Error::success();
    if (auto text = llvm::MemoryBuffer::getFile(messages))
      reason += (*text)->getBuffer().str();
    failures += (failures.empty() ? "" : "; ") +
                ("the linker " + linker + " failed (" + llvm::Twine(status) + "): " + reason).str();
  }
  return llvm::createStringError(failures);
}

llvm::Error taylor::linkSharedObject(llvm::ArrayRef<std::string> objects, StringRef output,
                                     StringRef messages) {
#ifdef TAYLOR_LLD
  return linkInProcess(objects, output);
#else
  return linkWithProgram(objects, output, messages);
#endif
}
