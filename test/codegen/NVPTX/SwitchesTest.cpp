// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code is emitted with all switches of LLVM's code generator that it was designed with, or not at all.
#include "codegen/NVPTX/Emit/Emit.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::simt;

namespace {

/// An LLVM that lacks a switch, as long as this lives.
class Without {
public:
  explicit Without(StringRef name) : name(name), option(llvm::cl::getRegisteredOptions().lookup(name)) {
    llvm::cl::getRegisteredOptions().erase(name);
  }
  ~Without() { llvm::cl::getRegisteredOptions().insert({name, option}); }

  StringRef name;
  llvm::cl::Option *option;
};

std::string emit(std::string &error) {
  DialectRegistry registry;
  registerNVPTXBackend(registry);
  MLIRContext context(registry);
  auto module =
      parseSourceString<ModuleOp>("llvm.func @k() attributes {nvvm.kernel} { llvm.return }", &context);
  return emitPTX(*module, *findTarget("sm_80"), error);
}

TEST(Switches, AreAllThere) {
  std::string error;
  EXPECT_NE(emit(error).find(".entry k("), std::string::npos);
  EXPECT_EQ(error, "");
}

TEST(Switches, AMissingOneIsNamed) {
  for (const char *name : {"nvptx-short-ptr", "disable-machine-sink"}) {
    Without without(name);
    ASSERT_TRUE(without.option) << name;
    std::string error;
    EXPECT_EQ(emit(error), "");
    EXPECT_EQ(error, "requires the option '" + std::string(name) +
                         "' of LLVM's code generator, which LLVM " LLVM_VERSION_STRING
                         " does not have here; build with an LLVM 22 that has the NVPTX target");
  }
  std::string error;
  EXPECT_NE(emit(error), "");
}

} // namespace
