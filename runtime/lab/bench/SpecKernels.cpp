// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/SpecKernels.h"

#include "runtime/Cache.h"
#include "runtime/Call.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/torch/Call.h"
#include <ATen/ATen.h>

namespace taylor::bench {
namespace {

using runtime::fail;
using runtime::Role;
using runtime::ptx::Profile;

/// A specification's artifact with the arrays of a plan.
class Compiled {
public:
  Compiled(const std::string &spec, const Plan &plan, const CountOptions &options,
           const std::function<at::Tensor(const std::string &)> &arrayOf)
      : spec(spec), plan(plan), options(options), arrayOf(arrayOf),
        artifact(runtime::compile(runtime::Specification::read(spec),
                                  {"--target=" + plan.target, "--dtype=" + plan.dtype, "--mask=" + plan.mask,
                                   "--head-dim=" + std::to_string(plan.shape.d)})) {
    for (const TensorInfo &tensor : artifact->manifest().saved)
      saved.push_back(at::full(sizesOf(tensor), NAN, scalarType(tensor.dtype)));
  }

  Profile run(const std::string &name) {
    const Manifest &manifest = artifact->manifest();
    int function = manifest.function(name);
    std::vector<at::Tensor> arrays;
    for (const runtime::Slot &slot : manifest.functions[function].slots)
      arrays.push_back(arrayAt(slot));
    std::vector<TaylorTensor> tensors;
    for (const at::Tensor &array : arrays)
      tensors.push_back(describe(array));
    runtime::BoundCall call;
    runtime::bind(manifest, function, tensors.data(), int64_t(tensors.size()), nullptr, TAYLOR_PTX, call);
    Profile profile;
    runtime::Executor executor;
    executor.device = TAYLOR_PTX;
    executor.threads = options.threads > 0 ? options.threads : runtime::cpuCount();
    executor.ptx = {.seed = options.seed,
                    .checks = options.checks,
                    .profile = [&](const std::string &, const runtime::KernelInfo &, unsigned,
                                   const Profile &kernel) { profile.add(kernel); }};
    runtime::run(*artifact, function, call, executor);
    return profile;
  }

private:
  std::vector<int64_t> sizesOf(const TensorInfo &tensor) const {
    const Shape &s = plan.shape;
    const int64_t dims[] = {s.b, s.h, s.g, s.t, s.u};
    std::vector<int64_t> sizes;
    for (const TensorAxis &axis : tensor.axes)
      sizes.push_back(axis.isChannel() ? axis.size : dims[axis.dim]);
    return sizes;
  }

  at::Tensor arrayAt(const runtime::Slot &slot) {
    if (slot.role == Role::Saved)
      return saved[slot.index];
    const TensorInfo &tensor = artifact->manifest().tensor(slot);
    bool isDerivative = slot.role == Role::Gradient || slot.role == Role::Cotangent;
    std::string name = std::string(isDerivative, 'd') + tensor.name;
    if (at::Tensor given = arrayOf(name); given.defined())
      return given;
    if (!plan.takesAnyInput)
      fail(spec, ": expected an attention of q, k and v alone, but it has an input '", name, "'");
    auto [found, isNew] = drawn.try_emplace(name);
    if (isNew) {
      bool isRead = slot.role == Role::Input || slot.role == Role::Cotangent;
      at::Tensor numbers = isRead ? at::randn(sizesOf(tensor)) : at::full(sizesOf(tensor), NAN);
      found->second = numbers.to(scalarType(tensor.dtype));
    }
    return found->second;
  }

  const std::string &spec;
  const Plan &plan;
  const CountOptions &options;
  const std::function<at::Tensor(const std::string &)> &arrayOf;
  std::shared_ptr<const runtime::Artifact> artifact;
  std::vector<at::Tensor> saved;
  std::map<std::string, at::Tensor> drawn;
};

} // namespace

Profile runCompiled(const std::string &spec, const Plan &plan, const CountOptions &options,
                    const std::function<at::Tensor(const std::string &)> &arrayOf) {
  Compiled compiled(spec, plan, options, arrayOf);
  Profile forward = compiled.run("forward");
  return plan.direction == "forward" ? forward : compiled.run("backward");
}

} // namespace taylor::bench
