// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine that completes work late: wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
#ifndef TAYLOR_RUNTIME_PTX_PRODUCTS_H
#define TAYLOR_RUNTIME_PTX_PRODUCTS_H
#include "runtime/ptx/Descriptor.h"
#include "runtime/ptx/Program.h"
#include <array>
#include <deque>
#include <memory>

namespace taylor::runtime::ptx {

/// The products of one warp: 16 rows of each that its warpgroup starts. Operands are read and sums written
/// when a wait demands it. Until then the sums' registers hold NaN, and with checks on any other instruction
/// that touches registers of a product faults.
class Products {
public:
  void clear(const Kernel &);
  /// wgmma.fence: registers that were touched before it may be used.
  void fence();
  void start(Warp &, const Instruction &);
  void commit() { ++committed; }
  /// Executes what must be complete when at most `keep` groups may remain.
  void wait(Warp &, uint64_t keep);
  /// Judges another instruction that names registers of a product.
  void touch(const Warp &, const Instruction &, uint32_t mask);

private:
  /// Registers that one product or a chain of products adds to.
  struct Sum {
    std::span<const Operand> registers;
    std::vector<std::array<float, 32>> values;
    unsigned pending = 0;
  };
  struct Product {
    const Instruction *at;
    uint64_t left, right; ///< descriptors; left: unless it is in registers
    bool adds;            ///< to what the sum is; else to zero
    uint64_t group;
    std::shared_ptr<Sum> sum;
  };
  /// Of a register: its part in products under way, and who touched it since the last fence.
  struct Use {
    unsigned sums = 0, lefts = 0, line = 0; ///< line: of the product
    uint64_t written = 0, read = 0;         ///< number of the last fence before
    unsigned touchedAt = 0;                 ///< line
    uint64_t added = 0, columns = 0;        ///< by a product: number of the last fence before, shape
  };
  /// The operands that hold the left matrix; none where it lies in shared memory.
  static std::span<const Operand> leftOf(const Instruction &);
  static std::span<const Operand> sumOf(const Instruction &i) {
    return std::span(i.operands).first(i.results);
  }
  static SharedMatrix leftMatrix(const Product &);
  static SharedMatrix rightMatrix(const Product &);
  Product describe(Warp &, const Instruction &) const;
  void checkMatrix(Warp &, const Instruction &, const SharedMatrix &, const std::string &name) const;
  void checkSum(const Warp &, const Product &) const;
  void checkLeft(const Warp &, const Instruction &) const;
  /// The faults of registers: `verb` and `line` say who touched them.
  [[noreturn]] void raiseInFlight(const Warp &, const Instruction &, const Operand &, const char *verb,
                                  unsigned lane) const;
  [[noreturn]] void raiseUnfenced(const Warp &, const Instruction &, const Operand &, const char *verb,
                                  unsigned line) const;
  std::shared_ptr<Sum> sumFor(const Instruction &) const;
  template <typename F> static void forChunks(const Product &, F);
  void finish(Warp &, const Product &);

  std::deque<Product> pending;
  uint64_t committed = 0, fences = 1; ///< fences: one more than there were
  std::vector<Use> uses;              ///< by register; empty in kernels without wgmma
};

} // namespace taylor::runtime::ptx

#endif
