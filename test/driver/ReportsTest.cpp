// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of kernels, which targets of one kind add to.
#include "codegen/Targets/Target.h"

#include "gtest/gtest.h"

using namespace taylor;

namespace {

/// Of a kind of target that is none of this program's.
struct OtherReports : llvm::RTTIExtends<OtherReports, KernelReports> {
  inline static char ID = 0;
  std::string print(bool json) const override { return json ? "{}" : ""; }
};

TEST(Reports, OfAnotherKindOfTargetAreRefused) {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  std::string error, said;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str(); });
  std::unique_ptr<Target> target = makeTarget("sm_80", error);
  ASSERT_TRUE(target) << error;
  std::unique_ptr<KernelReports> reports = std::make_unique<OtherReports>();
  auto run = [](llvm::StringRef, llvm::function_ref<void(mlir::OpPassManager &)>) -> mlir::LogicalResult {
    return mlir::failure();
  };
  EXPECT_TRUE(failed(target->report(*module, TargetProblem(), run, reports)));
  EXPECT_EQ(said,
            "unsupported: a report of sm_80 next to one of another kind of target; ask for one at a time");
}

} // namespace
