// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of how many processes this one is.
#ifndef TAYLOR_TRAINER_DISTRIBUTED_WORLD_H
#define TAYLOR_TRAINER_DISTRIBUTED_WORLD_H
#include <cstdint>
#include <string>

namespace taylor::trainer {

/// Set by the launcher: in all its processes, and in process 0 with the socket of World::listening.
inline constexpr const char *kLaunchedVariable = "TAYLOR_LAUNCHED";
inline constexpr const char *kListeningVariable = "TAYLOR_LISTENING_SOCKET";

struct World {
  int64_t rank = 0, size = 1;
  int64_t local = 0;                       // among the processes of this machine: the number of its GPU
  std::string masterAddress = "127.0.0.1"; // of rank 0, which the others meet at
  int64_t masterPort = 0;
  bool agentStore = false; // torchrun serves the store there, and not process 0
  int64_t attempt = 0;     // how often torchrun has started these processes again
  std::string runId;       // torchrun's --rdzv-id, of all attempts; others may have the same
  bool launched = false;   // by Launcher.h: all write to one terminal
  int listening = -1;      // a socket of process 0 that is bound to the port already
  bool isFirst() const { return rank == 0; }
  bool hostsStore() const { return isFirst() && !agentStore; }
  /// The share [begin, begin + count) of `total` equal things that this process has. Throws Error, naming
  /// `what`, where they cannot be shared equally.
  int64_t share(int64_t total, const char *what) const;
};

/// What torchrun says (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), or SLURM of a task of several
/// (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID; the first node of SLURM_JOB_NODELIST, and a port that follows
/// from SLURM_JOB_ID, unless MASTER_ADDR and MASTER_PORT say otherwise); else this process is alone. Throws
/// Error where a variable lacks or is no number in its range.
World worldFromEnvironment();

/// Leaves this process one GPU of those that it may see (CUDA_VISIBLE_DEVICES), that of its number on this
/// machine, unless it sees one alone. To be called before anything asks for a GPU. Throws Error where there
/// are not enough.
void chooseGpu(const World &world);

/// The first host of a list as SLURM writes them: "node[07-09,12],login" is "node07".
std::string firstHost(const std::string &list);

} // namespace taylor::trainer
#endif
