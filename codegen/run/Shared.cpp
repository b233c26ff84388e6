// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Shared.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"

using namespace taylor;
using namespace taylor::run;

namespace {

/// Options as text, each after its name: equal where the options are.
class Key {
public:
  template <typename T> Key &add(llvm::StringRef name, const T &value) {
    stream << name << '=' << value << '\n';
    return *this;
  }
  template <typename T> Key &addAll(llvm::StringRef name, const std::map<std::string, T> &values) {
    for (auto &[of, value] : values)
      stream << name << ':' << of << '=' << value << '\n';
    return *this;
  }
  std::string take() { return std::move(text); }

private:
  std::string text;
  llvm::raw_string_ostream stream{text};
};

/// Both of these: the specification as it is compiled and evaluated.
void start(Key &key, const RunOptions &options, const CompileOptions &compile) {
  key.add("spec", options.spec).add("compile", compile.getKey());
}

/// What taylorc is called with, without --decode and --forward-only.
std::string kernelKey(const RunOptions &options) {
  auto size = [&](AxisRole axis) {
    auto it = options.shape.find(std::string(nameOf(axis)));
    return it == options.shape.end() ? int64_t(-1) : it->second;
  };
  Key key;
  start(key, options, options.compile);
  int64_t headDim = size(AxisRole::Channel), valueDim = size(AxisRole::ValueChannel);
  key.add("head-dim", headDim).add("value-dim", valueDim);
  if (headDim < 0 || valueDim < 0) // then files say how many channels there are
    key.addAll("input", options.inputs);
  key.add("device", static_cast<int>(options.device)).add("target", options.target);
  key.add("states", !options.pieces.empty());
  return key.take();
}

/// What the reference and eager code are given.
std::string problemKey(const RunOptions &options, bool withGradients) {
  CompileOptions compile = options.compile;
  compile.bf16Products = BF16Products::Auto;
  compile.form = FormChoice::Auto;
  compile.chunk = 0;
  Key key;
  start(key, options, compile);
  key.addAll("shape", options.shape).addAll("input", options.inputs).addAll("cotangent", options.cotangents);
  key.add("offset", options.offset.has_value()).add("at", options.offset.value_or(0));
  key.add("seed", options.seed).add("scale", llvm::bit_cast<uint64_t>(options.scale));
  key.add("gradients", withGradients);
  return key.take();
}

} // namespace

Shared::Shared(llvm::ArrayRef<RunOptions> cases) {
  for (const RunOptions &options : cases)
    if (options.decode)
      decodes.emplace(kernelKey(options), *options.decode);
  for (const RunOptions &options : cases)
    if (options.hasGradients())
      withBackward.insert(kernelKey(options));
}

std::optional<Decode> Shared::decodeOf(const RunOptions &options) const {
  auto it = decodes.find(kernelKey(options));
  return !options.decode && it != decodes.end() ? it->second : options.decode;
}

std::string Shared::compiledKey(const RunOptions &options) const {
  std::optional<Decode> decode = decodeOf(options);
  return kernelKey(options) + (decode ? stringifyDecode(*decode).str() : "");
}

bool Shared::needsBackward(const RunOptions &options) const {
  return withBackward.count(kernelKey(options)) > 0;
}

KernelPtr Shared::findKernel(const RunOptions &options) const {
  auto it = kernels.find(compiledKey(options));
  return it == kernels.end() ? nullptr : it->second;
}

void Shared::addKernel(const RunOptions &options, KernelPtr kernel) {
  kernels.emplace(compiledKey(options), std::move(kernel));
}

std::optional<Expectation> Shared::findExpectation(const RunOptions &options, bool withGradients) const {
  return problemKey(options, withGradients) == problem ? expectation : std::nullopt;
}

void Shared::setExpectation(const RunOptions &options, bool withGradients, const Expectation &given) {
  problem = problemKey(options, withGradients);
  expectation = given;
}
