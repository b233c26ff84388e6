// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous work and what orders it (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions",
// "mbarrier", "cp.async.bulk.tensor").
#include "runtime/ptx/Build.h"
#include <charconv>

namespace taylor::runtime::ptx {
namespace {

/// `m64n128k16`: 64 rows, 8 to 256 columns in steps of 8, and the k of the operands' type.
void shape(Build &b) {
  std::string_view word = b.next < b.words.size() ? b.words[b.next++] : std::string_view();
  if (!word.starts_with("m64n"))
    b.unsupported();
  unsigned columns = 0;
  auto [end, error] = std::from_chars(word.data() + 4, word.data() + word.size(), columns);
  std::string_view rest(end, size_t(word.data() + word.size() - end));
  if (error != std::errc() || columns % 8 || columns < 8 || columns > 256 || (rest != "k16" && rest != "k8"))
    b.unsupported();
  b.i.count = columns;
  b.i.vector = rest == "k16" ? 16 : 8;
}

/// An immediate that is one of two values.
bool flag(Build &b, std::string_view name, int64_t no, int64_t yes) {
  b.comma();
  Token at = b.parser.lexer.peek();
  int64_t value = b.parser.integer(name);
  if (value != no && value != yes)
    b.parser.lexer.failAt(at, "expected " + std::string(name) + " of " + std::to_string(no) + " or " +
                                  std::to_string(yes) + ", but got " + std::to_string(value));
  return value == yes;
}

void multiply(Build &b) {
  b.i.op = Op::Wgmma;
  b.i.kind = Profile::Matrix;
  shape(b);
  b.i.type = Type::F32;
  b.need("f32");
  Type t = b.i.from = b.type();
  if (b.type() != t || (t != Type::F16 && t != Type::BF16 && t != Type::TF32) ||
      (t == Type::TF32) != (b.i.vector == 8))
    b.unsupported();
  b.done();
  b.vector(Type::F32, true, unsigned(b.i.count / 2));
  b.comma();
  b.i.leftInRegisters = b.parser.lexer.peek().is("{");
  if (b.i.leftInRegisters)
    b.vector(Type::B32, false, 4);
  else
    b.source(Type::B64);
  b.comma();
  b.source(Type::B64);
  b.comma();
  b.predicate();
  b.i.negatesLeft = flag(b, "a scale of a", 1, -1);
  b.i.negatesRight = flag(b, "a scale of b", 1, -1);
  if (t == Type::TF32)
    return;
  b.i.transposesLeft = !b.i.leftInRegisters && flag(b, "a transposition of a", 0, 1);
  b.i.transposesRight = flag(b, "a transposition of b", 0, 1);
}

void wgmma(Build &b) {
  b.i.op = b.one<Op>({{"fence", Op::WgmmaFence},
                      {"mma_async", Op::Wgmma},
                      {"commit_group", Op::WgmmaCommit},
                      {"wait_group", Op::WgmmaWait}});
  b.i.kind = Profile::Control; // order alone
  b.need("sync");
  b.need("aligned");
  b.i.aligned = true;
  if (b.i.op == Op::Wgmma)
    return multiply(b);
  b.done();
  if (b.i.op == Op::WgmmaWait)
    b.i.count = int64_t(parseInteger(b.parser.lexer, "the number of groups that may stay"));
}

void fence(Build &b) {
  b.i.op = Op::Fence;
  b.i.kind = Profile::Control;
  if (b.has("proxy")) {
    b.need("async");
    b.i.op = Op::ProxyFence;
    b.i.space = b.oneOr(
        Space::Generic,
        {{"global", Space::Global}, {"shared::cta", Space::Shared}, {"shared::cluster", Space::Shared}});
    return b.done();
  }
  if (b.has("mbarrier_init")) {
    b.i.op = Op::MbarrierFence;
    b.need("release");
    b.need("cluster");
    return b.done();
  }
  b.any({"sc", "acq_rel", "acquire", "release"});
  b.any({"cta", "cluster", "gpu", "gl", "sys"});
  b.done();
}

void scopeOf(Build &b) {
  b.any({"cta", "cluster"});
  b.i.space = b.any({"shared", "shared::cta", "shared::cluster"}) ? Space::Shared : Space::Generic;
  b.need("b64");
  b.done();
}

/// `[address], count`
void counted(Build &b) {
  b.i.operands.push_back(b.parser.address(b.i.offset));
  b.comma();
  b.source(Type::U32);
}

void arrival(Build &b) {
  b.i.expectsBytes = b.has("expect_tx");
  b.i.relaxed = b.oneOr(false, {{"release", false}, {"relaxed", true}});
  scopeOf(b);
  b.result(Type::B64);
  b.comma();
  b.i.operands.push_back(b.parser.address(b.i.offset));
  if (b.i.expectsBytes)
    b.comma();
  else if (!b.more())
    return;
  b.source(Type::U32);
}

void waitForPhase(Build &b) {
  b.i.parity = b.has("parity");
  b.i.relaxed = b.oneOr(false, {{"acquire", false}, {"relaxed", true}});
  scopeOf(b);
  b.result(Type::Pred);
  b.comma();
  b.i.operands.push_back(b.parser.address(b.i.offset));
  b.comma();
  b.source(b.i.parity ? Type::U32 : Type::B64);
  if (b.i.op == Op::MbarrierTry && b.more())
    b.source(Type::U32); // how long to wait at most
}

void mbarrier(Build &b) {
  b.i.kind = Profile::Barrier;
  b.i.op = b.one<Op>({{"init", Op::MbarrierInit},
                      {"inval", Op::MbarrierInval},
                      {"arrive", Op::MbarrierArrive},
                      {"expect_tx", Op::MbarrierExpect},
                      {"try_wait", Op::MbarrierTry},
                      {"test_wait", Op::MbarrierTest}});
  if (b.i.op == Op::MbarrierArrive)
    return arrival(b);
  if (b.i.op == Op::MbarrierTry || b.i.op == Op::MbarrierTest)
    return waitForPhase(b);
  if (b.i.op == Op::MbarrierExpect)
    b.has("relaxed");
  scopeOf(b);
  if (b.i.op == Op::MbarrierInval)
    b.i.operands.push_back(b.parser.address(b.i.offset));
  else
    counted(b);
}

void setMaxRegisters(Build &b) {
  b.i.op = Op::SetMaxRegisters;
  b.i.kind = Profile::Control;
  b.i.releases = b.one<bool>({{"inc", false}, {"dec", true}});
  b.need("sync");
  b.need("aligned");
  b.need("u32");
  b.i.aligned = true;
  b.done();
  Token at = b.parser.lexer.peek();
  b.i.count = b.parser.integer("a number of registers");
  if (b.i.count < 24 || b.i.count > 256 || b.i.count % 8)
    b.parser.lexer.failAt(at, "expected a multiple of 8 from 24 to 256 registers, but got " +
                                  std::to_string(b.i.count));
}

void gridControl(Build &b) {
  b.i.op = b.one<Op>({{"launch_dependents", Op::Nop}, {"wait", Op::GridWait}});
  b.i.kind = Profile::Control;
  b.done();
}

void prefetch(Build &b) {
  b.i.op = Op::Nop;
  b.i.kind = Profile::Control;
  b.any({"param", "const"});
  b.need("tensormap");
  b.done();
  b.i.operands.push_back(b.parser.address(b.i.offset));
}

/// `[map, {x, y, ..}]`; the coordinates come after all other operands.
std::vector<Operand> tensor(Build &b) {
  Token at = b.parser.lexer.peek();
  std::vector<Operand> coordinates;
  b.i.operands.push_back(b.parser.address(b.i.offset2, &coordinates));
  if (coordinates.size() != b.i.vector)
    b.parser.lexer.failAt(at, "expected " + std::to_string(b.i.vector) + " coordinates, but got " +
                                  std::to_string(coordinates.size()));
  return coordinates;
}

void tensorCopy(Build &b) {
  b.i.vector = b.one<uint8_t>({{"1d", 1}, {"2d", 2}, {"3d", 3}, {"4d", 4}, {"5d", 5}});
  bool isLoad = b.any({"shared::cluster", "shared::cta"});
  b.i.op = isLoad ? Op::BulkLoad : Op::BulkStore;
  b.need("global");
  if (!isLoad)
    b.need("shared::cta");
  b.has("tile");
  b.need(isLoad ? "mbarrier::complete_tx::bytes" : "bulk_group");
  b.has("tile");
  bool hasPolicy = b.has("L2::cache_hint");
  b.done();
  std::vector<Operand> coordinates;
  if (isLoad) {
    b.i.operands.push_back(b.parser.address(b.i.offset));
    b.comma();
    coordinates = tensor(b);
    b.comma();
    b.i.operands.push_back(b.parser.address(b.i.offset3));
  } else {
    coordinates = tensor(b);
    b.comma();
    b.i.operands.push_back(b.parser.address(b.i.offset));
  }
  b.i.space = Space::Shared;
  if (hasPolicy) {
    b.comma();
    b.source(Type::B64);
  }
  b.i.operands.insert(b.i.operands.end(), coordinates.begin(), coordinates.end());
}

} // namespace

void decodeBulk(Build &b) {
  if (b.has("tensor"))
    return tensorCopy(b);
  b.i.op = b.one<Op>({{"commit_group", Op::BulkCommit}, {"wait_group", Op::BulkWait}});
  b.i.readsOnly = b.i.op == Op::BulkWait && b.has("read");
  b.done();
  if (b.i.op == Op::BulkWait)
    b.i.count = int64_t(parseInteger(b.parser.lexer, "the number of groups that may stay"));
}

void decodeArrivalOfCopies(Build &b) {
  b.i.op = Op::CpAsyncArrive;
  b.need("arrive");
  b.i.counted = b.has("noinc");
  scopeOf(b);
  b.i.operands.push_back(b.parser.address(b.i.offset));
}

const Decoders &asyncDecoders() {
  static const Decoders all = {{"wgmma", wgmma},
                               {"fence", fence},
                               {"membar", fence},
                               {"mbarrier", mbarrier},
                               {"setmaxnreg", setMaxRegisters},
                               {"griddepcontrol", gridControl},
                               {"prefetch", prefetch}};
  return all;
}

} // namespace taylor::runtime::ptx
