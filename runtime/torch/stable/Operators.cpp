// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// torch.ops.taylor_attention: what autograd, tracing, autocast and vmap in Python stand on
// (runtime/python/taylor_attention/operators.py). README.md says why there are no more.
#include "runtime/torch/CallOf.h"
#include "runtime/torch/stable/Lines.h"
#include "runtime/torch/stable/Stable.h"
#include <torch/csrc/stable/library.h>

namespace taylor {

/// Python gives a backward the specification's text, which no file changes.
bool isInBackward() { return false; }

namespace {

using Calls = CallOf<Stable>;
using Tensors = Calls::Tensors;

/// The arguments of a boxed call, each of which is this side's to free once it is taken. torch's own
/// conversions leak strings (2.11), and build a list's tensors twice.
class Arguments {
public:
  explicit Arguments(StableIValue *stack) : next(stack) {}

  Tensors tensors() {
    List list(*next++);
    Tensors result;
    result.reserve(list.size());
    for (size_t i = 0; i < list.size(); ++i)
      result.emplace_back(torch::stable::detail::to<AtenTensorHandle>(list[i]));
    return result;
  }
  std::vector<int64_t> integers() {
    List list(*next++);
    std::vector<int64_t> result(list.size());
    for (size_t i = 0; i < list.size(); ++i)
      result[i] = torch::stable::detail::to<int64_t>(list[i]);
    return result;
  }
  std::string text() {
    auto handle = torch::stable::detail::to<StringHandle>(*next++);
    size_t length = 0;
    const char *data = nullptr;
    torch_string_length(handle, &length);
    torch_string_c_str(handle, &data);
    std::string result(data, length);
    torch_delete_string(handle);
    return result;
  }
  template <typename T> T value() { return torch::stable::detail::to<T>(*next++); }

private:
  struct List {
    StableListHandle handle;
    explicit List(StableIValue value) : handle(torch::stable::detail::to<StableListHandle>(value)) {}
    List(const List &) = delete;
    ~List() { torch_delete_list(handle); }
    size_t size() const {
      size_t size = 0;
      torch_list_size(handle, &size);
      return size;
    }
    StableIValue operator[](size_t i) const {
      StableIValue element;
      checkTorch(torch_list_get_item(handle, i, &element), "hand over a list");
      return element;
    }
  };
  StableIValue *next;
};

/// Runs `body` and makes its tensors the call's result. The runtime's errors become Python's RuntimeError,
/// which STD_TORCH_CHECK throws too, but with the name of this file before the message.
template <typename Body> void answer(StableIValue *stack, Body body) {
  try {
    stack[0] = torch::stable::detail::from(body());
  } catch (const runtime::Error &error) {
    throw std::runtime_error(std::string("taylor: ") + error.what());
  }
}

void forward(StableIValue *stack, uint64_t, uint64_t) {
  Arguments arguments(stack);
  Tensors inputs = arguments.tensors();
  std::string spec = linesOf(arguments.text()), options = arguments.text();
  auto offset = arguments.value<std::optional<int64_t>>();
  bool save = arguments.value<bool>();
  answer(stack, [&] { return Calls::forward(*Program::find(spec, options), inputs, offset, save); });
}

void backward(StableIValue *stack, uint64_t, uint64_t) {
  Arguments arguments(stack);
  Tensors inputs = arguments.tensors(), outputs = arguments.tensors(), saved = arguments.tensors(),
          cotangents = arguments.tensors();
  std::string spec = linesOf(arguments.text()), options = arguments.text();
  auto offset = arguments.value<std::optional<int64_t>>();
  std::vector<int64_t> wanted = arguments.integers();
  answer(stack, [&] {
    return Calls::backward(*Program::find(spec, options), inputs, outputs, saved, cotangents, offset, wanted);
  });
}

void step(StableIValue *stack, uint64_t, uint64_t) {
  Arguments arguments(stack);
  Tensors inputs = arguments.tensors(), states = arguments.tensors();
  std::string spec = linesOf(arguments.text()), options = arguments.text();
  auto offset = arguments.value<std::optional<int64_t>>();
  answer(stack, [&] { return Calls::step(*Program::find(spec, options), inputs, states, offset); });
}

void decode(StableIValue *stack, uint64_t, uint64_t) {
  Arguments arguments(stack);
  Tensors inputs = arguments.tensors(), cache = arguments.tensors(), states = arguments.tensors();
  auto tokens = arguments.value<int64_t>();
  std::string spec = linesOf(arguments.text()), options = arguments.text();
  answer(stack, [&] { return Calls::decode(*Program::find(spec, options), inputs, cache, states, tokens); });
}

/// Of one row of gradients at a time there are kernels; is_grads_batched and vmap outside of attention() ask
/// for many.
template <const char *name> void refuseBatches(StableIValue *, uint64_t, uint64_t) {
  throw std::runtime_error(
      std::string("taylor: unsupported torch.func.vmap (and is_grads_batched) of taylor_attention::") + name +
      "; join the mapped axis with the batch: x.flatten(0, 1)");
}

constexpr char kForwardName[] = "forward", kBackwardName[] = "backward", kStepName[] = "step",
               kDecodeName[] = "decode";

void implement(torch::stable::detail::StableLibrary &m) {
  m.impl(kForwardName, forward);
  m.impl(kBackwardName, backward);
  m.impl(kStepName, step);
  m.impl(kDecodeName, decode);
}

void refuse(torch::stable::detail::StableLibrary &m) {
  m.impl(kForwardName, refuseBatches<kForwardName>);
  m.impl(kBackwardName, refuseBatches<kBackwardName>);
  m.impl(kStepName, refuseBatches<kStepName>);
  m.impl(kDecodeName, refuseBatches<kDecodeName>);
}

} // namespace

STABLE_TORCH_LIBRARY(taylor_attention, m) {
  m.def("forward(Tensor[] inputs, str spec, str options=\"\", int? offset=None, bool save=True) -> Tensor[]");
  m.def("backward(Tensor[] inputs, Tensor[] outputs, Tensor[] saved, Tensor[] cotangents, str spec, str "
        "options, int? offset, int[] wanted) -> Tensor[]");
  m.def("step(Tensor[] inputs, Tensor(a!)[] states, str spec, str options=\"\", int? offset=None) -> "
        "Tensor[]");
  m.def("decode(Tensor[] inputs, Tensor(a!)[] cache, Tensor(b!)[] states, int tokens, str spec, str "
        "options=\"\") -> "
        "Tensor[]");
}

STABLE_TORCH_LIBRARY_IMPL(taylor_attention, CPU, m) { implement(m); }
STABLE_TORCH_LIBRARY_IMPL(taylor_attention, CUDA, m) { implement(m); }
STABLE_TORCH_LIBRARY_IMPL(taylor_attention, FuncTorchBatched, m) { refuse(m); }
STABLE_TORCH_LIBRARY_IMPL(taylor_attention, Batched, m) { refuse(m); } // is_grads_batched

} // namespace taylor
