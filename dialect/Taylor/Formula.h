// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas: infix scalar expressions in the text of an operation, and the regions they stand for.
//
//   comparison := sum [(< | <= | ==) sum]        sum := term {(+ | -) term}        term := unary {(* | /)
//   unary} unary := - unary | primary                   primary := number | %value | name | name(args) | (
//   comparison )
//
// Text comes before types in MLIR's syntax, so a formula is first parsed into a tree and becomes a region of
// arith, math and taylor scalar operations once the operand types are known.
#ifndef TAYLOR_DIALECT_TAYLOR_FORMULA_H
#define TAYLOR_DIALECT_TAYLOR_FORMULA_H

#include "dialect/Taylor/TaylorDialect.h"

#include "llvm/ADT/StringSet.h"

#include <memory>
#include <string>

namespace taylor {

/// A formula as read: a tree whose leaves are numbers, operands (by their place in the operand list) and
/// names.
struct Formula {
  enum class Kind { Number, Operand, Name, Call, Negate, Binary };
  Kind kind;
  mlir::SMLoc loc;
  double number = 0;
  unsigned operand = 0;
  /// A bare name, a called function, or the operator (`+ - * / < <= ==`).
  std::string name;
  std::vector<std::unique_ptr<Formula>> arguments;
  /// Formulas on the longest way down, this one included.
  int depth = 1;
};
using FormulaPtr = std::unique_ptr<Formula>;

/// `name = formula`; the name is empty for a plain formula.
struct Binding {
  std::string name;
  FormulaPtr formula;
};

/// Reads formulas; collects each distinct %value once, in order of first appearance.
class FormulaParser {
public:
  explicit FormulaParser(mlir::OpAsmParser &parser) : parser(parser) {}

  mlir::FailureOr<FormulaPtr> parseFormula();
  /// `F, F, ..`: conditions that must all hold, as one formula.
  mlir::FailureOr<FormulaPtr> parseConditions();
  /// The same, or a block `{ a = F b = G ... }` that ends with one condition.
  mlir::ParseResult parseConditions(std::vector<Binding> &bindings);
  /// `F`, or `{ a = F, b = F, F }`: the last one is the value. Commas are optional where they are not needed
  /// to read it.
  mlir::ParseResult parseBody(std::vector<Binding> &bindings);
  /// `name = F, name = F ..` up to and with the closing brace.
  mlir::ParseResult parseBindings(std::vector<Binding> &bindings);
  /// The number of an operand in `operands`, added if it is new.
  unsigned addOperand(const mlir::OpAsmParser::UnresolvedOperand &operand);

  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;

private:
  mlir::FailureOr<FormulaPtr> parseSum();
  mlir::FailureOr<FormulaPtr> parseTerm();
  mlir::FailureOr<FormulaPtr> parseUnary();
  mlir::FailureOr<FormulaPtr> parsePrimary();
  mlir::FailureOr<FormulaPtr> parseNameOrCall(std::string name, mlir::SMLoc loc);
  /// A formula with its arguments, or an error where it is too deep for code that recurses into it.
  mlir::FailureOr<FormulaPtr> join(FormulaPtr formula, FormulaPtr first, FormulaPtr second = nullptr);
  mlir::ParseResult checkDepth(mlir::SMLoc loc, int depth);

  mlir::OpAsmParser &parser;
  /// Formulas, in parentheses or as arguments, and minus signs that are being read.
  int open = 0;
  /// A word read ahead while looking for `name =`.
  std::optional<std::pair<std::string, mlir::SMLoc>> pending;
};

/// What the leaves of a formula mean while its region is built.
struct FormulaScope {
  /// Scalar of operand i, or null if it may not be used as a scalar.
  llvm::SmallVector<mlir::Value> operands;
  llvm::StringMap<mlir::Value> names;
  /// Axes a bare name may mean, besides the roles.
  llvm::SmallVector<AxisRef> freeAxes;
  /// f64, or f32 after specialisation.
  mlir::Type realType;
};

/// Builds the operations of a formula at the builder's insertion point; null after an error at the formula's
/// place.
mlir::Value buildFormula(mlir::OpAsmParser &parser, mlir::OpBuilder &builder, const Formula &formula,
                         FormulaScope &scope);

/// Gives `region` one block with arguments of these types, and builds `bindings` in it; yields the last one.
/// `operandScalars[i]` is the block argument of operand i or -1; `named` are further arguments, by name.
mlir::ParseResult buildFormulaRegion(mlir::OpAsmParser &parser, mlir::Region &region,
                                     const std::vector<Binding> &bindings,
                                     llvm::ArrayRef<mlir::Type> argumentTypes,
                                     llvm::ArrayRef<int64_t> operandScalars,
                                     llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> named,
                                     llvm::ArrayRef<AxisRef> freeAxes, mlir::Type realType);

/// Prints regions back as formulas.
class FormulaPrinter {
public:
  /// `leaves` gives the text of block arguments. Names for shared values are drawn from x0, x1, ..
  explicit FormulaPrinter(llvm::DenseMap<mlir::Value, std::string> leaves) : text(std::move(leaves)) {}
  FormulaPrinter() = default;

  /// The function of formulas that an operation is, `exp`; empty for operators and leaves.
  static llvm::StringRef functionOf(mlir::Operation *operation);
  /// True if every operation of the block has a formula and constants are finite.
  static bool isPrintable(mlir::Block &block);
  /// Gives the text of a block argument.
  void setText(mlir::Value argument, std::string name) { text[argument] = std::move(name); }
  /// Keeps the names of axes and parameters that the block reads: nothing is bound to one of them.
  void reserve(mlir::Block &block);
  /// A name to bind a value to: `hint`, with an underscore where an axis or a parameter is called so.
  std::string freeName(std::string hint) const;
  /// Counts as a use of a value that the block does not show; a second use gives it a name in `bindings`.
  void addUse(mlir::Value value) { ++uses[value]; }
  /// The lines `name = F` for values of the block with several uses.
  std::vector<std::string> bindings(mlir::Block &block);
  /// The text of a value, after `bindings`.
  std::string formula(mlir::Value value, int precedence = 0);
  /// Prints a whole region whose block yields one value: `F` or `{ x0 = F, F }`.
  std::string body(mlir::Block &block);

private:
  llvm::DenseMap<mlir::Value, std::string> text;
  llvm::DenseMap<mlir::Value, unsigned> uses;
  llvm::StringSet<> reserved;
  unsigned counter = 0;
};

/// `%name` of a value.
std::string nameOfValue(mlir::OpAsmPrinter &printer, mlir::Value value);
/// The values that a text names, in the order in which it first does.
llvm::SmallVector<mlir::Value> orderOfAppearance(const std::string &text, mlir::OpAsmPrinter &printer,
                                                 mlir::ValueRange values);

/// A number as MLIR's lexer reads it back: shortest text with a point.
std::string formatNumber(double value);

} // namespace taylor

#endif
