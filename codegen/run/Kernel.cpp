// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Checks.h"
#include "codegen/run/TensorBuffer.h"
#include "dialect/Taylor/Carried.h"
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include "runtime/cuda/Memory.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>
#include <memory>

using namespace mlir;
using namespace taylor;
using namespace taylor::run;
using taylor::runtime::Manifest;

namespace {

FailureOr<KernelPtr> loadKernel(const Problem &problem, const RunOptions &options, Shared &shared) {
  TaylorKernel *kernel = nullptr;
  if (!options.kernel.empty()) {
    if (taylor_load(options.kernel.c_str(), &kernel))
      return fail(taylor_last_error());
    return KernelPtr(kernel, UnloadKernel());
  }
  if (KernelPtr known = shared.findKernel(options))
    return known;
  CompileOptions compile = options.compile;
  const AxisMap<int64_t> &sizes = problem.environment.sizes;
  compile.headDim = sizes.lookup(AxisRole::Channel);
  compile.valueDim = sizes.lookup(AxisRole::ValueChannel);
  compile.decode = shared.decodeOf(options);
  compile.states = !options.pieces.empty();
  compile.forwardOnly = !shared.needsBackward(options);
  if (!options.target.empty())
    compile.targets = {options.target};
  else if (options.device == Device::Ptx)
    compile.targets = {"sm_80"};
  else if (options.device == Device::Cuda)
    compile.targets = {"sm_" + std::to_string(runtime::cuda::DriverApi::get().currentDevice().capability)};
  std::vector<std::string> arguments = compile.getArguments();
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  if (int status = taylor_compile(options.spec.c_str(), pointers.data(), pointers.size(), &kernel)) {
    shared.isRefused = status == TAYLOR_REFUSED;
    return fail(taylor_last_error());
  }
  KernelPtr compiled(kernel, UnloadKernel());
  shared.addKernel(options, compiled);
  return compiled;
}

/// A kernel given by --kernel is of this specification and storage type, and hands states on where pieces
/// need them.
LogicalResult checkManifest(const Manifest &manifest, const Problem &problem, const RunOptions &options) {
  StringRef spec = SpecOp(problem.spec).getSymName(), dtype = runtime::dtypeName(manifest.dtype);
  if (!options.kernel.empty() && manifest.spec != spec)
    return fail("expected a kernel of @" + spec + ", but --kernel names one of @" + manifest.spec);
  if (!options.kernel.empty() && dtype != nameOf(problem.dtype))
    return fail("expected --dtype=" + dtype + ", as --kernel has it, but got " + nameOf(problem.dtype));
  if (!options.pieces.empty() && llvm::none_of(manifest.outputs, std::mem_fn(&runtime::TensorInfo::isState)))
    return fail("requires a kernel with states (taylorc --states) for --states, but --kernel has none");
  return success();
}

/// The tensors of a kernel, as its manifest describes them.
class Tensors : public TensorBuffers {
public:
  Tensors(const Problem &problem, const RunOptions &options, const Manifest &manifest)
      : TensorBuffers(options), problem(problem), manifest(manifest) {}

  /// Whether a function works in the memory of an output.
  bool isInPlace(StringRef function, StringRef role) {
    const runtime::FunctionInfo &of = manifest.functions[size_t(manifest.function(function))];
    return llvm::any_of(of.carried, [&](auto pair) { return of.slots[size_t(pair.second)].label == role; });
  }

  /// The tensor of a role, made on first use with all bits set.
  FailureOr<TensorBuffer *> get(StringRef role) {
    if (TensorBuffer *buffer = find(role.str()))
      return buffer;
    std::optional<runtime::Slot> slot = manifest.slotOf(role);
    if (!slot)
      return fail("expected a manifest that describes '" + role + "', but got none");
    const runtime::TensorInfo &info = manifest.tensor(*slot);
    reference::Shape shape;
    for (const runtime::TensorAxis &axis : info.axes)
      shape.append(axis.name, axis.isChannel() ? axis.size : problem.environment.sizeOf(axis.name));
    return &add(role.str(), shape, *dtypeNamed(runtime::dtypeName(info.dtype)));
  }

  /// The role of a tensor's memory: what is kept of keys is written where it is read.
  std::string memoryOf(StringRef role) {
    std::optional<runtime::Slot> slot = manifest.slotOf(role);
    bool grows = slot && slot->role == runtime::Role::Append && manifest.tensor(*slot).keyAxis() >= 0;
    return (grows ? "cache:" + role.split(':').second : Twine(role)).str();
  }

  /// What is handed on from keys to later ones is 0 before the first.
  LogicalResult beginKeys() {
    for (const runtime::TensorInfo &info : manifest.cache) {
      if (info.keyAxis() >= 0)
        continue;
      FailureOr<TensorBuffer *> buffer = get("cache:" + info.name);
      if (failed(buffer))
        return failure();
      (*buffer)->write(std::vector<reference::Real>((*buffer)->getShape().count()));
    }
    return success();
  }

private:
  const Problem &problem;
  const Manifest &manifest;
};

void printProfile(void *, const TaylorPtxProfile *profile) {
  llvm::outs() << profile->function << "." << profile->kernel << ": " << profile->blocks << " blocks of "
               << profile->threads << " threads, " << profile->instructions << " instructions";
  const char *separator = ": ";
  for (int64_t i = 0; i < profile->class_count; ++i)
    if (profile->class_instructions[i]) {
      llvm::outs() << separator << profile->class_names[i] << " " << profile->class_instructions[i];
      separator = ", ";
    }
  llvm::outs() << "; bytes global " << profile->global_read << " read, " << profile->global_written
               << " written, shared " << profile->shared_read << " read, " << profile->shared_written
               << " written; " << profile->bank_conflicts << " bank conflicts\n";
}

/// Tensors of the host on a GPU, each with its surroundings.
class DeviceTensors {
public:
  TaylorTensor add(TensorBuffer &buffer) {
    TaylorTensor tensor = buffer.describe();
    llvm::MutableArrayRef<unsigned char> host = buffer.getMemory();
    int64_t begin = static_cast<unsigned char *>(tensor.data) - host.data();
    copies.emplace_back(host, std::make_unique<runtime::cuda::Buffer>(host.size()));
    runtime::cuda::Buffer &memory = *copies.back().second;
    memory.upload(host.data());
    tensor.data = static_cast<unsigned char *>(memory.data()) + begin;
    tensor.device = TAYLOR_CUDA;
    return tensor;
  }
  void download() {
    for (auto &[host, memory] : copies)
      memory->download(host.data());
  }

private:
  std::vector<std::pair<llvm::MutableArrayRef<unsigned char>, std::unique_ptr<runtime::cuda::Buffer>>> copies;
};

/// One piece of the sequence, and its neighbours.
struct Call {
  const Problem &problem;
  Tensors tensors;
  /// Its forms.
  Outcome results = {};
  bool isFirst = true, isLast = true;

  /// Whether the caller gives, or wants, a tensor. At the sequence's ends nothing comes before, and nothing
  /// follows: states are left out there.
  bool passes(StringRef function, StringRef role, const RunOptions &options) {
    auto [kind, name] = role.split(':');
    if (!isCarried(name))
      return kind != "gradient" || !options.absentGradients.contains(name.str());
    if (tensors.isInPlace(function, role))
      return true;
    bool isWritten = kind == "output" || kind == "gradient";
    bool isAtEnd = name.starts_with("initial.") ? isFirst : isLast;
    return !isAtEnd && (isWritten || tensors.find(role.str()));
  }
};

/// A function's name as the runtime has it.
const char *nameOf(FunctionRole role) { return stringifyFunctionRole(role).data(); }

/// Runs a function, and notes in which form.
LogicalResult run(TaylorKernel *kernel, FunctionRole role, Call &call, const RunOptions &how) {
  const Problem &problem = call.problem;
  const char *function = nameOf(role);
  int64_t count = taylor_tensor_count(kernel, function);
  if (count < 0)
    return fail(taylor_last_error());
  std::vector<TaylorTensor> arguments;
  DeviceTensors onGpu;
  for (int64_t i = 0; i < count; ++i) {
    StringRef label = taylor_tensor_name(kernel, function, i);
    if (!call.passes(function, label, how)) {
      arguments.push_back({});
      continue;
    }
    FailureOr<TensorBuffer *> buffer = call.tensors.get(call.tensors.memoryOf(label));
    if (failed(buffer))
      return failure();
    arguments.push_back(how.device == Device::Cuda ? onGpu.add(**buffer) : (*buffer)->describe());
  }
  TaylorRunOptions options = {};
  options.struct_size = sizeof(options);
  // Keys are prepared from the first on.
  int64_t offset = role == FunctionRole::Append ? 0 : problem.environment.offset;
  options.offset = &offset;
  options.threads = problem.environment.threads;
  options.device = how.device == Device::Ptx    ? TAYLOR_PTX
                   : how.device == Device::Cuda ? TAYLOR_CUDA
                                                : TAYLOR_CPU;
  TaylorPtxOptions ptx = {};
  ptx.struct_size = sizeof(ptx);
  ptx.seed = how.ptxSeed;
  if (how.ptxProfile)
    ptx.profile = printProfile;
  if (how.ptxProfile || how.ptxSeedGiven)
    options.ptx = &ptx;
  const char *form = nullptr;
  if (taylor_run(kernel, function, arguments.data(), count, &options) ||
      taylor_form(kernel, function, arguments.data(), count, &options, &form))
    return fail(taylor_last_error());
  std::optional<Form> kind = symbolizeForm(StringRef(form).split(' ').first);
  if (!kind)
    return fail(
        ("expected parallel, long, chunked or recurrent as a form, but got '" + Twine(form) + "'").str());
  call.results.forms.push_back({role, form, *kind});
  onGpu.download();
  return success();
}

/// Copies what one call left of its states into what another begins from: states after a piece to the next
/// one, gradients of states before it to the one before.
LogicalResult handOn(TaylorKernel *kernel, FunctionRole role, Call &from, StringRef left, Call &to,
                     StringRef taken) {
  const char *function = nameOf(role);
  for (int64_t i = 0; i < taylor_tensor_count(kernel, function); ++i) {
    StringRef name = taylor_tensor_name(kernel, function, i);
    TensorBuffer *state = name.consume_front(left) ? from.tensors.find((left + name).str()) : nullptr;
    if (!state)
      continue;
    FailureOr<TensorBuffer *> buffer = to.tensors.get((taken + name).str());
    if (failed(buffer))
      return failure();
    (*buffer)->write(state->read().values);
  }
  return success();
}

LogicalResult writeTensors(Call &call, bool withGradients) {
  return writeArguments(call.problem, withGradients,
                        [&](const std::string &role, const Array &array) -> LogicalResult {
                          FailureOr<TensorBuffer *> buffer = call.tensors.get(role);
                          if (failed(buffer))
                            return failure();
                          if ((*buffer)->getShape().count() != array.shape.count())
                            return fail("expected '" + role + "' of sizes " + (*buffer)->getShape().str() +
                                        " as the kernel has it, but got " + array.shape.str());
                          (*buffer)->write(array.values);
                          return success();
                        });
}

LogicalResult runForward(TaylorKernel *kernel, std::deque<Call> &calls, const RunOptions &options) {
  FunctionRole role = options.decode ? FunctionRole::Step : FunctionRole::Forward;
  // All keys at once.
  if (options.decode && taylor_tensor_count(kernel, nameOf(FunctionRole::Append)) >= 0)
    for (Call &call : calls)
      if (failed(call.tensors.beginKeys()) || failed(run(kernel, FunctionRole::Append, call, options)))
        return failure();
  for (auto [i, call] : llvm::enumerate(calls))
    if ((i > 0 && failed(handOn(kernel, role, calls[i - 1], "output:final.", call, "input:initial."))) ||
        failed(run(kernel, role, call, options)))
      return failure();
  return success();
}

LogicalResult runBackward(TaylorKernel *kernel, std::deque<Call> &calls, const RunOptions &options) {
  for (size_t i = calls.size(); i-- > 0;)
    if ((i + 1 < calls.size() && failed(handOn(kernel, FunctionRole::Backward, calls[i + 1],
                                               "gradient:initial.", calls[i], "cotangent:final."))) ||
        failed(run(kernel, FunctionRole::Backward, calls[i], options)))
      return failure();
  return success();
}

FailureOr<Outcome> runOnDevice(const Problem &problem, const RunOptions &options, bool withGradients,
                               Shared &shared) {
  FailureOr<std::vector<Problem>> pieces = cutProblem(problem, options.pieces);
  if (failed(pieces))
    return failure();
  std::optional<runtime::cuda::PrimaryContext> context;
  if (options.device == Device::Cuda)
    context.emplace(0);
  FailureOr<KernelPtr> kernel = loadKernel(problem, options, shared);
  if (failed(kernel))
    return failure();
  const auto manifest = Manifest::parse(taylor_manifest(kernel->get()));
  if (failed(checkManifest(manifest, problem, options)))
    return failure();
  std::deque<Call> calls;
  for (auto [i, piece] : llvm::enumerate(*pieces)) {
    Call &call = calls.emplace_back(Call{piece, Tensors(piece, options, manifest)});
    call.isFirst = i == 0;
    call.isLast = i + 1 == pieces->size();
    if (failed(writeTensors(call, withGradients)))
      return failure();
  }
  if (failed(runForward(kernel->get(), calls, options)) ||
      (withGradients && failed(runBackward(kernel->get(), calls, options))))
    return failure();
  std::vector<Outcome> results;
  for (Call &call : calls) {
    FailureOr<Outcome> result = call.tensors.readResults(call.problem, "kernel", withGradients);
    if (failed(call.tensors.checkSurroundings("kernels")) || failed(result))
      return failure();
    result->forms = call.results.forms;
    results.push_back(std::move(*result));
  }
  return joinPieces(problem, options.pieces, results);
}

} // namespace

FailureOr<Outcome> taylor::run::runKernel(const Problem &problem, const RunOptions &options,
                                          bool withGradients, Shared &shared) {
  try {
    return runOnDevice(problem, options, withGradients, shared);
  } catch (const runtime::Error &error) { // no driver, no GPU
    return fail(error.what());
  }
}
