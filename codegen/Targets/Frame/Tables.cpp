// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Frame/Tables.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

DenseElementsAttr tile::roundedTable(FloatType type, ArrayRef<double> values) {
  SmallVector<APFloat> numbers;
  for (double value : values) {
    bool lost;
    numbers.emplace_back(value).convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  }
  return DenseFPElementsAttr::get(RankedTensorType::get({int64_t(numbers.size())}, type), numbers);
}

DenseElementsAttr tile::integerTable(OpBuilder &builder, ArrayRef<int32_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, builder.getI32Type());
  return DenseIntElementsAttr::get(type, values);
}

Value tile::addressOfTable(OpBuilder &builder, Location loc, function_ref<std::string(unsigned)> nameOf,
                           DenseElementsAttr values, unsigned alignment, unsigned addressSpace) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name;
  LLVM::GlobalOp global;
  for (unsigned i = 0;; ++i) {
    name = nameOf(i);
    global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global || global.getValueOrNull() == values)
      break;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(values.getElementType(), values.getNumElements());
    global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                    values, alignment, addressSpace);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}
