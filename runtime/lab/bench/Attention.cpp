// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/Rows.h"
#include <nlohmann/json.hpp>

namespace taylor::bench {

using Json = nlohmann::json;

Json benchAttention(const Request &request, const std::vector<std::string> &directions,
                    const std::vector<std::string> &opponents) {
  useThreads(request);
  Attention attention(request.attention());
  const Manifest &manifest = attention.manifest();
  std::vector<at::Tensor> inputs = makeInputs(manifest, request);

  std::vector<Contender> contenders;
  contenders.push_back(
      {"taylor", [&](const std::vector<at::Tensor> &tensors) { return attention.call(tensors); }});
  for (const std::string &name : opponents)
    contenders.push_back(makeOpponent(name, manifest, request));
  std::vector<Runner> runners = makeRunners(contenders, inputs, request.clock == "cpu");

  Json rows = Json::array();
  for (const std::string &direction : directions) {
    rows.push_back(
        describeRow(request, direction, manifest, measure(request, direction, runners), contenders, 0));
    printRow(rows.back());
  }
  return rows;
}

} // namespace taylor::bench
