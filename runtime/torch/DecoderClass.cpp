// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decoder for Python: torch.classes.taylor.Decoder and torch.classes.taylor.Memory, Decoder.h by the same
// names.
//
//   decoder = torch.classes.taylor.Decoder(spec, {"order": "2"}, "", 64, 64, torch.float32)
//   memory = torch.classes.taylor.Memory()
//   o = decoder.extend([q, k, v], memory)
//   memory = decoder.gather(memory, [1, 0, 0])      # sequences of the batch, as a beam search picks them
//
// Both can be copied and pickled: a decoder with its specification's text, a memory with copies of its
// tensors.
#include "runtime/torch/Decoder.h"
#include <algorithm>
#include <torch/custom_class.h>
#include <torch/library.h>
#include <tuple>

namespace taylor {
namespace {

struct PythonMemory : torch::CustomClassHolder {
  Decoder::Memory memory;
};

struct PythonDecoder : torch::CustomClassHolder {
  AttentionOptions options;
  Decoder decoder;
  explicit PythonDecoder(const AttentionOptions &given) : options(given), decoder(given) {
    options.spec = decoder.specification();
  }
};

using Parameters = c10::Dict<std::string, std::string>;
using DecoderState = std::tuple<std::string, Parameters, std::string, int64_t, int64_t, int64_t>;
using MemoryState = std::tuple<std::vector<at::Tensor>, std::vector<std::optional<at::Tensor>>, int64_t,
                               std::vector<int64_t>>;

c10::intrusive_ptr<PythonDecoder> makeDecoder(std::string spec, const Parameters &parameters,
                                              std::string mask, int64_t headDim, int64_t valueDim,
                                              int64_t dtype) {
  AttentionOptions options;
  options.spec = std::move(spec);
  for (const auto &entry : parameters)
    options.parameters[entry.key()] = entry.value();
  options.mask = std::move(mask);
  options.headDim = headDim;
  options.valueDim = valueDim;
  options.dtype = static_cast<at::ScalarType>(dtype);
  return c10::make_intrusive<PythonDecoder>(options);
}

at::Tensor extend(const c10::intrusive_ptr<PythonDecoder> &self, std::vector<at::Tensor> inputs,
                  const c10::intrusive_ptr<PythonMemory> &memory) {
  return self->decoder.extend(inputs, memory->memory);
}

c10::intrusive_ptr<PythonMemory> gather(const c10::intrusive_ptr<PythonDecoder> &self,
                                        const c10::intrusive_ptr<PythonMemory> &memory,
                                        std::vector<int64_t> rows) {
  std::vector<Decoder::Place> places;
  for (int64_t row : rows)
    places.push_back({&memory->memory, row});
  auto result = c10::make_intrusive<PythonMemory>();
  result->memory = self->decoder.gather(places);
  return result;
}

DecoderState saveDecoder(const c10::intrusive_ptr<PythonDecoder> &self) {
  const AttentionOptions &options = self->options;
  Parameters parameters;
  for (const auto &[name, value] : options.parameters)
    parameters.insert(name, value);
  return {options.spec,    parameters,       options.mask,
          options.headDim, options.valueDim, static_cast<int64_t>(options.dtype)};
}

MemoryState saveMemory(const c10::intrusive_ptr<PythonMemory> &self) {
  const Decoder::Memory &memory = self->memory;
  std::vector<std::optional<at::Tensor>> cache;
  for (const at::Tensor &tensor : memory.cache)
    cache.push_back(tensor.defined() ? std::optional(tensor) : std::nullopt);
  return {memory.states, cache, memory.tokens, {memory.sizes.begin(), memory.sizes.end()}};
}

/// With its own tensors: extend() writes into them.
c10::intrusive_ptr<PythonMemory> loadMemory(const MemoryState &state) {
  const auto &[states, cache, tokens, sizes] = state;
  auto result = c10::make_intrusive<PythonMemory>();
  Decoder::Memory &memory = result->memory;
  for (const at::Tensor &tensor : states)
    memory.states.push_back(tensor.clone());
  for (const std::optional<at::Tensor> &tensor : cache)
    memory.cache.push_back(tensor ? tensor->clone() : at::Tensor());
  memory.tokens = tokens;
  TORCH_CHECK(sizes.size() == memory.sizes.size(), "taylor: expected ", memory.sizes.size(),
              " sizes in a pickled memory, but got ", sizes.size());
  std::copy(sizes.begin(), sizes.end(), memory.sizes.begin());
  return result;
}

TORCH_LIBRARY_FRAGMENT(taylor, m) {
  m.class_<PythonMemory>("Memory")
      .def(torch::init<>())
      .def("tokens", [](const c10::intrusive_ptr<PythonMemory> &self) { return self->memory.tokens; })
      .def_pickle([](const c10::intrusive_ptr<PythonMemory> &self) { return saveMemory(self); },
                  [](MemoryState state) { return loadMemory(state); });
  m.class_<PythonDecoder>("Decoder")
      .def(torch::init(makeDecoder))
      .def("extend", extend)
      .def("gather", gather)
      .def_pickle([](const c10::intrusive_ptr<PythonDecoder> &self) { return saveDecoder(self); },
                  [](DecoderState state) { return std::apply(makeDecoder, std::move(state)); });
}

} // namespace
} // namespace taylor
