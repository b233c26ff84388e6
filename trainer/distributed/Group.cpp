// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/distributed/Group.h"
#include "runtime/Hash.h"
#include "trainer/distributed/Connection.h"
#include "trainer/distributed/Nccl.h"
#include "trainer/distributed/StoreBackend.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include <ATen/ATen.h>
#include <c10/util/Logging.h>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <unistd.h>

namespace taylor::trainer {

namespace {

using std::chrono::seconds;

/// How long a collective waits for a process that lives, but does not come: for one that evaluates or saves.
constexpr seconds kCollectiveTimeout{1800};
constexpr seconds kLeaveTimeout{30};
constexpr size_t kBroadcastBuffer = size_t(25) << 20; // bytes of tensors that travel together

std::string hereOf(int64_t rank) { return text("here/", rank); }
std::string leftOf(int64_t rank) { return text("left/", rank); }

std::string hostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

c10::intrusive_ptr<c10d::Store> openStore(const World &world, seconds patience) {
  c10d::TCPStoreOptions options;
  options.port = uint16_t(world.masterPort);
  options.isServer = world.hostsStore();
  options.waitWorkers = false;
  options.timeout = patience;
  if (world.listening >= 0)
    options.masterListenFd = world.listening;
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(world.masterAddress, options);
    return c10::make_intrusive<c10d::PrefixStore>(text("taylor/", world.attempt), store);
  } catch (const c10::Error &error) {
    std::string reason = error.what_without_backtrace();
    reason = reason.substr(0, reason.find('\n'));
    if (options.isServer)
      fail("requires the port ", world.masterPort,
           " of this machine for processes to meet at, but cannot listen there (", reason,
           "); another MASTER_PORT (torchrun --master-port) may be free");
    fail("requires process 0 at ", world.masterAddress, ":", world.masterPort,
         ", but could not reach it within ", patience.count(), " s (", reason,
         "); check MASTER_ADDR, MASTER_PORT and that process 0 has started");
  }
}

/// A connection of its own to the same keys below `prefix`.
c10::intrusive_ptr<c10d::Store> another(c10d::Store &store, const char *prefix, seconds timeout) {
  c10::intrusive_ptr<c10d::Store> clone = store.clone();
  clone->setTimeout(timeout);
  return c10::make_intrusive<c10d::PrefixStore>(prefix, clone);
}

/// Throws Error that says which processes from `rank` on are not there.
[[noreturn]] void failMissing(c10d::Store &store, const World &world, int64_t rank, seconds patience) {
  std::string place = text(world.masterAddress, ":", world.masterPort), missing;
  try {
    for (; rank < world.size; ++rank)
      if (!store.check({hereOf(rank)}))
        missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  } catch (const c10::Error &) {
    fail("requires ", world.size, " processes, but process 0 at ", place,
         " ended before all had come; see what it says");
  }
  fail("requires ", world.size, " processes, but process ", missing, " did not come to ", place, " within ",
       patience.count(), " s; see what they say, or raise run.join_timeout");
}

/// Waits for all; their hosts.
std::vector<std::string> meet(c10d::Store &store, const World &world, seconds patience) {
  store.set(hereOf(world.rank), hostName());
  Elapsed elapsed(text("waiting for ", world.size, " processes"));
  auto deadline = std::chrono::steady_clock::now() + patience;
  std::vector<std::string> hosts;
  for (int64_t rank = 0; rank < world.size; ++rank) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    try {
      store.wait({hereOf(rank)}, std::max(left, std::chrono::milliseconds(1)));
      hosts.push_back(store.get_to_str(hereOf(rank)));
    } catch (const c10::Error &) {
      failMissing(store, world, rank, patience);
    }
  }
  return hosts;
}

} // namespace

Group::Group() = default;
Group::~Group() = default;

Group::Group(const World &theWorld, const std::string &device, seconds patience) : world(theWorld) {
  if (world.size == 1)
    return;
  // Warnings of connections that break, each with a stack trace: who is to know gets one message from the
  // watch.
  ::setenv("TORCH_CPP_LOG_LEVEL", "ERROR", /*overwrite=*/0);
  c10::initLogging();
  shared = std::make_unique<Connection>();
  shared->store = openStore(world, patience);
  shared->watched = another(*shared->store, "watch", Watch::kSilence);
  Watch::announce(*shared->watched, world.rank);
  shared->hosts = meet(*shared->store, world, patience);
  shared->store->setTimeout(kCollectiveTimeout);
  shared->processes = c10::make_intrusive<c10d::ProcessGroup>(int(world.rank), int(world.size));
  auto processors = c10::make_intrusive<StoreBackend>(another(*shared->store, "cpu", kCollectiveTimeout),
                                                      int(world.rank), int(world.size));
  using Type = c10d::ProcessGroup::BackendType;
  shared->processes->setBackend(c10::DeviceType::CPU, Type::CUSTOM, processors);
  shared->processes->setDefaultBackend(Type::CUSTOM);
  if (device == "cuda") {
    shared->processes->setBackend(c10::DeviceType::CUDA, Type::NCCL,
                                  makeNccl(another(*shared->store, "nccl", kCollectiveTimeout),
                                           int(world.rank), int(world.size), kCollectiveTimeout));
    shared->processes->setDefaultBackend(Type::NCCL);
  }
  shared->watch.emplace(shared->watched, world, shared->hosts);
}

void Group::broadcast(const std::vector<at::Tensor> &tensors, int64_t from) const {
  if (!shared || tensors.empty())
    return;
  std::vector<at::Tensor> dense;
  for (const at::Tensor &tensor : tensors)
    dense.push_back(tensor.detach());
  c10d::broadcast_coalesced(shared->processes, dense, kBroadcastBuffer, int(from));
}

std::string Group::broadcastBytes(std::string bytes, int64_t from) const {
  if (!shared)
    return bytes;
  at::Tensor size = at::full({1}, int64_t(bytes.size()), at::kLong);
  broadcast({size}, from);
  bytes.resize(size.item<int64_t>());
  at::Tensor content = at::empty({int64_t(bytes.size())}, at::kByte);
  std::memcpy(content.mutable_data_ptr(), bytes.data(), bytes.size());
  broadcast({content}, from);
  std::memcpy(bytes.data(), content.const_data_ptr(), bytes.size());
  return bytes;
}

std::vector<std::vector<double>> Group::gather(const std::vector<double> &values) const {
  if (!shared)
    return {values};
  int64_t count = values.size();
  at::Tensor mine = at::empty({count}, at::kDouble), all = at::empty({size(), count}, at::kDouble);
  std::memcpy(mine.mutable_data_ptr(), values.data(), mine.nbytes());
  shared->processes->getBackend(c10::DeviceType::CPU)->_allgather_base(all, mine)->wait();
  std::vector<std::vector<double>> result;
  auto row = static_cast<const double *>(all.const_data_ptr());
  for (int64_t r = 0; r < size(); ++r, row += count)
    result.emplace_back(row, row + count);
  return result;
}

std::vector<double> Group::sum(const std::vector<double> &values) const {
  std::vector<double> total(values.size());
  for (const std::vector<double> &row : gather(values))
    for (size_t i = 0; i < row.size(); ++i)
      total[i] += row[i];
  return total;
}

void Group::requireSame(const char *what, const char *wayOut,
                        const std::function<std::string()> &content) const {
  requireAllSame(wayOut, [&] { return Things{{what, content()}}; });
}

void Group::requireAllSame(const char *wayOut, const std::function<Things()> &things) const {
  if (!shared)
    return;
  Things mine = things();
  std::vector<double> hashes; // of 48 bits, which a double holds
  for (const auto &[what, content] : mine)
    hashes.push_back(double(std::stoull(runtime::sha256(content).substr(0, 12), nullptr, 16)));
  std::vector<std::vector<double>> all = gather(hashes);
  for (size_t i = 0; i < mine.size(); ++i)
    for (int64_t r = 1; r < size(); ++r)
      if (all[r][i] != all[0][i])
        fail("requires the same ", mine[i].first, " in every process, but that of ",
             Watch::nameOf(r, shared->hosts), " differs from that of ", Watch::nameOf(0, shared->hosts), "; ",
             wayOut);
}

void Group::leave() {
  if (!shared)
    return;
  barrier();
  shared->watch.reset();
  shared->store->set(leftOf(world.rank), std::string("1"));
  if (!world.hostsStore())
    return;
  std::vector<std::string> keys; // the store ends with this process
  for (int64_t rank = 0; rank < size(); ++rank)
    keys.push_back(leftOf(rank));
  shared->store->wait(keys, kLeaveTimeout);
}

void Group::abandon(const std::string &reason, bool lostConnection) {
  if (!shared || !shared->watch)
    return;
  if (lostConnection) // the watch knows whose
    std::this_thread::sleep_for(2 * Watch::kSilence);
  shared->watch.reset();
  if (!isFirst()) // where all fail for one reason, the first says it
    std::this_thread::sleep_for(1.5 * Watch::kBeat);
  Watch::Report report = Watch::Report::First;
  try {
    report = Watch::report(*shared->watched, reason,
                           text(Watch::nameOf(rank(), shared->hosts), " failed: ", reason));
  } catch (const c10::Error &) {
    return; // no one listens
  }
  lingers = world.hostsStore();
  if (!isFirst() && report == Watch::Report::Same)
    ::_exit(1); // said by another
}

void Group::end(int status) const {
  std::fflush(nullptr);
  if (lingers)
    std::this_thread::sleep_for(3 * Watch::kBeat);
  ::_exit(status);
}

} // namespace taylor::trainer
