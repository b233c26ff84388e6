// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Taylor/LocalSyntax.h" // IWYU pragma: keep, TaylorOps.cpp.inc calls it
#include "dialect/Taylor/NearestName.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace taylor;

#include "dialect/Taylor/TaylorDialect.cpp.inc"
#include "dialect/Taylor/TaylorEnums.cpp.inc"
#include "dialect/Taylor/TaylorInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Taylor/TaylorOps.cpp.inc"

namespace {

/// Types print as `!bhtd` or `!bhtd_f32`, defined once at the top of the file: a derived function is read
/// more often than written.
struct ArrayAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Type type, raw_ostream &os) const override {
    auto array = dyn_cast<ArrayType>(type);
    if (!array || array.getRank() == 0)
      return AliasResult::NoAlias;
    for (StringAttr axis : array.getAxes())
      if (!llvm::all_of(axis.getValue(), [](char c) { return llvm::isAlnum(c) || c == '_'; }))
        return AliasResult::NoAlias;
    for (StringAttr axis : array.getAxes())
      os << axis.getValue();
    if (!array.getElementType().isF64())
      os << "_" << array.getElementType();
    return AliasResult::OverridableAlias;
  }
};

} // namespace

namespace {

/// Numbers that folding makes stay in the region of their formula: a formula is copied, compared and lowered
/// as a whole.
struct KeepNumbersInFormulas : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *) const final { return true; }
};

} // namespace

static ParseResult reportUnknownOperation(OpAsmParser &parser, OperationState &state) {
  NearestName nearest(state.name.getStringRef(), /*limit=*/4);
  for (RegisteredOperationName known : parser.getContext()->getRegisteredOperations())
    if (known.getDialectNamespace() == "taylor")
      nearest.consider(known.getStringRef());
  InFlightDiagnostic diagnostic =
      parser.emitError(parser.getNameLoc(), "is no operation of the taylor dialect; ");
  if (nearest.get().empty())
    return diagnostic << "dialect/Taylor/README.md has examples";
  return diagnostic << "did you mean '" << nearest.get() << "'?";
}

std::optional<Dialect::ParseOpHook> TaylorDialect::getParseOperationHook(StringRef) const {
  return reportUnknownOperation;
}

void TaylorDialect::initialize() {
  addInterfaces<KeepNumbersInFormulas>();
  addInterfaces<ArrayAliases>();
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Taylor/TaylorOps.cpp.inc"
      >();
  registerDerivativeRules();
}
