// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/distributed/StoreBackend.h"
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace taylor::trainer {

namespace {

/// TCPStore's server refuses values of more than 8 MiB.
constexpr size_t kPieceSize = size_t(4) << 20;
/// What may lie in the store of broadcasts, which their root does not wait for.
constexpr int64_t kMostShared = int64_t(64) << 20;

std::span<std::byte> bytesOf(const at::Tensor &tensor) {
  return {static_cast<std::byte *>(tensor.mutable_data_ptr()), tensor.nbytes()};
}

std::string pieceOf(const std::string &key, size_t piece) { return key + "/" + std::to_string(piece); }

/// A tensor that this backend takes, checked in the caller's thread.
const at::Tensor &checked(const at::Tensor &tensor) {
  TORCH_CHECK(tensor.device().is_cpu() && tensor.is_contiguous(),
              "requires a contiguous tensor on the processor");
  return tensor;
}

} // namespace

/// An operation that somebody waits for.
class StoreBackend::Pending : public c10d::Work {
public:
  Pending(int rank, c10d::OpType type)
      : Work(rank, type),
        future(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {}
  void done(const std::vector<at::Tensor> &tensors) {
    finish();
    future->markCompleted(c10::IValue(tensors));
  }
  void failed(std::exception_ptr exception) {
    finish(exception);
    future->setError(exception);
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future; }

private:
  c10::intrusive_ptr<c10::ivalue::Future> future;
};

StoreBackend::StoreBackend(c10::intrusive_ptr<c10d::Store> theStore, int rank, int size)
    : Backend(rank, size), store(std::move(theStore)), thread([this] { work(); }) {}

StoreBackend::~StoreBackend() {
  {
    std::lock_guard lock(mutex);
    stopped = true;
  }
  changed.notify_all();
  thread.join();
}

void StoreBackend::work() {
  c10::NoGradGuard noGrad;
  while (true) {
    Operation operation;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopped || !queue.empty(); });
      if (queue.empty())
        return;
      operation = std::move(queue.front());
      queue.pop_front();
    }
    operation();
  }
}

c10::intrusive_ptr<c10d::Work> StoreBackend::enqueue(c10d::OpType type, std::vector<at::Tensor> tensors,
                                                     Operation operation) {
  auto pending = c10::make_intrusive<Pending>(getRank(), type);
  {
    std::lock_guard lock(mutex);
    queue.push_back([this, pending, tensors = std::move(tensors), operation = std::move(operation)] {
      try {
        operation();
        ++number;
      } catch (...) {
        pending->failed(std::current_exception());
        return;
      }
      pending->done(tensors);
    });
  }
  changed.notify_all();
  return pending;
}

std::string StoreBackend::key(int64_t from) const {
  return std::to_string(number) + "/" + std::to_string(from);
}

void StoreBackend::put(const std::string &key, std::span<const std::byte> bytes) {
  for (size_t begin = 0, piece = 0; begin < bytes.size(); begin += kPieceSize, ++piece) {
    std::span<const std::byte> part = bytes.subspan(begin, std::min(kPieceSize, bytes.size() - begin));
    auto first = reinterpret_cast<const uint8_t *>(part.data());
    store->set(pieceOf(key, piece), std::vector<uint8_t>(first, first + part.size()));
    sent.emplace_back(number, pieceOf(key, piece));
  }
}

void StoreBackend::take(const std::vector<Message> &messages) {
  std::vector<std::string> keys;
  std::vector<std::span<std::byte>> places;
  size_t size = 0;
  auto fetch = [&] {
    if (keys.empty())
      return;
    std::vector<std::vector<uint8_t>> values = store->multiGet(keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      TORCH_CHECK(values[i].size() == places[i].size(), "expected ", places[i].size(),
                  " bytes from another process, but got ", values[i].size());
      std::memcpy(places[i].data(), values[i].data(), values[i].size());
    }
    keys.clear();
    places.clear();
    size = 0;
  };
  for (const Message &message : messages)
    for (size_t begin = 0, piece = 0; begin < message.bytes.size(); begin += kPieceSize, ++piece) {
      keys.push_back(pieceOf(message.key, piece));
      places.push_back(message.bytes.subspan(begin, std::min(kPieceSize, message.bytes.size() - begin)));
      size += places.back().size();
      if (size >= kPieceSize)
        fetch();
    }
  fetch();
}

void StoreBackend::forget() {
  for (; !sent.empty() && sent.front().first < number; sent.pop_front())
    store->deleteKey(sent.front().second);
  shared = 0;
}

// Process r adds the r-th part of what all have.
void StoreBackend::sum(const at::Tensor &flat) {
  int64_t size = getSize(), rank = getRank(), count = flat.numel();
  auto part = [&](int64_t r) {
    int64_t begin = count * r / size, end = count * (r + 1) / size;
    return flat.narrow(0, begin, end - begin);
  };
  auto others = [&](auto visit) {
    for (int64_t r = 0; r < size; ++r)
      if (r != rank)
        visit(r);
  };
  others([&](int64_t r) { put(key(rank) + ">" + std::to_string(r), bytesOf(part(r))); });
  at::Tensor mine = part(rank), theirs = at::empty({size, mine.numel()}, mine.options());
  std::vector<Message> messages;
  others([&](int64_t r) { messages.push_back({key(r) + ">" + std::to_string(rank), bytesOf(theirs[r])}); });
  take(messages);
  theirs[rank].copy_(mine);
  mine.copy_(theirs[0]);
  for (int64_t r = 1; r < size; ++r)
    mine.add_(theirs[r]);
  put(key(rank), bytesOf(mine));
  messages.clear();
  others([&](int64_t r) { messages.push_back({key(r), bytesOf(part(r))}); });
  take(messages);
  // Where there is less to add than there are processes, some wait for no one.
  if (count >= size)
    forget();
}

void StoreBackend::share(const at::Tensor &tensor, int64_t root) {
  if (getRank() == root)
    put(key(root), bytesOf(tensor));
  else
    take({{key(root), bytesOf(tensor)}});
  shared += tensor.nbytes();
  if (shared > kMostShared) {
    ++number;
    at::Tensor mine = at::zeros({1}, at::kByte);
    collect(at::empty({getSize(), 1}, at::kByte), mine);
  }
}

void StoreBackend::collect(const at::Tensor &result, const at::Tensor &mine) {
  at::Tensor rows = result.view({getSize(), -1});
  rows[getRank()].copy_(mine.view(-1));
  put(key(getRank()), bytesOf(mine));
  std::vector<Message> messages;
  for (int64_t r = 0; r < getSize(); ++r)
    if (r != getRank())
      messages.push_back({key(r), bytesOf(rows[r])});
  take(messages);
  if (mine.numel() > 0)
    forget();
}

c10::intrusive_ptr<c10d::Work> StoreBackend::broadcast(std::vector<at::Tensor> &tensors,
                                                       const c10d::BroadcastOptions &options) {
  at::Tensor tensor = checked(tensors.at(options.rootTensor));
  return enqueue(c10d::OpType::BROADCAST, tensors,
                 [=, this, root = options.rootRank] { share(tensor, root); });
}

c10::intrusive_ptr<c10d::Work> StoreBackend::allreduce(std::vector<at::Tensor> &tensors,
                                                       const c10d::AllreduceOptions &options) {
  TORCH_CHECK(tensors.size() == 1 && options.reduceOp == c10d::ReduceOp::SUM,
              "requires the sum of one tensor");
  at::Tensor flat = checked(tensors[0]).view(-1);
  return enqueue(c10d::OpType::ALLREDUCE, tensors, [=, this] { sum(flat); });
}

c10::intrusive_ptr<c10d::Work> StoreBackend::_allgather_base(at::Tensor &result, at::Tensor &mine,
                                                             const c10d::AllgatherOptions &) {
  TORCH_CHECK(result.numel() == mine.numel() * getSize(), "requires room for what every process has");
  at::Tensor all = checked(result), own = checked(mine);
  return enqueue(c10d::OpType::_ALLGATHER_BASE, {result}, [=, this] { collect(all, own); });
}

} // namespace taylor::trainer
