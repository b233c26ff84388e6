// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/AttentionKernel.h"
#include "runtime/torch/Cuda.h"
#include "runtime/torch/Decoder.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

bool compiles(const taylor::AttentionOptions &options) {
  try {
    taylor::Attention attention(options);
    return true;
  } catch (const c10::Error &) {
    return false;
  }
}

/// The runtime says so where it takes long. Where it is the documents that do not compile, the message has
/// the trainer's name for that option added.
taylor::Attention compile(const taylor::AttentionOptions &options) {
  try {
    return taylor::Attention(options);
  } catch (const c10::Error &error) {
    taylor::AttentionOptions whole = options;
    whole.documents = false;
    if (!options.documents || !compiles(whole))
      throw;
    std::string message = error.what_without_backtrace();
    while (message.ends_with('\n'))
      message.pop_back();
    fail(message, "; --set data.document_mask=false trains without documents that are kept apart");
  }
}

/// Throws Error for a specification that is causal unless documents are kept apart: what it reads of a whole
/// text, size(u), is then a document's, and so a reduction over tokens to come.
void requireBidirectional(taylor::AttentionOptions options, const std::string &name, const fs::path &path,
                          const std::string &text) {
  options.documents = false;
  if (taylor::Attention(options).manifest().mask != "causal")
    return;
  bool reads = text.find("size(u)") != std::string::npos || text.find("size(t)") != std::string::npos;
  fail("requires a specification that is causal where documents are kept apart, but '", name, "' in '",
       path.string(), "' reads ", reads ? "size(u), which is" : "what is",
       " then a document's and depends on its tokens to come; pass ",
       "--set data.document_mask=false, or write a number for it");
}

} // namespace

bool isNativeCode(const std::string &specification) { return specification.ends_with(".so"); }

void requireChosenCode(const Config &config) {
  const std::string &specification = config.attention.specification;
  if (auto place = config.places.find("attention.specification");
      place != config.places.end() && isNativeCode(specification))
    fail(place->second, "requires --attention ", specification,
         " to load a compiled specification: it is a program of whoever made it, and a file of settings "
         "alone does not ",
         "run it");
}

AttentionKernel compileAttention(const AttentionConfig &attention, const ModelConfig &model, bool bf16,
                                 const std::string &device, bool documents) {
  fs::path path = attention.specification;
  if (attention.text.empty() && !fs::is_regular_file(path))
    fail("expected a specification, but '", path.string(), "' does not exist; examples/specs has some");
  AttentionKernel kernel;
  kernel.text = attention.text.empty() ? readFile(path) : attention.text;
  kernel.file = "attention" + path.extension().string();

  taylor::AttentionOptions options;
  options.spec = attention.text.empty() ? path.string() : attention.text;
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
  taylor::Attention compiled = compile(options);

  const taylor::Manifest &manifest = compiled.manifest();
  if (manifest.mask != "causal" && documents)
    requireBidirectional(options, manifest.spec, path, kernel.text);
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
    if (!*decoder)
      decoder->emplace(options);
    return **decoder;
  };
  kernel.function.extend = [=](const std::vector<at::Tensor> &inputs, Decoder::Memory &memory) {
    return makeDecoder().extend(inputs, memory);
  };
  kernel.function.decoder = makeDecoder;
  return kernel;
}

} // namespace taylor::trainer
