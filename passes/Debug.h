// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a pass decided, and because of what, one line a decision: `--debug-only=taylor-stabilize`.
//
// The macro is that of llvm/Support/DebugLog.h, which leaves its lines out of builds with NDEBUG. Packages of
// LLVM are such builds too, and lack the option. Here lines are in every build, and cost the test of a flag.
#ifndef TAYLOR_PASSES_DEBUG_H
#define TAYLOR_PASSES_DEBUG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace taylor {

/// Whether lines of this type are wanted.
bool isDebugged(const char *type);

/// Asks for the lines of these types, and for no others.
void setDebugTypes(llvm::ArrayRef<std::string> types);

/// One line, which is written as a whole: passes run on several functions at a time.
class DebugLine {
public:
  explicit DebugLine(const char *type);
  ~DebugLine();
  DebugLine(const DebugLine &) = delete;
  DebugLine &operator=(const DebugLine &) = delete;

  llvm::raw_ostream &getStream() { return stream; }

private:
  std::string text;
  llvm::raw_string_ostream stream{text};
};

} // namespace taylor

/// `LDBG() << "text" << value;` writes a line of the file's DEBUG_TYPE, the pass's command-line name.
#undef LDBG
#define LDBG()                                                                                               \
  for (bool isWanted = ::taylor::isDebugged(DEBUG_TYPE); isWanted; isWanted = false)                         \
  ::taylor::DebugLine(DEBUG_TYPE).getStream()

#endif
