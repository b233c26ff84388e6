// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that the evaluator refuses while it runs: the whole message, at the op.
#include "dialect/Tile/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::tile;

namespace {

/// "LINE: MESSAGE" of the only diagnostic that a program gives; no text where it runs.
std::string refusal(StringRef body, ArrayRef<HostArray> tensors, Sizes sizes = {}) {
  MLIRContext context;
  context.loadDialect<TileDialect, arith::ArithDialect, scf::SCFDialect>();
  auto module = parseSourceString<ModuleOp>(("tile.program @p {\n" + body + "\n}").str(), &context);
  if (!module)
    return "(does not parse)";
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    EXPECT_EQ(message, "");
    message =
        std::to_string(cast<FileLineColLoc>(diagnostic.getLocation()).getLine()) + ": " + diagnostic.str();
  });
  EXPECT_EQ(failed(evaluateProgram(*module->getOps<ProgramOp>().begin(), sizes, tensors)), !message.empty());
  return message;
}

TEST(TileEvaluator, StepsOfLoopsArePositive) {
  const char *body = R"(
    tile.kernel @k grid(%b in b) {
      %c0 = arith.constant 0 : index
      %step = tile.size "t"
      scf.for %i = %c0 to %c0 step %step {
      }
    })";
  EXPECT_EQ(refusal(body, {}), "");
  EXPECT_EQ(refusal(body, {}, {.t = 0}), "6: expected a positive step, but got 0");
  EXPECT_EQ(refusal(body, {}, {.t = -3}), "6: expected a positive step, but got -3");
}

TEST(TileEvaluator, DivisorsAreNotZero) {
  for (StringRef op : {"divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"}) {
    std::string body = "tile.kernel @k grid(%b in b) {\n"
                       "%c7 = arith.constant 7 : index\n"
                       "%by = tile.size \"u\"\n"
                       "%y = arith." +
                       op.str() + " %c7, %by : index\n}";
    EXPECT_EQ(refusal(body, {}, {.u = 2}), "") << op.str();
    EXPECT_EQ(refusal(body, {}, {.u = 0}), "5: expected a nonzero divisor, but got 0") << op.str();
    // The least number by -1 is more than 64 bits hold.
    body.replace(body.find(" 7 :"), 4, " -9223372036854775808 :");
    EXPECT_EQ(refusal(body, {}, {.u = -1}), "") << op.str();
  }
}

TEST(TileEvaluator, OpsAreThoseItKnows) {
  const char *body = R"(
    tile.kernel @k grid(%b in b) {
      %c1 = arith.constant 1 : index
      %y = arith.shli %c1, %c1 : index
    })";
  EXPECT_EQ(refusal(body, {}), "5: unsupported op in the evaluator: expected an op of arith or math");
}

TEST(TileEvaluator, WindowsThatAreSaidToBeInsideAre) {
  float numbers[4] = {};
  HostArray array{numbers, {1}};
  const char *body = R"(
    %x = tile.tensor "input:x" : !tile.array<[t], f32>
    tile.kernel @k grid(%b in b) {
      %at = tile.size "u"
      %y = tile.load %x[t = %at] inside : !tile.array<[t], f32> -> !tile.tile<[t = 3], f32>
    })";
  EXPECT_EQ(refusal(body, {array}, {.t = 4, .u = 1}), "");
  EXPECT_EQ(refusal(body, {array}, {.t = 4, .u = 2}),
            "6: expected a window inside of the array, but 1 of its elements are not");
}

TEST(TileEvaluator, NullTensorsAreNotTouched) {
  float number = 0;
  HostArray array{&number, {1}}, null{nullptr, {1}};
  const char *message = "5: expected a tensor, but got null: guard it with tile.requested";
  for (StringRef use : {
           "%y = tile.load %x[b = %b] : !tile.array<[b], f32> -> !tile.tile<[], f32>",
           "tile.store %one, %x[b = %b] : !tile.tile<[], f32>, !tile.array<[b], f32>",
           "tile.accumulate %one, %x[b = %b] : !tile.tile<[], f32>, !tile.array<[b], f32>",
       }) {
    std::string head = "%x = tile.tensor \"gradient:x\" optional : !tile.array<[b], f32>\n"
                       "tile.kernel @k grid(%b in b) {\n"
                       "%c = arith.constant 1.0 : f32 %one = tile.splat %c : f32 -> !tile.tile<[], f32>\n";
    EXPECT_EQ(refusal(head + use.str() + "\n}", {array}), "") << use.str();
    EXPECT_EQ(refusal(head + use.str() + "\n}", {null}), message) << use.str();
    std::string guarded = "%asked = tile.requested %x : !tile.array<[b], f32>\nscf.if %asked {\n" + use.str();
    EXPECT_EQ(refusal(head + guarded + "\n}\n}", {null}), "") << use.str();
  }
}

TEST(TileEvaluator, TensorsAreCounted) {
  const char *body = "%x = tile.tensor \"input:x\" : !tile.array<[b], f32>";
  EXPECT_EQ(refusal(body, {}), "1: expected 1 tensors, but got 0");
}

} // namespace
