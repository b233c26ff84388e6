// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/Code.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::simt;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Code::offset(Value pointer, Value bytes) const {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ValueRange{bytes});
}
Value Code::offset(Value pointer, int64_t bytes) const {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
}

static const char *spaceName(AddressSpace space) {
  return space == AddressSpace::global ? "global" : "shared";
}

static char constraintOf(unsigned bits) { return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h'; }

/// `{$2, $3}` for 2 words from operand 2 on, `$2` for one.
static std::string wordList(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return count == 1 ? text : "{" + text + "}";
}

static std::string instruction(StringRef name, AddressSpace space, Words words) {
  std::string text = (name + "." + spaceName(space)).str();
  if (words.count > 1)
    text += ".v" + std::to_string(words.count);
  return text + ".b" + std::to_string(words.bits);
}

SmallVector<Value> Code::load(Value pointer, AddressSpace space, Words words, Value guard, bool alone) const {
  Type word = builder.getIntegerType(words.bits);
  if (guard) {
    std::string text = "{\n", constraints;
    for (unsigned i = 0; i < words.count; ++i) {
      text += "mov.b" + std::to_string(words.bits) + " $" + std::to_string(i) + ", 0;\n";
      constraints += std::string("=&") + constraintOf(words.bits) + ",";
    }
    text += "@$" + std::to_string(words.count + 1) + " " + instruction("ld", space, words) + " " +
            wordList(0, words.count) + ", [$" + std::to_string(words.count) + "];\n}";
    constraints += space == AddressSpace::global ? "l,b" : "r,b";
    return assembly(text, constraints, SmallVector<Type>(words.count, word), {pointer, guard});
  }
  if (alone) {
    std::string constraints;
    for (unsigned i = 0; i < words.count; ++i)
      constraints += std::string("=") + constraintOf(words.bits) + ",";
    std::string text = instruction("ld", space, words) + " " + wordList(0, words.count) + ", [$" +
                       std::to_string(words.count) + "];";
    return assembly(text, constraints + (space == AddressSpace::global ? "l" : "r"),
                    SmallVector<Type>(words.count, word), {pointer});
  }
  if (words.count == 1)
    return {LLVM::LoadOp::create(builder, loc, word, pointer, words.bytes())};
  auto vector = VectorType::get(words.count, word);
  Value all = LLVM::LoadOp::create(builder, loc, vector, pointer, words.bytes());
  SmallVector<Value> values;
  for (unsigned i = 0; i < words.count; ++i)
    values.push_back(LLVM::ExtractElementOp::create(builder, loc, all, i32(i)));
  return values;
}

void Code::store(ValueRange values, Value pointer, AddressSpace space, Words words, Value guard) const {
  if (guard) {
    std::string constraints = space == AddressSpace::global ? "l,b" : "r,b";
    for (unsigned i = 0; i < words.count; ++i)
      constraints += std::string(",") + constraintOf(words.bits);
    SmallVector<Value> operands = {pointer, guard};
    llvm::append_range(operands, values);
    assembly("@$1 " + instruction("st", space, words) + " [$0], " + wordList(2, words.count) + ";",
             constraints, {}, operands);
    return;
  }
  Value all = values.front();
  if (words.count > 1) {
    all = LLVM::UndefOp::create(builder, loc, VectorType::get(words.count, all.getType()));
    for (auto [i, value] : llvm::enumerate(values))
      all = LLVM::InsertElementOp::create(builder, loc, all, value, i32(i));
  }
  LLVM::StoreOp::create(builder, loc, all, pointer, words.bytes());
}

void Code::barrier() const { NVVM::Barrier0Op::create(builder, loc); }

void Code::fence() const {
  LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(), ValueRange(), "", "~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value Code::bitcast(Value value, Type type) const {
  return value.getType() == type ? value : LLVM::BitcastOp::create(builder, loc, type, value);
}

Value Code::pack(Value low, Value high) const {
  Type element = low.getType();
  auto pair = VectorType::get(2, element);
  // Two roundings are one instruction, and what has been taken apart is put together again for nothing.
  auto lowRounding = low.getDefiningOp<arith::TruncFOp>(),
       highRounding = high.getDefiningOp<arith::TruncFOp>();
  if (lowRounding && highRounding && lowRounding.getIn().getType().isF32() &&
      highRounding.getIn().getType().isF32()) {
    Value a = highRounding.getIn(), b = lowRounding.getIn();
    if (element.isBF16())
      return NVVM::ConvertF32x2ToBF16x2Op::create(builder, loc, pair, a, b, Value(),
                                                  NVVM::FPRoundingMode::RN);
    return NVVM::ConvertF32x2ToF16x2Op::create(builder, loc, pair, a, b, Value(), NVVM::FPRoundingMode::RN);
  }
  auto lowPart = low.getDefiningOp<LLVM::ExtractElementOp>(),
       highPart = high.getDefiningOp<LLVM::ExtractElementOp>();
  if (lowPart && highPart && lowPart.getVector() == highPart.getVector() &&
      lowPart.getVector().getType() == pair && matchPattern(lowPart.getPosition(), m_Zero()) &&
      matchPattern(highPart.getPosition(), m_One()))
    return lowPart.getVector();
  Value result = LLVM::UndefOp::create(builder, loc, pair);
  result = LLVM::InsertElementOp::create(builder, loc, result, low, i32(0));
  return LLVM::InsertElementOp::create(builder, loc, result, high, i32(1));
}

Value Code::unpack(Value pair, unsigned which) const {
  return LLVM::ExtractElementOp::create(builder, loc, pair, i32(which));
}

Value Code::convert(Value value, Type type) const {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from == to) // bf16 and f16
    return convert(convert(value, builder.getF32Type()), type);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  auto part = value.getDefiningOp<LLVM::ExtractElementOp>();
  if (part && value.getType().isBF16() && type.isF32()) {
    // A bf16 is the upper half of an f32.
    Value word = bitcast(part.getVector(), builder.getI32Type());
    bool isLow = matchPattern(part.getPosition(), m_Zero());
    Value bits =
        isLow ? Value(arith::ShLIOp::create(builder, loc, word, i32(16))) : bitAnd(word, i32(-65536));
    return bitcast(bits, type);
  }
  return arith::ExtFOp::create(builder, loc, type, value);
}

Value Code::shuffle(Value value, Value which, NVVM::ShflKind kind) const {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto word = [&](Value w) -> Value {
    return NVVM::ShflOp::create(builder, loc, w.getType(), i32(-1), w, which, i32(31), kind, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return word(value);
  Type i32Type = builder.getI32Type();
  if (bits == 64) {
    auto pair = VectorType::get(2, i32Type);
    Value halves = bitcast(value, pair);
    Value low = word(unpack(halves, 0)), high = word(unpack(halves, 1));
    Value result = LLVM::UndefOp::create(builder, loc, pair);
    result = LLVM::InsertElementOp::create(builder, loc, result, low, i32(0));
    return bitcast(LLVM::InsertElementOp::create(builder, loc, result, high, i32(1)), type);
  }
  Type own = builder.getIntegerType(bits);
  Value wide = word(arith::ExtUIOp::create(builder, loc, i32Type, bitcast(value, own)));
  return bitcast(arith::TruncIOp::create(builder, loc, own, wide), type);
}

Value Code::exchange(Value value, int64_t mask) const {
  return shuffle(value, i32(mask), NVVM::ShflKind::bfly);
}
Value Code::fetch(Value value, Value lane) const { return shuffle(value, lane, NVVM::ShflKind::idx); }

Value Code::intrinsic(StringRef name, Type type, ValueRange operands) const {
  return LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), operands)
      .getResult(0);
}

SmallVector<Value> Code::assembly(StringRef text, StringRef constraints, TypeRange results,
                                  ValueRange operands) const {
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (!results.empty())
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(), llvm::to_vector(results));
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, type, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  if (results.size() < 2)
    return results.empty() ? SmallVector<Value>() : SmallVector<Value>{op.getRes()};
  SmallVector<Value> values;
  for (unsigned i = 0; i < results.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, op.getRes(), i));
  return values;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

Words mlir::simt::wordsOf(int64_t count, unsigned elementBytes) {
  unsigned bytes = count * elementBytes;
  unsigned bits = elementBytes == 8 ? 64 : bytes >= 4 ? 32 : 16;
  return {bits, bytes * 8 / bits};
}

SmallVector<Value> mlir::simt::elementsOfWords(Code code, ArrayRef<Value> words, Type element) {
  SmallVector<Value> elements;
  for (Value word : words) {
    if (word.getType().getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth()) {
      elements.push_back(code.bitcast(word, element));
      continue;
    }
    Value pair = code.bitcast(word, VectorType::get(2, element));
    elements.push_back(code.unpack(pair, 0));
    elements.push_back(code.unpack(pair, 1));
  }
  return elements;
}

SmallVector<Value> mlir::simt::wordsOfElements(Code code, ArrayRef<Value> elements, Words words) {
  SmallVector<Value> values;
  Type word = code.builder.getIntegerType(words.bits);
  size_t each = elements.size() / words.count;
  for (size_t i = 0; i < elements.size(); i += each)
    values.push_back(code.bitcast(each == 1 ? elements[i] : code.pack(elements[i], elements[i + 1]), word));
  return values;
}

/// LLVM joins what is left of a run of neighbours, where it is no power of two, to as many words as one is:
/// three to four. The last may be memory that no thread has, or one that another thread writes.
bool mlir::simt::leavesOddWords(int64_t run, int64_t elementBytes) {
  int64_t left = run % (16 / elementBytes);
  return left && !llvm::isPowerOf2_64(uint64_t(left));
}
