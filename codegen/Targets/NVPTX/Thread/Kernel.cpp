// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's entry: parameters, sizes and strides.
#include "codegen/Targets/NVPTX/Contract.h"
#include "codegen/Targets/NVPTX/Thread/ThreadEmitter.h"
#include "dialect/Refusal.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;
using tile::ArrayType;
using tile::Axis;

ThreadEmitter::ThreadEmitter(tile::KernelOp kernel, OpBuilder &builder, LLVM::GlobalOp shared,
                             int64_t cacheBytes)
    : KernelFrame(kernel, builder), shared(shared), cacheBytes(cacheBytes), places(kernel, builder, scalars),
      tiles(places), slots(places), started(places, tiles, slots) {
  types.addConversion([](tile::TileType tile, SmallVectorImpl<Type> &registers) {
    Type element = elementTypeOf(tile.getElementType());
    int64_t count = layoutOf(tile).getNumRegisters();
    bool paired = isPaired(element, count);
    registers.append(paired ? count / 2 : count, paired ? VectorType::get(2, element) : element);
    return success();
  });
}

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": local memory of a thread.
static constexpr int64_t kMostLocalBytes = 524288;

FailureOr<LLVM::LLVMFuncOp> ThreadEmitter::makeFunction(ModuleOp module, ArrayRef<Value> used) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type(),
       pointer = LLVM::LLVMPointerType::get(context, unsigned(AddressSpace::global));
  SmallVector<Type> parameters(std::size(tile::kSizeRoles), i64);
  for (Value array : used) {
    parameters.push_back(pointer);
    if (isa<tile::TensorOp>(array.getDefiningOp()))
      parameters.append(cast<ArrayType>(array.getType()).getAxes().size(), i64);
  }
  if (failed(checkParameters(kernel)))
    return failure();
  SmallVector<Box> maps = getBoxes(kernel);
  parameters.append(maps.size(), LLVM::LLVMPointerType::get(context));
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters);
  auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), getEntryName(kernel), type);
  auto mapType = LLVM::LLVMArrayType::get(builder.getI8Type(), kMapBytes);
  for (size_t i = parameters.size() - maps.size(); i < parameters.size(); ++i) {
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(mapType));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(kMapAlignment));
  }
  int64_t threads = getNumThreads(kernel);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(threads)}));
  if (!kernel.getBlock()->getOps<RolesOp>().empty()) // without it ptxas ignores setmaxnreg
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1));
  function->setAttr(kEntryAttr, describeEntry(kernel));
  return function;
}

void ThreadEmitter::readParameters(LLVM::LLVMFuncOp function, ArrayRef<Value> used) {
  unsigned next = std::size(tile::kSizeRoles);
  sizes.emplace(builder, kernel.getLoc(), function.getArguments().take_front(next),
                tile::SizeValues::Runs::block);
  sizes->makeLag();
  for (Value array : used) {
    auto type = cast<ArrayType>(array.getType());
    ArrayRef<Axis> axes = type.getAxes();
    ArrayValues values;
    values.address = function.getArgument(next++);
    values.sizes = sizes->of(type);
    int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    if (isa<tile::TensorOp>(array.getDefiningOp())) {
      for (unsigned i = 0; i < axes.size(); ++i)
        values.strides.push_back(function.getArgument(next++));
      values.isContiguous = !axes.empty() && axes.back().extent.isStatic();
      values.alignment = isAligned16(type) ? 16 : elementBytes;
    } else {
      int64_t rowBytes = elementBytes;
      values.strides = sizes->stridesOf(values.sizes);
      values.isContiguous = true;
      if (!axes.empty() && axes.back().extent.isStatic())
        rowBytes *= axes.back().getSize();
      values.alignment = std::gcd(rowBytes, int64_t(16));
    }
    arrays[array] = values;
  }
  for (Box &box : getBoxes(kernel))
    boxes.push_back({box, function.getArgument(next++)});
}

void ThreadEmitter::findExchangedArrays() {
  struct Uses {
    int reads = 0, writes = 0;
  };
  llvm::MapVector<Value, Uses> uses;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      ++uses[load.getArray()].reads;
    else if (auto copy = dyn_cast<CopyOp>(op))
      ++uses[copy.getArray()].reads;
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      ++uses[store.getArray()].writes;
    else if (auto accumulate = dyn_cast<tile::AccumulateOp>(op))
      ++uses[accumulate.getArray()].writes;
  });
  for (auto &[array, counts] : uses)
    arrays[array].isExchanged = counts.writes > 1 || (counts.writes && counts.reads);
}

LogicalResult ThreadEmitter::emit(ModuleOp module) {
  SmallVector<Value> used = getArguments(kernel);
  FailureOr<LLVM::LLVMFuncOp> made = makeFunction(module, used);
  if (failed(made))
    return failure();
  LLVM::LLVMFuncOp function = *made;
  Location loc = kernel.getLoc();
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  places.readThread(shared);
  readParameters(function, used);
  placeInGrid();
  findExchangedArrays();
  places.endStart();
  if (failed(emitBlock(*kernel.getBlock())))
    return failure();
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  if (int64_t bytes = tiles.localBytes(); bytes > kMostLocalBytes)
    return taylor::refuse(kernel.emitOpError())
           << "unsupported on this target: " << bytes
           << " bytes of local memory for maps of many functions, where a thread may have " << kMostLocalBytes
           << "; split the specification, or choose smaller tiles";
  places.eraseMarks();
  return success();
}
