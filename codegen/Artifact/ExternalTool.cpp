// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Artifact/ExternalTool.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

using namespace taylor;
using llvm::SmallVector;
using llvm::StringRef;

std::optional<ToolRun> taylor::runTool(StringRef program, llvm::ArrayRef<StringRef> options, StringRef input,
                                       StringRef suffix, std::string &error) {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(program);
  if (!found) {
    error = ("requires the program '" + program + "': " + found.getError().message()).str();
    return std::nullopt;
  }
  SmallVector<llvm::SmallString<128>, 3> paths(3);
  StringRef suffixes[] = {suffix, "out", "log"};
  llvm::scope_exit clean([&] {
    for (StringRef path : paths)
      if (!path.empty()) {
        llvm::sys::fs::remove(path);
        llvm::sys::DontRemoveFileOnSignal(path);
      }
  });
  for (auto [path, ending] : llvm::zip(paths, suffixes)) {
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("taylor", ending, path)) {
      error = "requires a folder for temporary files (TMPDIR): " + code.message();
      return std::nullopt;
    }
    llvm::sys::RemoveFileOnSignal(path);
  }
  if (llvm::Error failed = llvm::writeToOutput(paths[0], [&](llvm::raw_ostream &stream) {
        stream << input;
        return llvm::Error::success();
      })) {
    error = llvm::toString(std::move(failed));
    return std::nullopt;
  }
  SmallVector<StringRef> arguments = {program};
  arguments.append(options.begin(), options.end());
  arguments.append({paths[0], "-o", paths[1]});
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(paths[2]), StringRef(paths[2])};
  ToolRun run;
  int status = llvm::sys::ExecuteAndWait(*found, arguments, std::nullopt, redirects, 0, 0, &run.failure);
  if (auto log = llvm::MemoryBuffer::getFile(paths[2]))
    run.log = (*log)->getBuffer().str();
  if (status != 0) {
    StringRef said = StringRef(run.log).trim();
    if (run.failure.empty())
      run.failure = said.empty() ? "exit status " + std::to_string(status) : said.str();
    return run;
  }
  auto output = llvm::MemoryBuffer::getFile(paths[1], /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!output) {
    error = (program + " wrote no file: " + output.getError().message()).str();
    return std::nullopt;
  }
  run.output = (*output)->getBuffer().str();
  return run;
}
