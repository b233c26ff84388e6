// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes as threads of this one: a store and its backend know no difference.
#include "Failure.h"
#include "trainer/distributed/Connection.h"
#include "trainer/distributed/Group.h"
#include "trainer/distributed/Launcher.h"
#include "trainer/distributed/World.h"
#include <ATen/ATen.h>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>
#include <unistd.h>

using namespace taylor::trainer;

namespace {

/// As the launcher hands it on.
World listeningWorld(int64_t size) {
  Listening listening = listenAnywhere();
  World world;
  world.size = size;
  world.listening = listening.socket;
  world.masterPort = listening.port;
  return world;
}

void together(int64_t size, const std::function<void(const Group &)> &work) {
  World world = listeningWorld(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([=, &work] {
      World mine = world;
      mine.rank = rank;
      Group group(mine, "cpu", std::chrono::seconds(60));
      work(group);
      group.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
}

class Environment : public testing::Test {
protected:
  void set(const std::map<const char *, const char *> &variables) {
    clear();
    for (auto [name, value] : variables)
      ::setenv(name, value, 1);
  }
  void clear() {
    for (const char *name : {"WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "SLURM_NTASKS",
                             "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_ID", "SLURM_JOB_ID",
                             "SLURM_JOB_NODELIST", "TORCHELASTIC_USE_AGENT_STORE",
                             "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID", "CUDA_VISIBLE_DEVICES"})
      ::unsetenv(name);
  }
  void TearDown() override { clear(); }
};

} // namespace

TEST(Group, alone) {
  Group group;
  EXPECT_EQ(group.size(), 1);
  EXPECT_EQ(group.broadcastBytes("x"), "x");
  EXPECT_EQ(group.sum({1, 2}), (std::vector<double>{1, 2}));
  group.leave();
}

TEST(Group, gathersAndSums) {
  for (int64_t size : {2, 3, 5})
    together(size, [&](const Group &group) {
      std::vector<std::vector<double>> all = group.gather({double(group.rank()), 0.1});
      ASSERT_EQ(int64_t(all.size()), size);
      for (int64_t r = 0; r < size; ++r)
        EXPECT_EQ(all[r], (std::vector<double>{double(r), 0.1}));
      EXPECT_EQ(group.sum({double(group.rank())})[0], size * (size - 1) / 2);
    });
}

// Of one number, of fewer than processes, of more than a piece of the store, of none, of several dtypes.
TEST(Group, broadcasts) {
  together(3, [](const Group &group) {
    for (int64_t from : {0, 2}) {
      std::vector<at::Tensor> tensors;
      for (int64_t count : {1, 2, 0, 1500000})
        tensors.push_back(group.rank() == from ? at::arange(count, at::kFloat) + from : at::zeros({count}));
      tensors.push_back(group.rank() == from ? at::full({3, 2}, 7, at::kLong) : at::zeros({3, 2}, at::kLong));
      group.broadcast(tensors, from);
      EXPECT_EQ(tensors[0].item<float>(), float(from));
      EXPECT_TRUE(at::equal(tensors[3], at::arange(1500000, at::kFloat) + from));
      EXPECT_TRUE(at::equal(tensors[4], at::full({3, 2}, 7, at::kLong)));
    }
    EXPECT_EQ(group.broadcastBytes(group.isFirst() ? std::string("a\0b", 3) : std::string()),
              std::string("a\0b", 3));
    EXPECT_EQ(group.broadcastBytes(group.isFirst() ? "" : "other"), "");
  });
}

// More than may lie in the store: a process that is ahead waits.
TEST(Group, broadcastsMuch) {
  together(2, [](const Group &group) {
    for (int i = 0; i < 12; ++i) {
      at::Tensor tensor = at::full({5 << 18}, group.isFirst() ? i : -1, at::kFloat); // 5 MB
      group.broadcast({tensor});
      ASSERT_TRUE(at::equal(tensor, at::full({5 << 18}, i, at::kFloat)));
    }
    group.barrier();
  });
}

TEST(Group, tellsWhoDiffers) {
  together(3, [](const Group &group) {
    group.requireSame("text", "", [] { return "same"; });
    std::string other = group.rank() == 2 ? "other" : "same";
    std::string message = failure([&] { group.requireSame("text", "copy it", [&] { return other; }); });
    EXPECT_TRUE(message.starts_with("requires the same text in every process, but that of process 2 ("))
        << message;
    EXPECT_TRUE(message.ends_with("; copy it")) << message;
    // Of several things the first that differs.
    message = failure([&] {
      group.requireAllSame(
          "", [&] { return Group::Things{{"first", "same"}, {"second", other}, {"third", other}}; });
    });
    EXPECT_TRUE(message.starts_with("requires the same second in every process, but that of process 2 ("))
        << message;
  });
}

// A process that fails while a collective waits for another ends at once, not when the collective gives up.
TEST(Group, endsWhateverWaits) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto fails = [] {
    World world = listeningWorld(2);
    bool isOther = ::fork() == 0;
    ::alarm(60);
    world.rank = isOther;
    Group group(world, "cpu", std::chrono::seconds(60));
    if (isOther) // which does not answer
      std::this_thread::sleep_for(std::chrono::seconds(100));
    std::vector<at::Tensor> tensors = {at::ones({8})};
    auto pending = group.connection()->processes->allreduce(tensors);
    group.abandon("out of luck", false);
    group.end(3);
  };
  EXPECT_EXIT(fails(), testing::ExitedWithCode(3), "");
}

TEST(Group, tellsWhoIsMissing) {
  World world = listeningWorld(3);
  std::thread other([=] {
    World mine = world;
    mine.rank = 1;
    failure([&] { Group(mine, "cpu", std::chrono::seconds(1)); });
  });
  std::string message = failure([&] { Group(world, "cpu", std::chrono::seconds(1)); });
  other.join();
  EXPECT_EQ(message, "requires 3 processes, but process 2 did not come to 127.0.0.1:" +
                         std::to_string(world.masterPort) +
                         " within 1 s; see what they say, or raise run.join_timeout");
}

TEST_F(Environment, alone) {
  set({});
  EXPECT_EQ(worldFromEnvironment().size, 1);
  set({{"SLURM_NTASKS", "8"}}); // the shell of an allocation
  EXPECT_EQ(worldFromEnvironment().size, 1);
}

TEST_F(Environment, torchrun) {
  set({{"WORLD_SIZE", "8"},
       {"RANK", "5"},
       {"LOCAL_RANK", "1"},
       {"MASTER_ADDR", "a"},
       {"MASTER_PORT", "29500"},
       {"TORCHELASTIC_USE_AGENT_STORE", "True"},
       {"TORCHELASTIC_RESTART_COUNT", "2"},
       {"TORCHELASTIC_RUN_ID", "mine"}});
  World world = worldFromEnvironment();
  EXPECT_EQ(std::tuple(world.rank, world.size, world.local, world.masterAddress, world.masterPort),
            std::tuple(5, 8, 1, "a", 29500));
  EXPECT_TRUE(world.agentStore);
  EXPECT_EQ(world.attempt, 2);
  EXPECT_EQ(world.runId, "mine");
  set({{"WORLD_SIZE", "8"}});
  EXPECT_EQ(failure([] { worldFromEnvironment(); }),
            "requires the environment variable RANK, since WORLD_SIZE is set; start with torchrun, srun or "
            "--processes N, which set it");
  set({{"WORLD_SIZE", "8"}, {"RANK", "8"}});
  EXPECT_EQ(failure([] { worldFromEnvironment(); }),
            "expected the environment variable RANK to be a number from 0 to 7, but got '8'");
}

TEST_F(Environment, slurm) {
  set({{"SLURM_NTASKS", "4"},
       {"SLURM_PROCID", "3"},
       {"SLURM_LOCALID", "1"},
       {"SLURM_STEP_ID", "0"},
       {"SLURM_JOB_ID", "123456"},
       {"SLURM_JOB_NODELIST", "gpu[07-08]"}});
  World world = worldFromEnvironment();
  EXPECT_EQ(std::tuple(world.rank, world.size, world.local, world.masterAddress, world.masterPort),
            std::tuple(3, 4, 1, "gpu07", 20000 + 123456 % 20000));
  ::setenv("MASTER_ADDR", "b", 1);
  ::setenv("MASTER_PORT", "1234", 1);
  world = worldFromEnvironment();
  EXPECT_EQ(std::tuple(world.masterAddress, world.masterPort), std::tuple("b", 1234));
}

TEST_F(Environment, oneGpuEach) {
  World world;
  world.size = 4;
  world.local = 2;
  set({});
  chooseGpu(world);
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "2");
  set({{"CUDA_VISIBLE_DEVICES", "4,5,6"}});
  chooseGpu(world);
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "6");
  chooseGpu(world); // one is left
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "6");
  set({{"CUDA_VISIBLE_DEVICES", "4,5"}});
  EXPECT_EQ(failure([&] { chooseGpu(world); }),
            "requires a GPU for each process of a machine, but CUDA_VISIBLE_DEVICES is '4,5' and there is a "
            "process 2 here; start "
            "fewer with --processes, --nproc-per-node or --ntasks-per-node");
}

TEST(World, firstHost) {
  EXPECT_EQ(firstHost("login"), "login");
  EXPECT_EQ(firstHost("a,b[1-2]"), "a");
  EXPECT_EQ(firstHost("node[07-09,12],login"), "node07");
  EXPECT_EQ(firstHost("rack[3]-node"), "rack3-node");
  EXPECT_EQ(failure([] { firstHost("node["); }),
            "expected SLURM_JOB_NODELIST to be a list of hosts, but got 'node['");
}

TEST(World, share) {
  World world;
  world.size = 4;
  EXPECT_EQ(world.share(12, "train.batch"), 3);
  EXPECT_EQ(failure([&] { world.share(6, "train.batch"); }),
            "requires train.batch that 4 processes share equally, but got 6; set it to a multiple of 4, or "
            "start another number of processes");
}
