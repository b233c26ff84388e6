// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/KernelParser.h"
#include <algorithm>
#include <bit>

namespace taylor::runtime::ptx {

/// So that a text cannot ask for more memory than a machine has.
constexpr size_t kMostRegisters = 131072, kMostLocal = 524288;

KernelParser::KernelParser(Lexer &lexer, Kernel &kernel, const Names &globals, size_t sharedBytes)
    : lexer(lexer), kernel(kernel), globals(globals), sharedBytes(sharedBytes) {
  scopes.push_back({{}, {}, {}, -1});
}

const Meaning *KernelParser::find(std::string_view name) const {
  for (long s = long(current); s >= 0; s = scopes[s].parent)
    if (auto it = scopes[s].names.find(name); it != scopes[s].names.end())
      return &it->second;
  auto it = globals.find(name);
  return it == globals.end() ? nullptr : &it->second;
}

void KernelParser::define(const Token &name, Meaning meaning) {
  if (!scopes[current].names.emplace(std::string(name.text), meaning).second)
    lexer.failAt(name, "expected a new name, but got " + Lexer::describe(name) +
                           ", which this scope declares already");
}

Operand KernelParser::temporary(Type type, std::string name) {
  Operand made{uint32_t(kernel.registers.size()), 0, type, false};
  if (type == Type::Pred) {
    made.at = uint32_t(kernel.masks++);
  } else {
    made.at = uint32_t(kernel.registerBytes);
    kernel.registerBytes += bytesOf(type) == 8 ? 256 : 128;
  }
  kernel.registers.push_back({std::move(name), type, made.at});
  return made;
}

Operand KernelParser::constant(Type type, uint64_t value, bool dynamic) {
  if (bytesOf(type) < 8)
    value &= (uint64_t(1) << 8 * bytesOf(type)) - 1;
  auto [it, fresh] = constants.try_emplace({value, {type, dynamic}});
  if (fresh) {
    it->second = temporary(type, "constant");
    kernel.constants.push_back({it->second, value, dynamic});
  }
  return it->second;
}

void KernelParser::addParameter(const Declaration &d) {
  size_t bytes = bytesOf(d.type) * (d.array ? d.elements : 1);
  size_t offset = alignTo(kernel.info.parameterBytes, d.align);
  kernel.info.parameters.push_back({std::string(d.name.text), offset, bytes, d.align});
  kernel.info.parameterBytes = offset + bytes;
  define(d.name, {Meaning::Address, {}, offset, false, Space::Param});
}

void KernelParser::declareRegisters() {
  lexer.take();
  Token word = lexer.peek();
  Type type = word.kind == Token::Directive ? typeNamed(word.text.substr(1)) : Type::None;
  if (type == Type::None || type == Type::TF32)
    lexer.expected("the type of registers");
  lexer.take();
  do {
    Token name = lexer.peek();
    if (name.kind != Token::Word)
      lexer.expected("the name of a register");
    lexer.take();
    if (accept(lexer, "<")) {
      Token at = lexer.peek();
      uint64_t count = parseInteger(lexer, "the number of registers");
      if (count > kMostRegisters - std::min(kMostRegisters, kernel.registers.size()))
        lexer.failAt(at, "expected at most " + std::to_string(kMostRegisters) +
                             " registers in a kernel, but got " + Lexer::describe(at) + " more");
      expect(lexer, ">");
      for (uint64_t k = 0; k < count; ++k) {
        std::string full = std::string(name.text) + std::to_string(k);
        Token named = name;
        named.text = full;
        define(named, {Meaning::Reg, temporary(type, full)});
      }
    } else {
      define(name, {Meaning::Reg, temporary(type, std::string(name.text))});
    }
  } while (accept(lexer, ","));
  expect(lexer, ";");
}

void KernelParser::declareVariable(std::string_view space) {
  lexer.take();
  Declaration d = parseDeclaration(lexer, false);
  size_t bytes = bytesOf(d.type) * d.elements;
  Meaning meaning{Meaning::Address, {}, 0, false, Space::Shared};
  if (space == ".local") {
    meaning.space = Space::Local;
    meaning.value = alignTo(kernel.localBytes, d.align);
    kernel.localBytes = meaning.value + bytes;
    if (kernel.localBytes > kMostLocal)
      lexer.failAt(d.name, "expected at most " + std::to_string(kMostLocal) +
                               " bytes of local memory in a kernel, but got " +
                               std::to_string(kernel.localBytes));
  } else if (d.open) {
    meaning.dynamic = true;
    dynamicAlign = std::max(dynamicAlign, d.align);
  } else {
    meaning.value = alignTo(sharedBytes, d.align);
    sharedBytes = meaning.value + bytes;
  }
  define(d.name, meaning);
  expect(lexer, ";");
}

Operand KernelParser::special(const Token &word, Type type) {
  static const std::map<std::string_view, Special> names = {{"%tid.x", Special::TidX},
                                                            {"%tid.y", Special::TidY},
                                                            {"%tid.z", Special::TidZ},
                                                            {"%ntid.x", Special::NtidX},
                                                            {"%ntid.y", Special::NtidY},
                                                            {"%ntid.z", Special::NtidZ},
                                                            {"%ctaid.x", Special::CtaidX},
                                                            {"%ctaid.y", Special::CtaidY},
                                                            {"%ctaid.z", Special::CtaidZ},
                                                            {"%nctaid.x", Special::NctaidX},
                                                            {"%nctaid.y", Special::NctaidY},
                                                            {"%nctaid.z", Special::NctaidZ},
                                                            {"%laneid", Special::LaneId},
                                                            {"%warpid", Special::WarpId},
                                                            {"%nwarpid", Special::NWarpId},
                                                            {"%smid", Special::SmId},
                                                            {"%nsmid", Special::NSmId},
                                                            {"%gridid", Special::GridId},
                                                            {"%lanemask_eq", Special::MaskEq},
                                                            {"%lanemask_le", Special::MaskLe},
                                                            {"%lanemask_lt", Special::MaskLt},
                                                            {"%lanemask_ge", Special::MaskGe},
                                                            {"%lanemask_gt", Special::MaskGt},
                                                            {"%dynamic_smem_size", Special::DynamicShared},
                                                            {"%total_smem_size", Special::TotalShared}};
  auto it = names.find(word.text);
  if (it == names.end())
    lexer.failAt(word, "expected a declared name, but got " + Lexer::describe(word));
  // Read as 16, 32 or 64 bits; each width is a register of its own.
  unsigned bytes = bytesOf(type);
  if (bytes < 2)
    lexer.failAt(word, std::string("expected an operand of type .") + nameOf(type) + ", but got " +
                           Lexer::describe(word));
  std::string key = std::string(word.text) + "/" + std::to_string(bytes);
  auto [known, fresh] = specials.try_emplace(key);
  if (fresh) {
    known->second = temporary(bytes == 8   ? Type::U64
                              : bytes == 4 ? Type::U32
                                           : Type::U16,
                              std::string(word.text));
    kernel.specials.push_back({known->second, it->second});
  }
  return known->second;
}

Operand KernelParser::registerNamed(const Token &word, Type type, bool wider) {
  const Meaning *m = find(word.text);
  if (!m) {
    Operand o = special(word, type);
    o.type = type;
    return o;
  }
  if (m->kind != Meaning::Reg)
    lexer.failAt(word, "expected a register of type ." + std::string(nameOf(type)) + ", but got " +
                           Lexer::describe(word));
  Operand o = m->reg;
  bool fits = type == Type::Pred || o.type == Type::Pred
                  ? type == o.type
                  : bytesOf(o.type) == bytesOf(type) || (wider && bytesOf(o.type) > bytesOf(type));
  if (!fits)
    lexer.failAt(word, "expected a register of type ." + std::string(nameOf(type)) + ", but got " +
                           Lexer::describe(word) + " of type ." + nameOf(o.type));
  return o;
}

/// A literal's bits as a constant of `type`.
static uint64_t bitsOf(Lexer &lexer, const Token &at, bool negative, Type type) {
  unsigned bytes = bytesOf(type);
  if (at.kind == Token::Integer) {
    if (isFloat(type) && type != Type::TF32 && bytes > 2 && type != Type::F16x2 && type != Type::BF16x2)
      lexer.failAt(at,
                   "expected a floating-point constant such as 0f3F800000, but got " + Lexer::describe(at));
    uint64_t limit = bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes) - 1;
    uint64_t least = uint64_t(1) << (8 * bytes - 1);
    if (at.value > (negative ? least : limit))
      lexer.failAt(at, "expected a constant of " + std::to_string(8 * bytes) + " bits, but got '" +
                           (negative ? "-" : "") + std::string(at.text) + "'");
    return negative ? 0 - at.value : at.value;
  }
  double value = at.kind == Token::Float32 ? double(std::bit_cast<float>(uint32_t(at.value)))
                                           : std::bit_cast<double>(at.value);
  uint64_t sign = negative ? 1 : 0;
  if (bytes == 8)
    return (at.kind == Token::Float64 ? at.value : std::bit_cast<uint64_t>(value)) ^ sign << 63;
  if (bytes == 4)
    return (at.kind == Token::Float32 ? at.value : std::bit_cast<uint32_t>(float(value))) ^ sign << 31;
  lexer.failAt(at, "expected an integer constant, but got " + Lexer::describe(at));
}

Operand KernelParser::source(Type type, bool wider) {
  Token t = lexer.peek();
  bool negative = t.is("-");
  if (negative) {
    lexer.take();
    t = lexer.peek();
  }
  if (t.kind == Token::Integer || t.kind == Token::Float32 || t.kind == Token::Float64) {
    if (negative && (t.text.starts_with("0f") || t.text.starts_with("0F") || t.text.starts_with("0d") ||
                     t.text.starts_with("0D")))
      lexer.expected("a decimal number after '-'"); // a hexadecimal one has its own sign bit
    lexer.take();
    return constant(type, bitsOf(lexer, t, negative, type));
  }
  if (t.kind != Token::Word || negative)
    lexer.expected(negative ? "a number" : "an operand of type ." + std::string(nameOf(type)));
  const Meaning *m = find(t.text);
  if (m && m->kind == Meaning::Address) {
    lexer.take();
    uint64_t value = m->value;
    if (accept(lexer, "+"))
      value += parseInteger(lexer, "an offset");
    if (bytesOf(type) < 4)
      lexer.failAt(t, "expected an operand of type ." + std::string(nameOf(type)) + ", but got the address " +
                          Lexer::describe(t));
    return constant(type, value, m->dynamic);
  }
  lexer.take();
  return registerNamed(t, type, wider);
}

Operand KernelParser::destination(Type type, bool wider, bool mayDrop) {
  Token t = lexer.peek();
  if (t.kind != Token::Word)
    lexer.expected("a register of type ." + std::string(nameOf(type)));
  lexer.take();
  if (t.is("_") && mayDrop)
    return temporary(type, "_");
  const Meaning *m = find(t.text);
  if (!m)
    lexer.failAt(t, "expected a declared register, but got " + Lexer::describe(t));
  return registerNamed(t, type, wider);
}

Operand KernelParser::predicate(bool mayNegate) {
  bool negated = mayNegate && accept(lexer, "!");
  bool minus = !negated && accept(lexer, "-");
  Token t = lexer.peek();
  if (!negated && t.kind == Token::Integer) { // a constant predicate: true unless it is 0
    lexer.take();
    return constant(Type::Pred, t.value ? 1 : 0);
  }
  if (minus || t.kind != Token::Word)
    lexer.expected("a predicate");
  lexer.take();
  Operand o = registerNamed(t, Type::Pred, false);
  o.negated = negated;
  return o;
}

Operand KernelParser::address(int64_t &offset, std::vector<Operand> *coordinates) {
  expect(lexer, "[");
  Token t = lexer.peek();
  Operand base;
  offset = 0;
  if (t.kind == Token::Integer) {
    lexer.take();
    base = constant(Type::U64, t.value);
  } else {
    if (t.kind != Token::Word)
      lexer.expected("an address");
    const Meaning *m = find(t.text);
    lexer.take();
    if (!m || (m->kind != Meaning::Reg && m->kind != Meaning::Address))
      lexer.failAt(t, "expected a declared register or variable, but got " + Lexer::describe(t));
    if (m->kind == Meaning::Address)
      base = constant(Type::U64, m->value, m->dynamic);
    else if ((bytesOf(m->reg.type) != 4 && bytesOf(m->reg.type) != 8) || m->reg.type == Type::Pred)
      lexer.failAt(t, "expected a register of 32 or 64 bits, but got " + Lexer::describe(t) + " of type ." +
                          nameOf(m->reg.type));
    else
      base = m->reg;
  }
  bool minus = lexer.peek().is("-");
  if (minus || lexer.peek().is("+")) {
    lexer.take();
    bool negative = accept(lexer, "-") != minus;
    offset = int64_t(parseInteger(lexer, "an offset"));
    if (negative)
      offset = -offset;
  }
  if (coordinates) {
    expect(lexer, ",");
    *coordinates = vectorOf(Type::S32, false);
  }
  expect(lexer, "]");
  return base;
}

std::vector<Operand> KernelParser::vectorOf(Type type, bool results, bool wider) {
  auto one = [&] { return results ? destination(type, wider) : source(type, wider); };
  if (!accept(lexer, "{"))
    return {one()};
  std::vector<Operand> all;
  do
    all.push_back(one());
  while (accept(lexer, ","));
  expect(lexer, "}");
  return all;
}

int64_t KernelParser::integer(std::string_view what) {
  bool negative = accept(lexer, "-");
  int64_t value = int64_t(parseInteger(lexer, what));
  return negative ? -value : value;
}

uint32_t KernelParser::labelUse() {
  if (lexer.peek().kind != Token::Word)
    lexer.expected("a label");
  pending.push_back({lexer.take(), kernel.code.size(), false, current});
  return 0;
}

uint32_t KernelParser::targetListUse() {
  if (lexer.peek().kind != Token::Word)
    lexer.expected("a list of branch targets");
  pending.push_back({lexer.take(), kernel.code.size(), true, current});
  return 0;
}

void KernelParser::instruction() {
  Instruction i;
  if (accept(lexer, "@")) {
    i.guarded = true;
    i.guard = predicate(true);
  }
  Token word = lexer.peek();
  if (word.kind != Token::Word)
    lexer.expected("an instruction");
  i.line = word.line;
  i.column = word.column;
  i.text = std::string(word.text);
  decode(*this, i);
  if (!lexer.peek().is(";"))
    lexer.expected("';'");
  lexer.take();
  kernel.code.push_back(std::move(i));
}

void KernelParser::statement() {
  Token t = lexer.peek();
  if (t.is(".reg"))
    return declareRegisters();
  if (t.is(".shared") || t.is(".local"))
    return declareVariable(t.text);
  if (t.is(".pragma")) {
    while (!lexer.peek().is(";") && lexer.peek().kind != Token::End)
      lexer.take();
    return expect(lexer, ";");
  }
  if (t.is(".loc") || t.is(".file"))
    return lexer.skipLine();
  if (t.is(";")) {
    lexer.take();
    return;
  }
  if (t.is("{")) {
    if (++depth > 256)
      lexer.failAt(t, "expected at most 256 scopes inside each other");
    lexer.take();
    scopes.push_back({{}, {}, {}, long(current)});
    size_t outer = current;
    current = scopes.size() - 1;
    while (!lexer.peek().is("}")) {
      if (lexer.peek().kind == Token::End)
        lexer.expected("'}'");
      statement();
    }
    lexer.take();
    current = outer;
    --depth;
    return;
  }
  if (t.kind == Token::Directive || t.kind == Token::End)
    lexer.expected("a statement");
  if (t.kind == Token::Word) { // a label needs one token more than the lexer shows
    Lexer ahead = lexer;
    ahead.take();
    if (ahead.peek().is(":")) {
      lexer = ahead;
      lexer.take();
      if (lexer.peek().is(".branchtargets")) {
        lexer.take();
        auto &list = scopes[current].lists[std::string(t.text)];
        do {
          if (lexer.peek().kind != Token::Word)
            lexer.expected("a label");
          list.push_back(lexer.take());
        } while (accept(lexer, ","));
        return expect(lexer, ";");
      }
      if (!scopes[current].labels.emplace(std::string(t.text), uint32_t(kernel.code.size())).second)
        lexer.failAt(t, "expected a new label, but got " + Lexer::describe(t) +
                            ", which this scope has already");
      return;
    }
  }
  instruction();
}

void KernelParser::parseBody() {
  expect(lexer, "{");
  while (!lexer.peek().is("}")) {
    if (lexer.peek().kind == Token::End)
      lexer.expected("'}'");
    statement();
  }
  Instruction end;
  end.op = Op::Exit;
  end.line = lexer.peek().line;
  end.column = lexer.peek().column;
  end.text = "}";
  end.kind = Profile::Control;
  lexer.take();
  kernel.code.push_back(std::move(end));
  finish();
}

/// Marks instructions that name a register which some wgmma uses as sum or fragment.
void KernelParser::watchProducts() {
  std::vector<bool> used(kernel.registers.size());
  for (const Instruction &i : kernel.code)
    if (i.op == Op::Wgmma)
      for (size_t k = 0; k < i.results + (i.leftInRegisters ? 4u : 0u); ++k)
        kernel.hasProducts = used[i.operands[k].id] = true;
  for (Instruction &i : kernel.code)
    i.isWatched = std::ranges::any_of(i.operands, [&](const Operand &o) { return used[o.id]; });
}

void KernelParser::finish() {
  auto labelOf = [&](const Token &at, size_t scope) {
    for (long s = long(scope); s >= 0; s = scopes[s].parent)
      if (auto it = scopes[s].labels.find(at.text); it != scopes[s].labels.end())
        return it->second;
    lexer.failAt(at, "expected a label of this kernel, but got " + Lexer::describe(at));
  };
  for (Pending &use : pending) {
    if (!use.list) {
      kernel.code[use.instruction].target = labelOf(use.at, use.scope);
      continue;
    }
    const std::vector<Token> *list = nullptr;
    for (long s = long(use.scope); s >= 0 && !list; s = scopes[s].parent)
      if (auto it = scopes[s].lists.find(use.at.text); it != scopes[s].lists.end())
        list = &it->second;
    if (!list)
      lexer.failAt(use.at, "expected the name of a .branchtargets list, but got " + Lexer::describe(use.at));
    kernel.code[use.instruction].target = uint32_t(kernel.targetLists.size());
    kernel.targetLists.emplace_back();
    for (const Token &label : *list)
      kernel.targetLists.back().push_back(labelOf(label, use.scope));
  }
  watchProducts();
  kernel.hasCopies = std::ranges::any_of(kernel.code, [](const Instruction &i) {
    return i.op == Op::CpAsyncArrive || i.op == Op::BulkLoad || i.op == Op::BulkStore;
  });
  // Module-scope arrays of unknown size ask for an alignment too; 1024 bytes is the most that hardware's
  // layouts need.
  kernel.localBytes = alignTo(kernel.localBytes, 16); // one thread's lies after another's
  kernel.info.staticSharedBytes = sharedBytes;
  for (const auto &[name, m] : globals)
    if (m.kind == Meaning::Address && m.dynamic)
      dynamicAlign = std::max<size_t>(dynamicAlign, m.reg.at);
  kernel.dynamicBase = alignTo(sharedBytes, dynamicAlign);
  for (Constant &c : kernel.constants)
    if (c.dynamicShared)
      c.value += kernel.dynamicBase;
  kernel.info.registers = kernel.registers.size();
}

} // namespace taylor::runtime::ptx
