// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of one kernel: declarations, scopes, labels, operands. Decode.cpp adds what each instruction looks
// like.
#ifndef TAYLOR_RUNTIME_PTX_KERNELPARSER_H
#define TAYLOR_RUNTIME_PTX_KERNELPARSER_H
#include "runtime/ptx/Lexer.h"
#include "runtime/ptx/Program.h"
#include <functional>

namespace taylor::runtime::ptx {

/// What a name means.
struct Meaning {
  enum Kind { Reg, Address, Label, Targets } kind;
  Operand reg;          ///< Reg
  uint64_t value = 0;   ///< Address: in its space
  bool dynamic = false; ///< Address: relative to dynamic shared memory
  Space space = Space::Generic;
};
using Names = std::map<std::string, Meaning, std::less<>>;

/// A variable's declaration: `.align 16 .b8 name[128]`, after the word of its state space.
struct Declaration {
  Token name;
  Type type;
  size_t align;
  size_t elements; ///< 1 for a scalar, 0 for `[]`
  bool array = false;
  bool open = false; ///< `[]`
};
Declaration parseDeclaration(Lexer &, bool parameter);
void expect(Lexer &, std::string_view symbol);
bool accept(Lexer &, std::string_view symbol);
uint64_t parseInteger(Lexer &, std::string_view what);
inline size_t alignTo(size_t n, size_t a) { return (n + a - 1) / a * a; }

class KernelParser {
public:
  /// `globals` are the module's names; `sharedBytes` is what its shared variables take.
  KernelParser(Lexer &lexer, Kernel &kernel, const Names &globals, size_t sharedBytes);
  /// Reads from `{` to its `}` and finishes the kernel.
  void parseBody();
  void addParameter(const Declaration &);

  // For Decode.cpp: operands of the instruction that is being read
  Lexer &lexer;
  Kernel &kernel;
  /// A register, special register, constant or address of `type`. `wider`: a wider register is fine (ld, st,
  /// cvt).
  Operand source(Type type, bool wider = false);
  Operand destination(Type type, bool wider = false, bool mayDrop = true);
  Operand predicate(bool mayNegate);
  Operand constant(Type type, uint64_t value, bool dynamic = false);
  /// `[base + offset]`; the base is a register of 32 or 64 bits or a variable. With `coordinates` also
  /// `[base + offset, {x, y}]`.
  Operand address(int64_t &offset, std::vector<Operand> *coordinates = nullptr);
  /// Elements in braces, or one without.
  std::vector<Operand> vectorOf(Type type, bool results, bool wider = false);
  int64_t integer(std::string_view what);
  uint32_t labelUse();
  uint32_t targetListUse();
  /// A new register that the text does not name.
  Operand temporary(Type type, std::string name);

private:
  void statement();
  void instruction();
  void declareRegisters();
  void declareVariable(std::string_view space);
  const Meaning *find(std::string_view name) const;
  void define(const Token &, Meaning);
  Operand registerNamed(const Token &, Type type, bool wider);
  Operand special(const Token &, Type type);
  void watchProducts();
  void finish();

  struct Pending {
    Token at;
    size_t instruction;
    bool list;
    size_t scope;
  };
  struct Scope {
    Names names;
    std::map<std::string, uint32_t, std::less<>> labels;
    std::map<std::string, std::vector<Token>, std::less<>> lists;
    long parent;
  };
  std::vector<Scope> scopes; ///< all of the kernel; labels are looked up once the body is read
  size_t current = 0, depth = 0;
  std::vector<Pending> pending;
  const Names &globals;
  size_t sharedBytes, dynamicAlign = 1;
  std::map<std::string, Operand> specials;
  std::map<std::pair<uint64_t, std::pair<Type, bool>>, Operand> constants;
};

/// Reads one instruction after its guard: mnemonic, operands, up to and without the `;`.
void decode(KernelParser &, Instruction &);

} // namespace taylor::runtime::ptx

#endif
