// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small parts: hashes, processor features, overlap, blocks, threads, memory, child processes.
#include "runtime/ArtifactFile.h"
#include "runtime/Blocks.h"
#include "runtime/Call.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/Fork.h"
#include "runtime/Hash.h"
#include "runtime/Memory.h"
#include "runtime/Overlap.h"
#include "runtime/Process.h"
#include "runtime/ThreadPool.h"
#include "test/runtime/Fixture.h"
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <random>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace taylor::runtime {
namespace {

TEST(Hash, Sha256) { // FIPS 180-4's examples, and the lengths around a block's end
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::set<std::string> all;
  for (size_t size = 54; size < 66; ++size)
    all.insert(sha256(std::string(size, 'x')));
  EXPECT_EQ(all.size(), 12u);
}

TEST(Hash, WordChecksum) {
  EXPECT_EQ(wordChecksum("", 0), 0xcbf29ce484222325ULL);
  EXPECT_EQ(wordChecksum("\1\0\0\0\0\0\0\0", 8), (0xcbf29ce484222325ULL ^ 1) * 0x100000001b3ULL);
  EXPECT_EQ(wordChecksum("\1", 1), wordChecksum("\1\0\0\0\0\0\0\0", 8)); // padded with 0
}

TEST(Cpu, Features) {
  const std::string flags = "fpu pni sse4_1 avx2 avx512_bf16 abm sha_ni";
  EXPECT_EQ(missingFeature({"sse4.1", "avx2", "avx512bf16", "sse3", "lzcnt", "sha"}, flags), "");
  EXPECT_EQ(missingFeature({"+avx2", "-avx512f"}, flags),
            ""); // what LLVM says it must not use is no requirement
  EXPECT_EQ(missingFeature({"avx2", "+avx512f", "avx512bw"}, flags), "avx512f");
  EXPECT_EQ(missingFeature({"avx"}, flags), "avx"); // a prefix of another is not the other
  EXPECT_GE(cpuCount(), 1);
  EXPECT_FALSE(cpuFlags().empty());
}

/// Has the system answer EPERM to arch_prctl in this process.
void denyArchPrctl() {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog filter = {std::size(program), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    _exit(77);
}

TEST(Cpu, DeniedTiles) {
  EXPECT_EQ(deniedFeature({"avx2", "avx512f"}), "");
  // The answer is kept for the process, so another one asks.
  EXPECT_EXIT(
      {
        denyArchPrctl();
        std::string reason = deniedFeature({"avx512f", "amx-tile"});
        fputs(reason.c_str(), stderr);
        _exit(deniedFeature({"avx512f"}).empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0),
      "^the system denies this process the registers of amx-tile \\(arch_prctl: Operation not permitted\\)$");
}

/// Bytes of a view, enumerated.
std::multiset<uintptr_t> bytesOf(const View &view) {
  std::multiset<uintptr_t> bytes;
  std::vector<int64_t> index(size_t(view.rank), 0);
  for (;;) {
    uintptr_t address = view.data;
    for (int64_t i = 0; i < view.rank; ++i)
      address += uintptr_t(index[size_t(i)] * view.strides[i] * view.element);
    for (int64_t x = 0; x < view.element; ++x)
      bytes.insert(address + uintptr_t(x));
    int64_t i = view.rank;
    while (i-- > 0 && ++index[size_t(i)] == view.sizes[i])
      index[size_t(i)] = 0;
    if (i < 0)
      return bytes;
  }
}

TEST(Overlap, AgreesWithEnumeration) {
  std::mt19937 generator(1);
  auto random = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  int together = 0, apart = 0, itself = 0;
  for (int repeat = 0; repeat < 20000; ++repeat) {
    int64_t sizes[2][3], strides[2][3];
    View views[2];
    for (int i = 0; i < 2; ++i) {
      View &view = views[i];
      view = {uintptr_t(random(1000, 1060)), random(0, 1) ? 4 : 2, random(0, 3), sizes[i], strides[i], 0};
      view.extent = view.element;
      for (int64_t j = 0; j < view.rank; ++j) {
        sizes[i][j] = random(1, 4);
        strides[i][j] = random(0, 9);
        view.extent += (sizes[i][j] - 1) * strides[i][j] * view.element;
      }
    }
    auto a = bytesOf(views[0]), b = bytesOf(views[1]);
    bool shared = false;
    for (uintptr_t byte : a)
      shared |= b.count(byte) > 0;
    ASSERT_EQ(overlap(views[0], views[1]), shared);
    bool repeated = std::set<uintptr_t>(a.begin(), a.end()).size() != a.size();
    ASSERT_TRUE(overlapsItself(views[0]) ||
                !repeated); // may refuse odd strides, never accepts a repeated byte
    (shared ? together : apart)++;
    itself += repeated;
  }
  EXPECT_GT(together, 1000);
  EXPECT_GT(apart, 1000);
  EXPECT_GT(itself, 1000);
}

TEST(ThreadPool, RunsEachTaskOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::atomic<int> counts[9] = {};
        ThreadPool::shared().run(
            9, [](void *context, int64_t i) { ++static_cast<std::atomic<int> *>(context)[i]; }, counts);
        for (auto &count : counts)
          wrong += count != 1;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Blocks, EachIsTakenOnce) {
  for (int64_t count : {0, 1, 7, 8, 1000})
    for (int64_t threads : {1, 2, 3, 8}) {
      Blocks blocks(count, threads);
      std::vector<std::atomic<int>> taken(static_cast<size_t>(count));
      std::vector<std::thread> takers;
      for (int64_t i = 0; i < threads; ++i)
        takers.emplace_back([&, i] {
          for (int64_t begin, end; blocks.take(i, begin, end);)
            for (int64_t block = begin; block < end; ++block)
              ++taken[size_t(block)];
        });
      for (std::thread &taker : takers)
        taker.join();
      for (auto &times : taken)
        EXPECT_EQ(times, 1);
      EXPECT_EQ(blocks.left(), 0);
    }
}

TEST(Blocks, AThreadBeginsWithItsShare) {
  // 10 blocks, 3 threads: [0, 4), [4, 7), [7, 10). Thread 1 takes its own, then those after, then those
  // before.
  Blocks blocks(10, 3);
  std::vector<int64_t> order;
  for (int64_t begin, end; blocks.take(1, begin, end);)
    for (int64_t block = begin; block < end; ++block)
      order.push_back(block);
  EXPECT_EQ(order, (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 0, 1, 2, 3}));
  // Long ranges first.
  Blocks many(64, 2);
  int64_t begin = 0, end = 0;
  EXPECT_TRUE(many.take(1, begin, end));
  EXPECT_EQ(begin, 32);
  EXPECT_EQ(end, 36);
  EXPECT_EQ(many.left(), 60);
}

TEST(ThreadPool, AForkedChildHasThreadsOfItsOwn) {
  // Two tasks that wait for each other end only if two threads run them.
  auto meet = [] {
    std::atomic<int> arrived{0};
    ThreadPool::shared().run(
        2,
        [](void *context, int64_t) {
          auto &count = *static_cast<std::atomic<int> *>(context);
          for (++count; count < 2;)
            std::this_thread::yield();
        },
        &arrived);
  };
  meet(); // starts the parent's threads
  pid_t child = fork();
  if (child == 0) {
    alarm(30); // ends a child that waits for ever
    meet();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// Runs `child` in `count` forked children, one after the other, while two threads run `busy` again and
/// again.
void forkWhileBusy(int count, void (*busy)(), void (*child)()) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!stop)
        busy();
    });
  int failed = 0;
  for (int i = 0; i < count && failed == 0; ++i) {
    pid_t process = fork();
    if (process == 0) {
      alarm(20); // ends a child that waits for ever
      child();
      _exit(0);
    }
    int status = -1;
    waitpid(process, &status, 0);
    failed += status != 0;
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
}

TEST(Fork, AChildFindsNoLockOfAnotherThread) {
  static BriefMutex mutex;
  std::atomic<bool> isLocked{false};
  std::thread holder([&] {
    std::lock_guard lock(mutex);
    isLocked = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
  while (!isLocked)
    std::this_thread::yield();
  unsigned before = forkGeneration();
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::lock_guard lock(mutex);
    _exit(forkGeneration() == before);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  holder.join();
  std::lock_guard lock(mutex); // and the parent's is free
  EXPECT_EQ(forkGeneration(), before);
}

TEST(Fork, AChildHasNoDescriptorOfItsParentsLocks) {
  int descriptor = -1;
  UnsharedDescriptors::open([&] { descriptor = dup(0); }, {&descriptor});
  ASSERT_GE(descriptor, 0);
  pid_t child = fork();
  if (child == 0)
    _exit(fcntl(descriptor, F_GETFD) != -1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  int open = descriptor;
  EXPECT_NE(fcntl(open, F_GETFD), -1);
  UnsharedDescriptors::close(descriptor);
  EXPECT_EQ(descriptor, -1);
  EXPECT_EQ(fcntl(open, F_GETFD), -1);
}

TEST(Fork, WhileThreadsUseThePool) {
  auto run = [] { ThreadPool::shared().run(3, [](void *, int64_t) {}, nullptr); };
  forkWhileBusy(100, run, run);
}

TEST(Memory, WorkspacesAreApartAndReused) {
  void *first = nullptr;
  {
    Workspace a(1 << 20), b(1 << 20);
    EXPECT_NE(a.data(), b.data());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0u);
    first = b.data();
  }
  Workspace smaller(1000);
  Workspace again(1 << 20);
  EXPECT_TRUE(smaller.data() == first || again.data() == first);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // they end the process instead
  EXPECT_THROW(Workspace(size_t(1) << 62), Error);
#endif
}

TEST(Memory, LargeResultsAreKept) {
  constexpr size_t header = 64, large = 2 * kLeastKeptResult;
  dropKeptResults();
  size_t before = keptMemory();
  auto kept = [&] { return keptMemory() - before; };
  void *a = allocateResult(large), *b = allocateResult(large);
  EXPECT_NE(a, b);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
  freeResult(b);
  freeResult(a);
  EXPECT_EQ(kept(), 2 * (large + header));
  // The newest of about the size; none that is twice as large.
  void *again = allocateResult(large - large / 16), *half = allocateResult(large / 2);
  EXPECT_EQ(again, a);
  EXPECT_EQ(kept(), large + header);
  freeResult(again);
  freeResult(half);
  EXPECT_EQ(kept(), 2 * (large + header) + large / 2 + header);
  freeResult(allocateResult(kLeastKeptResult - 1)); // too small
  freeResult(nullptr);
  EXPECT_EQ(kept(), 2 * (large + header) + large / 2 + header);
  dropKeptResults();
  EXPECT_EQ(kept(), 0u);
}

TEST(Memory, KeepsAFewResults) {
  constexpr size_t least = kLeastKeptResult, most = (size_t(1) << 30) - 64;
  dropKeptResults();
  size_t before = keptMemory();
  auto kept = [&] { return keptMemory() - before; };
  // Eight blocks, the oldest of nine given up.
  std::vector<void *> blocks;
  for (size_t i = 0; i < 9; ++i)
    blocks.push_back(allocateResult(least + i));
  for (void *block : blocks)
    freeResult(block);
  EXPECT_EQ(kept(), 8 * (least + 64) + 36);
  // 1 GiB: room is made for the newest, and what is larger by itself takes none away.
  freeResult(allocateResult(most + 1));
  EXPECT_EQ(kept(), 8 * (least + 64) + 36);
  freeResult(allocateResult(most));
  EXPECT_EQ(kept(), most + 64);
  freeResult(allocateResult(least));
  EXPECT_EQ(kept(), least + 64);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // they end the process instead
  // Memory that is short: what is kept goes first.
  EXPECT_THROW(allocateResult(size_t(1) << 62), std::bad_alloc);
  EXPECT_EQ(kept(), 0u);
  EXPECT_THROW(allocateResult(SIZE_MAX - 32), std::bad_alloc);
#endif
  dropKeptResults();
}

TEST(Memory, ForkWhileThreadsTakeIt) {
  auto use = [] {
    Workspace workspace(1000), other(2000);
    freeResult(allocateResult(kLeastKeptResult));
    keptMemory();
  };
  forkWhileBusy(100, use, use);
  dropKeptResults();
}

#if defined(__GLIBC__) && !__has_feature(address_sanitizer) &&                                               \
    !__has_feature(thread_sanitizer) // their own malloc
/// Pages that the process touches for the first time when it fills `bytes` bytes of malloc's.
static long pagesOf(size_t bytes) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  void *memory = std::malloc(bytes);
  std::memset(memory, 1, bytes);
  asm volatile("" : : "r"(memory) : "memory");
  std::free(memory);
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

// In a process of its own, started anew: it lasts, and a thread whose malloc failed once has another arena.
TEST(Memory, FreedMemoryIsKept) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  size_t bytes = 64 << 20;
  EXPECT_EXIT(
      {
        pagesOf(bytes);
        long mapped = pagesOf(bytes);
        keepFreedMemory();
        pagesOf(bytes);
        long kept = pagesOf(bytes);
        fprintf(stderr, "%ld pages, then %ld\n", mapped, kept);
        exit(mapped >= 16 && kept < mapped / 4 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

/// The message of a call of `function`, which takes no tensors.
std::string failureOf(const TaylorFunction &function) {
  BoundCall call{};
  try {
    runOnHost(function, call, Executor{});
  } catch (const Error &error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Execute, MemoryThatNobodyHas) {
  TaylorFunction function{"native",
                          "forward",
                          1,
                          64,
                          [](const int64_t *) -> int64_t { return 64; },
                          [](const int64_t *, int64_t) -> int64_t { return 1; },
                          [](const TaylorCall *, int64_t, int64_t, int64_t, void *) {}};
  EXPECT_EQ(failureOf(function), "(no error)");
  function.workspace = [](const int64_t *) -> int64_t { return -1; };
  EXPECT_EQ(failureOf(function), "unsupported sizes: the kernel's workspace would pass 2^63 bytes");
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // they end the process instead
  function.workspace = [](const int64_t *) -> int64_t { return int64_t(1) << 62; };
  EXPECT_EQ(failureOf(function), "could not allocate a workspace of 4611686018427387904 bytes");
  function.workspace = [](const int64_t *) -> int64_t { return 0; };
  function.scratch = int64_t(1) << 62;
  EXPECT_EQ(failureOf(function), "could not allocate 4611686018427387904 bytes of scratch for each thread");
#endif
}

TEST(Process, OutputErrorsAndStatus) {
  bool slow = false;
  auto result = runProcess({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 60, [&] { slow = true; });
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_FALSE(slow);
  result = runProcess({"/bin/sh", "-c", "sleep 0.3; kill -9 $$"}, 0.05, [&] { slow = true; });
  EXPECT_EQ(result.signal, 9);
  EXPECT_TRUE(slow);
  EXPECT_THROW(runProcess({"/nowhere/program"}, 1, [] {}), Error);
  result =
      runProcess({"/bin/sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"}, 60, [] {});
  EXPECT_EQ(result.output.size(), 1000000u);
  EXPECT_EQ(result.errors.size(), 1000000u);
}

} // namespace
} // namespace taylor::runtime
