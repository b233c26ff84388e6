// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory, matrices, exchange between lanes, barriers and control flow (PTX ISA, "Instructions").
#include "runtime/ptx/Build.h"

namespace taylor::runtime::ptx {
namespace {

Space space(Build &b) {
  return b.oneOr(Space::Generic, {{"shared", Space::Shared},
                                  {"shared::cta", Space::Shared},
                                  {"shared::cluster", Space::Shared}, // a cluster is one block
                                  {"global", Space::Global},
                                  {"param", Space::Param},
                                  {"param::entry", Space::Param},
                                  {"const", Space::Const},
                                  {"local", Space::Local}});
}

void cvta(Build &b) {
  b.i.op = Op::Cvta;
  b.i.to = b.has("to");
  b.i.space = space(b);
  if (b.i.space == Space::Generic)
    b.unsupported();
  Type t = b.i.type = b.type();
  if (t != Type::U64 && t != Type::U32)
    b.unsupported();
  b.plain(t, 1);
}

Profile::Class classOf(Space s) {
  return s == Space::Shared                          ? Profile::SharedMemory
         : s == Space::Global || s == Space::Generic ? Profile::GlobalMemory
                                                     : Profile::OtherMemory;
}

void scope(Build &b) { b.any({"cta", "cluster", "gpu", "sys"}); }

template <bool load> void access(Build &b) {
  b.i.op = load ? Op::Ld : Op::St;
  b.i.strong = b.any({"volatile", "relaxed", "acquire", "release"});
  if (!b.i.strong)
    b.has("weak");
  scope(b);
  b.i.space = space(b);
  if (!load && (b.i.space == Space::Param || b.i.space == Space::Const))
    b.unsupported();
  b.i.kind = classOf(b.i.space);
  b.has("nc");
  b.any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  while (b.next < b.words.size() &&
         (b.words[b.next].starts_with("L1::") || b.words[b.next].starts_with("L2::")) &&
         b.words[b.next] != "L2::cache_hint")
    ++b.next;
  b.i.vector = b.oneOr<uint8_t>(1, {{"v2", 2}, {"v4", 4}});
  Type t = b.i.type = b.type();
  if (t == Type::Pred || t == Type::TF32 || bytesOf(t) * b.i.vector > 16)
    b.unsupported();
  b.done();
  if (load) {
    b.vector(t, true, b.i.vector, true);
    b.comma();
    b.address();
  } else {
    b.address();
    b.comma();
    b.vector(t, false, b.i.vector, true);
  }
}

template <bool returns> void atomic(Build &b) {
  b.i.op = returns ? Op::Atom : Op::Red;
  b.i.strong = true;
  b.i.kind = Profile::Atomic;
  b.any({"relaxed", "acquire", "release", "acq_rel"});
  scope(b);
  b.i.space = space(b);
  b.i.combine = b.one<Combine>({{"add", Combine::Add},
                                {"min", Combine::Min},
                                {"max", Combine::Max},
                                {"inc", Combine::Inc},
                                {"dec", Combine::Dec},
                                {"and", Combine::And},
                                {"or", Combine::Or},
                                {"xor", Combine::Xor},
                                {"exch", Combine::Exchange},
                                {"cas", Combine::CompareSwap}});
  Type t = b.i.type = b.type();
  b.done();
  if (returns) {
    b.result(t);
    b.comma();
  }
  b.address();
  for (unsigned k = 0; k < (b.i.combine == Combine::CompareSwap ? 2 : 1); ++k) {
    b.comma();
    b.source(t);
  }
}

void cpAsync(Build &b) {
  b.need("async");
  b.i.kind = Profile::AsyncCopy;
  if (b.has("bulk"))
    return decodeBulk(b);
  if (b.has("mbarrier"))
    return decodeArrivalOfCopies(b);
  if (b.has("commit_group")) {
    b.i.op = Op::CpAsyncCommit;
    return b.done();
  }
  if (b.has("wait_all")) {
    b.i.op = Op::CpAsyncWait;
    b.i.all = true;
    return b.done();
  }
  if (b.has("wait_group")) {
    b.i.op = Op::CpAsyncWait;
    b.done();
    b.i.count = b.parser.integer("the number of groups that may stay");
    return;
  }
  b.i.op = Op::CpAsync;
  bool cg = b.has("cg");
  if (!cg)
    b.need("ca");
  if (!b.any({"shared", "shared::cta"}))
    b.unsupported();
  b.need("global");
  b.any({"L2::64B", "L2::128B", "L2::256B"});
  b.done();
  b.address();
  b.comma();
  b.address();
  b.comma();
  Token at = b.parser.lexer.peek();
  b.i.count = b.parser.integer("the number of bytes");
  if (!(b.i.count == 16 || (!cg && (b.i.count == 4 || b.i.count == 8))))
    b.parser.lexer.failAt(at, std::string("expected ") + (cg ? "16" : "4, 8 or 16") + " bytes, but got " +
                                  std::to_string(b.i.count));
  if (b.more())
    b.source(Type::U32);
}

template <bool load> void matrixAccess(Build &b) {
  b.i.op = load ? Op::Ldmatrix : Op::Stmatrix;
  b.i.kind = Profile::LoadMatrix;
  b.need("sync");
  b.need("aligned");
  b.i.aligned = true;
  b.need("m8n8");
  b.i.vector = b.one<uint8_t>({{"x1", 1}, {"x2", 2}, {"x4", 4}});
  b.i.transposed = b.has("trans");
  b.i.space = space(b);
  b.need("b16");
  b.i.type = Type::B16;
  b.done();
  if (b.i.space != Space::Generic && b.i.space != Space::Shared)
    b.unsupported();
  if (load) {
    b.vector(Type::B32, true, b.i.vector);
    b.comma();
    b.address();
  } else {
    b.address();
    b.comma();
    b.vector(Type::B32, false, b.i.vector);
  }
}

void mma(Build &b) {
  b.i.op = Op::Mma;
  b.i.kind = Profile::Matrix;
  b.need("sync");
  b.need("aligned");
  b.i.aligned = true;
  unsigned k = b.i.vector = b.one<uint8_t>({{"m16n8k16", 16}, {"m16n8k8", 8}, {"m16n8k4", 4}});
  b.need("row");
  b.need("col");
  Type d = b.i.type = b.type();
  Type a = b.i.from = b.type();
  if (b.type() != a || b.type() != d || d != Type::F32)
    b.unsupported();
  bool tf32 = a == Type::TF32, half = a == Type::F16 || a == Type::BF16;
  if (!(tf32 && k <= 8) && !(half && k >= 8))
    b.unsupported();
  b.done();
  unsigned left = 16 * k / 32 / (tf32 ? 1 : 2);
  b.vector(Type::F32, true, 4);
  b.comma();
  b.vector(Type::B32, false, left);
  b.comma();
  b.vector(Type::B32, false, left / 2);
  b.comma();
  b.vector(Type::F32, false, 4);
}

void shuffle(Build &b) {
  b.i.op = Op::Shfl;
  b.i.kind = Profile::Shuffle;
  b.need("sync");
  b.i.lane =
      b.one<Lane>({{"up", Lane::Up}, {"down", Lane::Down}, {"bfly", Lane::Butterfly}, {"idx", Lane::Index}});
  b.need("b32");
  b.i.type = Type::B32;
  b.done();
  b.result(Type::B32);
  if (accept(b.parser.lexer, "|"))
    b.result(Type::Pred);
  for (unsigned k = 0; k < 4; ++k) {
    b.comma();
    b.source(Type::B32);
  }
}

void vote(Build &b) {
  b.i.op = Op::VoteSync;
  b.i.kind = Profile::Shuffle;
  b.need("sync");
  b.i.vote =
      b.one<Vote>({{"all", Vote::All}, {"any", Vote::Any}, {"uni", Vote::Uniform}, {"ballot", Vote::Ballot}});
  bool ballot = b.i.vote == Vote::Ballot;
  b.need(ballot ? "b32" : "pred");
  b.i.type = ballot ? Type::B32 : Type::Pred;
  b.done();
  b.result(b.i.type);
  b.comma();
  b.predicate();
  b.comma();
  b.source(Type::B32);
}

void redux(Build &b) {
  b.i.op = Op::Redux;
  b.i.kind = Profile::Shuffle;
  b.need("sync");
  b.i.combine = b.one<Combine>({{"add", Combine::Add},
                                {"min", Combine::Min},
                                {"max", Combine::Max},
                                {"and", Combine::And},
                                {"or", Combine::Or},
                                {"xor", Combine::Xor}});
  Type t = b.i.type = b.type();
  if (t != Type::U32 && t != Type::S32 && t != Type::B32)
    b.unsupported();
  b.plain(t, 1);
  b.comma();
  b.source(Type::B32);
}

void elect(Build &b) {
  b.i.op = Op::Elect;
  b.i.kind = Profile::Shuffle;
  b.need("sync");
  b.done();
  b.result(Type::B32);
  expect(b.parser.lexer, "|");
  b.result(Type::Pred);
  b.comma();
  b.source(Type::B32);
}

void activemask(Build &b) {
  b.i.op = Op::Activemask;
  b.i.kind = Profile::Shuffle;
  b.need("b32");
  b.done();
  b.result(Type::B32);
}

/// `bar.sync` is `barrier.sync.aligned`.
template <bool aligned> void barrier(Build &b) {
  b.i.kind = Profile::Barrier;
  if (aligned && b.has("warp")) {
    b.need("sync");
    b.done();
    b.i.op = Op::WarpSync;
    b.source(Type::B32);
    return;
  }
  b.has("cta");
  b.i.op = b.one<Op>({{"sync", Op::BarSync}, {"arrive", Op::BarArrive}});
  b.i.aligned = aligned || b.has("aligned");
  b.done();
  b.source(Type::U32);
  if (b.more())
    b.source(Type::U32);
  else if (b.i.op == Op::BarArrive)
    b.comma();
}

template <Op op> void control(Build &b) {
  b.i.op = op;
  b.i.kind = Profile::Control;
  if (op == Op::Brx)
    b.need("idx");
  b.has("uni");
  b.done();
  if (op == Op::Bra)
    b.parser.labelUse();
  if (op == Op::Brx) {
    b.source(Type::U32);
    b.comma();
    b.parser.targetListUse();
  }
}

void nanosleep(Build &b) {
  b.i.op = Op::Nop;
  b.i.kind = Profile::Control;
  b.need("u32");
  b.done();
  b.source(Type::U32);
}

} // namespace

const Decoders &machineDecoders() {
  static const Decoders all = {{"cvta", cvta},
                               {"ld", access<true>},
                               {"st", access<false>},
                               {"atom", atomic<true>},
                               {"red", atomic<false>},
                               {"cp", cpAsync},
                               {"ldmatrix", matrixAccess<true>},
                               {"stmatrix", matrixAccess<false>},
                               {"mma", mma},
                               {"shfl", shuffle},
                               {"vote", vote},
                               {"redux", redux},
                               {"elect", elect},
                               {"activemask", activemask},
                               {"bar", barrier<true>},
                               {"barrier", barrier<false>},
                               {"bra", control<Op::Bra>},
                               {"brx", control<Op::Brx>},
                               {"ret", control<Op::Exit>},
                               {"exit", control<Op::Exit>},
                               {"trap", control<Op::Trap>},
                               {"nanosleep", nanosleep}};
  return all;
}

} // namespace taylor::runtime::ptx
