// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of tensors on processors through a key-value store, where NCCL does not reach.
#ifndef TAYLOR_TRAINER_DISTRIBUTED_STOREBACKEND_H
#define TAYLOR_TRAINER_DISTRIBUTED_STOREBACKEND_H
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace taylor::trainer {

/// broadcast, allreduce (sum) and allgather of dense, contiguous tensors on the processor. Calls return at
/// once; a thread does them in order, so that they overlap with what the caller computes. Every process of
/// the store must make the same calls in the same order. A sum is added by one process, in the order of
/// ranks, and handed to the others: its bits are the same everywhere and from run to run. A process sends and
/// receives twice what it sums, for any number of processes.
class StoreBackend : public c10d::Backend {
public:
  /// `store` is this backend's alone: keys, and the connection, on which it waits.
  StoreBackend(c10::intrusive_ptr<c10d::Store> store, int rank, int size);
  ~StoreBackend() override;

  const std::string getBackendName() const override { return "store"; }
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor> &tensors,
                                           const c10d::BroadcastOptions &options) override;
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor> &tensors,
                                           const c10d::AllreduceOptions &options) override;
  /// `result` has the shape [processes, ..] of `mine`'s [..].
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor &result, at::Tensor &mine,
                                                 const c10d::AllgatherOptions &options) override;

private:
  struct Message {
    std::string key;
    std::span<std::byte> bytes; // where they go
  };
  using Operation = std::function<void()>;
  class Pending;

  c10::intrusive_ptr<c10d::Work> enqueue(c10d::OpType type, std::vector<at::Tensor> tensors,
                                         Operation operation);
  void work();
  /// Under a key that lasts until the operation after the next one in which all wait for all.
  void put(const std::string &key, std::span<const std::byte> bytes);
  void take(const std::vector<Message> &messages);
  /// Behind an operation in which every process has waited for every other: all have read what was sent in
  /// front of it.
  void forget();
  std::string key(int64_t from) const;
  void sum(const at::Tensor &flat);
  void share(const at::Tensor &tensor, int64_t root);
  void collect(const at::Tensor &result, const at::Tensor &mine);

  c10::intrusive_ptr<c10d::Store> store;
  int64_t number = 0;                               // of the operation
  std::deque<std::pair<int64_t, std::string>> sent; // operation, key
  int64_t shared = 0;                               // bytes broadcast since all waited for all

  std::deque<Operation> queue;
  bool stopped = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
};

} // namespace taylor::trainer
#endif
