// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a Group is made of: for the few files that speak c10d.
#ifndef TAYLOR_TRAINER_DISTRIBUTED_CONNECTION_H
#define TAYLOR_TRAINER_DISTRIBUTED_CONNECTION_H
#include "trainer/distributed/Group.h"
#include "trainer/distributed/Watch.h"
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace taylor::trainer {

struct Group::Connection {
  c10::intrusive_ptr<c10d::Store> store;   // of the main thread
  c10::intrusive_ptr<c10d::Store> watched; // of the watch
  std::vector<std::string> hosts;          // of each process
  c10::intrusive_ptr<c10d::ProcessGroup> processes;
  std::optional<Watch> watch;
};

} // namespace taylor::trainer
#endif
