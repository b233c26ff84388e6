// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld as a library, without what an artifact's objects never need of it.
#include "codegen/Artifact/Linker.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

LLD_HAS_DRIVER(elf)

//===----------------------------------------------------------------------===//
// What lld does without
//===----------------------------------------------------------------------===//

// lld can link LLVM's bitcode, and for that it refers to the optimiser and to the code generators of all
// machines: 77 MB. Objects of artifacts are machine code. So these definitions stand in for its own: those of
// bitcode, and the registrations of machines other than the two that artifacts are for.
namespace lld::elf {
struct Ctx;
class BitcodeFile;
class BitcodeCompiler {
public:
  BitcodeCompiler(Ctx &);
  ~BitcodeCompiler();
  void add(BitcodeFile &);
  llvm::SmallVector<void *, 0> compile(); // in lld of pointers to files
};
BitcodeCompiler::BitcodeCompiler(Ctx &) {}
BitcodeCompiler::~BitcodeCompiler() {}
void BitcodeCompiler::add(BitcodeFile &) {
  llvm::reportFatalInternalError("bitcode among an artifact's objects");
}
llvm::SmallVector<void *, 0> BitcodeCompiler::compile() { return {}; }
} // namespace lld::elf

#define X86 Kept
#define NVPTX KeptToo
#define ABSENT(machine, part)                                                                                \
  extern "C" __attribute__((visibility("hidden"))) void LLVMInitialize##machine##part() {}
#define ABSENT_MACHINE(machine)                                                                              \
  ABSENT(machine, Target)                                                                                    \
  ABSENT(machine, TargetInfo)                                                                                \
  ABSENT(machine, TargetMC)                                                                                  \
  ABSENT(machine, AsmPrinter)                                                                                \
  ABSENT(machine, AsmParser)
#define LLVM_TARGET(machine) ABSENT_MACHINE(machine)
#include "llvm/Config/Targets.def"

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

namespace {
/// lld gives every registered option of llvm::cl its initial value again. So those that the program's user
/// has set are no registered ones meanwhile.
class KeptOptions {
public:
  KeptOptions() {
    for (auto &entry : llvm::cl::getRegisteredOptions())
      if (entry.second->getNumOccurrences())
        kept.push_back(entry.second);
    for (llvm::cl::Option *option : kept)
      option->removeArgument();
  }
  ~KeptOptions() {
    for (llvm::cl::Option *option : kept)
      option->addArgument();
  }

private:
  llvm::SmallVector<llvm::cl::Option *> kept;
};
} // namespace

llvm::Error taylor::linkInProcess(llvm::ArrayRef<std::string> objects, llvm::StringRef output) {
  // By these lld writes other bytes, and an archive of what it read.
  for (const char *variable : {"LLD_VERSION", "LLD_REPRODUCE"})
    unsetenv(variable);
  std::string path = output.str();
  llvm::SmallVector<const char *> arguments = {
      "ld.lld",    "-m",          "elf_x86_64",      "-shared",     "--no-undefined-version",
      "-z",        "noexecstack", "--build-id=none", "--threads=1", "-o",
      path.c_str()};
  for (const std::string &object : objects)
    arguments.push_back(object.c_str());
  std::string text;
  llvm::raw_string_ostream words(text);
  KeptOptions options;
  bool isLinked = lld::elf::link(arguments, words, words, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (isLinked)
    return llvm::Error::success();
  return llvm::createStringError("lld failed: " + text);
}
