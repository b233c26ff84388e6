// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/RegionProgram.h"
#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor::reference;
using Code = ScalarOpcode;

int RegionProgram::addRegister(Real value, bool isArray, bool isDifferentiable, bool isConstant) {
  initial.push_back(value);
  fromArray.push_back(isArray);
  differentiable.push_back(isDifferentiable);
  constant.push_back(isConstant);
  return static_cast<int>(initial.size()) - 1;
}

int RegionProgram::addArgument(bool isDifferentiable) {
  return addRegister(0, true, isDifferentiable, false);
}

int RegionProgram::addConstant(Real value) { return addRegister(value, false, false, true); }

int RegionProgram::addIndex(AxisRef axis) {
  for (const Index &index : indices)
    if (index.axis == axis)
      return index.reg;
  indices.push_back({axis.str(), addRegister(0, false, false, false)});
  return indices.back().reg;
}

int RegionProgram::add(ScalarOpcode opcode, ArrayRef<int> operands) {
  auto any = [&](const std::vector<bool> &flags) {
    return llvm::any_of(operands, [&](int reg) { return flags[reg]; });
  };
  bool isConstant = llvm::all_of(operands, [&](int reg) { return constant[reg]; });
  Instruction instruction = {opcode, 0, {0, 0, 0}, any(fromArray), TieRule::Half};
  llvm::copy(operands, instruction.operands);
  if (opcode == Code::Maximum || opcode == Code::Minimum) {
    if (!fromArray[operands[1]])
      instruction.tie = TieRule::First;
    else if (!fromArray[operands[0]])
      instruction.tie = TieRule::Second;
  }
  if (isConstant) {
    Real x[3] = {};
    for (auto [i, reg] : llvm::enumerate(operands))
      x[i] = initial[reg];
    return addConstant(evaluateScalar(opcode, x));
  }
  bool isDifferentiable = opcode != Code::Stop && any(differentiable);
  instruction.result = addRegister(0, any(fromArray), isDifferentiable, false);
  code.push_back(instruction);
  return instruction.result;
}

/// Whether a function is finite and has a finite derivative wherever its operands are finite, so that it may
/// run on empty sums.
static bool isArithmetic(ScalarOpcode opcode) {
  switch (opcode) {
  case Code::Add:
  case Code::Subtract:
  case Code::Multiply:
  case Code::MultiplyAdd:
  case Code::Negate:
  case Code::Maximum:
  case Code::Minimum:
  case Code::Abs:
  case Code::Select:
  case Code::Less:
  case Code::LessEqual:
  case Code::Greater:
  case Code::GreaterEqual:
  case Code::Equal:
  case Code::NotEqual:
  case Code::And:
  case Code::Or:
  case Code::Xor:
  case Code::Stop:
    return true;
  default:
    return false;
  }
}

bool RegionProgram::isLeftOut(const Instruction &instruction, const std::vector<Sums> &sums) {
  // A quotient of an empty sum by what is not one is a product.
  bool divides = instruction.opcode == Code::Divide && sums[instruction.operands[1]] == Sums::None;
  return sums[instruction.result] == Sums::Empty && !divides && !isArithmetic(instruction.opcode);
}

void RegionProgram::run(std::vector<Real> &registers, std::vector<Sums> *sums) const {
  const Rounding &rounding = environment->arithmetic.value;
  for (const Instruction &instruction : code) {
    const int *reg = instruction.operands;
    if (sums) {
      Sums &result = (*sums)[instruction.result] = Sums::None;
      for (int i = 0, arity = arityOf(instruction.opcode); i < arity; ++i)
        result = std::max(result, (*sums)[reg[i]]);
      if (isLeftOut(instruction, *sums)) {
        registers[instruction.result] = 0;
        continue;
      }
    }
    Real x[3] = {registers[reg[0]], registers[reg[1]], registers[reg[2]]};
    Real y = evaluateScalar(instruction.opcode, x);
    registers[instruction.result] = instruction.rounds ? rounding(y) : y;
  }
}

void RegionProgram::pullback(const std::vector<Real> &registers, std::vector<Real> &cotangents,
                             const std::vector<Sums> *sums) const {
  const Rounding &rounding = environment->arithmetic.value;
  for (const Instruction &instruction : llvm::reverse(code)) {
    Real dy = cotangents[instruction.result];
    // A branch that is not taken hands 0 down; where its derivative is infinite the product would be NaN.
    if (dy == 0 || !differentiable[instruction.result] || (sums && isLeftOut(instruction, *sums)))
      continue;
    const int *reg = instruction.operands;
    Real x[3] = {registers[reg[0]], registers[reg[1]], registers[reg[2]]};
    Real partials[3];
    differentiateScalar(instruction.opcode, instruction.tie, x, registers[instruction.result], partials);
    for (int i = 0, arity = arityOf(instruction.opcode); i < arity; ++i)
      if (differentiable[reg[i]] && partials[i] != 0)
        accumulate(cotangents[reg[i]], rounding(dy * partials[i]), rounding);
  }
}

//===----------------------------------------------------------------------===//
// From regions
//===----------------------------------------------------------------------===//

LogicalResult RegionProgram::append(Region &region, ArrayRef<int> arguments, SmallVectorImpl<int> &yielded) {
  Block &block = region.front();
  assert(block.getNumArguments() == arguments.size());
  DenseMap<Value, int> registers;
  for (auto [argument, reg] : llvm::zip_equal(block.getArguments(), arguments))
    registers[argument] = reg;
  for (Operation &op : block) {
    SmallVector<int> operands;
    for (Value operand : op.getOperands()) {
      auto it = registers.find(operand);
      if (it == registers.end())
        return op.emitError("requires operands from the same region in the reference evaluator");
      operands.push_back(it->second);
    }
    if (isa<taylor::YieldOp>(op)) {
      yielded.assign(operands.begin(), operands.end());
      return success();
    }
    FailureOr<int> result = appendOp(op, operands);
    if (failed(result))
      return failure();
    registers[op.getResult(0)] = *result;
  }
  return region.getParentOp()->emitError("requires a region that ends in 'taylor.yield'");
}

namespace {

Code floatComparison(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OLT:
  case P::ULT:
    return Code::Less;
  case P::OLE:
  case P::ULE:
    return Code::LessEqual;
  case P::OGT:
  case P::UGT:
    return Code::Greater;
  case P::OGE:
  case P::UGE:
    return Code::GreaterEqual;
  case P::OEQ:
  case P::UEQ:
    return Code::Equal;
  case P::ONE:
  case P::UNE:
    return Code::NotEqual;
  default:
    return Code::Copy;
  }
}

Code integerComparison(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return Code::Equal;
  case P::ne:
    return Code::NotEqual;
  case P::slt:
    return Code::Less;
  case P::sle:
    return Code::LessEqual;
  case P::sgt:
    return Code::Greater;
  case P::sge:
    return Code::GreaterEqual;
  default:
    return Code::Copy;
  }
}

/// The opcode of an operation whose operands are the opcode's, in order; Copy where it is none of these.
Code opcodeOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Code>(&op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Code::Add; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return Code::Subtract; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Code::Multiply; })
      .Case<arith::DivFOp>([](auto) { return Code::Divide; })
      .Case<arith::RemFOp>([](auto) { return Code::Remainder; })
      .Case<arith::NegFOp>([](auto) { return Code::Negate; })
      .Case<math::FmaOp>([](auto) { return Code::MultiplyAdd; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>([](auto) { return Code::Maximum; })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>([](auto) { return Code::Minimum; })
      .Case<arith::SelectOp>([](auto) { return Code::Select; })
      .Case<arith::AndIOp>([](auto) { return Code::And; })
      .Case<arith::OrIOp>([](auto) { return Code::Or; })
      .Case<arith::XOrIOp>([](auto) { return Code::Xor; })
      .Case<arith::CmpFOp>([](auto cmp) { return floatComparison(cmp.getPredicate()); })
      .Case<arith::CmpIOp>([](auto cmp) { return integerComparison(cmp.getPredicate()); })
      .Case<math::ExpOp>([](auto) { return Code::Exp; })
      .Case<math::Exp2Op>([](auto) { return Code::Exp2; })
      .Case<math::ExpM1Op>([](auto) { return Code::ExpM1; })
      .Case<math::LogOp>([](auto) { return Code::Log; })
      .Case<math::Log2Op>([](auto) { return Code::Log2; })
      .Case<math::Log10Op>([](auto) { return Code::Log10; })
      .Case<math::Log1pOp>([](auto) { return Code::Log1p; })
      .Case<math::SqrtOp>([](auto) { return Code::Sqrt; })
      .Case<math::RsqrtOp>([](auto) { return Code::Rsqrt; })
      .Case<math::CbrtOp>([](auto) { return Code::Cbrt; })
      .Case<math::AbsFOp, math::AbsIOp>([](auto) { return Code::Abs; })
      .Case<taylor::SigmoidOp>([](auto) { return Code::Sigmoid; })
      .Case<taylor::SoftplusOp>([](auto) { return Code::Softplus; })
      .Case<taylor::StopGradientOp>([](auto) { return Code::Stop; })
      .Case<math::TanhOp>([](auto) { return Code::Tanh; })
      .Case<math::SinhOp>([](auto) { return Code::Sinh; })
      .Case<math::CoshOp>([](auto) { return Code::Cosh; })
      .Case<math::SinOp>([](auto) { return Code::Sin; })
      .Case<math::CosOp>([](auto) { return Code::Cos; })
      .Case<math::TanOp>([](auto) { return Code::Tan; })
      .Case<math::AsinOp>([](auto) { return Code::Asin; })
      .Case<math::AcosOp>([](auto) { return Code::Acos; })
      .Case<math::AtanOp>([](auto) { return Code::Atan; })
      .Case<math::ErfOp>([](auto) { return Code::Erf; })
      .Case<math::ErfcOp>([](auto) { return Code::Erfc; })
      .Case<math::PowFOp, math::FPowIOp>([](auto) { return Code::Power; })
      .Case<math::Atan2Op>([](auto) { return Code::Atan2; })
      .Case<math::CopySignOp>([](auto) { return Code::CopySign; })
      .Case<math::FloorOp>([](auto) { return Code::Floor; })
      .Case<math::CeilOp>([](auto) { return Code::Ceil; })
      .Case<math::RoundOp>([](auto) { return Code::Round; })
      .Case<math::RoundEvenOp>([](auto) { return Code::RoundEven; })
      .Case<math::TruncOp>([](auto) { return Code::Truncate; })
      .Default([](auto) { return Code::Copy; });
}

} // namespace

FailureOr<int> RegionProgram::appendOp(Operation &op, ArrayRef<int> operands) {
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constantOp.getValue()))
      return addConstant(number.getValueAsDouble());
    if (auto number = dyn_cast<IntegerAttr>(constantOp.getValue()))
      return addConstant(number.getType().isInteger(1) ? number.getValue().getBoolValue()
                                                       : static_cast<Real>(number.getValue().getSExtValue()));
  }
  if (auto index = dyn_cast<taylor::IndexOp>(op))
    return addIndex(index.getAxis());
  if (auto size = dyn_cast<taylor::SizeOp>(op)) {
    // A free axis may have another size elsewhere in the specification.
    Operation *of = op.getParentOp();
    for (Type type : llvm::concat<const Type>(of->getOperandTypes(), of->getResultTypes()))
      if (auto array = dyn_cast<taylor::ArrayType>(type))
        if (int64_t written = array.sizeOf(size.getAxis()); written != taylor::ArrayType::kUnknown)
          return addConstant(written);
    if (size.getAxis() != AxisRole::Lag && !environment->sizes.contains(size.getAxis()))
      return op.emitError("expected the name of an axis in use, but got '") << size.getAxis() << "'";
    return addConstant(environment->sizeOf(size.getAxis()));
  }
  if (auto parameter = dyn_cast<taylor::ParameterOp>(op)) {
    auto it = environment->parameters.find(parameter.getName());
    if (it == environment->parameters.end())
      return op.emitError("expected a declared parameter, but got '") << parameter.getName() << "'";
    return addConstant(it->second);
  }
  // Conversions change nothing here: storage types are the business of Environment::arithmetic.
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp, arith::ExtUIOp, arith::UIToFPOp,
          arith::IndexCastOp>(op))
    return operands[0];
  ScalarOpcode opcode = opcodeOf(op);
  bool isBitwise = (opcode == Code::And || opcode == Code::Or || opcode == Code::Xor) &&
                   !op.getResult(0).getType().isInteger(1);
  if (opcode == Code::Copy || isBitwise)
    return op.emitError("unsupported operation '")
           << op.getName() << "' in a scalar region; the reference evaluates arith, math and taylor scalars";
  return add(opcode, operands);
}
