// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short names for what one thread does: 32- and 64-bit integers, addresses, memory, exchange between lanes.
#ifndef TAYLOR_CODEGEN_NVPTX_THREAD_CODE_H
#define TAYLOR_CODEGEN_NVPTX_THREAD_CODE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::simt {

/// Address spaces (LLVM, "User Guide for NVPTX Back-end").
enum class Space : unsigned { global = 1, shared = 3 };

/// Memory as words of 16, 32 or 64 bits, up to 16 bytes at once.
struct Words {
  unsigned bits = 32, count = 1;
  unsigned bytes() const { return bits / 8 * count; }
};

class Code {
public:
  Code(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(Type type, int64_t value) const;
  Value i32(int64_t value) const { return constant(builder.getI32Type(), value); }
  Value i64(int64_t value) const { return constant(builder.getI64Type(), value); }
  Value yes() const { return constant(builder.getI1Type(), 1); }
  /// 0 of a number's type.
  Value zero(Type type) const;

  // Integers; operands of one type. Constants are folded. Sums and products are places and sizes: no
  // overflow.
  Value add(Value a, Value b) const;
  Value sub(Value a, Value b) const;
  Value mul(Value a, Value b) const;
  Value add(Value a, int64_t b) const { return add(a, constant(a.getType(), b)); }
  Value mul(Value a, int64_t b) const { return mul(a, constant(a.getType(), b)); }
  Value divide(Value a, Value b) const; ///< neither is negative
  Value rest(Value a, Value b) const;
  Value bitAnd(Value a, Value b) const;
  Value bitXor(Value a, Value b) const;
  Value shiftLeft(Value a, int64_t count) const;
  Value shiftRight(Value a, int64_t count) const;
  Value less(Value a, Value b) const; ///< signed
  Value lessUnsigned(Value a, Value b) const;
  Value both(Value a, Value b) const; ///< of i1; a null one is true
  Value select(Value condition, Value a, Value b) const;
  /// To 32 or 64 bits, with sign or without.
  Value narrow(Value a) const;
  Value widen(Value a) const;

  // Memory.
  Value offset(Value pointer, Value bytes) const;
  Value offset(Value pointer, int64_t bytes) const;
  /// Words at an address aligned to all of them. Where `guard` (may be null) is false they are 0 and nothing
  /// is read. `alone`: LLVM joins it with no other load.
  SmallVector<Value> load(Value pointer, Space space, Words words, Value guard, bool alone = false) const;
  void store(ValueRange values, Value pointer, Space space, Words words, Value guard) const;
  void barrier() const;
  /// Reads of memory are not moved across; no instruction.
  void fence() const;

  // Numbers.
  Value bitcast(Value value, Type type) const;
  /// Two 16-bit numbers in one register, and back.
  Value pack(Value low, Value high) const;
  Value unpack(Value pair, unsigned which) const;
  /// Between floats of any widths.
  Value convert(Value value, Type type) const;
  /// From the lane whose number differs in the bits of `mask`, or of number `lane`: all lanes take part.
  Value exchange(Value value, int64_t mask) const;
  Value fetch(Value value, Value lane) const;
  Value intrinsic(StringRef name, Type type, ValueRange operands) const;
  /// `text` with $0, $1, .. as results and operands, constraints in LLVM's letters.
  SmallVector<Value> assembly(StringRef text, StringRef constraints, TypeRange results,
                              ValueRange operands) const;

  OpBuilder &builder;
  Location loc;

private:
  Value shuffle(Value value, Value which, NVVM::ShflKind kind) const;
};

} // namespace mlir::simt
#endif
