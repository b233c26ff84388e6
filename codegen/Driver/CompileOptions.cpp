// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/CompileOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace taylor;
using llvm::StringRef;

namespace {

//===----------------------------------------------------------------------===//
// How fields of each type are read, with a message where the text is malformed, and written
//===----------------------------------------------------------------------===//

using Values = std::vector<std::string>;

std::string readValue(StringRef, StringRef, bool &flag) { return flag = true, ""; }
std::string readValue(StringRef, StringRef text, std::string &value) { return value = text.str(), ""; }
std::string readValue(StringRef, StringRef text, std::vector<std::string> &names) {
  for (StringRef name : llvm::split(text, ','))
    names.push_back(name.str());
  return "";
}
std::string readValue(StringRef name, StringRef text, int64_t &number) {
  bool isInteger = !text.getAsInteger(10, number);
  return isInteger ? "" : ("expected an integer in --" + name + ", but got '" + text + "'").str();
}
std::string readValue(StringRef, StringRef text, std::vector<ParameterSetting> &settings) {
  std::string error;
  mlir::FailureOr<ParameterSetting> setting = parseParameterSetting(text, error);
  if (mlir::failed(setting))
    return error;
  for (const ParameterSetting &other : settings)
    if (other.name == setting->name)
      return "expected '" + setting->name + "' once in --set, but got it twice";
  settings.push_back(*setting);
  return "";
}
/// A word of the option's.
template <typename Choice> std::string readValue(StringRef, StringRef text, Choice &choice) {
  return choice = *symbolizeEnum<Choice>(text), "";
}
template <typename Choice> std::string readValue(StringRef, StringRef text, std::optional<Choice> &choice) {
  return choice = symbolizeEnum<Choice>(text), "";
}

Values writeValue(bool flag) { return Values(flag ? 1 : 0); }
Values writeValue(const std::string &value) { return {value}; }
Values writeValue(const std::vector<std::string> &names) { return {llvm::join(names, ",")}; }
Values writeValue(int64_t number) { return {std::to_string(number)}; }
Values writeValue(const std::vector<ParameterSetting> &settings) {
  Values values;
  for (const ParameterSetting &setting : settings)
    values.push_back(setting.name + "=" + setting.value);
  return values;
}
template <typename Choice> Values writeValue(Choice choice) { return {stringifyEnum(choice).str()}; }
template <typename Choice> Values writeValue(std::optional<Choice> choice) {
  return choice ? writeValue(*choice) : Values();
}

/// A message where `value` names words ("causal|bidirectional") and the text is not one of them.
std::string checkWord(StringRef name, StringRef value, StringRef text) {
  llvm::SmallVector<StringRef> words;
  value.split(words, '|');
  if (words.size() == 1 || llvm::is_contained(words, text))
    return "";
  return ("expected --" + name + "=" + llvm::join(llvm::ArrayRef(words).drop_back(), ", ") + " or " +
          words.back() + ", but got '" + text + "'")
      .str();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// An option that is one field. Numbers are from `low` to `high`.
template <typename T>
CompileOption row(StringRef name, T CompileOptions::*field, StringRef value, StringRef help,
                  int64_t low = INT64_MIN, int64_t high = INT64_MAX) {
  auto read = [=](CompileOptions &options, StringRef text) {
    std::string message = checkWord(name, value, text);
    if (message.empty())
      message = readValue(name, text, options.*field);
    if constexpr (std::is_same_v<T, int64_t>)
      if (message.empty() && (options.*field < low || options.*field > high))
        message = llvm::formatv("expected --{0} from {1} to {2}, but got {3}", name, low, high, text);
    return message;
  };
  auto write = [=](const CompileOptions &options) {
    Values values = writeValue(options.*field);
    return values == writeValue(CompileOptions().*field) ? Values() : values;
  };
  constexpr bool isList = std::is_same_v<T, Values> || std::is_same_v<T, std::vector<ParameterSetting>>;
  return {name, value, help, read, write, isList};
}

CompileOption withOptionalValue(CompileOption option) {
  option.isValueOptional = true;
  return option;
}

} // namespace

llvm::ArrayRef<CompileOption> taylor::compileOptionTable() {
  using O = CompileOptions;
  // Larger heads would not fit the register and cache model; no published model has them.
  constexpr int64_t mostChannels = 1024;
  static const CompileOption table[] = {
      row("target", &O::targets, "name,..",
          "machines to compile for, by comma or repeated, all in one shared object (default: native).\n"
          "Processors: native, x86-64-v3 (AVX2), x86-64-v4 (AVX-512), znver4, znver5, sapphirerapids (AMX).\n"
          "GPUs: sm_80, sm_86, sm_89, sm_90, sm_100, sm_120; a later GPU gets the code of the newest of "
          "these\n"
          "that it runs. sm_90a: H100 and H200 alone, with matrix units that run beside the threads;\n"
          "Experiments (codegen/Targets/NVPTX/HOPPER.md): sm_90a+roles, with warps that copy for others;\n"
          "sm_90a+roles+overlap, whose iterations overlap; +persistent after both, whose blocks also take\n"
          "one place of the grid after the other; +early after sm_90 and later: kernels of a call begin\n"
          "before the one before them has ended. sm_90a+computed: loops rotate keys where they read them;\n"
          "+lengths after all of sm_90a, before +early: further tiles for long sequences"),
      row("dtype", &O::dtype, "f32|bf16|f16|f64", "storage type (default: f32)"),
      row("head-dim", &O::headDim, "N",
          "channels of queries and keys (default: as the specification writes, or 64)", 1, mostChannels),
      row("value-dim", &O::valueDim, "N",
          "channels of values (default: as the specification writes, or as --head-dim)", 1, mostChannels),
      row("f32-products", &O::f32Products, "fma|tf32",
          "how GPUs multiply f32: fma (default), or tf32: on matrix units, operands rounded to 11 bits"),
      row("bf16-products", &O::bf16Products, "auto|rounded|split",
          "operands that are computed in f32, with --dtype=bf16, on targets that multiply bf16\n"
          "(default: auto).\n"
          "rounded: to bf16, as FlashAttention does;\n"
          "split: into two bf16 numbers, for errors of the results' rounding alone, at up to three products\n"
          "instead of one (GPUs);\n"
          "auto: rounded"),
      row("row-sums", &O::rowSums, "separate|atomic",
          "how GPUs sum gradients of queries (default: separate).\n"
          "separate: in a kernel for them alone, with the same bits each time;\n"
          "atomic: in the kernel of the other gradients, added in any order"),
      row("form", &O::form, "auto|parallel|long|chunked|recurrent",
          "how sums over pairs are computed (default: auto).\n"
          "parallel: all pairs;\n"
          "long: the same, with tiles for long sequences (sm_90a+lengths);\n"
          "chunked: pairs within a chunk, and states between chunks (finite sums of powers);\n"
          "recurrent: token by token, with the states of --states (finite sums of powers, forward only);\n"
          "auto: parallel, and long and chunked too if they may pay; each call takes the cheapest one, the\n"
          "manifest says why, and --emit shows the parallel one"),
      row("chunk", &O::chunk, "N", "queries of a chunk, a multiple of 64 (default: the target's choice)"),
      row("states", &O::states, "",
          "add the states before and after a call as optional inputs initial.* and outputs final.*, with\n"
          "gradients: a sequence computed in pieces gives the results of the whole"),
      row("forward-only", &O::forwardOnly, "",
          "leave the backward out, if no call is differentiated: compiles in half the time or less"),
      withOptionalValue(
          row("decode", &O::decode, "auto|state|cache",
              "add a function 'step' for one new token or a few (without a value: auto).\n"
              "state: in the recurrent form, with the states of --states;\n"
              "cache: over what is kept of all keys, by the caller; where it is not inputs as they came, a\n"
              "function 'append' prepares new keys, and 'extend' is 'step' for many queries;\n"
              "auto: state if sums have finitely many orders and states are no larger than the keys and\n"
              "values of a million tokens in f32, else cache")),
      row("set", &O::parameters, "name=value", "value of a free parameter, such as order=4 (repeatable)"),
      row("mask", &O::mask, "causal|bidirectional", "mask instead of the specification's"),
      row("documents", &O::documents, "",
          "compile for sequences of several documents, which an input 'documents' numbers"),
      row("spec", &O::spec, "name", "specification to compile, of a file with several")};
  return table;
}

std::vector<std::string> CompileOptions::getArguments() const {
  std::vector<std::string> arguments;
  for (const CompileOption &option : compileOptionTable())
    for (const std::string &value : option.write(*this))
      arguments.push_back(("--" + option.name + (option.value.empty() ? "" : "=" + value)).str());
  return arguments;
}

std::string CompileOptions::getKey() const {
  CompileOptions sized = *this;
  sized.headDim = getHeadDim();
  sized.valueDim = getValueDim();
  llvm::sort(sized.parameters, [](const auto &left, const auto &right) { return left.name < right.name; });
  std::string key = llvm::join(sized.getArguments(), " ");
  for (const CostSample &sample : formCosts)
    key += llvm::formatv(" {0}:{1}x{2}={3}", stringifyFunctionRole(sample.function), sample.features,
                         sample.channels, sample.factor);
  return key;
}

std::string CompileOptions::checkProducts() const {
  // Refused rather than without effect: who asks for it expects other numbers, or another speed.
  if (f32Products == F32Products::TF32 && dtype != StorageType::F32)
    return ("requires --dtype=f32 for --f32-products=tf32, but got " + stringifyStorageType(dtype) +
            ", whose products have no operands of f32")
        .str();
  if (bf16Products != BF16Products::Auto && dtype != StorageType::BF16)
    return ("requires --dtype=bf16 for --bf16-products=" + stringifyBF16Products(bf16Products) +
            ", but got " + stringifyStorageType(dtype))
        .str();
  return "";
}

std::string CompileOptions::check() const {
  if (std::string message = checkProducts(); !message.empty())
    return message;
  if (decode && form == FormChoice::Recurrent)
    return "expected --decode or --form=recurrent, which makes the same of the forward, but got both";
  if (chunk && form != FormChoice::Chunked)
    return "requires --form=chunked for --chunk=" + std::to_string(chunk);
  if (chunk < 0 || chunk % 64 || chunk > 1 << 20)
    return "expected a multiple of 64 up to 1048576 for --chunk, in which tiles of queries lie whole, but "
           "got " +
           std::to_string(chunk);
  return "";
}
