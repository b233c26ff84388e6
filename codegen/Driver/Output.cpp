// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Output.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// A device or a pipe (/dev/null, /dev/stdout): it is written to, never replaced.
static bool isSpecial(StringRef path) {
  sys::fs::file_type type = sys::fs::get_file_type(path);
  return type == sys::fs::file_type::character_file || type == sys::fs::file_type::block_file ||
         type == sys::fs::file_type::fifo_file || type == sys::fs::file_type::socket_file;
}

/// The reason why the contents could not be written, or nothing.
static std::string writeTo(raw_fd_ostream &stream, const taylor::OutputFile &file) {
  stream << file.contents;
  stream.close();
  if (!stream.has_error())
    return "";
  std::string message = stream.error().message();
  stream.clear_error();
  return "requires room for '" + file.path + "': " + message;
}

std::string taylor::writeFiles(const std::vector<OutputFile> &files) {
  std::vector<std::string> temporaries;
  scope_exit discard([&] {
    for (const std::string &path : temporaries) {
      if (path.empty())
        continue;
      sys::fs::remove(path);
      sys::DontRemoveFileOnSignal(path);
    }
  });
  for (const OutputFile &file : files) {
    if (sys::fs::is_directory(file.path))
      return "expected the name of a file, but got the folder '" + file.path + "'";
    if (isSpecial(file.path)) {
      temporaries.push_back("");
      continue;
    }
    SmallString<128> path;
    int descriptor;
    unsigned mode = sys::fs::all_read | sys::fs::owner_write | (file.isProgram ? sys::fs::all_exe : 0);
    if (std::error_code error =
            sys::fs::createUniqueFile(file.path + ".tmp-%%%%%%%%", descriptor, path, sys::fs::OF_None, mode))
      return "requires a folder that can be written for '" + file.path + "': " + error.message();
    temporaries.push_back(path.str().str());
    sys::RemoveFileOnSignal(path);
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    if (std::string message = writeTo(stream, file); !message.empty())
      return message;
  }
  for (auto [temporary, file] : zip(temporaries, files)) {
    if (!temporary.empty()) {
      if (std::error_code error = sys::fs::rename(temporary, file.path))
        return "requires a folder that can be written for '" + file.path + "': " + error.message();
      continue;
    }
    std::error_code error;
    raw_fd_ostream stream(file.path, error, sys::fs::CD_OpenExisting, sys::fs::FA_Write, sys::fs::OF_None);
    if (error)
      return "requires permission to write '" + file.path + "': " + error.message();
    if (std::string message = writeTo(stream, file); !message.empty())
      return message;
  }
  return "";
}
