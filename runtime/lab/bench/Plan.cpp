// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Plan.h"
#include "runtime/Error.h"
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;
using runtime::fail;

/// Throws unless `name` is one of `known`.
void require(const std::string &what, const std::string &name, const std::vector<std::string> &known) {
  if (std::find(known.begin(), known.end(), name) != known.end())
    return;
  std::string all;
  for (const std::string &k : known)
    all += (all.empty() ? "" : ", ") + k;
  fail("expected ", what, " of ", all, ", but got '", name, "'");
}

PlanArgument parseArgument(const Json &json, const Plan &plan) {
  if (!json.is_object() || json.size() != 1)
    fail("expected an argument {\"KIND\": VALUE}, but got ", json.dump());
  const std::string &kind = json.begin().key();
  const Json &value = json.begin().value();
  require("an argument", kind, {"tensor", "workspace", "i32", "i64", "f32"});
  if (kind == "tensor") {
    require("a tensor", value.get<std::string>(), {"q", "k", "v", "o", "do", "dq", "dk", "dv"});
    return PlanTensor{value};
  }
  if (kind == "workspace") {
    if (!plan.workspace.contains(value))
      fail("requires the bytes of workspace '", value.get<std::string>(), "'");
    return PlanWorkspace{value};
  }
  if (kind == "f32")
    return value.get<float>();
  if (kind == "i64")
    return value.get<int64_t>();
  return value.get<int32_t>();
}

std::vector<PlanKernel> parseKernels(const Json &json, const Plan &plan, const std::string &folder) {
  std::vector<PlanKernel> kernels;
  for (const Json &one : json) {
    PlanKernel kernel{folder + "/" + one.at("ptx").get<std::string>(),
                      one.at("entry"),
                      one.at("grid"),
                      one.at("threads"),
                      one.at("shared"),
                      one.value("spilled", size_t(0)),
                      {}};
    for (const Json &argument : one.at("arguments"))
      kernel.arguments.push_back(parseArgument(argument, plan));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

Plan parsePlan(const Json &json, const std::string &folder) {
  Plan plan{json.at("contender"),
            json.at("variant"),
            json.at("target"),
            json.at("direction"),
            json.at("mask"),
            json.at("dtype"),
            Shape::parse(json.at("shape")),
            json.value("workspace", std::map<std::string, size_t>()),
            {},
            {}};
  require("a direction", plan.direction, {"forward", "backward"});
  require("a mask", plan.mask, {"causal", "bidirectional"});
  require("a dtype", plan.dtype, {"bf16", "f16"});
  if (plan.shape.g != plan.shape.h || plan.shape.u != plan.shape.t || plan.shape.e != plan.shape.d)
    fail("expected a shape B,H,T,D, but got '", plan.shape.text(), "'");
  plan.before = parseKernels(json.value("before", Json::array()), plan, folder);
  plan.kernels = parseKernels(json.at("kernels"), plan, folder);
  return plan;
}

} // namespace

std::vector<Plan> readPlans(const std::string &folder) {
  std::string path = folder + "/plans.json";
  std::ifstream file(path);
  if (!file)
    fail("expected a folder with plans.json (see triton_attention.py), but could not read '", path, "'");
  try {
    std::vector<Plan> plans;
    for (const Json &json : Json::parse(file))
      plans.push_back(parsePlan(json, folder));
    return plans;
  } catch (const Json::exception &error) {
    fail(path, ": ", error.what());
  } catch (const runtime::Error &error) {
    fail(path, ": ", error.what());
  }
}

} // namespace taylor::bench
