// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decoder for Python: torch.classes.taylor.Decoder and torch.classes.taylor.Memory, Decoder.h by the same
// names.
//
//   decoder = torch.classes.taylor.Decoder(spec, {"order": "2"}, "", 64, 64, torch.float32)
//   memory = torch.classes.taylor.Memory()
//   o = decoder.extend([q, k, v], memory)
//   memory = decoder.gather(memory, [1, 0, 0])      # sequences of the batch, as a beam search picks them
#include "runtime/torch/Decoder.h"
#include <torch/custom_class.h>
#include <torch/library.h>

namespace taylor {
namespace {

struct PythonMemory : torch::CustomClassHolder {
  Decoder::Memory memory;
};

struct PythonDecoder : torch::CustomClassHolder {
  Decoder decoder;
  explicit PythonDecoder(AttentionOptions options) : decoder(std::move(options)) {}
};

c10::intrusive_ptr<PythonDecoder> makeDecoder(std::string spec,
                                              const c10::Dict<std::string, std::string> &parameters,
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
  return c10::make_intrusive<PythonDecoder>(std::move(options));
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

TORCH_LIBRARY_FRAGMENT(taylor, m) {
  m.class_<PythonMemory>("Memory")
      .def(torch::init<>())
      .def("tokens", [](const c10::intrusive_ptr<PythonMemory> &self) { return self->memory.tokens; });
  m.class_<PythonDecoder>("Decoder")
      .def(torch::init(makeDecoder))
      .def("extend", extend)
      .def("gather", gather);
}

} // namespace
} // namespace taylor
