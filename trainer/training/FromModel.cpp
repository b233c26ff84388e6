// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/FromModel.h"
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/distributed/GradientReducer.h"
#include "trainer/support/Error.h"
#include <filesystem>
#include <regex>
#include <set>

namespace fs = std::filesystem;

namespace taylor::trainer {

void takeSizesAndTokenizer(Config &config) {
  if (config.model.from.empty())
    return;
  fs::path folder = config.model.from;
  config.model = readSizes(folder, config.model);
  if (!config.data.tokenizer.empty() || config.data.sampler == "recall")
    return;
  std::error_code error;
  if (!fs::is_regular_file(folder / "tokenizer.model", error))
    fail("requires the tokenizer that the weights of model.from were trained with, but '",
         (folder / "tokenizer.model").string(), "' is not there; pass --set data.tokenizer=FILE");
  config.data.tokenizer = (folder / "tokenizer.model").string();
}

/// Names of tensors, those of all layers as one: "model.layers.*.self_attn.out_gate_proj.weight".
static std::string listTensors(const std::vector<std::string> &names) {
  static const std::regex layer("layers\\.[0-9]+\\.");
  std::string list;
  std::set<std::string> seen;
  for (const std::string &name : names)
    if (std::string shape = std::regex_replace(name, layer, "layers.*."); seen.insert(shape).second)
      list += (list.empty() ? "" : ", ") + shape;
  return list;
}

std::vector<std::string> startFromModel(const std::string &folder, const Model &model, const Group &group) {
  StartedFrom started;
  if (group.isFirst())
    started = startFrom(Weights(folder), model);
  broadcastParameters(group, model.parameters());
  std::vector<std::string> lines = {text("from       ", folder, ": ", started.taken, " tensors")};
  if (!started.initial.empty())
    lines.push_back(text("new        ", started.initial.size(),
                         " tensors that are not there: ", listTensors(started.initial)));
  if (!started.unused.empty())
    lines.push_back(text("left out   ", started.unused.size(),
                         " tensors that this model has not: ", listTensors(started.unused)));
  return lines;
}

} // namespace taylor::trainer
