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
      tiles(places), slots(places), bufferTiles(places, tiles, slots), windows(places, tiles),
      copier(places, windows, slots), signals(places), rings(places, windows, slots, signals, copier),
      started(places, tiles, slots) {
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

LogicalResult ThreadEmitter::emit(ModuleOp module) {
  SmallVector<Value> used = getArguments(kernel);
  FailureOr<LLVM::LLVMFuncOp> made = makeFunction(module, used);
  if (failed(made))
    return failure();
  LLVM::LLVMFuncOp function = *made;
  Location loc = kernel.getLoc();
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  places.readThread(shared);
  ValueRange parameters = function.getArguments();
  unsigned numSizes = std::size(tile::kSizeRoles);
  sizes.emplace(builder, loc, parameters.take_front(numSizes), tile::SizeValues::Runs::block);
  sizes->makeLag();
  parameters = windows.readArrays(used, parameters.drop_front(numSizes), *sizes);
  for (auto [box, address] : llvm::zip_equal(getBoxes(kernel), parameters))
    rings.addMap(box, address);
  placeInGrid();
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
