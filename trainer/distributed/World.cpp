// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/distributed/World.h"
#include "trainer/support/Error.h"
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

namespace taylor::trainer {

int64_t World::share(int64_t total, const char *what) const {
  if (total % size != 0)
    fail("requires ", what, " that ", size, " processes share equally, but got ", total,
         "; set it to a multiple of ", size, ", or start another number of processes");
  return total / size;
}

namespace {

std::optional<std::string> variable(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

/// A number in [least, most].
int64_t number(const char *name, const std::string &value, int64_t least, int64_t most) {
  int64_t result = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || result < least || result > most)
    fail("expected the environment variable ", name, " to be a number from ", least, " to ", most,
         ", but got '", value, "'");
  return result;
}

std::string required(const char *name, const char *because) {
  if (std::optional<std::string> value = variable(name))
    return *value;
  fail("requires the environment variable ", name, ", since ", because,
       "; start with torchrun, srun or --processes N, which set it");
}

constexpr int64_t kMostProcesses = 1 << 20;

void readMaster(World &world) {
  world.masterAddress = required("MASTER_ADDR", "WORLD_SIZE says that there are others");
  world.masterPort =
      number("MASTER_PORT", required("MASTER_PORT", "WORLD_SIZE says that there are others"), 1, 65535);
}

World fromTorchrun(const std::string &size) {
  World world;
  world.size = number("WORLD_SIZE", size, 1, kMostProcesses);
  world.rank = number("RANK", required("RANK", "WORLD_SIZE is set"), 0, world.size - 1);
  world.local = number("LOCAL_RANK", variable("LOCAL_RANK").value_or("0"), 0, world.size - 1);
  if (world.size > 1)
    readMaster(world);
  world.launched = variable(kLaunchedVariable).has_value();
  world.agentStore = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (std::optional<std::string> attempt = variable("TORCHELASTIC_RESTART_COUNT"))
    world.attempt = number("TORCHELASTIC_RESTART_COUNT", *attempt, 0, kMostProcesses);
  world.runId = variable("TORCHELASTIC_RUN_ID").value_or("");
  if (std::optional<std::string> socket = variable(kListeningVariable); socket && world.isFirst())
    world.listening = number(kListeningVariable, *socket, 0, kMostProcesses);
  return world;
}

World fromSlurm(const std::string &size) {
  World world;
  world.size = number("SLURM_NTASKS", size, 1, kMostProcesses);
  world.rank = number("SLURM_PROCID", required("SLURM_PROCID", "SLURM_NTASKS is set"), 0, world.size - 1);
  world.local = number("SLURM_LOCALID", required("SLURM_LOCALID", "SLURM_NTASKS is set"), 0, world.size - 1);
  if (variable("MASTER_ADDR") && variable("MASTER_PORT")) {
    readMaster(world);
    return world;
  }
  world.masterAddress = firstHost(required("SLURM_JOB_NODELIST", "SLURM_NTASKS is set"));
  // Jobs of one node share its ports.
  world.masterPort =
      20000 +
      number("SLURM_JOB_ID", required("SLURM_JOB_ID", "SLURM_NTASKS is set"), 0, int64_t(1) << 40) % 20000;
  return world;
}

} // namespace

World worldFromEnvironment() {
  if (std::optional<std::string> size = variable("WORLD_SIZE"))
    return fromTorchrun(*size);
  // The shell of an allocation has SLURM_NTASKS too, but no step that srun made.
  if (std::optional<std::string> size = variable("SLURM_NTASKS");
      size && *size != "1" && variable("SLURM_STEP_ID"))
    return fromSlurm(*size);
  return {};
}

void chooseGpu(const World &world) {
  std::optional<std::string> visible = variable("CUDA_VISIBLE_DEVICES");
  if (!visible) {
    ::setenv("CUDA_VISIBLE_DEVICES", std::to_string(world.local).c_str(), 1);
    return;
  }
  std::vector<std::string> gpus;
  std::istringstream list(*visible);
  for (std::string gpu; std::getline(list, gpu, ',');)
    gpus.push_back(gpu);
  if (gpus.size() == 1) // as srun --gpus-per-task=1 leaves it
    return;
  if (world.local >= int64_t(gpus.size()))
    fail("requires a GPU for each process of a machine, but CUDA_VISIBLE_DEVICES is '", *visible,
         "' and there is a process ", world.local,
         " here; start fewer with --processes, --nproc-per-node or --ntasks-per-node");
  ::setenv("CUDA_VISIBLE_DEVICES", gpus[world.local].c_str(), 1);
}

std::string firstHost(const std::string &list) {
  size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket)
    return list.substr(0, comma);
  size_t end = list.find_first_of("-,]", bracket);
  if (end == std::string::npos)
    fail("expected SLURM_JOB_NODELIST to be a list of hosts, but got '", list, "'");
  size_t close = list.find(']', bracket);
  size_t behind = std::min(list.find(',', close), list.size());
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) +
         list.substr(close + 1, behind - close - 1);
}

} // namespace taylor::trainer
