// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/Evaluator.h"
#include "dialect/Tile/Extents.h"
#include "dialect/Tile/ScalarEvaluator.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>
#include <memory>

using namespace mlir;
using namespace mlir::tile;

namespace {
/// Integers, and the sizes of a call.
struct CallNumbers : Integers {
  const Sizes &sizes;
  int64_t size(AxisRef role) const { return sizes.of(role); }
};
} // namespace

int64_t Sizes::of(AxisRef role) const {
  std::optional<AxisRole> axis = taylor::axisRoleOf(role);
  if (!axis)
    return offset;
  switch (*axis) {
  case AxisRole::Batch:
    return b;
  case AxisRole::Head:
    return h;
  case AxisRole::KeyHead:
    return g;
  case AxisRole::Query:
    return t;
  case AxisRole::Key:
    return u;
  case AxisRole::Lag:
    return lagSize(CallNumbers{{}, *this});
  default:
    return offset;
  }
}

namespace {

/// Elements in row-major order of the type's (sorted) axes.
using Elements = std::vector<Scalar>;

/// A scalar or a tile.
struct ValueSlot {
  Scalar scalar;
  std::shared_ptr<Elements> tile;
};

using Index = SmallVector<int64_t, 6>;

/// Calls `visit` with the index of every element, in row-major order.
template <typename F> void forEachIndex(ArrayRef<Axis> axes, F visit) {
  Index index(axes.size(), 0);
  for (;;) {
    visit(index);
    int64_t i = int64_t(axes.size()) - 1;
    for (; i >= 0; --i) {
      if (++index[i] < axes[i].getSize())
        break;
      index[i] = 0;
    }
    if (i < 0)
      return;
  }
}

/// Position of the element of `type` that has `index` along those of `axes` it has.
int64_t linearIndex(TileType type, ArrayRef<Axis> axes, ArrayRef<int64_t> index) {
  int64_t linear = 0;
  for (const Axis &axis : type.getAxes()) {
    linear *= axis.getSize();
    for (auto [other, i] : llvm::zip(axes, index))
      if (other.name == axis.name)
        linear += i;
  }
  return linear;
}

double toDouble(const APFloat &value) {
  APFloat copy(value);
  bool lost;
  copy.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return copy.convertToDouble();
}

/// Sums of floats are kept in fp64 while an op runs and rounded when it ends.
void roundElements(Elements &elements, Type type) {
  if (isa<FloatType>(type) && !type.isF64())
    for (Scalar &element : elements)
      element.real = roundTo(type, element.real);
}

/// Memory of one array with its bounds.
struct ArrayStore {
  ArrayType type;
  char *data = nullptr;
  SmallVector<int64_t> strides, extents;

  int64_t bytes() const {
    return type.getElementType().isIntOrFloat() ? type.getElementType().getIntOrFloatBitWidth() / 8 : 8;
  }

  Scalar read(int64_t offset) const {
    const char *at = data + offset * bytes();
    Type element = type.getElementType();
    uint64_t bits = 0;
    std::memcpy(&bits, at, bytes());
    if (element.isInteger(32))
      return {0, int32_t(bits)};
    return {toDouble(APFloat(cast<FloatType>(element).getFloatSemantics(), APInt(bytes() * 8, bits))), 0};
  }

  void write(int64_t offset, Scalar value) {
    char *at = data + offset * bytes();
    Type element = type.getElementType();
    uint64_t bits;
    if (element.isInteger(32)) {
      bits = uint64_t(value.integer);
    } else {
      APFloat number(value.real);
      bool lost;
      number.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      bits = number.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(at, &bits, bytes());
  }
};

class Evaluator {
public:
  Evaluator(const Sizes &sizes) : numbers{{}, sizes} {}

  LogicalResult run(ProgramOp program, ArrayRef<HostArray> tensors);

private:
  LogicalResult runKernel(KernelOp kernel);
  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation *op);
  LogicalResult runMap(MapOp map);
  void runDot(DotOp dot);
  void runReduce(ReduceOp reduce);
  void runScan(ScanOp scan);
  void runSlice(SliceOp slice);
  void runConcat(ConcatOp concat);
  void runExpand(ExpandOp expand);
  void runContract(ContractOp contract);
  void runLookup(LookupOp lookup);
  LogicalResult runLoad(LoadOp load);
  template <typename Op> LogicalResult runWrite(Op op, bool accumulate);
  LogicalResult runFor(scf::ForOp loop);

  /// Calls `visit(element of the tile, offset in memory)` for the elements of a window within bounds.
  template <typename F>
  void forEachInWindow(ArrayStore &memory, TileType tile, ArrayRef<WindowAxis> window, F visit);

  Elements &tile(Value value) { return *slots[value].tile; }
  int64_t index(Value value) { return slots[value].scalar.integer; }
  Elements &define(Value value) {
    auto type = cast<TileType>(value.getType());
    auto elements = std::make_shared<Elements>(type.getNumElements());
    slots[value] = {Scalar(), elements};
    return *elements;
  }

  CallNumbers numbers;
  DenseMap<Value, ValueSlot> slots;
  DenseMap<Value, ArrayStore> arrays;
  std::vector<std::vector<char>> workspace;
};

LogicalResult Evaluator::run(ProgramOp program, ArrayRef<HostArray> tensors) {
  size_t tensorCount = llvm::range_size(program.getBlock()->getOps<TensorOp>());
  if (tensorCount != tensors.size())
    return program.emitError() << "expected " << tensorCount << " tensors, but got " << tensors.size();
  size_t next = 0;
  for (Operation &op : *program.getBlock()) {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      if (failed(runKernel(kernel)))
        return failure();
      continue;
    }
    ArrayStore memory;
    memory.type = cast<ArrayType>(op.getResult(0).getType());
    for (const Axis &axis : memory.type.getAxes())
      memory.extents.push_back(evaluateExtent(axis.extent, numbers));
    if (isa<TensorOp>(op)) {
      memory.data = static_cast<char *>(tensors[next].data);
      memory.strides = tensors[next++].strides;
    } else {
      memory.strides = rowMajorStrides(ArrayRef<int64_t>(memory.extents), numbers);
      // All ones: a NaN in every float type, so that an element that nothing wrote shows.
      int64_t bytes = countOf(memory.extents, numbers) * memory.bytes();
      memory.data = workspace.emplace_back(bytes + 1, char(0xff)).data();
    }
    arrays[op.getResult(0)] = memory;
  }
  return success();
}

LogicalResult Evaluator::runKernel(KernelOp kernel) {
  SmallVector<int64_t> grid;
  for (unsigned i = 0; i < kernel.getGrid().size(); ++i)
    grid.push_back(evaluateExtent(kernel.getExtent(i), numbers));
  for (int64_t block = 0, blocks = countOf(grid, numbers); block < blocks; ++block) {
    forPlacesInGrid(
        block, grid.size(), [&](unsigned i) { return grid[i]; },
        [&](unsigned i, int64_t place) { slots[kernel.getBlock()->getArgument(i)].scalar.integer = place; },
        numbers);
    if (failed(runBlock(*kernel.getBlock())))
      return failure();
  }
  return success();
}

LogicalResult Evaluator::runBlock(Block &block) {
  for (Operation &op : block)
    if (failed(runOp(&op)))
      return failure();
  return success();
}

LogicalResult Evaluator::runOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return runFor(loop); })
      .Case([&](scf::IfOp branch) {
        Block *taken = slots[branch.getCondition()].scalar.integer ? branch.thenBlock() : branch.elseBlock();
        if (!taken)
          return success();
        if (failed(runBlock(*taken)))
          return failure();
        for (auto [result, value] : llvm::zip(branch.getResults(), taken->getTerminator()->getOperands()))
          slots[result] = ValueSlot(slots[value]);
        return success();
      })
      .Case<scf::YieldOp, YieldOp>([&](auto) { return success(); })
      .Case([&](SizeOp size) {
        slots[size.getResult()].scalar.integer = numbers.size(size.getRole());
        return success();
      })
      .Case([&](RequestedOp requested) {
        slots[requested.getResult()].scalar.integer = arrays[requested.getArray()].data != nullptr;
        return success();
      })
      .Case([&](LookupOp lookup) { return runLookup(lookup), success(); })
      .Case([&](LoadOp load) { return runLoad(load); })
      .Case([&](StoreOp store) { return runWrite(store, false); })
      .Case([&](AccumulateOp accumulate) { return runWrite(accumulate, true); })
      .Case([&](SplatOp splat) {
        Scalar value = slots[splat.getValue()].scalar;
        llvm::fill(define(splat.getResult()), value);
        return success();
      })
      .Case([&](PositionOp position) {
        int64_t at = index(position.getStart());
        for (Scalar &element : define(position.getResult()))
          element.integer = at++;
        return success();
      })
      .Case([&](MapOp map) { return runMap(map); })
      .Case([&](DotOp dot) { return runDot(dot), success(); })
      .Case([&](ReduceOp reduce) { return runReduce(reduce), success(); })
      .Case([&](ScanOp scan) { return runScan(scan), success(); })
      .Case([&](ExpandOp expand) { return runExpand(expand), success(); })
      .Case([&](ContractOp contract) { return runContract(contract), success(); })
      .Case([&](SliceOp slice) { return runSlice(slice), success(); })
      .Case([&](ConcatOp concat) { return runConcat(concat), success(); })
      .Default([&](Operation *other) -> LogicalResult {
        SmallVector<Scalar> operands;
        for (Value operand : other->getOperands())
          operands.push_back(slots[operand].scalar);
        FailureOr<Scalar> value = evaluateScalar(other, operands);
        if (failed(value))
          return failure();
        slots[other->getResult(0)].scalar = *value;
        return success();
      });
}

void Evaluator::runSlice(SliceOp slice) {
  Elements &result = define(slice.getResult());
  ArrayRef<Axis> axes = slice.getType().getAxes();
  size_t next = 0;
  forEachIndex(axes, [&](Index from) {
    for (auto [axis, i] : llvm::zip(axes, from))
      if (axis.getName() == slice.getAxis())
        i = int64_t(slice.getOffset()) + i * int64_t(slice.getStride());
    result[next++] = tile(slice.getInput())[linearIndex(slice.getInput().getType(), axes, from)];
  });
}

void Evaluator::runConcat(ConcatOp concat) {
  Elements &result = define(concat.getResult());
  ArrayRef<Axis> axes = concat.getType().getAxes();
  int64_t sizeA = concat.getA().getType().getSize(concat.getAxis());
  size_t next = 0;
  forEachIndex(axes, [&](Index from) {
    bool second = false;
    for (auto [axis, i] : llvm::zip(axes, from))
      if (axis.getName() == concat.getAxis()) {
        second = concat.getInterleaved() ? i % 2 : i >= sizeA;
        i = concat.getInterleaved() ? i / 2 : second ? i - sizeA : i;
      }
    auto source = second ? concat.getB() : concat.getA();
    result[next++] = tile(source)[linearIndex(source.getType(), axes, from)];
  });
}

LogicalResult Evaluator::runFor(scf::ForOp loop) {
  int64_t upper = index(loop.getUpperBound()), step = index(loop.getStep());
  if (step < 1)
    return loop.emitError() << "expected a positive step, but got " << step;
  SmallVector<ValueSlot> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(slots[init]);
  for (int64_t i = index(loop.getLowerBound()); i < upper; i += step) {
    slots[loop.getInductionVar()].scalar.integer = i;
    for (auto [argument, slot] : llvm::zip(loop.getRegionIterArgs(), carried))
      slots[argument] = slot;
    if (failed(runBlock(*loop.getBody())))
      return failure();
    for (auto [slot, value] : llvm::zip(carried, loop.getBody()->getTerminator()->getOperands()))
      slot = slots[value];
  }
  for (auto [result, slot] : llvm::zip(loop.getResults(), carried))
    slots[result] = slot;
  return success();
}

LogicalResult Evaluator::runMap(MapOp map) {
  ArrayRef<Axis> axes = cast<TileType>(map.getResult(0).getType()).getAxes();
  SmallVector<Elements *> results;
  for (Value result : map.getResults())
    results.push_back(&define(result));
  int64_t next = 0;
  LogicalResult status = success();
  forEachIndex(axes, [&](const Index &at) {
    if (failed(status))
      return;
    for (auto [argument, input] : llvm::zip(map.getBlock()->getArguments(), map.getInputs()))
      slots[argument].scalar = tile(input)[linearIndex(cast<TileType>(input.getType()), axes, at)];
    status = runBlock(*map.getBlock());
    for (auto [result, value] : llvm::zip(results, map.getBlock()->getTerminator()->getOperands()))
      (*result)[next] = slots[value].scalar;
    ++next;
  });
  return status;
}

void Evaluator::runDot(DotOp dot) {
  TileType a = dot.getA().getType(), b = dot.getB().getType();
  ArrayRef<Axis> axes = dot.getType().getAxes();
  SmallVector<Axis> all(axes);
  for (StringAttr name : dot.getOver().getAsRange<StringAttr>())
    all.push_back(Axis::get(dot.getContext(), name, a.getSize(name)));
  Elements &result = define(dot.getResult());
  if (dot.getC())
    result = tile(dot.getC());
  forEachIndex(all, [&](const Index &at) {
    if (Value where = dot.getWhere();
        where && !tile(where)[linearIndex(cast<TileType>(where.getType()), all, at)].integer)
      return;
    result[linearIndex(dot.getType(), all, at)].real +=
        tile(dot.getA())[linearIndex(a, all, at)].real * tile(dot.getB())[linearIndex(b, all, at)].real;
  });
  roundElements(result, dot.getType().getElementType());
}

/// Numbers are both: the one that an element's type does not use is 0.
static Scalar combine(ReductionKind kind, Scalar x, Scalar y) {
  switch (kind) {
  case ReductionKind::sum:
    return {x.real + y.real, x.integer + y.integer};
  case ReductionKind::max:
    return {std::max(x.real, y.real), std::max(x.integer, y.integer)};
  case ReductionKind::min:
    return {std::min(x.real, y.real), std::min(x.integer, y.integer)};
  }
  llvm_unreachable("all kinds are listed");
}

void Evaluator::runReduce(ReduceOp reduce) {
  TileType type = reduce.getInput().getType();
  Elements &result = define(reduce.getResult());
  std::vector<bool> seen(result.size());
  size_t next = 0;
  forEachIndex(type.getAxes(), [&](const Index &at) {
    Scalar x = tile(reduce.getInput())[next++];
    int64_t i = linearIndex(reduce.getType(), type.getAxes(), at);
    Scalar &y = result[i];
    y = seen[i] ? combine(reduce.getKind(), y, x) : x;
    seen[i] = true;
  });
  roundElements(result, reduce.getType().getElementType());
}

void Evaluator::runScan(ScanOp scan) {
  ArrayRef<Axis> axes = scan.getType().getAxes();
  Elements &result = define(scan.getResult());
  SmallVector<Axis> others(scan.getType().without({scan.getAxis()}).getAxes());
  int64_t size = scan.getType().getSize(scan.getAxis());
  forEachIndex(others, [&](const Index &at) {
    Scalar before = {identityOf(scan.getKind()), 0};
    std::optional<Scalar> document;
    for (int64_t n = 0; n < size; ++n) {
      Index full;
      for (const Axis &axis : axes)
        full.push_back(axis.getName() == scan.getAxis() ? (scan.getReverse() ? size - 1 - n : n)
                                                        : at[llvm::find(others, axis) - others.begin()]);
      int64_t i = linearIndex(scan.getType(), axes, full);
      if (scan.getWithin()) {
        Scalar next = tile(scan.getWithin())[i];
        if (document && document->real != next.real)
          before = {identityOf(scan.getKind()), 0};
        document = next;
      }
      Scalar after = combine(scan.getKind(), before, tile(scan.getInput())[i]);
      result[i] = scan.getExclusive() ? before : after;
      before = after;
    }
  });
  roundElements(result, scan.getType().getElementType());
}

/// Calls `visit(feature, its weight, its place in the panel)` for the features of a panel.
template <typename F>
static void forEachInPanel(FeaturesAttr features, ArrayRef<double> weights, int64_t start, int64_t size,
                           F visit) {
  int64_t number = 0;
  features.get().forEach([&](const taylor::Features::Feature &feature) {
    int64_t place = number++ - start;
    if (place < 0 || place >= size)
      return;
    visit(feature, features.get().weightOf(feature, weights), place);
  });
}

void Evaluator::runExpand(ExpandOp expand) {
  TileType vectors = expand.getInput().getType(), panel = expand.getType();
  Elements &x = tile(expand.getInput()), &result = define(expand.getResult());
  // The loop's axes: the panel's, and the place of a component along the vectors' axis.
  forEachIndex(vectors.without({expand.getAxis()}).getAxes(), [&](const Index &at) {
    SmallVector<Axis> axes(vectors.without({expand.getAxis()}).getAxes());
    Index index(at);
    axes.push_back(Axis::get(expand.getContext(), expand.getAxis(), vectors.getSize(expand.getAxis())));
    axes.push_back(Axis::get(expand.getContext(), expand.getTo(), panel.getSize(expand.getTo())));
    index.append({0, 0});
    forEachInPanel(expand.getFeatures(), expand.getWeightValues(), this->index(expand.getStart()),
                   panel.getSize(expand.getTo()),
                   [&](const taylor::Features::Feature &feature, double weight, int64_t place) {
                     if (weight != 0)
                       for (int64_t component : feature.components) {
                         index[at.size()] = component;
                         weight *= x[linearIndex(vectors, axes, index)].real;
                       }
                     index[at.size() + 1] = place;
                     result[linearIndex(panel, axes, index)].real = weight;
                   });
  });
  roundElements(result, panel.getElementType());
}

void Evaluator::runContract(ContractOp contract) {
  TileType vectors = contract.getInput().getType(), panel = contract.getCotangent().getType();
  Elements &x = tile(contract.getInput()), &cotangent = tile(contract.getCotangent());
  Elements before = tile(contract.getC());
  Elements &result = define(contract.getResult());
  result = before;
  forEachIndex(vectors.without({contract.getAxis()}).getAxes(), [&](const Index &at) {
    SmallVector<Axis> axes(vectors.without({contract.getAxis()}).getAxes());
    Index index(at);
    axes.push_back(Axis::get(contract.getContext(), contract.getAxis(), vectors.getSize(contract.getAxis())));
    axes.push_back(Axis::get(contract.getContext(), contract.getFrom(), panel.getSize(contract.getFrom())));
    index.append({0, 0});
    auto component = [&](int64_t i) {
      index[at.size()] = i;
      return linearIndex(vectors, axes, index);
    };
    forEachInPanel(contract.getFeatures(), contract.getWeightValues(), this->index(contract.getStart()),
                   panel.getSize(contract.getFrom()),
                   [&](const taylor::Features::Feature &feature, double weight, int64_t place) {
                     if (weight == 0)
                       return;
                     index[at.size() + 1] = place;
                     weight *= cotangent[linearIndex(panel, axes, index)].real;
                     for (size_t i = 0; i < feature.components.size(); ++i) {
                       double others = weight;
                       for (size_t j = 0; j < feature.components.size(); ++j)
                         if (j != i)
                           others *= x[component(feature.components[j])].real;
                       result[component(feature.components[i])].real += others;
                     }
                   });
  });
  roundElements(result, contract.getType().getElementType());
}

template <typename F>
void Evaluator::forEachInWindow(ArrayStore &memory, TileType type, ArrayRef<WindowAxis> window, F visit) {
  int64_t next = 0;
  forEachIndex(type.getAxes(), [&](const Index &at) {
    int64_t offset = 0;
    bool inside = true;
    for (auto [i, axis] : llvm::enumerate(window)) {
      int64_t position = axis.offset ? index(axis.offset) : 0;
      for (auto [tileAxis, n] : llvm::zip(type.getAxes(), at))
        if (tileAxis.getName() == axis.tileAxis)
          position += n;
        else if (tileAxis.getName() == axis.minusAxis)
          position -= n;
      inside &= position >= 0 && position < memory.extents[i];
      offset += position * memory.strides[i];
    }
    if (inside)
      visit(next, offset);
    ++next;
  });
}

void Evaluator::runLookup(LookupOp lookup) {
  ArrayStore &memory = arrays[lookup.getArray()];
  int64_t offset = 0;
  bool inside = true;
  for (auto [i, place] : llvm::enumerate(lookup.getPlace())) {
    inside &= index(place) >= 0 && index(place) < memory.extents[i];
    offset += index(place) * memory.strides[i];
  }
  slots[lookup.getResult()].scalar.integer = inside ? int64_t(memory.read(offset).real) : 0;
}

LogicalResult Evaluator::runLoad(LoadOp load) {
  ArrayStore &memory = arrays[load.getArray()];
  if (!memory.data)
    return load.emitError("expected a tensor, but got null: guard it with tile.requested");
  Elements &result = define(load.getResult());
  size_t found = 0;
  ArrayStore bounded = memory;
  if (std::optional<StringRef> axis = load.getEndAxis()) {
    int64_t &size = bounded.extents[bounded.type.find(*axis)];
    size = std::min(size, index(load.getEnd()));
  }
  forEachInWindow(
      bounded, load.getType(),
      getWindow(memory.type, load.getType(), load.getArrayAxes(), load.getTileAxes(), load.getOffsets()),
      [&](int64_t element, int64_t offset) {
        result[element] = memory.read(offset);
        ++found;
      });
  if (load.getInside() && found < result.size())
    return load.emitError("expected a window inside of the array, but ")
           << result.size() - found << " of its elements are not";
  return success();
}

template <typename Op> LogicalResult Evaluator::runWrite(Op op, bool accumulate) {
  ArrayStore &memory = arrays[op.getArray()];
  if (!memory.data)
    return op.emitError("expected a tensor, but got null: guard it with tile.requested");
  Elements &source = tile(op.getTile());
  TileType type = op.getTile().getType();
  forEachInWindow(memory, type,
                  getWindow(memory.type, type, op.getArrayAxes(), op.getTileAxes(), op.getOffsets()),
                  [&](int64_t element, int64_t offset) {
                    Scalar value = source[element];
                    if (accumulate) {
                      Scalar old = memory.read(offset);
                      value = {old.real + value.real, old.integer + value.integer};
                    }
                    memory.write(offset, value);
                  });
  return success();
}

} // namespace

LogicalResult mlir::tile::evaluateProgram(ProgramOp program, const Sizes &sizes,
                                          ArrayRef<HostArray> tensors) {
  return Evaluator(sizes).run(program, tensors);
}
