// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/CommandLine.h"

#include "dialect/Taylor/NearestName.h"
#include "passes/Debug.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Config/abi-breaking.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>

#if !LLVM_ENABLE_ABI_BREAKING_CHECKS
/// LLVM's own option, which builds without assertions lack.
static llvm::cl::opt<std::string> debugOnly(
    "debug-only", llvm::cl::desc("write what these passes decide, and why, to the error stream"),
    llvm::cl::value_desc("PASS,PASS"), llvm::cl::Hidden, llvm::cl::callback([](const std::string &passes) {
      llvm::SmallVector<llvm::StringRef> names;
      llvm::StringRef(passes).split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      taylor::setDebugTypes(llvm::map_to_vector(names, [](llvm::StringRef name) { return name.str(); }));
    }));
#endif

void taylor::reportFatalErrors(const char *program) {
  llvm::install_fatal_error_handler(
      [](void *program, const char *text, bool) {
        llvm::StringRef reason = text;
        // The one stream that no code of ours checks is the standard output.
        if (reason.consume_front("IO failure on output stream: "))
          fprintf(stderr, "%s: error: cannot write the standard output: %s\n",
                  static_cast<const char *>(program), reason.data());
        else
          fprintf(stderr,
                  "%s: error: LLVM stopped: %s; no specification should cause this, please report it\n",
                  static_cast<const char *>(program), reason.data());
      },
      const_cast<char *>(program));
}

void taylor::prepareCommandLine(llvm::StringRef program) {
  for (auto &option : llvm::cl::getRegisteredOptions())
    if (!option.first.starts_with("help") && option.first != "version")
      option.second->setHiddenFlag(llvm::cl::Hidden);
  llvm::cl::SetVersionPrinter(
      [line = getVersion(program)](llvm::raw_ostream &stream) { stream << line << "\n"; });
}

std::string taylor::findUnknownOption(llvm::ArrayRef<const char *> arguments) {
  auto &known = llvm::cl::getRegisteredOptions();
  for (llvm::StringRef argument : arguments) {
    if (argument == "--")
      break;
    if (!argument.starts_with("-") || argument == "-")
      continue;
    llvm::StringRef name = argument.ltrim('-').split('=').first;
    if (known.contains(name) || name == "h") // LLVM's -h is registered when it parses
      continue;
    NearestName nearest(name, /*limit=*/3);
    for (auto &option : known)
      if (option.second->getOptionHiddenFlag() == llvm::cl::NotHidden)
        nearest.consider(option.first);
    std::string hint =
        nearest.get().empty()
            ? "see --help"
            : ("did you mean '" + llvm::Twine(nearest.get().size() > 1 ? "--" : "-") + nearest.get() + "'?")
                  .str();
    return ("unsupported option '" + argument.split('=').first + "'; " + hint).str();
  }
  return {};
}
