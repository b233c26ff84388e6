// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of boxes by a tensor map, against the manual's "Tiled Mode" and "Swizzling Modes", and the rules
// around them.
#include "Fixture.h"
#include "runtime/ptx/TensorMap.h"
#include <map>
#include <set>

namespace taylor::runtime::ptx {
namespace {

/// Which of the eight chunks of 16 bytes of a line of 128 lies at each place, by line ("Swizzling Modes").
using Pattern = std::vector<std::array<unsigned, 8>>;
const std::map<unsigned, Pattern> patterns = {{0, {{0, 1, 2, 3, 4, 5, 6, 7}}},
                                              {32, {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}}},
                                              {64,
                                               {{0, 1, 2, 3, 4, 5, 6, 7},
                                                {1, 0, 3, 2, 5, 4, 7, 6},
                                                {2, 3, 0, 1, 6, 7, 4, 5},
                                                {3, 2, 1, 0, 7, 6, 5, 4}}},
                                              {128,
                                               {{0, 1, 2, 3, 4, 5, 6, 7},
                                                {1, 0, 3, 2, 5, 4, 7, 6},
                                                {2, 3, 0, 1, 6, 7, 4, 5},
                                                {3, 2, 1, 0, 7, 6, 5, 4},
                                                {4, 5, 6, 7, 0, 1, 2, 3},
                                                {5, 4, 7, 6, 1, 0, 3, 2},
                                                {6, 7, 4, 5, 2, 3, 0, 1},
                                                {7, 6, 5, 4, 3, 2, 1, 0}}}};

/// The place of byte `offset` of a box.
unsigned placeOf(unsigned swizzle, unsigned offset) {
  const Pattern &pattern = patterns.at(swizzle);
  auto &line = pattern[offset / 128 % pattern.size()];
  unsigned chunk = offset % 128 / 16;
  for (unsigned place = 0; place < 8; ++place)
    if (line[place] == chunk)
      return offset / 128 * 128 + 16 * place + offset % 16;
  return 0;
}

struct Chunk {
  alignas(16) std::byte bytes[16];
};

/// A tensor in memory of its own, with a gap after each line.
struct Tensor {
  TensorMapArguments arguments;
  std::vector<Chunk> memory;
  Tensor(TensorType type, std::vector<uint64_t> sizes, std::vector<uint32_t> box, unsigned swizzle = 0) {
    arguments = {.type = type,
                 .rank = unsigned(sizes.size()),
                 .address = 0,
                 .sizes = {},
                 .strides = {},
                 .box = {},
                 .swizzle = swizzle};
    uint64_t stride = (sizes[0] * bytesOf(type) + 15) / 16 * 16 + 16;
    for (size_t d = 0; d < sizes.size(); ++d) {
      arguments.sizes[d] = sizes[d];
      arguments.box[d] = box[d];
      if (d > 0) {
        arguments.strides[d - 1] = stride;
        stride *= sizes[d];
      }
    }
    memory.resize(stride / 16);
    auto *bytes = reinterpret_cast<uint8_t *>(memory.data());
    for (size_t k = 0; k < 16 * memory.size(); ++k)
      bytes[k] = uint8_t(k * 7 + k / 256 + 1);
    arguments.address = reinterpret_cast<uintptr_t>(bytes);
  }
  std::byte *at(const std::array<int64_t, 5> &index) const {
    uint64_t address = arguments.address + uint64_t(index[0]) * bytesOf(arguments.type);
    for (unsigned d = 1; d < arguments.rank; ++d)
      address += uint64_t(index[d]) * arguments.strides[d - 1];
    return reinterpret_cast<std::byte *>(address);
  }
  MemoryRange range(bool writable) { return {memory.data(), 16 * memory.size(), "tensor", writable}; }
};

/// f(offset in the box, index) for each element of a box, the first dimension fastest.
template <typename F> void forElements(const TensorMapArguments &a, const std::array<int, 5> &from, F f) {
  std::array<unsigned, 5> count{1, 1, 1, 1, 1}, at{};
  unsigned all = 1;
  for (unsigned d = 0; d < a.rank; ++d)
    all *= count[d] = (a.box[d] + a.steps[d] - 1) / a.steps[d];
  for (unsigned n = 0; n < all; ++n) {
    std::array<int64_t, 5> index{};
    bool isInside = true;
    for (unsigned d = 0, rest = n; d < a.rank; ++d) {
      at[d] = rest % count[d];
      rest /= count[d];
      index[d] = from[d] + int64_t(at[d]) * a.steps[d];
      isInside &= index[d] >= 0 && uint64_t(index[d]) < a.sizes[d];
    }
    f(n * bytesOf(a.type), index, isInside);
  }
}

std::string coordinatesOf(unsigned rank) {
  std::string text = "{";
  for (unsigned d = 0; d < rank; ++d)
    text += (d ? ", %c" : "%c") + std::to_string(d);
  return text + "}";
}

const std::string begin =
    header +
    ".extern .shared .align 1024 .b8 s[];\n.shared .align 8 .b64 m[1];\n.visible .entry k(.param .align 64 "
    ".b8 map[128], .param .u64 out, .param .b32 c0, .param .b32 c1, .param .b32 c2, .param .b32 c3, .param "
    ".b32 c4)\n{\n.reg .pred %p<4>;\n.reg .b32 %t, %r<8>, %c<5>;\n.reg .b64 %map, %out, %d<4>;\nmov.u32 %t, "
    "%tid.x;\nsetp.eq.u32 %p0, %t, 0;\nmov.b64 %map, map;\ncvta.param.u64 %map, %map;\nld.param.u64 %out, "
    "[out];\nld.param.b32 %c0, [c0];\nld.param.b32 %c1, [c1];\nld.param.b32 %c2, [c2];\nld.param.b32 %c3, "
    "[c3];\nld.param.b32 %c4, [c4];\nmul.wide.u32 %d0, %t, 16;\nadd.s64 %out, %out, %d0;\nshl.b32 %r0, %t, "
    "4;\nmov.u32 %r1, s;\nadd.u32 %r0, %r1, %r0;\n"; // the body starts in line 26

constexpr unsigned threads = 64;

struct Parameters {
  TensorMap map;
  const void *out;
  std::array<int, 5> from;
};

RunReport run(const std::string &body, const TensorMap &map, const std::array<int, 5> &from,
              std::vector<MemoryRange> memory, uint64_t seed = 0, bool checks = true) {
  Parameters parameters{map, memory[0].data, from};
  return launch(parse(begin + body + "ret;\n}\n"), "k", {}, {threads}, 16384,
                std::as_bytes(std::span(&parameters, 1)).first(156), memory,
                {.seed = seed, .checks = checks});
}

/// The lines of a kernel that loads a box to s and stores its bytes.
struct Load {
  unsigned rank, bytes;
  std::string destination = "shared::cluster", shared = "[s]";
  std::string init() const { return "@%p0 mbarrier.init.shared.b64 [m], 1;\n"; }
  std::string fence() const { return "@%p0 fence.mbarrier_init.release.cluster;\n"; }
  std::string expect() const {
    return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], " + std::to_string(bytes) + ";\n";
  }
  std::string copy() const {
    return "@%p0 cp.async.bulk.tensor." + std::to_string(rank) + "d." + destination +
           ".global.tile.mbarrier::complete_tx::bytes " + shared + ", [%map, " + coordinatesOf(rank) +
           "], [m];\n";
  }
  std::string wait() const { return "W: mbarrier.try_wait.parity.shared.b64 %p1, [m], 0;\n@!%p1 bra W;\n"; }
  std::string store() const {
    return "mov.u32 %r6, 0;\nNEXT: ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [%r0];\nst.global.v4.b32 [%out], "
           "{%r2, %r3, "
           "%r4, %r5};\nadd.u32 %r0, %r0, 1024;\nadd.s64 %out, %out, 1024;\nadd.u32 %r6, %r6, "
           "1024;\nsetp.lt.u32 "
           "%p2, %r6, " +
           std::to_string(bytes) + ";\n@%p2 bra NEXT;\n";
  }
  std::string all() const {
    return init() + fence() + "bar.sync 0;\n" + expect() + copy() + wait() + store();
  }
};

void checkLoad(Tensor &tensor, const std::array<int, 5> &from,
               const std::string &destination = "shared::cluster") {
  const TensorMapArguments &a = tensor.arguments;
  TensorMap map = makeTensorMap(a);
  unsigned bytes = map.boxBytes(), size = bytesOf(a.type);
  ASSERT_EQ(bytes % 1024, 0u);
  std::vector<Chunk> out(bytes / 16);
  for (uint64_t seed = 0; seed < 4; ++seed) {
    RunReport r = run(Load{a.rank, bytes, destination}.all(), map, from,
                      {{out.data(), bytes, "out"}, tensor.range(false)}, seed);
    ASSERT_FALSE(r.fault) << r.fault->message;
    forElements(a, from, [&](unsigned offset, const std::array<int64_t, 5> &index, bool isInside) {
      uint64_t expected = 0, got = 0;
      if (isInside)
        std::memcpy(&expected, tensor.at(index), size);
      std::memcpy(&got, reinterpret_cast<std::byte *>(out.data()) + placeOf(a.swizzle, offset), size);
      ASSERT_EQ(got, expected) << "offset " << offset;
    });
  }
}

TEST(PtxBulk, BoxesOfEveryRank) {
  for (const char *destination : {"shared::cluster", "shared::cta"}) {
    Tensor one(TensorType::UInt32, {1000}, {256}), two(TensorType::BFloat16, {100, 50}, {64, 16}),
        three(TensorType::BFloat16, {72, 40, 3}, {32, 8, 2}),
        four(TensorType::UInt8, {64, 9, 8, 5}, {32, 4, 4, 2}),
        five(TensorType::UInt64, {10, 4, 4, 4, 3}, {8, 2, 2, 2, 2});
    checkLoad(one, {512}, destination);
    checkLoad(two, {16, 20}, destination);
    checkLoad(three, {40, 32, 1}, destination);
    checkLoad(four, {16, 2, 3, 1}, destination);
    checkLoad(five, {2, 1, 2, 0, 1}, destination);
  }
}

TEST(PtxBulk, WhatLiesOutsideIsZero) {
  Tensor two(TensorType::BFloat16, {100, 50}, {64, 16});
  for (auto from : {std::array<int, 5>{64, 40}, {-16, -5}, {96, 0}, {200, 0}, {0, 60}, {0, -16}})
    checkLoad(two, from);
}

TEST(PtxBulk, Swizzles) {
  for (unsigned swizzle : {32u, 64u, 128u}) {
    Tensor tensor(TensorType::BFloat16, {256, 128}, {swizzle / 2, 64}, swizzle);
    checkLoad(tensor, {64, 32});
    checkLoad(tensor, {224, 100});
  }
}

TEST(PtxBulk, Steps) { // every third line of 32, every second plane of 4
  Tensor tensor(TensorType::BFloat16, {64, 100, 9}, {64, 24, 2});
  tensor.arguments.box = {64, 24, 4};
  tensor.arguments.steps = {1, 3, 2, 1, 1};
  checkLoad(tensor, {0, 5, 1});
  checkLoad(tensor, {0, 90, 6});
}

/// Stores s as a box.
struct Store {
  unsigned rank, bytes;
  std::string fill() const {
    return "mov.u32 %r6, 0;\nFILL: add.u32 %r2, %r0, 1;\nadd.u32 %r3, %r0, 2;\nadd.u32 %r4, %r0, "
           "3;\nst.shared.v4.b32 "
           "[%r0], {%r0, %r2, %r3, %r4};\nadd.u32 %r0, %r0, 1024;\nadd.u32 %r6, %r6, 1024;\nsetp.lt.u32 %p2, "
           "%r6, " +
           std::to_string(bytes) + ";\n@%p2 bra FILL;\n";
  }
  std::string fence() const { return "fence.proxy.async.shared::cta;\n"; }
  std::string barrier() const { return "bar.sync 0;\n"; }
  std::string copy() const {
    return "@%p0 cp.async.bulk.tensor." + std::to_string(rank) +
           "d.global.shared::cta.tile.bulk_group [%map, " + coordinatesOf(rank) + "], [s];\n";
  }
  std::string commit() const { return "@%p0 cp.async.bulk.commit_group;\n"; }
  std::string wait() const { return "@%p0 cp.async.bulk.wait_group.read 0;\n"; }
  std::string all() const { return fill() + fence() + barrier() + copy() + commit() + wait(); }
};

TEST(PtxBulk, BoxesGoBack) { // what lies outside is left out
  for (unsigned swizzle : {0u, 64u, 128u})
    for (auto from : {std::array<int, 5>{16, 20, 1}, {64, 40, 0}, {96, 0, 2}, {0, 60, 0}}) {
      Tensor tensor(TensorType::BFloat16, {100, 50, 3}, {swizzle ? swizzle / 2 : 32, 16, 2}, swizzle);
      const TensorMapArguments &a = tensor.arguments;
      TensorMap map = makeTensorMap(a);
      std::vector<Chunk> expected = tensor.memory;
      auto *target = reinterpret_cast<std::byte *>(expected.data());
      forElements(a, from, [&](unsigned offset, const std::array<int64_t, 5> &index, bool isInside) {
        unsigned place = placeOf(swizzle, offset);
        // Word k of the 16 bytes at address x is x + k; the box begins at 1024, past the mbarrier.
        uint32_t word = 1024 + place / 16 * 16 + place % 16 / 4;
        if (isInside)
          std::memcpy(target + (tensor.at(index) - reinterpret_cast<std::byte *>(tensor.memory.data())),
                      reinterpret_cast<std::byte *>(&word) + place % 4, 2);
      });
      std::vector<Chunk> before = tensor.memory;
      for (uint64_t seed = 0; seed < 4; ++seed) {
        tensor.memory = before;
        tensor.arguments.address = reinterpret_cast<uintptr_t>(tensor.memory.data());
        RunReport r = run(Store{3, map.boxBytes()}.all(), makeTensorMap(a), from, {tensor.range(true)}, seed);
        ASSERT_FALSE(r.fault) << r.fault->message;
        EXPECT_EQ(std::memcmp(tensor.memory.data(), expected.data(), 16 * expected.size()), 0);
      }
    }
}

/// A box of 1024 bytes: 32 elements of bf16 by 16.
struct Small {
  Tensor tensor{TensorType::BFloat16, {64, 64}, {32, 16}};
  std::vector<Chunk> out = std::vector<Chunk>(64);
  Load load{2, 1024};
  Store store{2, 1024};

  /// Faults of all orders of warps; nothing for one without.
  std::vector<RunReport> all(const std::string &body, const TensorMap &map, std::array<int, 5> from = {}) {
    std::vector<RunReport> reports;
    for (uint64_t seed = 0; seed < 8; ++seed)
      reports.push_back(run(body, map, from, {{out.data(), 1024, "out"}, tensor.range(true)}, seed));
    return reports;
  }
  void expect(const std::string &body, std::set<FaultKind> kinds, const std::string &part,
              std::array<int, 5> from = {}) {
    expectOf(makeTensorMap(tensor.arguments), body, kinds, part, from);
  }
  void expectOf(const TensorMap &map, const std::string &body, std::set<FaultKind> kinds,
                const std::string &part, std::array<int, 5> from = {}) {
    bool isFound = false;
    for (const RunReport &r : all(body, map, from)) {
      ASSERT_TRUE(r.fault) << part;
      EXPECT_TRUE(kinds.contains(r.fault->kind)) << r.fault->message;
      isFound |= r.fault->message.find(part) != std::string::npos;
    }
    EXPECT_TRUE(isFound) << part << ", but got " << all(body, map, from)[0].fault->message;
  }
  void expectSilent(const std::string &body) {
    for (const RunReport &r : all(body, makeTensorMap(tensor.arguments)))
      EXPECT_FALSE(r.fault) << r.fault->message;
  }
};

const std::string sync = "bar.sync 0;\n";

TEST(PtxBulk, WhatIsCopiedIsWaitedFor) {
  Small x;
  const Load &l = x.load;
  std::string start = l.init() + l.fence() + sync + l.expect() + l.copy();
  x.expectSilent(l.all());
  // Early it is under way; later it is a race, since nothing says that it has come.
  x.expect(
      start + sync + l.store() + l.wait(), {FaultKind::InFlight, FaultKind::Race},
      "that cp.async.bulk of thread 0 at line 30 still fills: requires a wait for its mbarrier before it");
  x.expect(start + sync + l.store() + l.wait(), {FaultKind::InFlight, FaultKind::Race},
           "that a copy at line 30 wrote, with no wait for its mbarrier between");
  // A warp that does not wait itself learns of it by a barrier.
  std::string one = "@!%p0 bra SKIP;\n" + l.wait() + "SKIP:\n";
  x.expectSilent(start + one + sync + l.store());
  x.expect(start + one + l.store(), {FaultKind::InFlight, FaultKind::Race, FaultKind::UninitialisedShared},
           "wait");
  // The block does not end before, unless the copy has come by chance.
  bool isSeen = false;
  for (const RunReport &r : x.all(start, makeTensorMap(x.tensor.arguments))) {
    isSeen |= r.fault.has_value();
    if (r.fault)
      EXPECT_TRUE(
          r.fault->message.ends_with("still fills shared memory when the block ends: requires a wait for "
                                     "its mbarrier before that"))
          << r.fault->message;
  }
  EXPECT_TRUE(isSeen);
}

TEST(PtxBulk, WithoutChecksItIsNaNUntilThen) {
  Small x;
  const Load &l = x.load;
  bool isNaN = false;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    RunReport r = run(l.init() + l.fence() + sync + l.expect() + l.copy() + sync + l.store() + l.wait(),
                      makeTensorMap(x.tensor.arguments), {},
                      {{x.out.data(), 1024, "out"}, x.tensor.range(false)}, seed, false);
    ASSERT_FALSE(r.fault);
    uint32_t word;
    std::memcpy(&word, x.out.data(), 4);
    isNaN |= word == ~0u;
  }
  EXPECT_TRUE(isNaN);
}

TEST(PtxBulk, Bytes) {
  Small x;
  for (unsigned bytes : {1008u, 1040u}) {
    Load wrong = x.load;
    wrong.bytes = bytes;
    std::string body = x.load.init() + x.load.fence() + sync + wrong.expect() + x.load.copy() + x.load.wait();
    x.expect(body, {FaultKind::Deadlock},
             bytes < 1024 ? ", 1 of 1 arrivals, -16 bytes missing" : ", 1 of 1 arrivals, 16 bytes missing");
  }
  // Two copies where one is expected.
  x.expect(x.load.init() + x.load.fence() + sync + x.load.expect() + x.load.copy() + x.load.copy() +
               x.load.wait(),
           {FaultKind::InFlight}, "still fills");
  std::string twice = x.load.copy();
  twice.replace(twice.find("[s]"), 3, "[s+1024]");
  x.expect(x.load.init() + x.load.fence() + sync + x.load.expect() + x.load.copy() + twice + x.load.wait() +
               "ld.shared.b32 %r2, [s];\nld.shared.b32 %r2, [s+1024];\n",
           {FaultKind::InFlight, FaultKind::Race, FaultKind::Deadlock}, "still fills");
}

TEST(PtxBulk, TheMbarrierIsFenced) {
  Small x;
  const Load &l = x.load;
  std::string rest = l.expect() + l.copy() + l.wait();
  x.expect(
      l.init() + sync + rest, {FaultKind::Unfenced},
      "signals the mbarrier at 0x0, that warp 0 initialised at line 26: requires its fence.mbarrier_init or "
      "fence.proxy.async between");
  x.expectSilent(l.init() + "fence.proxy.async;\n" + sync + rest);
  // Warp 1 copies: the fence comes before the barrier.
  std::string other = "setp.eq.u32 %p3, %t, 32;\n" + rest;
  for (size_t at = other.find("@%p0"); at != std::string::npos; at = other.find("@%p0"))
    other.replace(at, 4, "@%p3");
  x.expectSilent(l.init() + l.fence() + sync + other);
  x.expect(l.init() + sync + l.fence() + other, {FaultKind::Unfenced}, "requires its fence.mbarrier_init");
}

TEST(PtxBulk, OrdinaryAccessesBeforeAreFenced) {
  Small x;
  const Load &l = x.load;
  std::string start = l.init() + l.fence(), rest = l.expect() + l.copy() + l.wait();
  for (bool writes : {true, false}) {
    std::string touch =
        writes ? "st.shared.b32 [%r0], 0;\n"
               : "st.shared.b32 [%r0], 0;\nfence.proxy.async;\nbar.sync 0;\nld.shared.b32 %r2, [%r0];\n";
    x.expectSilent(start + touch + "fence.proxy.async.shared::cta;\n" + sync + rest);
    x.expect(start + touch + sync + rest, {FaultKind::Unfenced},
             std::string("copies to shared address 0x400, that warp 0 ") + (writes ? "wrote" : "read") +
                 " at line " + (writes ? "28" : "31") +
                 ": requires its fence.proxy.async between that and the barrier");
    x.expect(start + sync + touch + "fence.proxy.async;\n" + rest, {FaultKind::Race, FaultKind::InFlight},
             writes ? "copies to" : "with no barrier between");
  }
}

TEST(PtxBulk, StoresAreFencedAndAwaited) {
  Small x;
  const Store &s = x.store;
  x.expectSilent(s.all());
  x.expect(s.fill() + s.barrier() + s.copy() + s.commit() + s.wait(), {FaultKind::Unfenced},
           "copies from shared address 0x400, that warp 0 wrote at line 30: requires its fence.proxy.async "
           "between "
           "that and the barrier");
  x.expect(s.fill() + s.fence() + s.copy() + s.commit() + s.wait(),
           {FaultKind::Race, FaultKind::UninitialisedShared}, "with no barrier between");
  std::string start = s.fill() + s.fence() + s.barrier() + s.copy();
  std::string exits = "exits while cp.async.bulk of thread 0 at line 37 still reads shared memory: requires "
                      "cp.async.bulk.wait_group.read before it";
  x.expect(start, {FaultKind::InFlight}, exits);
  x.expect(start + s.wait(), {FaultKind::InFlight}, exits);
  x.expect(start + s.commit() + "@%p0 cp.async.bulk.wait_group.read 1;\n", {FaultKind::InFlight}, exits);
  x.expectSilent(start + s.commit() + "@%p0 cp.async.bulk.wait_group 0;\n");
  // Bytes that a copy reads are not written; a wait and a barrier free them.
  std::string again = "st.shared.b32 [s], 0;\n";
  x.expect(start + s.commit() + "@%p0 " + again + s.wait(), {FaultKind::Race},
           "that cp.async.bulk of warp 0 at line 37 still reads: requires cp.async.bulk.wait_group.read "
           "before it");
  x.expectSilent(start + s.commit() + s.wait() + "@%p0 " + again);
  x.expectSilent(start + s.commit() + s.wait() + sync + "setp.eq.u32 %p3, %t, 32;\n@%p3 " + again);
}

TEST(PtxBulk, WhatAStoreWritesComesLate) { // only a wait without .read tells the thread of it
  Small x;
  // Words that thread 0 reads where the box begins, whose address is in %c2 and %c3.
  auto seen = [&](const std::string &wait) {
    std::set<uint32_t> words;
    auto address = reinterpret_cast<uintptr_t>(x.tensor.memory.data());
    for (uint64_t seed = 0; seed < 24; ++seed) {
      std::memset(x.tensor.memory.data(), 0, 16 * x.tensor.memory.size());
      RunReport r =
          run(x.store.fill() + x.store.fence() + x.store.barrier() + x.store.copy() + x.store.commit() +
                  "@%p0 cp.async.bulk.wait_group" + wait +
                  " 0;\n@!%p0 bra OUT;\nmov.b64 %d1, {%c2, %c3};\nld.global.b32 %r2, [%d1];\nst.global.b32 "
                  "[%out], %r2;\nOUT:\n",
              makeTensorMap(x.tensor.arguments), {0, 0, int(address), int(address >> 32)},
              {{x.out.data(), 1024, "out"}, x.tensor.range(true)}, seed);
      EXPECT_FALSE(r.fault) << r.fault->message;
      uint32_t word;
      std::memcpy(&word, x.out.data(), 4);
      words.insert(word);
      std::memcpy(&word, x.tensor.memory.data(), 4);
      EXPECT_EQ(word, 1024u); // at the end it has come
    }
    return words;
  };
  EXPECT_EQ(seen(""), (std::set<uint32_t>{1024}));
  EXPECT_TRUE(seen(".read").contains(0));
}

TEST(PtxBulk, Misuse) {
  Small x;
  const Load &l = x.load;
  std::string start = l.init() + l.fence() + sync;
  auto copy = [&](const std::string &from, const std::string &to) {
    std::string text = l.copy();
    text.replace(text.find(from), from.size(), to);
    return start + text;
  };
  TensorMap none = makeTensorMap(x.tensor.arguments);
  none.magic[0] = 'X';
  x.expectOf(none, start + l.copy(), {FaultKind::Malformed},
             "expected a tensor map at 0x300000000000000, but there is none");
  none = makeTensorMap(x.tensor.arguments);
  none.steps[1] = 0;
  x.expectOf(none, start + l.copy(), {FaultKind::Malformed}, "but there is none");
  x.expect(copy("2d", "3d").replace(copy("2d", "3d").find("%c1}"), 4, "%c1, %c2}"), {FaultKind::Malformed},
           "expected a tensor map of rank 3, but got one of rank 2");
  x.expect(start + l.copy(), {FaultKind::Misaligned},
           "expected a box at a multiple of 16 bytes along dimension 0, but got element 4 of 2 bytes",
           {4, 0});
  x.expect(copy("[s]", "[s+64]"), {FaultKind::Misaligned},
           "expected a box at a multiple of 128 bytes of shared memory, but got 0x440");
  x.expect(copy("[s]", "[s+15488]"), {FaultKind::OutOfBounds},
           "copies a box of 1024 bytes at shared address 0x4080, outside of its 17408 bytes");
  x.expect(copy("[m]", "[s+8]"), {FaultKind::Malformed},
           "expected an mbarrier at 0x408, but none is initialised there");
  x.expect(copy("[m]", "[m+4]"), {FaultKind::Misaligned}, "which is no multiple of 8");
  x.expect(x.store.fill() + x.store.fence() + sync + x.store.copy(), {FaultKind::OutOfBounds},
           "expected a box at coordinates from 0, but got -16 of dimension 1", {0, -16});
  // The map says that more memory belongs to the tensor than does.
  Tensor wide = x.tensor;
  wide.arguments.address = reinterpret_cast<uintptr_t>(x.tensor.memory.data());
  wide.arguments.sizes[1] = 80;
  x.expectOf(makeTensorMap(wide.arguments), start + l.copy(), {FaultKind::OutOfBounds},
             "bytes after the start of 'tensor', which has ", {0, 56});
  auto message = [](const std::string &line) {
    return errorOf(header + ".shared .b64 m;\n.entry k() {\n.reg .b64 %d;\n.reg .b32 %r<4>;\n" + line +
                   "\n}\n");
  };
  std::string text = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes";
  EXPECT_EQ(message(text + " [m], [%d, {%r0, %r1}], [m];"), "");
  EXPECT_EQ(message(text + " [m], [%d, {%r0}], [m];"), "t.ptx:8:78: expected 2 coordinates, but got 1");
  EXPECT_EQ(message(text + ".multicast::cluster [m], [%d, {%r0, %r1}], [m], 1;"),
            "t.ptx:8:1: unsupported instruction '" + text + ".multicast::cluster'");
  EXPECT_EQ(
      message("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [m], [%d], 16, [m];"),
      "t.ptx:8:1: unsupported instruction 'cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes'");
  EXPECT_EQ(message("prefetch.tensormap [%d];\nprefetch.param.tensormap [%d];"), "");
  EXPECT_EQ(message(text + ".L2::cache_hint [m], [%d, {%r0, %r1}], [m], %d;"), "");
}

TEST(PtxTensorMap, Rules) {
  alignas(16) static std::byte memory[16];
  TensorMapArguments good{.type = TensorType::BFloat16,
                          .rank = 3,
                          .address = reinterpret_cast<uintptr_t>(memory),
                          .sizes = {64, 100, 4},
                          .strides = {128, 12800},
                          .box = {64, 128, 1},
                          .swizzle = 128};
  auto of = [&](auto change) -> std::string {
    TensorMapArguments a = good;
    change(a);
    try {
      makeTensorMap(a);
    } catch (const Error &e) {
      return e.what();
    }
    return "";
  };
  using A = TensorMapArguments &;
  EXPECT_EQ(of([](A) {}), "");
  EXPECT_EQ(of([](A a) { a.type = TensorType(13); }), "unsupported type 13 of a tensor map");
  EXPECT_EQ(of([](A a) { a.rank = 0; }), "expected a rank of 1 to 5, but got 0");
  EXPECT_EQ(of([](A a) { a.rank = 6; }), "expected a rank of 1 to 5, but got 6");
  EXPECT_EQ(of([](A a) { a.address = 0x1008; }),
            "expected a tensor at a multiple of 16 bytes, but got 0x1008");
  EXPECT_EQ(of([](A a) { a.sizes[1] = 0; }), "expected 1 to 4294967296 elements of dimension 1, but got 0");
  EXPECT_EQ(of([](A a) { a.sizes[2] = 4294967297; }),
            "expected 1 to 4294967296 elements of dimension 2, but got 4294967297");
  EXPECT_EQ(of([](A a) { a.sizes[2] = 4294967296; }), "");
  EXPECT_EQ(of([](A a) { a.strides[0] = 136; }),
            "expected a stride of dimension 1 in multiples of 16 bytes, but got 136");
  EXPECT_EQ(of([](A a) { a.strides[0] = 112; }),
            "expected a stride of dimension 1 of 0, or from 128 to below 2^40 bytes, but got 112");
  EXPECT_EQ(of([](A a) { a.strides[1] = 0; }), "");
  EXPECT_EQ(of([](A a) { a.strides[1] = uint64_t(1) << 40; }),
            "expected a stride of dimension 2 of 0, or from 16 to below 2^40 bytes, but got 1099511627776");
  EXPECT_EQ(of([](A a) { a.box[1] = 0; }), "expected a box of 1 to 256 elements of dimension 1, but got 0");
  EXPECT_EQ(of([](A a) { a.box[1] = 257; }),
            "expected a box of 1 to 256 elements of dimension 1, but got 257");
  EXPECT_EQ(of([](A a) { a.steps[1] = 0; }), "expected a step of 1 to 8 elements of dimension 1, but got 0");
  EXPECT_EQ(of([](A a) { a.steps[2] = 9; }), "expected a step of 1 to 8 elements of dimension 2, but got 9");
  EXPECT_EQ(of([](A a) { a.box[0] = 60, a.swizzle = 0; }),
            "expected a box in multiples of 16 bytes along dimension 0, but got 120");
  EXPECT_EQ(of([](A a) { a.swizzle = 48; }), "expected a swizzle of 0, 32, 64 or 128 bytes, but got 48");
  EXPECT_EQ(of([](A a) { a.swizzle = 64; }),
            "expected a box of at most 64 bytes along dimension 0, which is its swizzle, but got 128");
  EXPECT_EQ(of([](A a) { a.box[0] = 32; }),
            "unsupported box of 64 bytes along dimension 0 in a swizzle of 128");
  TensorMap map = makeTensorMap(good);
  EXPECT_EQ(map.boxBytes(), 64u * 128 * 2);
  EXPECT_EQ(map.sizes, (std::array<uint64_t, 5>{64, 100, 4, 1, 1}));
}

} // namespace
} // namespace taylor::runtime::ptx
