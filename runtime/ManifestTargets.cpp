// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets of a manifest: how each function runs on each machine. What contradicts itself or the rest of
// the manifest is refused, since a GPU would read wrong addresses by it.
#include "runtime/Error.h"
#include "runtime/ManifestJson.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace taylor::runtime {

void checkFields(const Json &object, std::initializer_list<const char *> known, const std::string &where) {
  if (!object.is_object())
    fail("expected an object as ", where, " of the manifest, but got ", object.dump());
  for (auto &[name, value] : object.items())
    if (std::ranges::find(known, name) == known.end())
      fail("unsupported field '", name, "' in ", where, " of the manifest");
}

namespace {

constexpr int64_t kMostThreads = 1024;                                    // of a block, on every GPU
constexpr int64_t kMostShared = 1 << 20;                                  // bytes; no GPU has as much
constexpr size_t kMostExtents = 8, kMostArguments = TAYLOR_MAX_ARGUMENTS; // of a kernel

std::vector<Extent> parseExtents(const Json &object, const char *key, const std::string &where) {
  std::vector<Extent> extents;
  for (const std::string &text : get<std::vector<std::string>>(object, key, where))
    extents.push_back(Extent::parse(text, where));
  if (extents.size() > kMostExtents)
    fail("expected at most ", kMostExtents, " extents in field '", key, "' in ", where,
         " of the manifest, but got ", extents.size());
  return extents;
}

WorkspaceInfo parseWorkspace(const Json &json, const std::string &function) {
  WorkspaceInfo workspace;
  workspace.name = get<std::string>(json, "name", "a workspace of " + function);
  std::string where = "workspace '" + workspace.name + "' of " + function;
  checkFields(json, {"name", "axes", "sizes", "dtype"}, where);
  workspace.sizes = parseExtents(json, "sizes", where);
  workspace.dtype = parseDtype(get<std::string>(json, "dtype", where), where);
  return workspace;
}

/// Reads one kernel of a GPU.
class KernelEntryParser {
public:
  KernelEntryParser(const Manifest &manifest, FunctionInfo &function, const FormCode &code,
                    std::string functionText)
      : manifest(manifest), function(function), code(code), functionText(std::move(functionText)) {}

  KernelInfo parse(const Json &json) {
    KernelInfo kernel;
    kernel.name = get<std::string>(json, "name", "a kernel of " + functionText);
    where = "kernel '" + kernel.name + "' of " + functionText;
    checkFields(json,
                {"name", "entry", "grid", "threads", "shared", "arguments", "persistent", "early", "maps"},
                where);
    kernel.entry = get<std::string>(json, "entry", where);
    kernel.grid = parseExtents(json, "grid", where);
    kernel.threads = number(json, "threads", 1, kMostThreads);
    kernel.shared = number(json, "shared", 0, kMostShared);
    for (const Json &argument : field(json, "arguments", where))
      kernel.arguments.push_back(parseArgument(argument));
    if (kernel.arguments.size() > kMostArguments)
      fail("expected at most ", kMostArguments, " arguments in ", where, " of the manifest, but got ",
           kernel.arguments.size());
    kernel.isPersistent = json.contains("persistent") && get<bool>(json, "persistent", where);
    kernel.startsEarly = json.contains("early") && get<bool>(json, "early", where);
    if (json.contains("maps"))
      for (const Json &map : json["maps"])
        kernel.maps.push_back(parseMap(map, kernel));
    return kernel;
  }

private:
  int64_t number(const Json &json, const char *key, int64_t low, int64_t high) {
    const Json &value = field(json, key, where);
    if (!value.is_number_integer() || value.get<int64_t>() < low || value.get<int64_t>() > high)
      fail("expected a number from ", low, " to ", high, " of field '", key, "' in ", where,
           " of the manifest, but got ", value.dump());
    return value.get<int64_t>();
  }

  KernelMap parseMap(const Json &json, const KernelInfo &kernel) {
    std::string mapText = "a map of " + where;
    checkFields(json, {"argument", "box", "swizzle"}, mapText);
    KernelMap map;
    map.argument = int(number(json, "argument", 0, int64_t(kernel.arguments.size()) - 1));
    map.box = get<std::vector<int64_t>>(json, "box", mapText);
    map.swizzle = int(number(json, "swizzle", 32, 128));
    if (map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
      fail("expected swizzle 32, 64 or 128 in ", mapText, " of the manifest, but got ", map.swizzle);
    constexpr size_t mostAxes = 5;
    constexpr int64_t mostElements = 256;
    const KernelArgument &argument = kernel.arguments[size_t(map.argument)];
    size_t axes = argument.workspace >= 0 ? code.workspace[size_t(argument.workspace)].sizes.size()
                                          : tensorOf(argument).axes.size();
    bool fits = map.box.size() == axes && axes >= 1 && axes <= mostAxes;
    for (int64_t size : map.box)
      fits &= size >= 1 && size <= mostElements;
    if (!fits)
      fail("expected a box of 1 to ", mostElements, " elements along each of its array's axes, at most ",
           mostAxes, ", in ", mapText, " of the manifest, but got ", field(json, "box", mapText).dump());
    // Its stride is 1, which a map asks for.
    if (argument.workspace < 0 && !tensorOf(argument).axes.back().isChannel())
      fail("expected an array whose last axis is a channel for ", mapText, " of the manifest, but got '",
           function.slots[size_t(argument.slot)].label, "'");
    return map;
  }

  const TensorInfo &tensorOf(const KernelArgument &argument) const {
    return manifest.tensor(function.slots[size_t(argument.slot)]);
  }

  KernelArgument parseArgument(const Json &json) {
    std::string argumentText = "an argument of " + where;
    checkFields(json, {"tensor", "workspace", "aligned16"}, argumentText);
    if (json.contains("tensor") == json.contains("workspace"))
      fail("expected either a tensor or a workspace as ", argumentText, " of the manifest, but got ",
           json.dump());
    KernelArgument argument;
    if (json.contains("tensor")) {
      argument.slot = indexOf(get<std::string>(json, "tensor", argumentText), function.slots, &Slot::label);
      function.slots[size_t(argument.slot)].aligned16 |= get<bool>(json, "aligned16", argumentText, false);
    } else {
      argument.workspace =
          indexOf(get<std::string>(json, "workspace", argumentText), code.workspace, &WorkspaceInfo::name);
    }
    return argument;
  }

  template <typename T>
  int indexOf(const std::string &name, const std::vector<T> &list, std::string T::*member) {
    auto found = std::ranges::find(list, name, member);
    if (found == list.end())
      fail("expected arguments of ", where, " that ", functionText, " has, but got '", name, "'");
    return int(found - list.begin());
  }

  const Manifest &manifest;
  FunctionInfo &function;
  const FormCode &code;
  std::string functionText, where;
};

/// A finite number of at least 0; 0 where the field is absent.
double parseCount(const Json &json, const char *key, const std::string &where) {
  double value = get<double>(json, key, where, 0.0);
  if (!(value >= 0) || !std::isfinite(value))
    fail("expected a number of at least 0 in field '", key, "' in ", where, " of the manifest, but got ",
         value);
  return value;
}

CallCost parseCost(const Json &json, const std::string &where) {
  checkFields(json, {"call", "pair", "query", "key"}, where);
  return {parseCount(json, "call", where), parseCount(json, "pair", where), parseCount(json, "query", where),
          parseCount(json, "key", where)};
}

FormOperations parseOperations(const Json &json, const std::string &where) {
  checkFields(json, {"pair", "query", "key"}, where);
  return {parseCount(json, "pair", where), parseCount(json, "query", where), parseCount(json, "key", where)};
}

FormCode parseForm(const Json &json, const Manifest &manifest, FunctionInfo &function,
                   const TargetInfo &target, const std::string &where) {
  FormCode code;
  code.name = get<std::string>(json, "form", where, "parallel");
  if (json.contains("cost"))
    code.cost = parseCost(json["cost"], "the cost of " + where);
  if (json.contains("operations"))
    code.operations = parseOperations(json["operations"], "the operations of " + where);
  if (json.contains("state")) {
    std::string state = "the state of " + where;
    checkFields(json["state"], {"features", "channels"}, state);
    code.features = get<int64_t>(json["state"], "features", state);
    code.channels = get<int64_t>(json["state"], "channels", state);
  }
  if (json.contains("workspace"))
    for (const Json &workspace : json["workspace"])
      code.workspace.push_back(parseWorkspace(workspace, where));
  KernelEntryParser parser(manifest, function, code, where);
  for (const Json &kernel : field(json, "kernels", where)) {
    if (target.kind == TargetInfo::Kind::Ptx)
      code.kernels.push_back(parser.parse(kernel));
    else
      code.kernels.emplace_back().name = convert<std::string>(kernel, "kernels", where);
  }
  return code;
}

TargetFunction parseFunction(const Json &json, const Manifest &manifest, FunctionInfo &function,
                             const TargetInfo &target) {
  std::string where = "function '" + function.name + "' of target '" + target.name + "'";
  checkFields(json, {"form", "reason", "cost", "operations", "state", "kernels", "workspace", "alternatives"},
              where);
  TargetFunction code;
  code.forms.push_back(parseForm(json, manifest, function, target, where));
  if (!json.contains("alternatives"))
    return code;
  for (const Json &alternative : json["alternatives"]) {
    std::string other = "an alternative of " + where;
    checkFields(alternative, {"form", "cost", "operations", "state", "kernels", "workspace"}, other);
    FormCode form = parseForm(alternative, manifest, function, target, other);
    if (std::ranges::find(code.forms, form.name, &FormCode::name) != code.forms.end())
      fail("expected each form of ", where, " of the manifest once, but got '", form.name, "' twice");
    code.forms.push_back(std::move(form));
  }
  return code;
}

TargetInfo parseTarget(const Json &json, Manifest &manifest) {
  TargetInfo target;
  target.name = get<std::string>(json, "name", "a target");
  if (manifest.target(target.name))
    fail("expected each target of the manifest once, but got '", target.name, "' twice");
  std::string where = "target '" + target.name + "'";
  std::string kind = get<std::string>(json, "kind", where);
  if (kind == "cpu") {
    checkFields(json, {"name", "kind", "cpu", "features", "tiles", "functions"}, where);
    target.cpu = get<std::string>(json, "cpu", where, "");
    target.features = get<std::vector<std::string>>(json, "features", where, {});
  } else if (kind == "ptx") {
    checkFields(json, {"name", "kind", "tiles", "functions"}, where);
    target.kind = TargetInfo::Kind::Ptx;
  } else {
    fail("expected kind cpu or ptx of ", where, " of the manifest, but got '", kind, "'");
  }
  const Json &functions = field(json, "functions", where);
  for (auto &[name, value] : functions.items())
    if (manifest.function(name) < 0)
      fail("expected functions of the manifest in ", where, ", but got '", name, "'");
  for (FunctionInfo &function : manifest.functions)
    target.functions.push_back(
        parseFunction(field(functions, function.name.c_str(), where), manifest, function, target));
  return target;
}

} // namespace

void parseTargets(const Json &list, Manifest &manifest) {
  if (!list.is_array() || list.empty())
    fail("expected a list of targets in the manifest, but got ", list.dump());
  for (const Json &json : list) {
    TargetInfo target = parseTarget(json, manifest);
    manifest.targets.push_back(std::move(target));
  }
  for (const TargetInfo &target : manifest.targets) {
    std::set<std::string> entries;
    for (const TargetFunction &function : target.functions)
      for (const FormCode &form : function.forms)
        for (const KernelInfo &kernel : form.kernels)
          if (target.kind == TargetInfo::Kind::Ptx && !entries.insert(kernel.entry).second)
            fail("expected an entry for each kernel of target '", target.name, "' of the manifest, but got '",
                 kernel.entry, "' twice");
  }
}

} // namespace taylor::runtime
