// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface: arguments that only C can get wrong, exceptions into messages, nothing else.
#include "runtime/taylor.h"
#include "TaylorVersion.h"
#include "runtime/Cache.h"
#include "runtime/Call.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include <algorithm>
#include <cstring>

using namespace taylor::runtime;

struct TaylorKernel {
  std::shared_ptr<const Artifact> artifact;
};

namespace {

thread_local std::string lastError;

/// Runs `body`; an exception becomes the thread's message and 1, of a refusal TAYLOR_REFUSED.
template <typename Body> int guarded(Body body) {
  try {
    body();
    return 0;
  } catch (const std::bad_alloc &) {
    lastError = "could not allocate memory";
  } catch (const Refused &refused) {
    lastError = refused.what();
    return TAYLOR_REFUSED;
  } catch (const std::exception &error) {
    lastError = error.what();
  } catch (...) {
    lastError = "an exception of unknown type";
  }
  return 1;
}

const Artifact &artifactOf(const TaylorKernel *kernel) {
  if (!kernel)
    fail("requires a kernel, but got a null pointer");
  return *kernel->artifact;
}

int functionOf(const Artifact &artifact, const char *name) {
  if (!name)
    fail("requires the name of a function, but got a null pointer");
  int function = artifact.manifest().function(name);
  if (function < 0) {
    std::vector<std::string> names;
    for (const FunctionInfo &info : artifact.manifest().functions)
      names.push_back(info.name);
    if (std::strcmp(name, "forward") != 0 && std::strcmp(name, "backward") != 0)
      fail("unsupported function '", name, "': the artifact has ", join(names, " and "),
           "; second derivatives are not available");
    fail("requires function '", name, "', but the artifact has only ", join(names, " and "));
  }
  return function;
}

TaylorRunOptions optionsOf(const TaylorRunOptions *given) {
  TaylorRunOptions options = {};
  if (given) {
    if (given->struct_size < offsetof(TaylorRunOptions, parallel_for) || given->struct_size > 4096)
      fail("expected struct_size ", sizeof(options), " of TaylorRunOptions, but got ", given->struct_size);
    std::memcpy(&options, given, std::min(sizeof(options), given->struct_size));
  }
  if (options.threads < 0)
    fail("expected a number of threads of at least 0, but got ", options.threads);
  static const int processors = cpuCount();
  if (options.threads == 0)
    options.threads = processors;
  if (options.device != TAYLOR_CPU && options.device != TAYLOR_CUDA && options.device != TAYLOR_PTX)
    fail("expected device 0 (cpu), 1 (cuda) or 2 (ptx), but got ", options.device);
  return options;
}

/// Where to run: as the options say, else where the first tensor is.
TaylorDevice deviceOf(const TaylorRunOptions &options, const TaylorTensor *tensors, int64_t count) {
  if (options.device != TAYLOR_CPU)
    return TaylorDevice(options.device);
  for (int64_t i = 0; tensors && i < count; ++i)
    if (tensors[i].data || tensors[i].rank > 0)
      return tensors[i].device == TAYLOR_CUDA ? TAYLOR_CUDA : TAYLOR_CPU;
  return TAYLOR_CPU;
}

PtxSettings settingsOf(const TaylorPtxOptions *given) {
  if (!given)
    return PtxSettings::fromEnvironment();
  if (given->struct_size < sizeof(TaylorPtxOptions) || given->struct_size > 4096)
    fail("expected struct_size ", sizeof(TaylorPtxOptions), " of TaylorPtxOptions, but got ",
         given->struct_size);
  PtxSettings settings{given->seed, !given->unchecked, {}};
  if (given->profile)
    settings.profile = PtxSettings::profilerOf(*given);
  return settings;
}

/// The arguments of a call, checked.
struct CallRequest {
  CallRequest(const TaylorKernel *kernel, const char *name, const TaylorTensor *tensors, int64_t count,
              const TaylorRunOptions *options, bool shapesOnly)
      : artifact(artifactOf(kernel)), function(functionOf(artifact, name)) {
    TaylorRunOptions how = optionsOf(options);
    executor = {.device = deviceOf(how, tensors, count),
                .threads = how.threads,
                .parallelFor = how.parallel_for,
                .context = how.parallel_context,
                .workspace = how.workspace,
                .workspaceSize = how.workspace_size,
                .stream = how.stream,
                .form = how.form ? how.form : ""};
    bind(artifact.manifest(), function, tensors, count, how.offset, executor.device, call, shapesOnly);
    if (executor.device == TAYLOR_PTX)
      executor.ptx = settingsOf(how.ptx);
  }
  const Artifact &artifact;
  int function;
  Executor executor;
  BoundCall call;
};

} // namespace

int taylor_load(const char *path, TaylorKernel **kernel) {
  return guarded([&] {
    if (!path || !kernel)
      fail("requires a ", path ? "place for the kernel" : "path", ", but got a null pointer");
    *kernel = nullptr;
    *kernel = new TaylorKernel{Artifact::load(path)};
  });
}

int taylor_compile(const char *spec, const char *const *options, int64_t optionCount, TaylorKernel **kernel) {
  return guarded([&] {
    if (!spec || !kernel || (optionCount > 0 && !options))
      fail("requires a ",
           !spec     ? "specification"
           : !kernel ? "place for the kernel"
                     : "list of options",
           ", but got a null pointer");
    *kernel = nullptr;
    std::vector<std::string> list;
    for (int64_t i = 0; i < optionCount; ++i) {
      if (!options[i])
        fail("requires option ", i, ", but got a null pointer");
      list.push_back(options[i]);
    }
    *kernel = new TaylorKernel{compile(Specification::read(spec), list)};
  });
}

void taylor_unload(TaylorKernel *kernel) { delete kernel; }

const char *taylor_manifest(const TaylorKernel *kernel) {
  const char *text = nullptr;
  guarded([&] { text = artifactOf(kernel).manifest().text.c_str(); });
  return text;
}

int64_t taylor_tensor_count(const TaylorKernel *kernel, const char *function) {
  int64_t count = -1;
  guarded([&] {
    const Artifact &artifact = artifactOf(kernel);
    count = int64_t(artifact.manifest().functions[functionOf(artifact, function)].slots.size());
  });
  return count;
}

const char *taylor_tensor_name(const TaylorKernel *kernel, const char *function, int64_t i) {
  const char *name = nullptr;
  guarded([&] {
    const Artifact &artifact = artifactOf(kernel);
    const auto &slots = artifact.manifest().functions[functionOf(artifact, function)].slots;
    if (i < 0 || i >= int64_t(slots.size()))
      fail("expected a tensor of '", function, "' from 0 to ", int64_t(slots.size()) - 1, ", but got ", i);
    name = slots[size_t(i)].label.c_str();
  });
  return name;
}

int taylor_workspace(const TaylorKernel *kernel, const char *function, const TaylorTensor *tensors,
                     int64_t count, const TaylorRunOptions *options, int64_t *bytes) {
  return guarded([&] {
    if (!bytes)
      fail("requires a place for the bytes, but got a null pointer");
    CallRequest request(kernel, function, tensors, count, options, /*shapesOnly=*/true);
    *bytes = workspaceSize(request.artifact, request.function, request.call.dims, request.executor);
  });
}

int taylor_form(const TaylorKernel *kernel, const char *function, const TaylorTensor *tensors, int64_t count,
                const TaylorRunOptions *options, const char **form) {
  return guarded([&] {
    if (!form)
      fail("requires a place for the form's name, but got a null pointer");
    CallRequest request(kernel, function, tensors, count, options, /*shapesOnly=*/true);
    *form = formOf(request.artifact, request.function, request.call, request.executor).c_str();
  });
}

int taylor_run(const TaylorKernel *kernel, const char *function, const TaylorTensor *tensors, int64_t count,
               const TaylorRunOptions *options) {
  return guarded([&] {
    CallRequest request(kernel, function, tensors, count, options, /*shapesOnly=*/false);
    run(request.artifact, request.function, request.call, request.executor);
  });
}

const char *taylor_last_error(void) { return lastError.c_str(); }
int64_t taylor_abi(void) { return TAYLOR_ARTIFACT_ABI; }
const char *taylor_version(void) { return TAYLOR_VERSION; }
