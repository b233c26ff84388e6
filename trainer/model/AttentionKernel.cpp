// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/AttentionKernel.h"
#include "runtime/torch/Cuda.h"
#include "runtime/torch/Decoder.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"

namespace fs = std::filesystem;

namespace taylor::trainer {

AttentionKernel compileAttention(const AttentionConfig &attention, const ModelConfig &model, bool bf16,
                                 const std::string &device, bool documents) {
  fs::path path = attention.specification;
  if (!fs::is_regular_file(path))
    fail("expected a specification, but '", path.string(), "' does not exist; examples/specs has some");
  AttentionKernel kernel;
  kernel.text = readFile(path);
  kernel.file = "attention" + path.extension().string();

  taylor::AttentionOptions options;
  options.spec = path.string();
  options.headDim = model.headWidth();
  options.valueDim = model.valueWidth();
  options.dtype = bf16 ? at::kBFloat16 : at::kFloat;
  options.mask = attention.mask;
  options.device = device == "cuda" ? TAYLOR_CUDA : device == "ptx" ? TAYLOR_PTX : TAYLOR_CPU;
  if (options.device == TAYLOR_CUDA) {
    requireCuda();
    kernel.function.device = at::Device(at::kCUDA, 0);
  }
  for (const auto &[name, value] : attention.parameters)
    options.parameters[name] = formatExactly(value);
  options.documents = documents;
  auto compile = [&] {
    Elapsed elapsed("compiling " + path.string());
    return taylor::Attention(options);
  };
  taylor::Attention compiled = compile();

  const taylor::Manifest &manifest = compiled.manifest();
  if (manifest.mask != "causal")
    fail("requires a causal specification, but '", manifest.spec, "' in '", path.string(),
         "' has a bidirectional sum, or a 'reverse' or a reduction over tokens, by which a token would see "
         "those that it is to predict; write causal there, or pass --set attention.mask=causal for sums");
  if (manifest.outputs.size() != 1)
    fail("requires a specification with one output, but '", manifest.spec, "' has ", manifest.outputs.size());
  kernel.name = manifest.spec;
  kernel.function.inputs = manifest.inputs;
  if (documents) // the last one, which no module makes
    kernel.function.inputs.pop_back();
  kernel.function.documents = documents;
  kernel.function.output = manifest.outputs[0];
  kernel.function.call = [compiled](const std::vector<at::Tensor> &inputs) { return compiled.call(inputs); };
  // Compiled when somebody first continues a text.
  options.documents = false; // a text that is continued is one document
  auto decoder = std::make_shared<std::optional<Decoder>>();
  auto makeDecoder = [=]() -> const Decoder & {
    if (!*decoder) {
      Elapsed elapsed("compiling " + path.string() + " for new tokens");
      decoder->emplace(options);
    }
    return **decoder;
  };
  kernel.function.extend = [=](const std::vector<at::Tensor> &inputs, Decoder::Memory &memory) {
    return makeDecoder().extend(inputs, memory);
  };
  kernel.function.decoder = makeDecoder;
  return kernel;
}

} // namespace taylor::trainer
