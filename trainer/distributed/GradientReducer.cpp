// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/distributed/GradientReducer.h"
#include "trainer/distributed/Connection.h"
#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

namespace taylor::trainer {

namespace {

constexpr int64_t kFirstBucket = int64_t(1) << 20, kBucket = int64_t(25) << 20; // bytes

/// Without a hook the Reducer takes means.
class Sum : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
public:
  using CppCommHookInterface::CppCommHookInterface;
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket &bucket) override {
    std::vector<at::Tensor> tensors = {bucket.getBufferRef()};
    return state_->allreduce(tensors)->getFuture();
  }
};

} // namespace

void broadcastParameters(const Group &group, const std::vector<Parameter> &parameters) {
  std::vector<at::Tensor> tensors;
  for (const Parameter &parameter : parameters)
    tensors.push_back(parameter.value);
  group.broadcast(tensors);
}

struct GradientReducer::Parts {
  std::shared_ptr<c10d::Reducer> reducer;
  std::unique_ptr<c10d::Logger> logger; // which the Reducer asks for
};

GradientReducer::GradientReducer(const Group &group, const std::vector<Parameter> &parameters) {
  if (!group.connection())
    return;
  std::vector<at::Tensor> tensors;
  std::unordered_map<size_t, std::string> names;
  for (const Parameter &parameter : parameters) {
    names[tensors.size()] = parameter.name;
    tensors.push_back(parameter.value);
  }
  broadcastParameters(group, parameters);
  std::vector<bool> sparse(tensors.size(), false);
  auto [buckets, limits] =
      c10d::compute_bucket_assignment_by_size(tensors, {size_t(kFirstBucket), size_t(kBucket)}, sparse);
  // Gradients come from the last layer on.
  std::reverse(buckets.begin(), buckets.end());
  std::reverse(limits.begin(), limits.end());
  parts = std::make_unique<Parts>();
  const auto &processes = group.connection()->processes;
  parts->reducer = std::make_shared<c10d::Reducer>(
      tensors, buckets, processes, sparse, kBucket, /*find_unused_parameters=*/false,
      /*gradient_as_bucket_view=*/true, names, kFirstBucket, /*skip_all_reduce_unused_params=*/false,
      /*use_python_reducer=*/false, std::vector<int64_t>());
  parts->logger = std::make_unique<c10d::Logger>(parts->reducer);
  parts->logger->set_construction_data_and_log("Llama", {}, -1, /*broadcast_buffers=*/false,
                                               /*has_sync_bn=*/false, /*static_graph=*/false);
  parts->reducer->register_comm_hook(std::make_unique<Sum>(processes));
}

GradientReducer::~GradientReducer() = default;

at::Tensor GradientReducer::backward(const std::function<at::Tensor()> &loss, bool last) {
  bool adds = parts && last;
  if (adds) {
    parts->reducer->rebuild_buckets();
    parts->reducer->prepare_for_forward();
  }
  at::Tensor value = loss();
  if (adds)
    parts->reducer->prepare_for_backward({});
  value.backward();
  return value.detach();
}

} // namespace taylor::trainer
