// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short names for what one thread does, other than with integers: addresses, memory, exchange between lanes.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_CODE_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_CODE_H

#include "codegen/Targets/Frame/Arithmetic.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::simt {

/// Address spaces (LLVM, "User Guide for NVPTX Back-end").
enum class AddressSpace : unsigned { global = 1, shared = 3 };

/// Memory as words of 16, 32 or 64 bits, up to 16 bytes at once.
struct Words {
  unsigned bits = 32, count = 1;
  unsigned bytes() const { return bits / 8 * count; }
};

class Code : public tile::Arithmetic {
public:
  using Arithmetic::Arithmetic;

  // Memory
  Value offset(Value pointer, Value bytes) const;
  Value offset(Value pointer, int64_t bytes) const;
  /// Words at an address aligned to all of them. Where `guard` (may be null) is false they are 0 and nothing
  /// is read. `alone`: LLVM joins it with no other load.
  SmallVector<Value> load(Value pointer, AddressSpace space, Words words, Value guard,
                          bool alone = false) const;
  void store(ValueRange values, Value pointer, AddressSpace space, Words words, Value guard) const;
  void barrier() const;
  /// Reads of memory are not moved across; no instruction.
  void fence() const;

  // Numbers
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

private:
  Value shuffle(Value value, Value which, NVVM::ShflKind kind) const;
};

/// How `count` neighbours of so many bytes each are moved at once: in words of at least 32 bits where they
/// fill one.
Words wordsOf(int64_t count, unsigned elementBytes);
/// The numbers in words, in the order of memory, and back.
SmallVector<Value> elementsOfWords(Code code, ArrayRef<Value> words, Type element);
SmallVector<Value> wordsOfElements(Code code, ArrayRef<Value> elements, Words words);
/// Whether loads of a run of neighbours must not be joined by LLVM, which would read past them.
bool leavesOddWords(int64_t run, int64_t elementBytes);

} // namespace mlir::simt
#endif
