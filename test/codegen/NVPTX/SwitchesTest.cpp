// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code is emitted with all switches of LLVM's code generator that it was designed with, or not at all.
#include "codegen/Targets/NVPTX/Emit/Emit.h"
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

std::string emit(std::string &error,
                 StringRef code = "llvm.func @k() attributes {nvvm.kernel} { llvm.return }") {
  DialectRegistry registry;
  registerNVPTXBackend(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(code, &context);
  return emitPTX(*module, *findTarget("sm_80"), error);
}

TEST(Switches, AreAllThere) {
  std::string error;
  EXPECT_NE(emit(error).find(".entry k("), std::string::npos);
  EXPECT_EQ(error, "");
}

TEST(Switches, AMissingOneIsNamed) {
  for (const char *name : {"nvptx-short-ptr", "disable-machine-sink", "instcombine-code-sinking"}) {
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

/// A product whose sum is read after a branch is computed where its operands are loaded.
TEST(Switches, KeepProductsBesideTheirLoads) {
  constexpr StringLiteral code = R"(
    llvm.func @k(%from: !llvm.ptr<3>, %to: !llvm.ptr<1>, %is: i32) attributes {nvvm.kernel} {
      %zero = llvm.mlir.constant(0 : i32) : i32
      %a = llvm.load %from : !llvm.ptr<3> -> f32
      %next = llvm.getelementptr %from[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      %b = llvm.load %next : !llvm.ptr<3> -> f32
      %x = llvm.intr.fma(%a, %b, %a) : (f32, f32, f32) -> f32
      %y = llvm.intr.fma(%b, %b, %x) : (f32, f32, f32) -> f32
      nvvm.barrier
      %c = llvm.icmp "ne" %is, %zero : i32
      llvm.cond_br %c, ^write, ^done
    ^write:
      llvm.store %y, %to : f32, !llvm.ptr<1>
      llvm.br ^done
    ^done:
      llvm.return
    })";
  std::string error, text = emit(error, code);
  ASSERT_EQ(error, "");
  size_t last = text.rfind("fma.rn.f32"), barrier = text.find("bar.sync");
  ASSERT_NE(last, std::string::npos);
  ASSERT_NE(barrier, std::string::npos);
  EXPECT_LT(last, barrier);
}

} // namespace
