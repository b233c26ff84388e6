// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/checkpoint/Safetensors.h"
#include "trainer/support/Error.h"
#include "trainer/support/Json.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

namespace taylor::trainer {

namespace {

const std::string kRandomState =
    "random.cpu"; // the state of torch's default generator, among the optimizer's tensors

std::string dtypeOf(const at::Tensor &tensor) {
  switch (tensor.scalar_type()) {
  case at::kFloat:
    return "F32";
  case at::kByte:
    return "U8";
  default:
    fail("cannot save a tensor of dtype ", toString(tensor.scalar_type()));
  }
}

/// The type of a saved tensor that may be read into one of dtype `wanted`: the same, or for weights one that
/// f32 holds exactly.
std::optional<at::ScalarType> readableAs(const std::string &saved, const std::string &wanted, bool widens) {
  if (saved == wanted)
    return wanted == "F32" ? at::kFloat : at::kByte;
  if (widens && wanted == "F32" && saved == "BF16")
    return at::kBFloat16;
  if (widens && wanted == "F32" && saved == "F16")
    return at::kHalf;
  return std::nullopt;
}

void writeTensors(const fs::path &path, const std::map<std::string, at::Tensor> &tensors) {
  std::map<std::string, TensorView> views;
  std::vector<at::Tensor> alive; // contiguous copies on the processor, where one is needed
  for (const auto &[name, tensor] : tensors) {
    alive.push_back(tensor.detach().cpu().contiguous());
    const at::Tensor &dense = alive.back();
    views[name] = {dtypeOf(dense), dense.sizes().vec(), static_cast<const char *>(dense.const_data_ptr()),
                   dense.nbytes()};
  }
  writeSafetensors(path, views, {{"format", "pt"}});
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string out = "[";
  for (int64_t size : shape)
    out += (out.size() > 1 ? ", " : "") + std::to_string(size);
  return out + "]";
}

using Views = std::map<std::string, TensorView>;

/// Throws Error unless the tensors that were saved in `origin` are those given, by name, shape and dtype;
/// `widens`: or bf16 or fp16 in place of f32.
void requireTensors(const Views &saved, const std::string &origin,
                    const std::map<std::string, at::Tensor> &tensors, bool widens) {
  for (const auto &[name, tensor] : tensors) {
    auto found = saved.find(name);
    if (found == saved.end())
      fail("requires tensor '", name, "', but '", origin, "' has none of that name");
    if (found->second.shape != tensor.sizes().vec())
      fail("expected tensor '", name, "' of shape ", shapeText(tensor.sizes().vec()), ", but in '", origin,
           "' it has shape ", shapeText(found->second.shape));
    if (!readableAs(found->second.dtype, dtypeOf(tensor), widens))
      fail("expected tensor '", name, "' of dtype ", dtypeOf(tensor), widens ? ", BF16 or F16" : "",
           ", but in '", origin, "' it has dtype ", found->second.dtype);
  }
  for (const auto &[name, view] : saved)
    if (!tensors.contains(name))
      fail("unsupported tensor '", name, "' in '", origin, "': this model has none of that name");
}

/// Copies saved tensors into those given, once all of them are known to fit.
void readTensors(const Views &saved, const std::string &origin,
                 const std::map<std::string, at::Tensor> &tensors, bool widens) {
  requireTensors(saved, origin, tensors, widens);
  c10::NoGradGuard noGrad;
  for (const auto &[name, tensor] : tensors) {
    const TensorView &view = saved.at(name);
    at::Tensor saved = at::empty(view.shape, *readableAs(view.dtype, dtypeOf(tensor), widens));
    if (view.size) // into memory of its own: a tensor in the file may begin anywhere
      std::memcpy(saved.mutable_data_ptr(), view.data, view.size);
    tensor.detach().copy_(saved);
  }
}

std::map<std::string, at::Tensor> modelTensors(const Model &model) {
  std::map<std::string, at::Tensor> tensors;
  for (const Parameter &parameter : model.parameters())
    tensors[parameter.name] = parameter.value;
  return tensors;
}

std::map<int64_t, fs::path> checkpoints(const fs::path &folder) {
  std::map<int64_t, fs::path> found;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("step-") && name.size() > 5 && name.size() < 24 &&
        std::all_of(name.begin() + 5, name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      found[std::stoll(name.substr(5))] = entry.path();
  }
  return found;
}

/// What a killed process left half-written.
void removeLeftovers(const fs::path &folder) {
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(".step-"))
      fs::remove_all(entry.path(), error);
}

/// Under a hidden name first: a kill leaves nothing that looks like a checkpoint and is none. What went
/// wrong.
std::error_code removeCheckpoint(const fs::path &path) {
  std::error_code error;
  fs::path hidden = path.parent_path() / ("." + path.filename().string() + ".old");
  fs::rename(path, hidden, error);
  if (!error)
    fs::remove_all(hidden, error);
  return error;
}

/// What JSON has no word for is null.
double readNumber(const json &value, double null) { return value.is_null() ? null : value.get<double>(); }

/// Reads state.json, with one message for whatever is not there.
class StateReader {
public:
  StateReader(const std::string &content, const fs::path &checkpoint)
      : saved(parseJson(content)), path(checkpoint / "state.json") {}

  bool has(const char *name) const { return saved.is_object() && saved.contains(name); }
  json require(const char *name, const char *what, bool (*is)(const json &)) const {
    if (!saved.is_object() || !saved.contains(name) || !is(saved[name]))
      fail("requires ", what, " '", name, "' in '", path.string(),
           "': it is damaged, or of another version of taylor-train; remove that checkpoint to go on from "
           "the one "
           "before, or begin anew with --overwrite");
    return saved[name];
  }
  /// Counted by a run from 0 on; further than any run goes it would only overflow.
  int64_t count(const char *name) const {
    return require(name, text("a whole number from 0 to ", kMostTokens).c_str(), isCount<kMostTokens>);
  }
  int64_t steps(const char *name) const {
    return require(name, text("a whole number from 0 to ", kMostSteps).c_str(), isCount<kMostSteps>);
  }
  /// So too, except for what there has not been yet, -1.
  int64_t stepOrNone(const char *name) const {
    return saved.is_object() && saved.contains(name) && saved[name] == -1 ? -1 : steps(name);
  }
  std::string word(const char *name) const {
    return require(name, "a string", [](const json &value) { return value.is_string(); });
  }
  double number(const char *name, double null) const {
    return readNumber(require(name, "a number", isNumber), null);
  }
  std::vector<double> numbers(const char *name) const {
    std::vector<double> result;
    for (const json &value : require(name, "a list of numbers", [](const json &value) {
           return value.is_array() && value.size() <= OutlierDetector::kSize &&
                  std::all_of(value.begin(), value.end(), isNumber);
         }))
      result.push_back(readNumber(value, NAN));
    return result;
  }
  std::map<std::string, std::string> words(const char *name) const {
    return require(name, "a table of strings", [](const json &value) {
      return value.is_object() &&
             std::all_of(value.begin(), value.end(), [](const json &one) { return one.is_string(); });
    });
  }

private:
  template <int64_t most> static bool isCount(const json &value) {
    return value.is_number_unsigned() && value.get<uint64_t>() <= uint64_t(most);
  }
  static bool isNumber(const json &value) { return value.is_number() || value.is_null(); }

  json saved;
  fs::path path;
};

/// Throws Error that says how a run would not be the one that it is to continue.
void requireSameRun(const StateReader &saved, const fs::path &checkpoint, const TrainingState &expected) {
  const char *const anew = "; a run continues with what it began with (--overwrite starts anew)";
  std::string where = "the checkpoint '" + checkpoint.string() + "'";
  std::map<std::string, std::string> settings = saved.words("settings");
  for (const auto &[key, value] : expected.settings)
    if (auto before = settings.find(key); before != settings.end() && before->second != value)
      fail("expected ", key, " to be ", before->second, " as in ", where, ", but got ", value, anew);
  if (saved.word("specification") != expected.specification) {
    fs::path file = checkpoint / "attention.mlir";
    if (std::error_code error; !fs::exists(file, error))
      file.replace_extension(".so");
    fail("expected the specification of ", where, ", but got another; pass --attention ", file.string(),
         " to go on with it", anew);
  }
  if (int64_t before = saved.count("training_tokens"); before != expected.trainingTokens)
    fail("expected the number of training tokens to be ", before, " as in ", where, ", but got ",
         expected.trainingTokens, anew);
  if (saved.word("text") != expected.text)
    fail("expected the text and the tokenizer of ", where,
         ", but got others with as many tokens; data.path in its config.toml says which it was", anew);
}

} // namespace

static void writeCheckpoint(const fs::path &path, const Checkpoint &checkpoint, const Model &model,
                            const Optimizer::State &optimizer, const Tokenizer &tokenizer) {
  AtomicFolder target(path);
  writeHuggingFace(target.path(), checkpoint.description, checkpoint.specification, model, tokenizer);
  writeDurably(target.path() / checkpoint.description.attention, checkpoint.specification);
  writeDurably(target.path() / "config.toml", checkpoint.settings);
  writeTensors(target.path() / "model.safetensors", modelTensors(model));
  Optimizer::State state = optimizer;
  state[kRandomState] = at::detail::getDefaultCPUGenerator().get_state();
  writeTensors(target.path() / "optimizer.safetensors", state);
  const TrainingState &training = checkpoint.state;
  ordered_json settings = ordered_json::object(), changeable = ordered_json::object();
  for (const auto &[key, value] : training.settings)
    settings[key] = value;
  for (const auto &[key, value] : training.changeable)
    changeable[key] = value;
  ordered_json json = {{"step", training.step},
                       {"learned_targets", training.learned},
                       {"settings", settings},
                       {"changeable", changeable},
                       {"specification", training.specification},
                       {"text", training.text},
                       {"training_tokens", training.trainingTokens},
                       {"last_losses", training.losses},
                       {"skipped_updates", training.updates.skipped},
                       {"recent_losses", training.updates.losses},
                       {"recent_gradient_norms", training.updates.norms},
                       {"evaluated_step", training.evaluatedStep},
                       {"validation_loss", training.evaluated.loss},
                       {"validation_accuracy", training.evaluated.accuracy},
                       {"evaluations", training.evaluations.count},
                       {"best_validation_loss", training.evaluations.best},
                       {"evaluations_since_best", training.evaluations.since}};
  writeDurably(target.path() / "state.json", json.dump(2) + "\n");
  target.commit();
}

void removeOldCheckpoints(const fs::path &folder, int64_t keep,
                          const std::function<void(const std::string &)> &warn) {
  removeLeftovers(folder);
  std::map<int64_t, fs::path> all = checkpoints(folder);
  for (auto oldest = all.begin(); keep > 0 && int64_t(all.size()) > keep; oldest = all.erase(oldest))
    if (std::error_code error = removeCheckpoint(oldest->second))
      warn(text("warning: cannot remove the old checkpoint '", oldest->second.string(),
                "': ", error.message(), "; the next checkpoint tries again"));
}

fs::path checkpointOf(const fs::path &folder, int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%06lld", (long long)step);
  return folder / name;
}

void saveCheckpoint(const fs::path &folder, const Checkpoint &checkpoint, const Model &model,
                    const Optimizer::State &optimizer, const Tokenizer &tokenizer, int64_t keep,
                    const std::function<void(const std::string &)> &warn) {
  removeLeftovers(folder);
  try {
    writeCheckpoint(checkpointOf(folder, checkpoint.state.step), checkpoint, model, optimizer, tokenizer);
  } catch (const Error &error) {
    std::optional<fs::path> before = newestCheckpoint(folder);
    if (!before)
      throw;
    std::string inLessRoom;
    if (std::map<int64_t, fs::path> all = checkpoints(folder); all.size() > 1)
      inLessRoom = text(", with --set checkpoint.keep=1 in less room; on a full disk remove '",
                        all.begin()->second.string(), "' first");
    fail(error.what(), "; '", before->string(), "' is whole, and --resume goes on from there", inLessRoom);
  }
  removeOldCheckpoints(folder, keep, warn);
}

std::optional<fs::path> newestCheckpoint(const fs::path &folder) {
  std::map<int64_t, fs::path> all = checkpoints(folder);
  return all.empty() ? std::nullopt : std::optional(all.rbegin()->second);
}

void requireWeights(const Weights &weights, const Model &model) {
  requireTensors(weights.tensors(), weights.origin(), modelTensors(model), /*widens=*/true);
}

void loadModel(const Weights &weights, const Model &model) {
  readTensors(weights.tensors(), weights.origin(), modelTensors(model), /*widens=*/true);
}

StartedFrom startFrom(const Weights &weights, const Model &model) {
  const char *embeddings = "model.embed_tokens.weight", *head = "lm_head.weight";
  StartedFrom result;
  Views there = weights.tensors(), taken;
  if (!there.contains(head) && there.contains(embeddings))
    there.emplace(head, there.at(embeddings));
  std::map<std::string, at::Tensor> filled;
  for (const auto &[name, tensor] : modelTensors(model)) {
    auto found = there.find(name);
    if (found == there.end()) {
      result.initial.push_back(name);
      continue;
    }
    taken.emplace(name, found->second);
    filled[name] = tensor;
  }
  for (const auto &[name, view] : weights.tensors())
    if (!filled.contains(name))
      result.unused.push_back(name);
  if (filled.empty())
    fail("expected tensors of a Llama in '", weights.origin(), "', such as ", embeddings,
         ", but none has a name of this model's");
  readTensors(taken, weights.origin(), filled, /*widens=*/true);
  result.taken = int64_t(filled.size());
  return result;
}

void loadOptimizer(const fs::path &checkpoint, const Optimizer::State &room) {
  Optimizer::State state = room;
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  state[kRandomState] = generator.get_state();
  SafetensorsFile file(checkpoint / "optimizer.safetensors");
  readTensors(file.tensors(), checkpoint / "optimizer.safetensors", state, /*widens=*/false);
  generator.set_state(state[kRandomState]);
}

TrainingState readTrainingState(const std::string &content, const fs::path &checkpoint,
                                const TrainingState &expected) {
  StateReader saved(content, checkpoint);
  requireSameRun(saved, checkpoint, expected);
  TrainingState result = expected;
  result.changes.clear();
  // Checkpoints of before have no such table.
  std::map<std::string, std::string> before =
      saved.has("changeable") ? saved.words("changeable") : std::map<std::string, std::string>();
  for (const auto &[key, value] : expected.changeable)
    if (auto was = before.find(key); was != before.end() && was->second != value)
      result.changes.push_back(text(key, " = ", value, ", which was ", was->second));
  result.step = saved.steps("step");
  result.learned = saved.count("learned_targets");
  result.losses = saved.numbers("last_losses");
  result.updates = {saved.count("skipped_updates"), saved.numbers("recent_losses"),
                    saved.numbers("recent_gradient_norms")};
  result.evaluatedStep = saved.stepOrNone("evaluated_step");
  result.evaluated = {saved.number("validation_loss", NAN), saved.number("validation_accuracy", NAN)};
  result.evaluations = {saved.number("best_validation_loss", INFINITY), saved.count("evaluations"),
                        saved.count("evaluations_since_best")};
  return result;
}

} // namespace taylor::trainer
