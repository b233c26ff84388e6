// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the decoders of all instructions share: the words of a mnemonic and the operands read so far.
#ifndef TAYLOR_RUNTIME_PTX_BUILD_H
#define TAYLOR_RUNTIME_PTX_BUILD_H
#include "runtime/ptx/KernelParser.h"
#include <initializer_list>
#include <unordered_map>

namespace taylor::runtime::ptx {

/// One instruction on its way: the words of its mnemonic, and what has been read of its operands.
struct Build {
  KernelParser &parser;
  Instruction &i;
  std::vector<std::string_view> words;
  size_t next = 1;
  Token at;

  [[noreturn]] void unsupported() { parser.lexer.failAt(at, "unsupported instruction '" + i.text + "'"); }
  bool isNext(std::initializer_list<std::string_view> all) const {
    for (std::string_view word : all)
      if (next < words.size() && words[next] == word)
        return true;
    return false;
  }
  bool has(std::string_view word) { return any({word}); }
  bool any(std::initializer_list<std::string_view> all) {
    bool is = isNext(all);
    next += is;
    return is;
  }
  void need(std::string_view word) {
    if (!has(word))
      unsupported();
  }
  /// The value that the next word names in a list of pairs.
  template <typename T> T one(std::initializer_list<std::pair<std::string_view, T>> all) {
    for (auto &[word, value] : all)
      if (has(word))
        return value;
    unsupported();
  }
  template <typename T> T oneOr(T otherwise, std::initializer_list<std::pair<std::string_view, T>> all) {
    for (auto &[word, value] : all)
      if (has(word))
        return value;
    return otherwise;
  }
  Type type() {
    Type t = next < words.size() ? typeNamed(words[next]) : Type::None;
    if (t == Type::None)
      unsupported();
    ++next;
    return t;
  }
  void done() {
    if (next != words.size())
      unsupported();
  }
  void comma() { expect(parser.lexer, ","); }
  bool more() { return accept(parser.lexer, ","); }
  void result(Type t, bool wider = false) {
    i.operands.push_back(t == Type::Pred ? parser.destination(t) : parser.destination(t, wider));
    ++i.results;
  }
  void source(Type t, bool wider = false) { i.operands.push_back(parser.source(t, wider)); }
  void predicate() { i.operands.push_back(parser.predicate(true)); }
  void address() {
    i.operands.push_back(parser.address(i.operands.size() && i.op == Op::CpAsync ? i.offset2 : i.offset));
  }
  /// `d, a, b...`, all of one type.
  void plain(Type t, unsigned sources) {
    done();
    result(t);
    for (unsigned k = 0; k < sources; ++k) {
      comma();
      source(t);
    }
  }
  void vector(Type t, bool results, unsigned count, bool wider = false) {
    Token where = parser.lexer.peek();
    std::vector<Operand> all = parser.vectorOf(t, results, wider);
    if (all.size() != count)
      parser.lexer.failAt(where, "expected " + std::to_string(count) + " operands, but got " +
                                     std::to_string(all.size()));
    i.operands.insert(i.operands.end(), all.begin(), all.end());
    if (results)
      i.results += uint8_t(count);
  }
};

/// Reads modifiers and operands of one family of instructions.
using Decoder = void (*)(Build &);
using Decoders = std::unordered_map<std::string_view, Decoder>;

/// By the first word of the mnemonic: arithmetic, logic, comparison, mov, cvt.
const Decoders &arithmeticDecoders();
/// Memory, matrices, exchange between lanes, barriers, control flow.
const Decoders &machineDecoders();
/// Asynchronous work: wgmma, mbarriers, fences, bulk copies.
const Decoders &asyncDecoders();
/// `cp.async.bulk` and `cp.async.mbarrier`, after these words.
void decodeBulk(Build &);
void decodeArrivalOfCopies(Build &);

} // namespace taylor::runtime::ptx

#endif
