// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame against the interpreter's numbers, and under a target of a few lines: a tile is the values of its
// elements, or memory that the test only takes note of.
#include "codegen/Targets/Frame/KernelFrame.h"
#include "codegen/Targets/Frame/Scalars.h"
#include "codegen/Targets/Frame/Tables.h"
#include "dialect/Tile/Extents.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::tile;

namespace {

using Runs = SizeValues::Runs;

struct Fixture : testing::Test {
  Fixture() : builder(&context) {
    context.loadDialect<TileDialect, arith::ArithDialect, scf::SCFDialect, func::FuncDialect,
                        LLVM::LLVMDialect>();
    module = ModuleOp::create(builder, builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }
  OwningOpRef<ModuleOp> parse(StringRef text) { return parseSourceString<ModuleOp>(text, &context); }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

struct Sizes : Integers {
  int64_t b, h, g, t, u, offset;
  int64_t size(AxisRef role) const {
    return role == AxisRole::Batch     ? b
           : role == AxisRole::Head    ? h
           : role == AxisRole::KeyHead ? g
           : role == AxisRole::Query   ? t
           : role == AxisRole::Key     ? u
           : role == AxisRole::Lag     ? lagSize(*this)
                                       : offset;
  }
};

struct SizesTest : Fixture {
  /// Of known sizes all that follows is known: no operation is left to run.
  SizeValues valuesOf(const Sizes &sizes, Runs runs) {
    SmallVector<Value> values;
    for (AxisRef role : kSizeRoles)
      values.push_back(Arithmetic(builder, builder.getUnknownLoc()).i64(sizes.size(role)));
    return SizeValues(builder, builder.getUnknownLoc(), values, runs);
  }
  static int64_t numberOf(Value value) {
    APInt number;
    EXPECT_TRUE(matchPattern(value, m_ConstantInt(&number)));
    return number.getSExtValue();
  }
  ArrayType arrayOf(StringRef text) {
    return cast<ArrayType>(
        parse(("tile.program @p { %a = tile.workspace \"a\" : !tile.array<" + text + "> }").str())
            ->getBodyRegion()
            .front()
            .front()
            .getRegion(0)
            .front()
            .front()
            .getResult(0)
            .getType());
  }
};

TEST_F(SizesTest, ExtentsAreThoseOfTheInterpreter) {
  ArrayType type = arrayOf("[a = 64, b, c = ceildiv(t, 64), d = ceildiv(u, 3), e = ceildiv(16, b * g), "
                           "f = ceildiv(7, t), lag, x = ceildiv(lag, 100)], f32");
  for (Sizes sizes :
       {Sizes{{}, 2, 4, 2, 129, 200, 7}, Sizes{{}, 1, 1, 1, 1, 1, -3}, Sizes{{}, 5, 3, 1, 64, 65, 0}})
    for (Runs runs : {Runs::host, Runs::block})
      for (auto [axis, value] : llvm::zip_equal(type.getAxes(), valuesOf(sizes, runs).of(type)))
        EXPECT_EQ(numberOf(value), evaluateExtent(axis.extent, sizes)) << axis.getName().str();
}

TEST_F(SizesTest, TheHostDividesByNoSizeOfZero) {
  Sizes sizes{{}, 0, 0, 0, 0, 0, 0};
  ArrayType type = arrayOf("[e = ceildiv(16, b * g), f = ceildiv(7, t), c = ceildiv(t, 64)], f32");
  SmallVector<Value> extents = valuesOf(sizes, Runs::host).of(type);
  EXPECT_EQ(numberOf(extents[0]), 16);
  EXPECT_EQ(numberOf(extents[1]), 7);
  EXPECT_EQ(numberOf(extents[2]), 0);
}

TEST_F(SizesTest, StridesAreRowMajor) {
  SizeValues values = valuesOf(Sizes{{}, 2, 4, 2, 129, 200, 7}, Runs::host);
  SmallVector<Value> sizes = values.of(arrayOf("[b, t, e = 32], f32"));
  SmallVector<Value> strides = values.stridesOf(sizes);
  EXPECT_EQ(numberOf(strides[0]), 129 * 32);
  EXPECT_EQ(numberOf(strides[1]), 32);
  EXPECT_EQ(numberOf(strides[2]), 1);
  strides = values.stridesOf(sizes, values.i64(48));
  EXPECT_EQ(numberOf(strides[0]), 129 * 48);
  EXPECT_EQ(numberOf(strides[1]), 48);
  EXPECT_EQ(numberOf(strides[2]), 1);
}

TEST_F(SizesTest, RowsOfWorkspaceAreOddLinesApartWhereColumnsAreRead) {
  SizeValues values = valuesOf(Sizes{{}, 2, 4, 2, 128, 200, 7}, Runs::host);
  ArrayType columns = arrayOf("[b, e = 32, t], f32");
  EXPECT_EQ(numberOf(values.workspacePitch(columns)), 144); // 9 lines of 16
  EXPECT_EQ(numberOf(values.workspaceBytes(columns)), 2 * 32 * 144 * 4);
  EXPECT_EQ(numberOf(values.workspacePitch(arrayOf("[b, t, e = 32], f32"))), 32);
  EXPECT_EQ(numberOf(values.workspacePitch(arrayOf("[b, t], f32"))), 128);
  EXPECT_EQ(numberOf(values.workspaceBytes(arrayOf("[], f32"))), 64); // a number
  // Arrays begin at lines.
  EXPECT_EQ(numberOf(values.workspaceBytes(arrayOf("[b, x = 9], f32"))), 128);
}

TEST_F(SizesTest, TheLastExtentOfAGridIsTheFastest) {
  std::vector<std::vector<int64_t>> blocks;
  std::vector<int64_t> grid = {2, 1, 3};
  for (int64_t block = 0; block < 6; ++block) {
    std::vector<int64_t> places(3);
    forPlacesInGrid(
        block, 3, [&](unsigned i) { return grid[i]; }, [&](unsigned i, int64_t place) { places[i] = place; },
        Integers());
    blocks.push_back(places);
  }
  EXPECT_EQ(blocks, (std::vector<std::vector<int64_t>>{
                        {0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2}}));
}

//===----------------------------------------------------------------------===//
// Loops, branches and scalars
//===----------------------------------------------------------------------===//

/// A target. `asValues`: a tile is a value for each of its elements; else it is memory.
class SmallTarget : KernelFrame {
public:
  SmallTarget(KernelOp kernel, OpBuilder &builder, bool asValues)
      : KernelFrame(kernel, builder), asValues(asValues) {
    types.addConversion([=](TileType type, SmallVectorImpl<Type> &values) {
      values.append(asValues ? type.getNumElements() : 0, type.getElementType());
      return success();
    });
  }

  LogicalResult emit(ModuleOp module) {
    SmallVector<Type> inputs(std::size(kSizeRoles), builder.getI64Type());
    inputs.push_back(LLVM::LLVMPointerType::get(builder.getContext()));
    auto function =
        func::FuncOp::create(builder, kernel.getLoc(), "kernel", builder.getFunctionType(inputs, {}));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(function.addEntryBlock());
    array = function.getArguments().back();
    sizes.emplace(builder, kernel.getLoc(), function.getArguments().drop_back(), Runs::block);
    for (BlockArgument argument : kernel.getBlock()->getArguments())
      scalars[argument] = sizes->i64(0);
    if (failed(emitBlock(*kernel.getBlock())))
      return failure();
    func::ReturnOp::create(builder, kernel.getLoc());
    return verify(module);
  }

  std::vector<std::string> notes; ///< what memory was opened for and moved to

private:
  LogicalResult emitBlock(Block &block) override {
    for (Operation &op : block.without_terminator()) {
      if (auto splat = dyn_cast<SplatOp>(op))
        tiles[splat] =
            SmallVector<Value>(asValues ? splat.getType().getNumElements() : 0, scalar(splat.getValue()));
      else if (failed(emitFrameOp(&op)))
        return failure();
    }
    return success();
  }
  Value addressOf(Value) override { return array; }
  SmallVector<Value> valuesOf(Value tile) override { return tiles.lookup(tile); }
  void setValues(Value tile, ValueRange values) override { tiles[tile] = llvm::to_vector(values); }
  void openTile(Value tile) override { notes.push_back("open " + nameOf(tile)); }
  void moveTile(Value from, Value to) override { notes.push_back(nameOf(from) + " to " + nameOf(to)); }
  static std::string nameOf(Value tile) {
    if (auto argument = dyn_cast<BlockArgument>(tile))
      return "argument " + std::to_string(argument.getArgNumber());
    return tile.getDefiningOp()->getName().getStringRef().str();
  }

  bool asValues;
  Value array;
  DenseMap<Value, SmallVector<Value>> tiles;
};

const char *const kLoop = R"(
tile.program @p {
  %y = tile.tensor "output:y" optional : !tile.array<[t], f32>
  tile.kernel @k grid(%i in b) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tile.size "u"
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !tile.tile<[t = 2], f32>
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%s = %c1, %a = %x) -> (index, !tile.tile<[t = 2], f32>) {
      %next = arith.addi %s, %j : index
      %small = arith.index_cast %next : index to i32
      %number = arith.sitofp %small : i32 to f32
      %b = tile.splat %number : f32 -> !tile.tile<[t = 2], f32>
      scf.yield %next, %b : index, !tile.tile<[t = 2], f32>
    }
    %asked = tile.requested %y : !tile.array<[t], f32>
    %q = scf.if %asked -> (!tile.tile<[t = 2], f32>) {
      scf.yield %r#1 : !tile.tile<[t = 2], f32>
    } else {
      scf.yield %x : !tile.tile<[t = 2], f32>
    }
  }
})";

struct FrameTest : Fixture {
  /// The function's operations of a type.
  template <typename Op> std::vector<Op> find() {
    std::vector<Op> found;
    module->walk([&](Op op) { found.push_back(op); });
    return found;
  }
  std::vector<std::string> emit(StringRef text, bool asValues) {
    source = parse(text);
    KernelOp kernel;
    source->walk([&](KernelOp op) { kernel = op; });
    SmallTarget target(kernel, builder, asValues);
    EXPECT_TRUE(succeeded(target.emit(*module)));
    return target.notes;
  }
  OwningOpRef<ModuleOp> source;
};

TEST_F(FrameTest, ATileThatIsValuesIsHandedOnAsValues) {
  emit(kLoop, /*asValues=*/true);
  Type i64 = builder.getI64Type(), f32 = builder.getF32Type();
  ASSERT_EQ(find<scf::ForOp>().size(), 1u);
  scf::ForOp loop = find<scf::ForOp>().front();
  EXPECT_EQ(llvm::to_vector(loop.getResultTypes()), (SmallVector<Type>{i64, f32, f32}));
  // The bound is the size of role u, the fifth of the call.
  EXPECT_EQ(loop.getUpperBound(), find<func::FuncOp>().front().getArgument(4));
  ASSERT_EQ(find<scf::IfOp>().size(), 1u);
  scf::IfOp branch = find<scf::IfOp>().front();
  EXPECT_EQ(llvm::to_vector(branch.getResultTypes()), (SmallVector<Type>{f32, f32}));
  EXPECT_EQ(branch.thenYield().getOperand(0), loop.getResult(1));
  // Both elements of the tile that the loop yields are the one number.
  Operation *yield = loop.getBody()->getTerminator();
  EXPECT_EQ(yield->getOperand(1), yield->getOperand(2));
}

TEST_F(FrameTest, ATileThatIsMemoryIsMovedWhereALoopOrBranchHasIt) {
  std::vector<std::string> expected = {"open argument 2",          "open scf.for", "tile.splat to argument 2",
                                       "tile.splat to argument 2", "open scf.if",  "scf.for to scf.if",
                                       "tile.splat to scf.if"};
  EXPECT_EQ(emit(kLoop, /*asValues=*/false), expected);
  EXPECT_EQ(find<scf::ForOp>().front().getNumResults(), 1u);
  EXPECT_EQ(find<scf::IfOp>().front().getNumResults(), 0u);
}

TEST_F(FrameTest, AnIndexHas64Bits) {
  emit(kLoop, /*asValues=*/true);
  module->walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      EXPECT_FALSE(type.isIndex()) << op->getName().getStringRef().str();
  });
  ASSERT_EQ(find<arith::TruncIOp>().size(), 1u); // the cast of an index to i32
  EXPECT_TRUE(find<arith::IndexCastOp>().empty());
}

TEST_F(FrameTest, CastsFollowTheirBits) {
  auto castTo = [&](StringRef op, StringRef from, StringRef to, Type indexType) {
    OwningOpRef<ModuleOp> text = parse(
        ("func.func @f(%x: " + from + ") { %y = arith." + op + " %x : " + from + " to " + to + " return }")
            .str());
    Operation &cast = text->getBody()->front().getRegion(0).front().front();
    Type input = scalarType(cast.getOperand(0).getType(), indexType);
    Value operand = Arithmetic(builder, builder.getUnknownLoc()).constant(input, 1);
    Value result = cloneScalar(builder, &cast, operand, indexType);
    return result == operand ? std::string("nothing")
                             : result.getDefiningOp()->getName().getStringRef().str();
  };
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  EXPECT_EQ(castTo("index_cast", "index", "i32", i64), "arith.trunci");
  EXPECT_EQ(castTo("index_cast", "index", "i32", i32), "nothing");
  EXPECT_EQ(castTo("index_cast", "i32", "index", i64), "arith.extsi");
  EXPECT_EQ(castTo("index_castui", "i32", "index", i64), "arith.extui");
  EXPECT_EQ(castTo("extsi", "i32", "i64", i64), "arith.extsi");
}

TEST_F(FrameTest, TablesOfTheSameValuesAreOneGlobal) {
  Location loc = builder.getUnknownLoc();
  auto function = func::FuncOp::create(builder, loc, "f", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto nameOf = [](unsigned i) { return "table" + std::to_string(i); };
  auto globalOf = [&](DenseElementsAttr values) {
    return addressOfTable(builder, loc, nameOf, values, /*alignment=*/16)
        .getDefiningOp<LLVM::AddressOfOp>()
        .getGlobalName()
        .str();
  };
  DenseElementsAttr ones = integerTable(builder, {1, 1}), twos = integerTable(builder, {2, 2});
  EXPECT_EQ(globalOf(ones), "table0");
  EXPECT_EQ(globalOf(twos), "table1");
  EXPECT_EQ(globalOf(ones), "table0");
  EXPECT_EQ(find<LLVM::GlobalOp>().size(), 2u);
  EXPECT_EQ(find<LLVM::GlobalOp>().front().getAlignment(), 16u);
}

TEST_F(FrameTest, TablesAreRoundedToTheNearest) {
  DenseElementsAttr values = roundedTable(builder.getBF16Type(), {1 + 0x1p-8, 1 + 0x1.8p-7, 3});
  auto numbers = values.getValues<APFloat>();
  EXPECT_EQ(numbers[0].convertToDouble(), 1); // to even
  EXPECT_EQ(numbers[1].convertToDouble(), 1 + 0x1p-6);
  EXPECT_EQ(numbers[2].convertToDouble(), 3);
}

} // namespace
