// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_DISTRIBUTED_GROUP_H
#define TAYLOR_TRAINER_DISTRIBUTED_GROUP_H
#include "trainer/distributed/World.h"
#include <ATen/core/Tensor.h>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace taylor::trainer {

/// The processes that train one model together. Every function is to be called by all of them, in the same
/// order; of a process that is alone they do nothing. They throw Error where another process has failed,
/// unless Watch ends this one first.
class Group {
public:
  /// This process alone.
  Group();
  /// Meets the others at process 0's address. `device`: where tensors are whose gradients are added; "cuda"
  /// wants NCCL. Throws Error that names who did not come within `patience`.
  Group(const World &world, const std::string &device, std::chrono::seconds patience);
  ~Group();

  int64_t rank() const { return world.rank; }
  int64_t size() const { return world.size; }
  bool isFirst() const { return world.isFirst(); }

  /// What process `from` has, to all: into tensors that they have already, of the same shapes and dtypes.
  void broadcast(const std::vector<at::Tensor> &tensors, int64_t from = 0) const;
  std::string broadcastBytes(std::string bytes, int64_t from = 0) const;
  /// [processes][values]: what each has; the same number of values in each.
  std::vector<std::vector<double>> gather(const std::vector<double> &values) const;
  /// The sum of what each has, added in the order of ranks.
  std::vector<double> sum(const std::vector<double> &values) const;
  /// Waits until all are here.
  void barrier() const { gather({0}); }
  /// Throws Error unless `content` gives the same in every process; `what` names it, `wayOut` says what to
  /// do. Of a process that is alone it is not called.
  void requireSame(const char *what, const char *wayOut, const std::function<std::string()> &content) const;
  /// The same of several things, of which the message names the first that differs; equally many in every
  /// process. Pairs of what and content.
  using Things = std::vector<std::pair<std::string, std::string>>;
  void requireAllSame(const char *wayOut, const std::function<Things()> &things) const;

  /// Behind the last call of any other function, where this process ends well: waits for the others.
  void leave();
  /// Where it does not: tells the others why. Does not return where another process has the message: where
  /// what failed is a connection, or all fail for one reason, which the first says.
  void abandon(const std::string &reason, bool lostConnection);
  /// Ends this process after abandon(), once the others have had time to read why. What would end it
  /// otherwise, destructors, waits for collectives that no one answers any more.
  [[noreturn]] void end(int status) const;

  struct Connection;
  /// Null of a process that is alone.
  Connection *connection() const { return shared.get(); }

private:
  World world;
  bool lingers = false; // in end(): others read in this process's store why it failed
  std::unique_ptr<Connection> shared;
};

} // namespace taylor::trainer
#endif
