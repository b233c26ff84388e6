// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/checkpoint/Safetensors.h"
#include "trainer/support/Error.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

namespace taylor::trainer {

namespace {

const std::string randomState =
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

// The type of a saved tensor that may be read into one of dtype `wanted`: the same, or for weights one that
// f32 holds exactly.
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

// Copies the file's tensors into those given, once all of them are known to fit; `widens`: also from bf16 and
// fp16.
void readTensors(const fs::path &path, const std::map<std::string, at::Tensor> &tensors, bool widens) {
  SafetensorsFile file(path);
  for (const auto &[name, tensor] : tensors) {
    auto found = file.tensors().find(name);
    if (found == file.tensors().end())
      fail("requires tensor '", name, "', but '", path.string(), "' has none of that name");
    if (found->second.shape != tensor.sizes().vec())
      fail("expected tensor '", name, "' of shape ", shapeText(tensor.sizes().vec()), ", but in '",
           path.string(), "' it has shape ", shapeText(found->second.shape));
    if (!readableAs(found->second.dtype, dtypeOf(tensor), widens))
      fail("expected tensor '", name, "' of dtype ", dtypeOf(tensor), widens ? ", BF16 or F16" : "",
           ", but in '", path.string(), "' it has dtype ", found->second.dtype);
  }
  for (const auto &[name, view] : file.tensors())
    if (!tensors.contains(name))
      fail("unsupported tensor '", name, "' in '", path.string(), "': this model has none of that name");
  c10::NoGradGuard noGrad;
  for (const auto &[name, tensor] : tensors) {
    const TensorView &view = file.tensors().at(name);
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

// What a killed process left half-written.
void removeLeftovers(const fs::path &folder) {
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(".step-"))
      fs::remove_all(entry.path(), error);
}

// Under a hidden name first: a kill leaves nothing that looks like a checkpoint and is none.
void removeCheckpoint(const fs::path &path) {
  fs::path hidden = path.parent_path() / ("." + path.filename().string() + ".old");
  fs::rename(path, hidden);
  fs::remove_all(hidden);
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
  state[randomState] = at::detail::getDefaultCPUGenerator().get_state();
  writeTensors(target.path() / "optimizer.safetensors", state);
  const TrainingState &training = checkpoint.state;
  ordered_json json = {{"step", training.step},
                       {"seed", training.seed},
                       {"batch", training.batch},
                       {"context", training.context},
                       {"training_tokens", training.trainingTokens},
                       {"sampler", training.sampler},
                       {"groups", training.groups},
                       {"pairs", training.pairs},
                       {"symbols", training.symbols},
                       {"skipped_updates", training.updates.skipped},
                       {"recent_losses", training.updates.losses},
                       {"recent_gradient_norms", training.updates.norms},
                       {"evaluations", training.evaluations.count},
                       {"best_validation_loss", training.evaluations.best},
                       {"evaluations_since_best", training.evaluations.since}};
  writeDurably(target.path() / "state.json", json.dump(2) + "\n");
  target.commit();
}

fs::path saveCheckpoint(const fs::path &folder, const Checkpoint &checkpoint, const Model &model,
                        const Optimizer::State &optimizer, const Tokenizer &tokenizer, int64_t keep) {
  removeLeftovers(folder);
  char name[32];
  std::snprintf(name, sizeof name, "step-%06lld", (long long)checkpoint.state.step);
  try {
    writeCheckpoint(folder / name, checkpoint, model, optimizer, tokenizer);
  } catch (const Error &error) {
    std::optional<fs::path> before = newestCheckpoint(folder);
    if (!before)
      throw;
    fail(error.what(), "; '", before->string(), "' is whole, and --resume goes on from there");
  }
  std::map<int64_t, fs::path> all = checkpoints(folder);
  for (auto oldest = all.begin(); keep > 0 && int64_t(all.size()) > keep; oldest = all.erase(oldest))
    removeCheckpoint(oldest->second);
  return folder / name;
}

std::optional<fs::path> newestCheckpoint(const fs::path &folder) {
  std::map<int64_t, fs::path> all = checkpoints(folder);
  return all.empty() ? std::nullopt : std::optional(all.rbegin()->second);
}

void loadModel(const fs::path &checkpoint, const Model &model) {
  readTensors(checkpoint / "model.safetensors", modelTensors(model), /*widens=*/true);
}

void loadOptimizer(const fs::path &checkpoint, const Optimizer::State &room) {
  Optimizer::State state = room;
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  state[randomState] = generator.get_state();
  readTensors(checkpoint / "optimizer.safetensors", state, /*widens=*/false);
  generator.set_state(state[randomState]);
}

TrainingState readTrainingState(const std::string &content, const fs::path &checkpoint,
                                const TrainingState &expected) {
  fs::path path = checkpoint / "state.json";
  json saved = json::parse(content, nullptr, /*allow_exceptions=*/false);
  auto require = [&](const char *name, const char *what, auto is) {
    if (!saved.is_object() || !saved.contains(name) || !is(saved[name]))
      fail("requires ", what, " '", name, "' in '", path.string(), "'");
    return saved[name];
  };
  auto isNumber = [](const json &value) { return value.is_number(); };
  auto get = [&](const char *name) -> int64_t {
    return require(name, "an integer", [](const json &value) { return value.is_number_integer(); });
  };
  auto numbers = [&](const char *name) -> std::vector<double> {
    return require(name, "a list of numbers", [&](const json &value) {
      return value.is_array() && std::all_of(value.begin(), value.end(), isNumber) &&
             value.size() <= OutlierDetector::size;
    });
  };
  auto same = [&](const char *name, const char *key, const json &value) {
    json before = require(name, value.is_string() ? "a string" : "an integer", [&](const json &found) {
      return value.is_string() ? found.is_string() : found.is_number_integer();
    });
    if (before != value)
      fail("expected ", key, " to be ", before.dump(), " as in the checkpoint '", checkpoint.string(),
           "', but got ", value.dump(),
           "; a run continues with what it began with (--overwrite starts anew)");
  };
  same("seed", "run.seed", expected.seed);
  same("batch", "train.batch", expected.batch);
  same("context", "train.context", expected.context);
  same("sampler", "data.sampler", expected.sampler);
  same("groups", "data.groups", expected.groups);
  same("pairs", "data.pairs", expected.pairs);
  same("symbols", "data.symbols", expected.symbols);
  same("training_tokens", "the number of training tokens", expected.trainingTokens);

  TrainingState result = expected;
  result.step = get("step");
  result.updates = {get("skipped_updates"), numbers("recent_losses"), numbers("recent_gradient_norms")};
  result.evaluations = {require("best_validation_loss", "a number", isNumber), get("evaluations"),
                        get("evaluations_since_best")};
  return result;
}

} // namespace taylor::trainer
