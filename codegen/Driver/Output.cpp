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

/// Why no file can be made there, and what to do.
static std::string describeUnwritable(StringRef path, std::error_code error) {
  SmallString<128> folder(sys::path::parent_path(path));
  std::string message =
      ("requires a folder that can be written for '" + path + "': " + error.message()).str();
  if (!folder.empty() && !sys::fs::exists(folder))
    return message + "; make it with mkdir -p '" + folder.str().str() + "', or name another file";
  return message + "; name a file in another folder";
}

/// A new file next to `path`, whose name goes to `temporary`; a message where there can be none.
static std::string createTemporary(const std::string &path, unsigned mode, int &descriptor,
                                   SmallString<128> &temporary) {
  if (sys::fs::is_directory(path))
    return "expected the name of a file, but got the folder '" + path + "'";
  std::error_code error =
      sys::fs::createUniqueFile(path + ".tmp-%%%%%%%%", descriptor, temporary, sys::fs::OF_None, mode);
  return error ? describeUnwritable(path, error) : "";
}

std::string taylor::checkOutputs(const std::vector<std::string> &paths) {
  for (const std::string &path : paths) {
    if (isSpecial(path))
      continue;
    SmallString<128> temporary;
    int descriptor;
    if (std::string message = createTemporary(path, sys::fs::owner_write, descriptor, temporary);
        !message.empty())
      return message;
    raw_fd_ostream(descriptor, /*shouldClose=*/true).close();
    sys::fs::remove(temporary);
  }
  return "";
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
    if (isSpecial(file.path)) {
      temporaries.push_back("");
      continue;
    }
    SmallString<128> path;
    int descriptor;
    unsigned mode = sys::fs::all_read | sys::fs::owner_write | (file.isProgram ? sys::fs::all_exe : 0);
    if (std::string message = createTemporary(file.path, mode, descriptor, path); !message.empty())
      return message;
    temporaries.push_back(path.str().str());
    sys::RemoveFileOnSignal(path);
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    if (std::string message = writeTo(stream, file); !message.empty())
      return message;
  }
  for (auto [temporary, file] : zip(temporaries, files)) {
    if (!temporary.empty()) {
      if (std::error_code error = sys::fs::rename(temporary, file.path))
        return describeUnwritable(file.path, error);
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
