// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipelined product with a producer and two consumers (Inputs/product90.ptx) as it is, and with everything
// broken in turn that keeps its warps, copies and products apart.
#include "Fixture.h"
#include "Mutation.h"
#include "runtime/ptx/TensorMap.h"
#include <fstream>
#include <random>

namespace taylor::runtime::ptx {
namespace {

constexpr unsigned rows = 128, columns = 64;

const std::string &product() {
  static const std::string text = [] {
    std::ifstream file(TAYLOR_PTX_INPUTS "/product90.ptx");
    EXPECT_TRUE(file);
    std::stringstream stream;
    stream << file.rdbuf();
    return stream.str();
  }();
  return text;
}

struct alignas(16) Chunk {
  std::byte bytes[16];
};

/// A row-major matrix in memory of its own.
template <typename T> struct Matrix {
  unsigned rows, columns;
  std::vector<Chunk> memory;
  Matrix(unsigned rows, unsigned columns)
      : rows(rows), columns(columns), memory(rows * columns * sizeof(T) / 16) {}
  T &at(unsigned r, unsigned c) { return reinterpret_cast<T *>(memory.data())[r * columns + c]; }
  MemoryRange range(const char *name, bool writable, bool previous = false) {
    return {memory.data(), 16 * memory.size(), name, writable, previous};
  }
  TensorMapArguments map(TensorType type, uint32_t boxColumns, uint32_t boxRows, unsigned swizzle) {
    return {.type = type,
            .rank = 2,
            .address = reinterpret_cast<uintptr_t>(memory.data()),
            .sizes = {columns, rows},
            .strides = {columns * sizeof(T)},
            .box = {boxColumns, boxRows},
            .swizzle = swizzle};
  }
};

struct Maps {
  TensorMapArguments a, b, c;
};

struct Outcome {
  std::string fault;
  bool isRight; ///< the product is exact
  bool isCaught() const { return !fault.empty() || !isRight; }
};

Outcome run(
    const Module &module, uint64_t seed, unsigned steps, bool checks = true,
    const std::function<void(Maps &)> &change = [](Maps &) {}) {
  std::mt19937 random(steps);
  Matrix<uint16_t> a(rows, 64 * steps), b(64 * steps, columns);
  Matrix<float> c(rows, columns), bias(1, columns);
  std::vector<float> expected(rows * columns);
  auto value = [](uint16_t x) { return real(uint32_t(x) << 16); };
  for (auto *m : {&a, &b})
    for (unsigned r = 0; r < m->rows; ++r)
      for (unsigned q = 0; q < m->columns; ++q)
        m->at(r, q) = uint16_t(bits(float(random() % 9) - 4) >> 16);
  for (unsigned n = 0; n < columns; ++n)
    bias.at(0, n) = float(n) - 20;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned n = 0; n < columns; ++n) {
      float &sum = expected[r * columns + n] = bias.at(0, n);
      for (unsigned k = 0; k < a.columns; ++k)
        sum += value(a.at(r, k)) * value(b.at(k, n));
    }
  Maps maps{a.map(TensorType::BFloat16, 64, rows, 128), b.map(TensorType::BFloat16, 32, 64, 64),
            c.map(TensorType::Float32, columns, 64, 0)};
  change(maps);
  struct {
    TensorMap a, b, c;
    const void *bias;
    uint32_t steps;
  } parameters{makeTensorMap(maps.a), makeTensorMap(maps.b), makeTensorMap(maps.c), bias.memory.data(),
               steps};
  MemoryRange memory[] = {a.range("a", false, true), b.range("b", false, true),
                          bias.range("bias", false, true), c.range("c", true)};
  RunReport r =
      launch(module, "product90", {}, {384}, 82432, std::as_bytes(std::span(&parameters, 1)).first(396),
             memory, {.seed = seed, .checks = checks, .limit = 1 << 22});
  return {r.fault ? r.fault->message : "",
          std::memcmp(c.memory.data(), expected.data(), 4 * expected.size()) == 0};
}

/// Whether some order of warps and copies, and some number of steps, catches a text.
bool isCaught(const std::string &text, const std::function<void(Maps &)> &change = [](Maps &) {}) {
  Module module = parse(text);
  for (unsigned steps : {5u, 1u, 2u})
    for (uint64_t seed = 0; seed < 4; ++seed)
      if (run(module, seed, steps, true, change).isCaught())
        return true;
  return false;
}

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = product();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PtxProduct90, IsRight) {
  Module module = parse(product());
  for (bool checks : {true, false})
    for (unsigned steps : {1u, 2u, 3u, 4u, 7u})
      for (uint64_t seed = 0; seed < 10; ++seed) {
        Outcome o = run(module, seed, steps, checks);
        EXPECT_EQ(o.fault, "") << steps;
        EXPECT_TRUE(o.isRight) << steps;
      }
}

TEST(PtxProduct90, NothingSurvives) {
  std::map<Break, unsigned> found;
  std::vector<Mutation> survivors;
  unsigned redundant = 0;
  for (Mutation &mutation : mutationsOf(product())) {
    ++found[mutation.kind];
    if (isCaught(mutation.text)) {
      EXPECT_FALSE(isOffsetUnused(mutation)) << mutation.line << ": was caught";
      continue;
    }
    redundant += isOffsetUnused(mutation);
    if (!isOffsetUnused(mutation))
      survivors.push_back(std::move(mutation));
  }
  EXPECT_TRUE(survivors.empty()) << listOf(survivors);
  EXPECT_EQ(redundant, 8u);
  const std::map<Break, unsigned> expected = {
      {Break::RemoveBarrier, 2}, {Break::RemoveWait, 4},   {Break::LoosenWait, 4},  {Break::RemoveCommit, 3},
      {Break::RemoveXor, 4},     {Break::RemoveFence, 6},  {Break::FlipParity, 4},  {Break::RemoveArrive, 4},
      {Break::EarlyArrive, 2},   {Break::ChangeCount, 10}, {Break::ChangeBytes, 2}, {Break::ElectAll, 2},
      {Break::Descriptor, 108},  {Break::Transpose, 12}};
  EXPECT_EQ(found, expected);
}

TEST(PtxProduct90, EveryFaultIsFoundWithChecksByEverySeed) { // of those that do not depend on the order
  for (const Mutation &mutation : mutationsOf(product())) {
    if (mutation.kind != Break::RemoveFence && mutation.kind != Break::RemoveCommit)
      continue;
    Module module = parse(mutation.text);
    for (uint64_t seed = 0; seed < 8; ++seed)
      EXPECT_NE(run(module, seed, 5).fault, "") << mutation.line << ": " << mutation.original;
  }
}

TEST(PtxProduct90, SlotsAndPhases) {
  struct Change {
    const char *from, *to;
  };
  const Change changes[] = {
      // The producer's box, its full mbarrier and its empty one belong to another slot.
      {"mad.lo.s32 \t%r12, %r8, 24576, %r3;", "xor.b32 %r8, %r8, 1; mad.lo.s32 \t%r12, %r8, 24576, %r3;"},
      {"add.s32 \t%r11, %r3, %r10;", "xor.b32 %r10, %r10, 8; add.s32 \t%r11, %r3, %r10;"},
      {"%p0, [%r11+82192], %r9;", "%p0, [%r11+82200], %r9;"},
      // The consumer waits for another slot, multiplies another slot, releases another slot.
      {"%p3, [%r3+82176], %r20;", "%p3, [%r3+82184], %r20;"},
      {"%p3, [%r3+82184], %r20;", "%p3, [%r3+82176], %r20;"},
      {"[%r21+0];", "[%r21+24576];"},
      {"add.s64 \t%rd10, %rd4, 0;", "add.s64 \t%rd10, %rd4, 1536;"},
      {"add.s64 \t%rd11, %rd5, 1536;", "add.s64 \t%rd11, %rd5, 0;"},
      {"_, [%r3+82200];", "_, [%r3+82192];"},
      {"_, [%r3+82192];", "_, [%r3+82200];"},
      // Counters that do not go on: parities stay as they are.
      {"xor.b32 \t%r20, %r20, 1;", ""},
      {"bfe.u32 \t%r9, %r7, 1, 1;", "mov.b32 %r9, 0;"},
      {"add.s32 \t%r19, %r19, 1;", "add.s32 \t%r19, %r19, 2;"},
      // Copies that are taken to come in order: the last one alone signals.
      {"_, [%r11+82176], 24576;", "_, [%r11+82176], 4096;"},
      // Threads that copy, too, next to the elected one: of other warps, of all lanes.
      {"setp.ne.u32 \t%p0, %r5, 0;\n\t@%p0 bra \t$L__end;", ""},
      {"@!%p1 bra \t$L__end;", ""},
      {"@%p4 mbarrier.arrive", "mbarrier.arrive"},
      {"setp.ne.and.u32 \t%p4, %r19, 0, %p2;", "mov.pred %p4, %p2;"},
      {"setp.ge.u32 \t%p0, %r5, 16;", "setp.ge.u32 \t%p0, %r5, 15;"},
      {"setp.ge.u32 \t%p0, %r5, 16;", "setp.ge.u32 \t%p0, %r5, 17;"},
      // Registers, and the previous kernel.
      {"setmaxnreg.dec.sync.aligned.u32 \t24;", ""},
      {"setmaxnreg.inc.sync.aligned.u32 \t240;", "setmaxnreg.inc.sync.aligned.u32 \t248;"},
      {"griddepcontrol.wait;", ""},
      // A named barrier of another consumer, or of fewer threads.
      {"bar.sync \t%r4, 128;", "bar.sync \t1, 128;"},
      {"bar.sync \t%r4, 128;", "bar.sync \t%r4, 64;"},
  };
  for (const Change &change : changes)
    EXPECT_TRUE(isCaught(replaced(change.from, change.to))) << change.from << " -> " << change.to;
}

TEST(PtxProduct90, TensorMaps) {
  using M = Maps &;
  const std::pair<const char *, std::function<void(Maps &)>> changes[] = {
      {"address of a", [](M m) { m.a.address += 16; }},
      {"address of c", [](M m) { m.c.address += 16; }},
      {"columns of a", [](M m) { m.a.sizes[0] -= 8; }},
      {"rows of a", [](M m) { m.a.sizes[1] -= 1; }},
      {"rows of b", [](M m) { m.b.sizes[1] -= 1; }},
      {"columns of c", [](M m) { m.c.sizes[0] -= 1; }},
      {"stride of a", [](M m) { m.a.strides[0] += 16; }},
      {"stride of b", [](M m) { m.b.strides[0] += 16; }},
      {"stride of c", [](M m) { m.c.strides[0] += 16; }},
      {"box of a", [](M m) { m.a.box[1] -= 1; }},
      {"box of a", [](M m) { m.a.box[1] += 1; }},
      {"box of b", [](M m) { m.b.box[1] += 8; }},
      {"box of c", [](M m) { m.c.box[1] += 1; }},
      {"box of c", [](M m) { m.c.box[0] -= 4; }},
      {"steps of a", [](M m) { m.a.steps[1] = 2; }},
      {"steps of b", [](M m) { m.b.steps[1] = 2; }},
      {"swizzle of a", [](M m) { m.a.swizzle = 0; }},
      {"swizzle of b", [](M m) { m.b.swizzle = 0; }},
      {"swizzle of c", [](M m) { m.c.box[0] = 32, m.c.box[1] = 128, m.c.swizzle = 128; }},
      {"type of a", [](M m) { m.a.type = TensorType::Float32, m.a.box[0] = 32, m.a.sizes[0] /= 2; }},
      {"order of b", [](M m) { m.b.rank = 3, m.b.sizes[2] = 1, m.b.strides[1] = 16, m.b.box[2] = 1; }},
      {"a for b", [](M m) { std::swap(m.a, m.b); }},
  };
  for (auto &[name, change] : changes)
    EXPECT_TRUE(isCaught(product(), change)) << name;
  EXPECT_FALSE(isCaught(product()));
}

} // namespace
} // namespace taylor::runtime::ptx
