// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar regions as straight-line code over registers, with a reverse sweep for their derivative.
#ifndef TAYLOR_DIALECT_REFERENCE_REGIONPROGRAM_H
#define TAYLOR_DIALECT_REFERENCE_REGIONPROGRAM_H

#include "dialect/Reference/Array.h"
#include "dialect/Reference/ScalarFunctions.h"
#include "mlir/IR/Region.h"

namespace taylor::reference {

/// A scalar region compiled once and run at every point of an array, or every visible pair. The registers
/// live with the caller, so that several threads may run one program.
class RegionProgram {
public:
  /// `environment` gives sizes, parameters and rounding; it must outlive the program.
  explicit RegionProgram(const Environment &environment) : environment(&environment) {}

  /// A register that the caller sets before each run. Gradients reach it if it is differentiable.
  int addArgument(bool differentiable);
  /// The register of the index along an axis, which the caller sets; each axis has one.
  int addIndex(AxisRef axis);
  int addConstant(Real value);
  int add(ScalarOpcode opcode, llvm::ArrayRef<int> operands);
  /// Appends a region with one block whose arguments are in `arguments`; gives the registers of what it
  /// yields. Fails, with an error at the operation, on one that is not scalar arithmetic or on an unknown
  /// parameter.
  mlir::LogicalResult append(mlir::Region &region, llvm::ArrayRef<int> arguments,
                             llvm::SmallVectorImpl<int> &yielded);
  void addResult(int reg) { results.push_back(reg); }

  struct Index {
    std::string axis;
    int reg;
  };
  llvm::ArrayRef<Index> getIndices() const { return indices; }
  llvm::ArrayRef<int> getResults() const { return results; }
  bool isDifferentiable(int reg) const { return differentiable[reg]; }
  /// False for what depends on constants and positions alone: such values are never rounded.
  bool dependsOnArray(int reg) const { return fromArray[reg]; }

  /// Registers with the constants in place.
  std::vector<Real> makeRegisters() const { return initial; }
  /// What a register depends on: on no sum over keys, on empty ones alone, or on one that sees a key.
  enum class Sums : uint8_t { None, Empty, Seeing };
  /// `sums`: one per register, of which the caller sets the arguments. A function of what depends on empty
  /// sums alone does not run and is 0; sums, products, extrema and choices take an empty sum as 0.
  void run(std::vector<Real> &registers, std::vector<Sums> *sums = nullptr) const;
  /// Adds to `cotangents` (one per register, those of the results set, else 0) what the chain rule gives.
  /// `sums` as `run` left them.
  void pullback(const std::vector<Real> &registers, std::vector<Real> &cotangents,
                const std::vector<Sums> *sums = nullptr) const;

private:
  struct Instruction {
    ScalarOpcode opcode;
    int result;
    int operands[3];
    /// False for what depends on positions alone: eager code computes that in integers or in double.
    bool rounds;
    TieRule tie;
  };
  /// Whether an instruction is a function of empty sums alone.
  static bool isLeftOut(const Instruction &instruction, const std::vector<Sums> &sums);
  int addRegister(Real value, bool isArray, bool isDifferentiable, bool isConstant);
  mlir::FailureOr<int> appendOp(mlir::Operation &op, llvm::ArrayRef<int> operands);

  const Environment *environment;
  std::vector<Instruction> code;
  std::vector<Real> initial;
  /// Per register: whether it depends on an array, on a differentiable argument, or on nothing.
  std::vector<bool> fromArray, differentiable, constant;
  llvm::SmallVector<Index> indices;
  llvm::SmallVector<int> results;
};

} // namespace taylor::reference

#endif
