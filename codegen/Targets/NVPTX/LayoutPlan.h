// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions of taylor-simt-assign-layouts for one kernel, made before anything is rewritten.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_LAYOUTPLAN_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_LAYOUTPLAN_H

#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::simt {

struct LayoutOptions {
  /// Of a block; 0: `chooseWarps` for each kernel.
  int64_t warps = 0;
  /// Instruction for products of f32: tf32 or fma.
  ProductKind f32Products = ProductKind::fma;
  /// Products of 16-bit operands are started, where matrix units take their shape, and awaited later.
  bool startsProducts = false;
  /// 32-bit registers of a thread that a loop may need for what it carries, a product, and a resident
  /// operand.
  int64_t registers = 210;
};

/// The fewest of 4 and 8 warps with which each thread has registers enough for what a loop carries and for
/// the products that it computes as well; 4 without products.
int64_t chooseWarps(tile::KernelOp kernel, int64_t registers);

/// How a product is computed: `left` has the rows of its result, `right` the columns.
struct ProductPlan {
  ProductKind kind = ProductKind::mma16;
  StringRef rows, columns, over;
  Value left, right;
  /// Layout of `left` in registers; null: it is read from a buffer, as `right` always is.
  LayoutAttr leftLayout;
  LayoutAttr result;
};

class LayoutPlan {
public:
  LayoutPlan(tile::KernelOp kernel, const LayoutOptions &options) : kernel(kernel), options(options) {}

  /// Decides for all tiles and products. Fails with a diagnostic where a product has no form here.
  LogicalResult run();

  /// For what is local to elements: neighbours in memory in neighbouring threads, and in each thread whole
  /// runs of what the kernel's slices and joins keep together.
  LayoutAttr getLocalLayout(Value tile) const;
  LayoutAttr getLayout(Value tile) const { return layouts.lookup(tile); }
  /// Whether matrix units compute a product while their threads go on.
  bool startsProducts() const;
  const ProductPlan &getProduct(tile::DotOp dot) const { return products.find(dot)->second; }
  /// For what a contraction distributes to components: the features of a token in the four lanes of a row.
  LayoutAttr getCotangentLayout(tile::ContractOp contract) const;
  /// Whether the window can be copied to a buffer as it is: elements keep their type, and are words of at
  /// least 4 bytes or lie side by side.
  static bool canCopy(tile::LoadOp load);
  /// The tile's axis along the array's last one, if elements are known to lie side by side along it.
  static StringRef getContiguousAxis(tile::ArrayType array, tile::TileType tile, ArrayAttr arrayAxes,
                                     ArrayAttr tileAxes, ValueRange offsets);

private:
  LogicalResult planProducts();
  LogicalResult readAxes(tile::DotOp dot, ProductPlan &plan);
  void vote();
  StringRef rowsOf(StringRef x, StringRef y, StringRef otherwise) const;
  FragmentShape shapeOf(StringRef rows, int64_t numRows, StringRef columns, int64_t numColumns) const;
  bool canStart(tile::DotOp dot, const ProductPlan &plan, const FragmentShape &shape) const;
  bool fitsRegisters(tile::DotOp dot, const ProductPlan &plan) const;
  bool dependsOnProduct(Value value) const;

  void set(Value value, LayoutAttr layout);
  void propagate();
  void toOperands(OpResult result, LayoutAttr layout);
  void toUser(OpOperand &use, LayoutAttr layout);
  void tie(Operation *branch, unsigned result, LayoutAttr layout);
  void setDefaults();

  tile::KernelOp kernel;
  LayoutOptions options;
  llvm::MapVector<Operation *, ProductPlan> products;
  /// For each pair of axes, in alphabetical order: votes for either as rows.
  llvm::MapVector<std::pair<StringRef, StringRef>, std::pair<int, int>> votes;
  DenseMap<Value, LayoutAttr> layouts;
  SmallVector<Value> pending;
};

} // namespace mlir::simt
#endif
