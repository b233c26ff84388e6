// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of bf16 on the matrix unit (AMX): C[row][lane] += A[row][k] * B[k][lane], all three in memory.
//
//            B: 16 pairs of k x 16 lanes, k and k + 1 side by side         a block: 2 x 2 tiles of C,
//                     +---------+---------+                                 8 tile registers
//                     |    6    |    7    |
//                     +---------+---------+
//        +-------+    +---------+---------+
//        |   4   |    |    0    |    1    |   16 rows
//  A:    +-------+    +---------+---------+
//        |   5   |    |    2    |    3    |   16 rows
//        +-------+    +---------+---------+
//         32 k            16        16 lanes
//
// Registers 0 to 3 hold sums over k, so that each register of A and of B is used twice (Intel 64 and IA-32
// Architectures Optimization Reference Manual, section 20, "Intel AMX"). Rows and k that are no whole number
// of blocks get registers of fewer rows and columns (ldtilecfg); lanes are always whole: places are padded.
#include "codegen/Targets/CPU/MatrixUnit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <functional>

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

namespace {
constexpr int64_t kRows = 16, kLanes = KernelPlan::kTileLanes, kPairs = 16; // of one register
constexpr unsigned kSums = 0, kA = 4, kB = 6;                               // first registers of C, A and B

/// Sizes of the registers of a block: rows of both tiles of A and C, and pairs of k.
struct TileShape {
  int64_t rows[2] = {kRows, kRows};
  int64_t pairs = kPairs;
  bool isWhole() const { return rows[0] == kRows && rows[1] == kRows && pairs == kPairs; }
};

/// The 64 bytes that ldtilecfg reads (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
/// LDTILECFG): palette, then at byte 16 the bytes of a row, at byte 48 the rows of each register.
SmallVector<int8_t> configurationOf(const TileShape &shape) {
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  auto set = [&](unsigned tile, int64_t rows, int64_t columnBytes) {
    bytes[16 + 2 * tile] = int8_t(columnBytes);
    bytes[48 + tile] = int8_t(rows);
  };
  for (unsigned i = 0; i < 2; ++i) {
    int64_t rows = shape.rows[i] ? shape.rows[i] : kRows;
    set(kSums + 2 * i, rows, kLanes * 4);
    set(kSums + 2 * i + 1, rows, kLanes * 4);
    set(kA + i, rows, shape.pairs * 4);
    set(kB + i, shape.pairs, kLanes * 4);
  }
  return bytes;
}

} // namespace

void MatrixUnit::callUnit(StringRef instruction, ArrayRef<int64_t> registers, ValueRange operands) {
  SmallVector<Value> arguments;
  for (int64_t number : registers)
    arguments.push_back(arith::ConstantOp::create(b, b.getI8IntegerAttr(int8_t(number))));
  llvm::append_range(arguments, operands);
  if (!target.emulatesTiles) {
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86." + instruction), arguments);
    return;
  }
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name = ("taylor_emulated_" + instruction).str();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    SmallVector<Type> types = llvm::to_vector(ValueRange(arguments).getTypes());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
    function = LLVM::LLVMFuncOp::create(b, name, type);
  }
  LLVM::CallOp::create(b, function, arguments);
}

void MatrixUnit::configure(ArrayRef<int8_t> configuration) {
  auto type = RankedTensorType::get({int64_t(configuration.size())}, b.getI8Type());
  Value where = table("taylor.tiles", DenseElementsAttr::get(type, configuration));
  callUnit("ldtilecfg", {}, {where});
}

void MatrixUnit::begin() { configure(configurationOf({})); }

void MatrixUnit::end() { callUnit("tilerelease", {}, {}); }

/// What the blocks of one product have in common.
struct MatrixUnit::Blocks {
  DotOp dot;
  TileProduct product;
  TileView a, b, from, to; // `from`: what the sums begin from; without a pointer: zeros
  SmallVector<Axis> over = {};
  std::optional<Mask> maskOfA = {}, maskOfB = {};
  Value strideA = {}, strideB = {}, strideFrom = {}, strideTo = {}; // bytes from row to row
};

MatrixUnit::Blocks MatrixUnit::openProduct(DotOp dot, const TileView &to) {
  TileProduct product = *plan.tileProductOf(dot);
  auto [valueA, valueB, row, lane, pairs] = product;
  Blocks blocks{dot, product, *tiles.findView(valueA, pairs), *tiles.findView(valueB, lane, pairs), {}, to};
  if (dot.getC())
    blocks.from = *tiles.findView(dot.getC(), lane);
  for (StringAttr name : dot.getOver().getAsRange<StringAttr>())
    if (name != pairs)
      blocks.over.push_back(
          Axis::get(dot.getContext(), name, cast<TileType>(valueA.getType()).getSize(name)));
  blocks.maskOfA = maskOf(valueA);
  blocks.maskOfB = maskOf(valueB);
  auto bytes = [&](const TileView &view, StringAttr axis, int64_t elementBytes) {
    return asValue(multiply(view.stride(axis), elementBytes));
  };
  blocks.strideA = bytes(blocks.a, row, 2);
  blocks.strideB = bytes(blocks.b, pairs, 4);
  blocks.strideTo = bytes(blocks.to, row, 4);
  if (dot.getC())
    blocks.strideFrom = bytes(blocks.from, row, 4);
  return blocks;
}

void MatrixUnit::emitProduct(const Sweep &sweep) {
  DotOp dot = sweep.dot;
  Blocks blocks = openProduct(dot, tiles.ownView(dot));
  auto [valueA, valueB, row, lane, pairs] = blocks.product;
  int64_t rows = cast<TileType>(valueA.getType()).getSize(row);
  int64_t lanes = llvm::alignTo(cast<TileType>(valueB.getType()).getSize(lane), kLanes);
  TileView values = valueA == dot.getB() ? blocks.a : blocks.b,
           weights = valueA == dot.getB() ? blocks.b : blocks.a;
  if (dot.getWhere())
    readCleared(blocks);
  // Its sweep has no ops, so no mask leaves elements out.
  loopOver(sweep.axes, {lane, row}, Point{lane, {}},
           [&](const Point &outer) { emitRegion(blocks, outer, 0, rows, 0, lanes); });
  if (dot.getWhere())
    emitIf(masked.isFinite(), [] {}, [&] { masked.addVisible(dot, weights, values, blocks.to); });
}

/// The unit multiplies what is cleared where it is not finite: 0 times an infinity would reach all rows.
void MatrixUnit::readCleared(Blocks &blocks) {
  DotOp dot = blocks.dot;
  bool isA = blocks.product.a == dot.getB();
  TileView &view = isA ? blocks.a : blocks.b;
  TileView cleared = tiles.placeView(*plan.clearedOf(dot), isA ? blocks.product.pairs : blocks.product.lane);
  cleared.pairs = view.pairs;
  auto fields = [&](const TileView &of) {
    SmallVector<Value> values = {of.pointer};
    for (auto &[axis, stride] : view.strides)
      values.push_back(asValue(of.stride(axis)));
    return values;
  };
  auto chosen = scf::IfOp::create(
      b, masked.isFinite(), [&](OpBuilder &, Location) { scf::YieldOp::create(b, fields(view)); },
      [&](OpBuilder &, Location) {
        masked.copyCleared(cast<TileType>(dot.getB().getType()), view, cleared);
        scf::YieldOp::create(b, fields(cleared));
      });
  view.pointer = chosen.getResult(0);
  for (auto [i, entry] : llvm::enumerate(view.strides))
    if (Index other = cleared.stride(entry.first);
        entry.second.value || entry.second.constant != other.constant)
      entry.second = Index(chosen.getResult(i + 1));
  Value &bytes = isA ? blocks.strideA : blocks.strideB;
  bytes = asValue(multiply(view.stride(isA ? blocks.product.row : blocks.product.pairs), isA ? 2 : 4));
}

void MatrixUnit::emitRegion(Blocks blocks, const Point &outer, Index firstRow, int64_t rows, Index firstLane,
                            int64_t lanes) {
  auto [valueA, valueB, row, lane, pairs] = blocks.product;
  int64_t rowStep = 2 * kRows, laneStep = 2 * kLanes, wholeLanes = lanes / laneStep * laneStep;
  // Whole rows and whole k first, so that the registers rarely change their sizes.
  int64_t k = cast<TileType>(valueA.getType()).getSize(pairs);
  int64_t wholeRows = rows / rowStep * rowStep, wholeK = k / (2 * kPairs) * (2 * kPairs);
  bool isWhole = true;
  auto emitPart = [&](int64_t begin, int64_t end, TileShape shape, int64_t firstK, int64_t pastK) {
    if (begin == end || firstK == pastK)
      return;
    if (!shape.isWhole() || !isWhole)
      configure(configurationOf(shape));
    isWhole = shape.isWhole();
    if (firstK > 0) { // goes on with the sums that the first part left
      blocks.from = blocks.to;
      blocks.strideFrom = blocks.strideTo;
    }
    // Rows outside: those of A may lie far away, and both blocks of lanes use them.
    loopBlocks(end - begin, rowStep, [&](Index i) {
      Point there = outer.with(row, add(firstRow, i) + begin);
      auto emitColumns = [&](Index j, int64_t columns) {
        emitBlock(blocks, there.with(lane, add(firstLane, j)), shape.rows, columns, firstK, pastK,
                  2 * shape.pairs);
      };
      loopBlocks(wholeLanes, laneStep, [&](Index j) { emitColumns(j, 2); });
      if (wholeLanes < lanes)
        emitColumns(wholeLanes, 1);
    });
  };
  int64_t restRows = rows - wholeRows;
  TileShape whole, rest{{std::min(restRows, kRows), std::max<int64_t>(restRows - kRows, 0)}, kPairs};
  emitPart(0, wholeRows, whole, 0, wholeK);
  emitPart(wholeRows, rows, rest, 0, wholeK);
  whole.pairs = rest.pairs = (k - wholeK) / 2;
  emitPart(0, wholeRows, whole, wholeK, k);
  emitPart(wholeRows, rows, rest, wholeK, k);
  if (!isWhole)
    begin();
}

std::pair<Index, Index> MatrixUnit::rangeOf(const Blocks &blocks, const Point &point, int64_t columns,
                                            int64_t firstK, int64_t pastK, int64_t step) {
  StringAttr row = blocks.product.row, lane = blocks.product.lane, pairs = blocks.product.pairs;
  Index begin = firstK, end = pastK;
  if (pastK - firstK <= step)
    return {begin, end};
  auto narrow = [&](const std::optional<Mask> &mask, StringAttr free, int64_t size) {
    if (!mask || !mask->outside.getValue().isZero())
      return;
    for (const Constraint &constraint : mask->constraints) {
      // k - free <= bound for some of the block, or free - k <= bound.
      if (constraint.plus == pairs && (!constraint.minus || constraint.minus == free))
        end = minimum(end,
                      add(tiles.boundOf(constraint), constraint.minus ? point.along(free) + size : Index(1)));
      else if (constraint.minus == pairs && (!constraint.plus || constraint.plus == free))
        begin = maximum(begin, add(constraint.plus ? point.along(free) : Index(0),
                                   multiply(tiles.boundOf(constraint), -1)));
    }
  };
  narrow(blocks.maskOfA, row, 2 * kRows);
  narrow(blocks.maskOfB, lane, columns * kLanes);
  // Whole steps: beyond its range the masked operand holds zeros.
  return {wholeSteps(begin, step, /*up=*/false), wholeSteps(end, step, /*up=*/true)};
}

void MatrixUnit::emitBlock(const Blocks &blocks, const Point &point, ArrayRef<int64_t> tileRows,
                           int64_t columns, int64_t firstK, int64_t pastK, int64_t step) {
  auto [valueA, valueB, row, lane, pairs] = blocks.product;
  int64_t rows = tileRows[1] ? 2 : 1;
  auto at = [&](const TileView &view, int64_t i, int64_t j) {
    return address(view, point.moved(row, i * kRows).moved(lane, j * kLanes));
  };
  auto forSums = [&](function_ref<void(int64_t, int64_t, int64_t)> body) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        body(kSums + 2 * i + j, i, j);
  };
  forSums([&](int64_t sum, int64_t i, int64_t j) {
    if (blocks.from.pointer)
      callUnit("tileloadd64", {sum}, {at(blocks.from, i, j), blocks.strideFrom});
    else
      callUnit("tilezero", {sum}, {});
  });
  auto multiply = [&](const Point &there) {
    auto loadA = [&](int64_t i) {
      callUnit("tileloadd64", {kA + i}, {address(blocks.a, there.moved(row, i * kRows)), blocks.strideA});
    };
    auto loadB = [&](int64_t j) {
      callUnit("tileloadd64", {kB + j}, {address(blocks.b, there.moved(lane, j * kLanes)), blocks.strideB});
    };
    auto product = [&](int64_t i, int64_t j) {
      callUnit("tdpbf16ps", {kSums + 2 * i + j, kA + i, kB + j}, {});
    };
    // A register is loaded right before its first use: the unit multiplies while the next one comes.
    loadA(0);
    for (int64_t j = 0; j < columns; ++j) {
      loadB(j);
      product(0, j);
    }
    if (rows > 1) {
      loadA(1);
      for (int64_t j = 0; j < columns; ++j)
        product(1, j);
    }
  };
  std::function<void(ArrayRef<Axis>, const Point &)> sumOver = [&](ArrayRef<Axis> axes, const Point &there) {
    if (!axes.empty())
      return loopBlocks(axes.front().getSize(), 1,
                        [&](Index i) { sumOver(axes.drop_front(), there.with(axes.front().name, i)); });
    auto [begin, end] = rangeOf(blocks, point, columns, firstK, pastK, step);
    if (!begin.value && !end.value && end.constant - begin.constant <= 4 * step) {
      for (int64_t k = begin.constant; k < end.constant; k += step)
        multiply(there.with(pairs, k));
      return;
    }
    auto loop = scf::ForOp::create(b, asValue(begin), asValue(end), constant(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    multiply(there.with(pairs, Index(loop.getInductionVar())));
  };
  sumOver(blocks.over, point);
  forSums([&](int64_t sum, int64_t i, int64_t j) {
    callUnit("tilestored64", {sum}, {at(blocks.to, i, j), blocks.strideTo});
  });
}

void MatrixUnit::emitStrip(DotOp dot, const TileView &to, const Point &outer, Index firstRow, int64_t rows,
                           Index firstLane, int64_t lanes) {
  emitRegion(openProduct(dot, to), outer, firstRow, rows, firstLane, lanes);
}
