// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simt.start and simt.await as wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions"). MLIR has no wgmma with a left operand in registers, so the instructions
// are text.
#include "codegen/Targets/NVPTX/Thread/Started.h"
#include "codegen/Targets/NVPTX/Thread/ProductEmitter.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

namespace {

/// Rows of one instruction, elements that it sums over, and their bytes.
constexpr int64_t kRows = 64, kDepth = 16, kBytes = 2;
constexpr int64_t kMostColumns = 256;

/// A slot as instructions address it.
class OperandMatrix {
public:
  /// `own`: the axis other than the one summed over.
  OperandMatrix(Code code, Value sharedBase, SharedSlot slot, StringRef own) : code(code), type(slot.type) {
    isSumContiguous = type.getRow().getName() != own;
    int64_t width = type.getSwizzle();
    // PTX ISA, "Matrix Descriptor Format": addresses and distances in units of 16 bytes. Lines of the
    // pattern are eight rows; panels lie next to each other along the contiguous axis.
    int64_t panels = isSumContiguous ? 1 : panelBytes() >> 4, lines = 8 * width >> 4;
    int64_t mode = width == 128 ? 1 : width == 64 ? 2 : 3;
    Value base = LLVM::PtrToIntOp::create(code.builder, code.loc, code.builder.getI32Type(), sharedBase);
    Value first = code.shiftRight(code.add(base, slot.bytes), 4);
    start = code.add(code.widen(first), mode << 62 | lines << 32 | panels << 16);
  }

  /// The descriptor of the part from `own` and `sum` on, constants.
  Value at(int64_t own, int64_t sum) const {
    int64_t row = isSumContiguous ? own : sum, byte = (isSumContiguous ? sum : own) * kBytes;
    int64_t width = type.getSwizzle();
    return code.add(start, (byte / width * panelBytes() + row * width + byte % width) >> 4);
  }
  /// What a descriptor grows by from one row or column of its own axis to that `own` further on.
  int64_t distance(int64_t own) const {
    int64_t width = type.getSwizzle();
    return (isSumContiguous ? own * width : own * kBytes / width * panelBytes()) >> 4;
  }
  /// Whether the instruction has to transpose it.
  bool isTransposed() const { return !isSumContiguous; }

private:
  int64_t panelBytes() const { return type.getPanelRows() * type.getSwizzle(); }

  Code code;
  BufferType type;
  bool isSumContiguous;
  Value start;
};

/// The text of several instructions, with operands numbered as they are added: results first.
class AssemblyText {
public:
  /// `sums`: what the first instruction adds to; none: 0.
  AssemblyText(size_t numSums, ArrayRef<Value> sums) : operands(sums), numSums(numSums) {
    // Not in the registers of operands that later instructions of the text read.
    for (size_t i = 0; i < numSums; ++i)
      constraints += i ? ",=&f" : "=&f";
    for (size_t i = 0; i < sums.size(); ++i)
      constraints += "," + std::to_string(i);
  }
  std::string add(Value operand, char letter) {
    constraints += std::string(",") + letter;
    operands.push_back(operand);
    return "$" + std::to_string(numSums + operands.size() - 1);
  }
  void line(const std::string &line) { text += line + "\n"; }
  SmallVector<Value> emit(Code code) {
    SmallVector<Type> types(numSums, code.builder.getF32Type());
    return code.assembly(text, constraints + ",~{memory}", types, operands);
  }

private:
  SmallVector<Value> operands;
  size_t numSums;
  std::string text, constraints;
};

/// {$0, $1, ..}
std::string numberedList(size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(i);
  return text + "}";
}

/// Emits one simt.start.
class StartEmitter {
public:
  StartEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, StartOp op)
      : places(places), tiles(tiles), slots(slots), op(op), code(places.at(op)), sum(layoutOf(op.getTile())),
        over(cast<StringAttr>(op.getOver()[0]).getValue()) {}
  LogicalResult emit();
  /// Operands in registers, which the product reads until it is awaited.
  ArrayRef<Value> wordsInFlight() const { return inFlight; }

private:
  LogicalResult check();
  SmallVector<int64_t> placesOf(int64_t row) const;
  SmallVector<Value> fragment(int64_t row, int64_t k);
  Value leftDescriptor(int64_t row, int64_t k);
  void emitRows(int64_t row);
  OperandMatrix open(Value buffer, StringRef own) const {
    return {code, places.sharedBase(), slots.slotOf(buffer), own};
  }

  ThreadPlaces &places;
  ThreadTiles &tiles;
  SharedSlots &slots;
  StartOp op;
  Code code;
  Accumulator sum;
  StringRef over;
  int64_t numColumns = 0, depth = 0;
  ThreadRegisters left; ///< empty where it is in a buffer
  bool addsToSums = false;
  SmallVector<Value> inFlight;
};

} // namespace

LogicalResult StartEmitter::check() {
  auto right = cast<BufferType>(op.getB().getType());
  numColumns = right.getSize(sum.axes.columns);
  depth = right.getSize(over);
  int64_t numRows = op.getTile().getSize(sum.axes.rows), group = 16 * places.numWarps();
  ArrayRef<Digit> warps = sum.layout.getWarps();
  bool isFragment = places.numWarps() % 4 == 0 && numRows % group == 0 && sum.hasUpper;
  for (auto [bit, digit] : llvm::enumerate(warps))
    isFragment &= digit.isAlong(sum.axes.rows) && digit.stride == int64_t(16) << bit;
  if (!isFragment || numColumns % 16 || depth % kDepth)
    return op.emitOpError() << "expected blocks of " << kRows
                            << " rows over four warps each, and operands of "
                            << "multiples of 16 elements, but got " << op.getTile();
  if (numColumns > kMostColumns)
    return op.emitOpError() << "expected at most " << kMostColumns << " columns, but got " << op.getTile();
  if (!op.getTile().getElementType().isF32())
    return op.emitOpError() << "unsupported sums of " << op.getTile().getElementType() << "; expected f32";
  auto buffer = dyn_cast<BufferType>(op.getA().getType());
  Type element = buffer ? buffer.getElementType() : cast<TileType>(op.getA().getType()).getElementType();
  if (element != right.getElementType())
    return op.emitOpError() << "unsupported operands of different types, " << element << " and "
                            << right.getElementType();
  if ((buffer ? buffer.getSize(over) : cast<TileType>(op.getA().getType()).getSize(over)) != depth)
    return op.emitOpError() << "expected operands of one size along '" << over << "', but got "
                            << op.getA().getType() << " and " << right;
  auto tile = dyn_cast<TileType>(op.getA().getType());
  if (!tile)
    return success();
  std::optional<FragmentAxes> axes = getFragmentAxes(layoutOf(tile));
  if (!axes || axes->rows != sum.axes.rows || axes->columns != over || layoutOf(tile).getWarps() != warps)
    return op.emitOpError() << "expected an operand with '" << over << "' in lanes 0 and 1 and '"
                            << sum.axes.rows << "' in lanes 2 to 4 and in warps, but got " << tile;
  return success();
}

/// The registers of the sums in an instruction's order (PTX ISA, "Register Fragments for
/// wgmma.mma_async.m64nNk16", matrix D).
SmallVector<int64_t> StartEmitter::placesOf(int64_t row) const {
  SmallVector<int64_t> places;
  for (int64_t column = 0; column < numColumns; column += 8)
    for (int64_t upper : {0, 8})
      for (int64_t next : {0, 1})
        places.push_back(sum.at(row + upper, column + next));
  return places;
}

/// Matrix A of one instruction in registers, two elements each.
SmallVector<Value> StartEmitter::fragment(int64_t row, int64_t k) {
  LayoutAttr layout = layoutOf(op.getA().getType());
  SmallVector<Value> words;
  for (int64_t along : {k, k + 8})
    for (int64_t down : {row, row + 8}) {
      int64_t place = layout.findRegister([&](StringRef axis) { return axis == over ? along : down; });
      words.push_back(code.bitcast(left.parts[place / 2], code.builder.getI32Type()));
    }
  return words;
}

/// Matrix A of one instruction in a buffer: the rows of this thread's four warps.
Value StartEmitter::leftDescriptor(int64_t row, int64_t k) {
  OperandMatrix matrix = open(op.getA(), sum.axes.rows);
  Value first = matrix.at(row, k);
  if (places.numWarps() == 4)
    return first;
  // The same in all lanes, and known to be.
  Value group = code.fetch(code.shiftRight(places.thread(), 7), code.i32(0));
  int64_t step = matrix.distance(kRows);
  return code.add(first, code.widen(code.mul(group, step)));
}

/// 64 rows for each four warps, from `row` of the thread on.
void StartEmitter::emitRows(int64_t row) {
  SmallVector<int64_t> places = placesOf(row);
  SmallVector<Value> sums;
  if (addsToSums)
    sums = llvm::map_to_vector(places, [&](int64_t place) { return sum.values[place]; });
  bool isF16 = cast<BufferType>(op.getB().getType()).getElementType().isF16();
  std::string type = isF16 ? "f16" : "bf16";
  std::string name =
      "wgmma.mma_async.sync.aligned.m64n" + std::to_string(numColumns) + "k16.f32." + type + "." + type;
  OperandMatrix right = open(op.getB(), sum.axes.columns);
  AssemblyText assembly(places.size(), sums);
  assembly.line("wgmma.fence.sync.aligned;");
  for (int64_t k = 0; k < depth; k += kDepth) {
    std::string line = name + " " + numberedList(places.size()) + ", ", transposed;
    if (left.parts.empty()) {
      line += assembly.add(leftDescriptor(row, k), 'l');
      transposed = open(op.getA(), sum.axes.rows).isTransposed() ? ", 1" : ", 0";
    } else {
      std::string words;
      for (Value word : fragment(row, k)) {
        words += (words.empty() ? "" : ", ") + assembly.add(word, 'r');
        inFlight.push_back(word);
      }
      line += "{" + words + "}";
    }
    line += ", " + assembly.add(right.at(0, k), 'l');
    line += addsToSums || k > 0 ? ", 1, 1, 1" : ", 0, 1, 1";
    assembly.line(line + transposed + (right.isTransposed() ? ", 1;" : ", 0;"));
  }
  // Rows of one product are one group.
  for (auto [place, value] : llvm::zip(places, assembly.emit(code)))
    sum.values[place] = value;
}

LogicalResult StartEmitter::emit() {
  if (failed(check()))
    return failure();
  if (isa<TileType>(op.getA().getType()))
    left = tiles.tileOf(op.getA());
  addsToSums = bool(op.getC());
  if (addsToSums)
    sum.values = tiles.tileOf(op.getC()).parts;
  else
    sum.values.resize(sum.layout.getNumRegisters());
  for (int64_t row = 0, e = op.getTile().getSize(sum.axes.rows); row < e; row += 16 * places.numWarps())
    emitRows(row);
  code.assembly("wgmma.commit_group.sync.aligned;", "~{memory}", {}, {});
  tiles.setPending(op.getResult(), sum.values);
  return success();
}

LogicalResult StartedProducts::emitStart(StartOp op) {
  StartEmitter emitter(places, tiles, slots, op);
  if (failed(emitter.emit()))
    return failure();
  SmallVector<Value> words(emitter.wordsInFlight());
  if (Value c = op.getC(); c && isa<PendingType>(c.getType()))
    llvm::append_range(words, inFlight.lookup(c));
  inFlight[op.getResult()] = std::move(words);
  return success();
}

/// ptxas starts a wait as early as its operands allow, and it has none. It keeps the order of waits and
/// accesses of shared memory: a store of what is computed before, by a thread that there is not.
void StartedProducts::pinBefore(AwaitOp op, const tile::SizeValues &sizes) {
  if (op.getBefore().empty())
    return;
  Code code = places.at(op);
  Value never = code.less(sizes.size(AxisRole::Query), code.i64(0));
  for (Value tile : op.getBefore())
    for (Value value : tiles.tileOf(tile).parts)
      code.assembly("@$2 st.volatile.shared.f32 [$0], $1;", "r,f,b,~{memory}", {},
                    {LLVM::PtrToIntOp::create(code.builder, op.getLoc(), code.builder.getI32Type(),
                                              places.sharedBase()),
                     value, never});
}

/// The wait takes the sums and gives them back, so that nothing that reads them can be moved before it. It
/// takes operands in registers too, so that nothing else gets these before.
void StartedProducts::emitAwait(AwaitOp op, const tile::SizeValues &sizes) {
  SmallVector<Value> values;
  for (Value pending : op.getPending())
    llvm::append_range(values, tiles.tileOf(pending).parts);
  pinBefore(op, sizes);
  std::string constraints;
  for (size_t i = 0; i < values.size(); ++i)
    constraints += "=f,";
  for (size_t i = 0; i < values.size(); ++i)
    constraints += std::to_string(i) + ",";
  SmallVector<Type> types(values.size(), places.builder.getF32Type());
  for (Value pending : op.getPending())
    for (Value word : inFlight.lookup(pending)) {
      constraints += "r,";
      values.push_back(word);
    }
  SmallVector<Value> waited =
      places.at(op).assembly("wgmma.wait_group.sync.aligned " + std::to_string(op.getGroups()) + ";",
                             constraints + "~{memory}", types, values);
  ArrayRef<Value> left = waited;
  for (Value tile : op.getTiles()) {
    size_t count = layoutOf(tile.getType()).getNumRegisters();
    tiles.setTile(tile, left.take_front(count));
    left = left.drop_front(count);
  }
}
