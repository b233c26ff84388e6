// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/checkpoint/Weights.h"
#include "trainer/support/Error.h"
#include "trainer/support/Json.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace taylor::trainer {

Weights::Weights(const fs::path &folder) : list(folder / "model.safetensors") {
  std::error_code error;
  if (fs::exists(list, error)) {
    files.emplace_back(list);
    all = files[0].tensors();
    return;
  }
  list = folder / "model.safetensors.index.json";
  if (!fs::exists(list, error))
    fail("requires model.safetensors, or model.safetensors.index.json and the shards that it names, but '",
         folder.string(), "' has neither");
  openShards(folder);
}

void Weights::openShards(const fs::path &folder) {
  json index = parseJson(readFile(list));
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    fail("requires a table 'weight_map' of tensors and their files in '", list, "'");
  std::map<std::string, size_t> opened;
  for (const auto &[tensor, file] : index["weight_map"].items()) {
    // A name alone: weights that lie in another folder are not this model's.
    if (!file.is_string() || fs::path(file.get<std::string>()).filename() != file.get<std::string>())
      fail("expected a file of the folder for tensor '", tensor, "' in '", list, "', but got ", file.dump());
    std::string name = file;
    auto [place, isNew] = opened.insert({name, files.size()});
    if (isNew) {
      std::error_code error;
      if (!fs::exists(folder / name, error))
        fail("requires '", name, "', which '", list, "' names, but '", folder.string(),
             "' has none; copy it too");
      files.emplace_back(folder / name);
    }
    const auto &tensors = files[place->second].tensors();
    auto found = tensors.find(tensor);
    if (found == tensors.end())
      fail("requires tensor '", tensor, "' in '", (folder / name).string(), "', where '", list,
           "' has it, but there is none of that name");
    all[tensor] = found->second;
  }
  size_t count = 0;
  for (const SafetensorsFile &file : files)
    count += file.tensors().size();
  if (count != all.size())
    fail("expected ", all.size(), " tensors in the shards of '", list, "', but they have ", count);
}

} // namespace taylor::trainer
