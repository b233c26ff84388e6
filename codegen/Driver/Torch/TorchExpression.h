// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of PyTorch expressions: arrays with named axes brought to common axes, and scalar regions over them.
// The text is plain Python and TorchScript (as torch::jit::compile reads it, where `torch` holds aten
// operators only) at once.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_TORCHEXPRESSION_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_TORCHEXPRESSION_H

#include "dialect/Taylor/TaylorDialect.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace taylor {

/// Python's binding strength, weakest first.
enum class Strength { Comparison, Or, And, Sum, Term, Unary, Power, Primary };

/// An expression; a tensor's dimensions have names.
struct TorchText {
  std::string text;
  Strength strength = Strength::Primary;
  llvm::SmallVector<AxisRef> axes;
  /// A Python number, not a tensor.
  bool isNumber = false;
  /// May have a wider type than the first argument: positions and learned parameters are f32 next to bf16.
  bool isWide = false;

  /// The text, in parentheses where something that binds as strongly as `strength` is around it.
  std::string at(Strength around) const;
  int64_t find(AxisRef axis) const;
};

/// The axes of an array, as names of dimensions.
llvm::SmallVector<AxisRef> axesOf(ArrayType array);
llvm::SmallVector<AxisRef> withoutAxis(llvm::ArrayRef<AxisRef> axes, AxisRef gone);
/// Index of an axis that is there.
int64_t dimension(llvm::ArrayRef<AxisRef> axes, AxisRef axis);

/// The statements of a function and what they need; shared by the printers of operations and regions.
class TorchScope {
public:
  /// A name that nothing else has, starting with `hint`.
  std::string makeName(llvm::StringRef hint);
  void reserve(llvm::StringRef name) { names.insert(name); }
  /// Adds `name = expression` and gives the name as an expression with the same axes.
  TorchText assign(llvm::StringRef hint, const TorchText &expression);
  void addLine(const std::string &line) { lines.push_back("    " + line); }
  /// A name is what may be repeated without work.
  static bool isName(const TorchText &text);

  /// `H`, `T`, ..: the size of an axis, a Python int. Null text if no argument has the axis.
  std::string getSize(AxisRef axis);
  /// The indices along an axis, as positions for t and u and their difference for lag: a tensor with this one
  /// axis, at least f32.
  TorchText getIndex(AxisRef axis);

  /// A tensor with its dimensions in the order of `axes`, of which it may lack some: size 1 there, or no
  /// dimension in front. g becomes h where `axes` has h.
  TorchText align(TorchText tensor, llvm::ArrayRef<AxisRef> axes);
  /// The same with every dimension there in full.
  TorchText expand(TorchText tensor, llvm::ArrayRef<AxisRef> axes);

  /// Asks for a helper function (TorchHelpers.cpp).
  void useHelper(llvm::StringRef name) { helpers.insert(name); }

  /// Where sizes are read: axis -> `q.size(3)`. Filled before the body is printed.
  AxisMap<std::string> sizeSources;
  /// The argument whose type others follow.
  std::string like;
  std::vector<std::string> lines;
  llvm::StringSet<> helpers;

private:
  llvm::StringSet<> names;
  llvm::StringMap<std::string> sizes;
  llvm::StringMap<TorchText> indices;
};

/// What an operand or the result of a scalar operation reads where sums over keys are empty.
using FillPart = llvm::function_ref<TorchText(mlir::Operation *scalar, mlir::Value of, TorchText text)>;

/// Prints a region that yields scalars: `arguments` are its block arguments, aligned to `axes` of the result.
/// Values with several uses become assignments. Fails, with a message at the operation, on one that has no
/// PyTorch text.
mlir::FailureOr<llvm::SmallVector<TorchText>> printRegion(TorchScope &scope, mlir::Region &region,
                                                          llvm::ArrayRef<TorchText> arguments,
                                                          llvm::ArrayRef<AxisRef> axes,
                                                          FillPart fillPart = {});

/// A Python float.
std::string printNumber(double value);

} // namespace taylor

#endif
