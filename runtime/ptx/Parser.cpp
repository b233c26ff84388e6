// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module: directives, variables with their initial values, entries.
#include "runtime/ptx/KernelParser.h"
#include <bit>
#include <cstring>

namespace taylor::runtime::ptx {

void expect(Lexer &lexer, std::string_view symbol) {
  if (!accept(lexer, symbol))
    lexer.expected("'" + std::string(symbol) + "'");
}

bool accept(Lexer &lexer, std::string_view symbol) {
  if (!lexer.peek().is(symbol))
    return false;
  lexer.take();
  return true;
}

uint64_t parseInteger(Lexer &lexer, std::string_view what) {
  if (lexer.peek().kind != Token::Integer)
    lexer.expected(std::string(what));
  return lexer.take().value;
}

/// Of one array, and of all variables of a module with their alignments: a text must not ask for more memory
/// than a machine has.
constexpr uint64_t kMostBytes = uint64_t(1) << 28, kMostVariableBytes = uint64_t(1) << 29;

Declaration parseDeclaration(Lexer &lexer, bool parameter) {
  Declaration d{{}, Type::None, 0, 1};
  bool pointer = false;
  for (;;) {
    const Token &t = lexer.peek();
    if (t.is(".align")) {
      lexer.take();
      Token at = lexer.peek();
      uint64_t align = parseInteger(lexer, "an alignment");
      if (!std::has_single_bit(align) || align > 1u << 20)
        lexer.failAt(at, "expected an alignment that is a power of two, but got " + Lexer::describe(at));
      if (!pointer) // `.ptr .align N` speaks of what is pointed to
        d.align = align;
    } else if (parameter && t.is(".ptr")) {
      lexer.take();
      pointer = true;
    } else if (parameter && pointer &&
               (t.is(".global") || t.is(".shared") || t.is(".const") || t.is(".local"))) {
      lexer.take();
    } else if (t.kind == Token::Directive && d.type == Type::None) {
      d.type = typeNamed(t.text.substr(1));
      if (d.type == Type::None || d.type == Type::Pred)
        lexer.expected("a type");
      lexer.take();
    } else {
      break;
    }
  }
  if (d.type == Type::None)
    lexer.expected("a type");
  if (lexer.peek().kind != Token::Word)
    lexer.expected("a name");
  d.name = lexer.take();
  while (accept(lexer, "[")) {
    d.array = true;
    if (accept(lexer, "]")) {
      d.open = true;
      d.elements = 0;
      continue;
    }
    Token at = lexer.peek();
    uint64_t size = parseInteger(lexer, "the number of elements");
    if (size > kMostBytes || d.elements * size * bytesOf(d.type) > kMostBytes)
      lexer.failAt(at, "expected an array of at most " + std::to_string(kMostBytes) + " bytes, but got " +
                           Lexer::describe(at) + " elements");
    d.elements *= size;
    expect(lexer, "]");
  }
  d.align = std::max<size_t>(d.align, bytesOf(d.type));
  return d;
}

namespace {

class ModuleParser {
public:
  ModuleParser(std::string_view text, std::string_view name)
      : lexer(text, name), program(std::make_shared<ParsedModule>()) {
    program->name = name;
  }

  std::shared_ptr<ParsedModule> parse() {
    header();
    while (lexer.peek().kind != Token::End)
      statement();
    return program;
  }

private:
  void header() {
    for (const char *word : {".version", ".target", ".address_size"}) {
      if (!lexer.peek().is(word))
        lexer.expected("'" + std::string(word) + "'");
      Token at = lexer.take();
      Token value = lexer.peek();
      lexer.skipLine();
      if (at.is(".address_size") && !value.is("64"))
        lexer.failAt(value, "expected address size 64, but got " + Lexer::describe(value));
    }
  }

  void statement() {
    const Token &t = lexer.peek();
    if (t.is(".visible") || t.is(".extern") || t.is(".weak") || t.is(".common")) {
      lexer.take();
    } else if (t.is(".entry")) {
      entry();
    } else if (t.is(".shared") || t.is(".global") || t.is(".const")) {
      variable();
    } else if (t.is(".file") || t.is(".loc")) {
      lexer.skipLine();
    } else if (t.is(".section")) {
      skipSection();
    } else if (t.is(".pragma")) {
      while (!lexer.peek().is(";") && lexer.peek().kind != Token::End)
        lexer.take();
      expect(lexer, ";");
    } else if (t.is(".func")) {
      lexer.failAt(t, "unsupported '.func': requires that functions are inlined into their kernels");
    } else {
      lexer.expected("a directive such as .entry or .shared");
    }
  }

  void skipSection() { // debug information
    lexer.take();
    while (!lexer.peek().is("{") && lexer.peek().kind != Token::End)
      lexer.take();
    expect(lexer, "{");
    for (int depth = 1; depth > 0;) {
      if (lexer.peek().kind == Token::End)
        lexer.expected("'}'");
      Token t = lexer.take();
      depth += t.is("{") - t.is("}");
    }
  }

  void define(const Token &name, Meaning meaning) {
    if (!names.emplace(std::string(name.text), meaning).second)
      lexer.failAt(name, "expected a new name, but got " + Lexer::describe(name) +
                             ", which this module declares already");
  }

  void variable() {
    Token space = lexer.take();
    Declaration d = parseDeclaration(lexer, false);
    size_t bytes = bytesOf(d.type) * d.elements;
    if (space.is(".shared")) {
      Meaning m{Meaning::Address, {}, 0, d.open, Space::Shared};
      m.reg.at = uint32_t(d.align);
      if (!d.open) {
        m.value = alignTo(sharedBytes, d.align);
        sharedBytes = m.value + bytes;
      }
      define(d.name, m);
      return expect(lexer, ";");
    }
    std::vector<uint64_t> values;
    if (accept(lexer, "=")) {
      Token at = lexer.peek();
      initialiser(d.type, values, 0);
      if (d.open)
        bytes = values.size() * bytesOf(d.type);
      if (values.size() * bytesOf(d.type) > bytes)
        lexer.failAt(at, "expected at most " + std::to_string(d.elements) + " values, but got " +
                             std::to_string(values.size()));
    } else if (d.open) {
      lexer.failAt(d.name, "expected a size or values, but got neither for " + Lexer::describe(d.name));
    }
    variableBytes += bytes + d.align;
    if (variableBytes > kMostVariableBytes)
      lexer.failAt(d.name, "expected variables of at most " + std::to_string(kMostVariableBytes) +
                               " bytes in a module, but got " + std::to_string(variableBytes));
    auto memory = std::make_unique<std::byte[]>(bytes + d.align);
    std::byte *data =
        reinterpret_cast<std::byte *>(alignTo(reinterpret_cast<uintptr_t>(memory.get()), d.align));
    for (size_t k = 0; k < values.size(); ++k)
      std::memcpy(data + k * bytesOf(d.type), &values[k], bytesOf(d.type));
    define(d.name, {Meaning::Address, {}, reinterpret_cast<uintptr_t>(data), false, Space::Global});
    program->variables.push_back(
        {std::string(d.name.text), std::move(memory), data, bytes, space.is(".global")});
    expect(lexer, ";");
  }

  void initialiser(Type type, std::vector<uint64_t> &values, unsigned depth) {
    if (depth > 256)
      lexer.expected("at most 256 braces inside each other");
    if (accept(lexer, "{")) {
      do
        initialiser(type, values, depth + 1);
      while (accept(lexer, ","));
      return expect(lexer, "}");
    }
    bool negative = accept(lexer, "-");
    const Token &t = lexer.peek();
    uint64_t bits = t.value;
    if (t.kind == Token::Integer) {
      bits = negative ? 0 - bits : bits;
      if (type == Type::F32)
        bits = std::bit_cast<uint32_t>(float(int64_t(bits)));
      else if (type == Type::F64)
        bits = std::bit_cast<uint64_t>(double(int64_t(bits)));
    } else if (t.kind == Token::Float32 || t.kind == Token::Float64) {
      double value = t.kind == Token::Float32 ? double(std::bit_cast<float>(uint32_t(bits)))
                                              : std::bit_cast<double>(bits);
      value = negative ? -value : value;
      if (type != Type::F32 && type != Type::F64)
        lexer.expected("an integer");
      bits = type == Type::F32 ? std::bit_cast<uint32_t>(float(value)) : std::bit_cast<uint64_t>(value);
    } else {
      lexer.expected("a value");
    }
    lexer.take();
    values.push_back(bits);
  }

  void entry() {
    lexer.take();
    if (lexer.peek().kind != Token::Word)
      lexer.expected("the name of an entry");
    Token name = lexer.take();
    for (const Kernel &other : program->kernels)
      if (other.info.name == name.text)
        lexer.failAt(name, "expected a new name, but got " + Lexer::describe(name) +
                               ", which this module declares already");
    Kernel &kernel = program->kernels.emplace_back();
    kernel.info = {std::string(name.text), {}, 0, 0, {}, {}, 0};
    KernelParser body(lexer, kernel, names, sharedBytes);
    if (accept(lexer, "(") && !accept(lexer, ")")) {
      do {
        if (!lexer.peek().is(".param"))
          lexer.expected("'.param'");
        lexer.take();
        body.addParameter(parseDeclaration(lexer, true));
      } while (accept(lexer, ","));
      expect(lexer, ")");
    }
    while (lexer.peek().kind == Token::Directive)
      performance(kernel);
    body.parseBody();
  }

  void performance(Kernel &kernel) {
    Token t = lexer.take();
    if (t.is(".reqntid") || t.is(".maxntid")) {
      std::array<unsigned, 3> size{1, 1, 1};
      unsigned k = 0;
      do {
        if (k == 3)
          lexer.expected("at most three sizes");
        size[k++] = unsigned(parseInteger(lexer, "a size"));
      } while (accept(lexer, ","));
      (t.is(".reqntid") ? kernel.info.required : kernel.info.most) = size;
    } else if (t.is(".minnctapersm") || t.is(".maxnctapersm") || t.is(".maxnreg")) {
      unsigned number = unsigned(parseInteger(lexer, "a number"));
      if (t.is(".minnctapersm"))
        kernel.blocksPerMultiprocessor = number;
      if (t.is(".maxnreg"))
        kernel.mostRegisters = number;
    } else if (t.is(".pragma")) {
      while (!lexer.peek().is(";") && lexer.peek().kind != Token::End)
        lexer.take();
      expect(lexer, ";");
    } else if (!t.is(".noreturn")) {
      lexer.failAt(t, "unsupported directive " + Lexer::describe(t) + " of an entry");
    }
  }

  Lexer lexer;
  std::shared_ptr<ParsedModule> program;
  Names names;
  size_t sharedBytes = 0, variableBytes = 0;
};

struct TypeName {
  const char *name;
  Type type;
  unsigned bytes;
};
constexpr TypeName kTypes[] = {
    {"none", Type::None, 0}, {"pred", Type::Pred, 4},     {"b8", Type::B8, 1},     {"b16", Type::B16, 2},
    {"b32", Type::B32, 4},   {"b64", Type::B64, 8},       {"u8", Type::U8, 1},     {"u16", Type::U16, 2},
    {"u32", Type::U32, 4},   {"u64", Type::U64, 8},       {"s8", Type::S8, 1},     {"s16", Type::S16, 2},
    {"s32", Type::S32, 4},   {"s64", Type::S64, 8},       {"f16", Type::F16, 2},   {"f16x2", Type::F16x2, 4},
    {"bf16", Type::BF16, 2}, {"bf16x2", Type::BF16x2, 4}, {"tf32", Type::TF32, 4}, {"f32", Type::F32, 4},
    {"f64", Type::F64, 8}};

} // namespace

std::string hexadecimal(uint64_t x) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

unsigned bytesOf(Type t) { return kTypes[unsigned(t)].bytes; }
const char *nameOf(Type t) { return kTypes[unsigned(t)].name; }
bool isFloat(Type t) { return t >= Type::F16; }
bool isSigned(Type t) { return t >= Type::S8 && t <= Type::S64; }
Type typeNamed(std::string_view name) {
  for (const TypeName &t : kTypes)
    if (t.type != Type::None && name == t.name)
      return t.type;
  return Type::None;
}

Module parse(std::string_view text, std::string_view name) {
  return Module(ModuleParser(text, name).parse());
}

std::vector<KernelSignature> Module::kernels() const {
  std::vector<KernelSignature> all;
  for (const Kernel &k : program->kernels)
    all.push_back(k.info);
  return all;
}

} // namespace taylor::runtime::ptx
