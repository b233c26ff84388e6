// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Output.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

std::string taylor::writeFiles(const std::vector<OutputFile> &files) {
  std::vector<std::string> temporaries;
  scope_exit discard([&] {
    for (const std::string &path : temporaries) {
      sys::fs::remove(path);
      sys::DontRemoveFileOnSignal(path);
    }
  });
  for (const OutputFile &file : files) {
    if (sys::fs::is_directory(file.path))
      return "expected the name of a file, but got the folder '" + file.path + "'";
    SmallString<128> path;
    int descriptor;
    unsigned mode = sys::fs::all_read | sys::fs::owner_write | (file.isProgram ? sys::fs::all_exe : 0);
    if (std::error_code error =
            sys::fs::createUniqueFile(file.path + ".tmp-%%%%%%%%", descriptor, path, sys::fs::OF_None, mode))
      return "requires a folder that can be written for '" + file.path + "': " + error.message();
    temporaries.push_back(path.str().str());
    sys::RemoveFileOnSignal(path);
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << file.contents;
    stream.close();
    if (stream.has_error()) {
      std::string message = stream.error().message();
      stream.clear_error();
      return "requires room for '" + file.path + "': " + message;
    }
  }
  for (auto [temporary, file] : zip(temporaries, files))
    if (std::error_code error = sys::fs::rename(temporary, file.path))
      return "requires a folder that can be written for '" + file.path + "': " + error.message();
  return "";
}
