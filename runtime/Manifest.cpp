// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Manifest.h"
#include "runtime/AxisDim.h"
#include "runtime/ManifestJson.h"
#include <algorithm>

namespace taylor::runtime {

/// Far beyond what a manifest needs; messages print values, with a stack frame for each level.
constexpr int kMostDepth = 64;

/// Names of states.
constexpr std::string_view kBeforeCall = "initial.", kBehindCall = "final.";

TaylorDtype parseDtype(const std::string &name, const std::string &where) {
  for (int dtype : {TAYLOR_F32, TAYLOR_BF16, TAYLOR_F16, TAYLOR_F64, TAYLOR_I32})
    if (name == dtypeName(dtype))
      return TaylorDtype(dtype);
  fail("expected dtype f32, bf16, f16, f64 or i32 in ", where, " of the manifest, but got '", name, "'");
}

namespace {

Initial parseInitial(const Json &json, const std::string &where) {
  // `"initial": "ones"` is accepted for `"initial": {"kind": "ones"}`.
  Json object = json.is_string() ? Json{{"kind", json}} : json;
  std::string kind = get<std::string>(object, "kind", where);
  Initial initial;
  if (kind == "zeros") {
    initial.kind = Initial::Kind::Zeros;
  } else if (kind == "ones") {
    initial.kind = Initial::Kind::Ones;
  } else if (kind == "constant") {
    initial.kind = Initial::Kind::Constant;
    initial.value = get<double>(object, "value", where);
  } else if (kind == "uniform") {
    initial.kind = Initial::Kind::Uniform;
    initial.low = get<double>(object, "low", where);
    initial.high = get<double>(object, "high", where);
  } else if (kind == "normal") {
    initial.kind = Initial::Kind::Normal;
    initial.mean = get<double>(object, "mean", where);
    initial.deviation = get<double>(object, "deviation", where);
  } else {
    fail("unsupported initial distribution '", kind, "' in ", where, " of the manifest");
  }
  return initial;
}

Source parseSource(const Json &json, const std::string &where) {
  std::string kind = get<std::string>(json, "kind", where);
  Source source;
  if (kind == "projection") {
    source.kind = Source::Kind::Projection;
    source.bias = json.contains("bias") && get<bool>(json, "bias", where);
  } else if (kind == "parameter") {
    source.kind = Source::Kind::Parameter;
    source.initial = parseInitial(field(json, "initial", where), where);
  } else if (kind == "input") {
    source.kind = Source::Kind::Input;
  } else {
    fail("expected source projection, parameter or input in ", where, " of the manifest, but got '", kind,
         "'");
  }
  return source;
}

TensorInfo parseTensor(const Json &json, bool input, const Manifest &manifest, bool partial,
                       const char *list) {
  TensorInfo info;
  info.name = get<std::string>(json, "name", list);
  std::string where = std::string(list) + " '" + info.name + "'";
  info.dtype = parseDtype(get<std::string>(json, "dtype", where), where);
  for (const std::string &name : get<std::vector<std::string>>(json, "axes", where)) {
    TensorAxis axis{name, axisDim(name), 0};
    if (axis.isChannel()) {
      auto size = manifest.sizes.find(name);
      if (size != manifest.sizes.end())
        axis.size = size->second;
      else if (!partial)
        fail("requires the size of axis '", name, "' of ", where, " in field 'sizes' of the manifest");
    }
    info.axes.push_back(axis);
  }
  if (info.axes.size() > TAYLOR_MAX_RANK)
    fail("expected at most ", TAYLOR_MAX_RANK, " axes in ", where, " of the manifest, but got ",
         info.axes.size());
  info.optional = json.contains("optional") && get<bool>(json, "optional", where);
  if (input) {
    info.source = parseSource(field(json, "source", where), where);
    info.gradient = json.contains("gradient") && get<bool>(json, "gradient", where);
    info.ascending = json.contains("ascending") && get<bool>(json, "ascending", where);
    if (info.ascending && (info.dtype != TAYLOR_I32 || info.axes.empty()))
      fail("expected dtype i32 and an axis of the ascending input '", info.name, "' of the manifest");
  }
  return info;
}

std::vector<TensorInfo> parseTensors(const Json &tensors, const char *list, bool input,
                                     const Manifest &manifest, bool partial) {
  std::vector<TensorInfo> infos;
  if (tensors.contains(list))
    for (const Json &json : tensors[list])
      infos.push_back(parseTensor(json, input, manifest, partial, list));
  return infos;
}

Slot parseSlot(const std::string &label, const std::string &function, const Manifest &manifest) {
  struct Kind {
    const char *prefix;
    Role role;
    const std::vector<TensorInfo> &list;
  };
  const Kind kinds[] = {
      {"input:", Role::Input, manifest.inputs},       {"output:", Role::Output, manifest.outputs},
      {"saved:", Role::Saved, manifest.saved},        {"cotangent:", Role::Cotangent, manifest.outputs},
      {"gradient:", Role::Gradient, manifest.inputs}, {"cache:", Role::Cache, manifest.cache},
      {"append:", Role::Append, manifest.cache}};
  bool forward = function != "backward";
  for (const Kind &kind : kinds) {
    if (label.rfind(kind.prefix, 0) != 0)
      continue;
    std::string name = label.substr(std::string_view(kind.prefix).size());
    for (size_t i = 0; i < kind.list.size(); ++i) {
      if (kind.list[i].name != name)
        continue;
      Slot slot{label, kind.role, int(i)};
      bool isAppended = kind.role == Role::Append;
      slot.written = forward ? kind.role == Role::Output || kind.role == Role::Saved || isAppended
                             : kind.role == Role::Gradient;
      slot.optional = kind.list[i].optional || (slot.written && kind.role != Role::Output && !isAppended);
      return slot;
    }
  }
  fail("expected tensors of the manifest in function '", function, "', but got '", label, "'");
}

FunctionInfo parseFunction(const Json &json, const std::string &name, const Manifest &manifest) {
  using Labels = std::vector<std::string>;
  std::string where = "function '" + name + "'";
  checkFields(json, {"tensors", "carried"}, where);
  FunctionInfo function{name, {}, json.contains("carried"), {}};
  for (const std::string &label : get<Labels>(json, "tensors", where))
    function.slots.push_back(parseSlot(label, name, manifest));
  auto find = [&](const std::string &label, Role role) {
    auto slot = std::ranges::find(function.slots, label, &Slot::label);
    if (slot == function.slots.end() || slot->role != role)
      fail("expected an input and an output of ", where, " in its field 'carried' of the manifest, but got '",
           label, "'");
    return slot;
  };
  for (const Labels &pair : get<std::vector<Labels>>(json, "carried", where, {})) {
    if (pair.size() != 2)
      fail("expected pairs of tensors in field 'carried' of ", where, " of the manifest, but got ",
           pair.size());
    auto before = find(pair[0], Role::Input), behind = find(pair[1], Role::Output);
    behind->optional = false;
    function.carried.emplace_back(before - function.slots.begin(), behind - function.slots.begin());
  }
  return function;
}

} // namespace

Manifest Manifest::parse(std::string_view text, bool partial) {
  bool deep = false;
  auto watch = [&](int depth, Json::parse_event_t, Json &) {
    deep |= depth > kMostDepth;
    return !deep;
  };
  Json json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (deep)
    fail("expected at most ", kMostDepth, " lists and objects inside each other in the manifest");
  if (json.is_discarded() || !json.is_object())
    fail("expected a JSON object as manifest, but got ", text.size(), " bytes that are none");
  Manifest manifest;
  manifest.text = std::string(text);
  const std::string top = "the top level";
  manifest.version = get<std::string>(field(json, "taylor", top), "version", "'taylor'");
  manifest.hash = get<std::string>(json, "hash", top, "");
  manifest.spec = get<std::string>(json, "spec", top);
  manifest.mask = get<std::string>(json, "mask", top, "");
  manifest.form = get<std::string>(json, "form", top, "");
  manifest.dtype = parseDtype(get<std::string>(json, "dtype", top), top);
  if (json.contains("parameters"))
    for (auto &[name, value] : json["parameters"].items())
      if (value.is_number())
        manifest.parameters[name] = value.get<double>();
  for (auto &[name, value] : field(json, "sizes", top).items()) {
    if (!value.is_number_integer() || value.get<int64_t>() < 1)
      fail("expected a positive size of axis '", name, "' in the manifest, but got ", value.dump());
    manifest.sizes[name] = value.get<int64_t>();
  }
  manifest.aligned = get<bool>(json, "aligned", top, false);

  const Json &tensors = field(json, "tensors", top);
  manifest.inputs = parseTensors(tensors, "inputs", /*input=*/true, manifest, partial);
  // Calls leave out the end of the list.
  auto late =
      std::ranges::adjacent_find(manifest.inputs, [](const TensorInfo &before, const TensorInfo &input) {
        return before.optional && !input.optional;
      });
  if (late != manifest.inputs.end())
    fail("expected optional inputs behind all others in the manifest, but got '", late[1].name, "' behind '",
         late->name, "'");
  manifest.outputs = parseTensors(tensors, "outputs", /*input=*/false, manifest, partial);
  manifest.saved = parseTensors(tensors, "saved", /*input=*/false, manifest, partial);
  manifest.cache = parseTensors(tensors, "cache", /*input=*/false, manifest, partial);
  if (json.contains("functions"))
    for (auto &[name, value] : json["functions"].items()) {
      manifest.functions.push_back(parseFunction(value, name, manifest));
    }
  if (!manifest.cache.empty())
    for (const char *function : {"append", "step", "extend"})
      if (manifest.function(function) < 0)
        fail("requires function '", function, "' next to field 'cache' of the manifest, but got none");
  if (!partial)
    parseTargets(field(json, "targets", top), manifest);
  return manifest;
}

bool TensorInfo::isState() const { return name.starts_with(kBeforeCall) || name.starts_with(kBehindCall); }

int TensorInfo::keyAxis() const {
  auto found = std::ranges::find(axes, TAYLOR_DIM_U, &TensorAxis::dim);
  return found == axes.end() ? -1 : int(found - axes.begin());
}

int Manifest::finalOf(int input) const {
  const std::string &name = inputs[size_t(input)].name;
  if (!name.starts_with(kBeforeCall))
    return -1;
  std::string wanted = std::string(kBehindCall) + name.substr(kBeforeCall.size());
  auto found = std::ranges::find(outputs, wanted, &TensorInfo::name);
  return found == outputs.end() ? -1 : int(found - outputs.begin());
}

int Manifest::function(std::string_view name) const {
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == name)
      return int(i);
  return -1;
}

const TargetInfo *Manifest::target(std::string_view name) const {
  for (const TargetInfo &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}

const TensorInfo &Manifest::tensor(const Slot &slot) const {
  switch (slot.role) {
  case Role::Input:
  case Role::Gradient:
    return inputs[slot.index];
  case Role::Saved:
    return saved[slot.index];
  case Role::Cache:
  case Role::Append:
    return cache[slot.index];
  default:
    return outputs[slot.index];
  }
}

const char *dtypeName(int dtype) {
  switch (dtype) {
  case TAYLOR_F32:
    return "f32";
  case TAYLOR_BF16:
    return "bf16";
  case TAYLOR_F16:
    return "f16";
  case TAYLOR_F64:
    return "f64";
  case TAYLOR_I32:
    return "i32";
  default:
    return "an unknown dtype";
  }
}

int64_t dtypeSize(int dtype) {
  return dtype == TAYLOR_BF16 || dtype == TAYLOR_F16 ? 2 : dtype == TAYLOR_F64 ? 8 : 4;
}

int axisDim(std::string_view name) { return dimOf(name).value_or(-1); }

std::string join(const std::vector<std::string> &pieces, const char *separator) {
  std::string text;
  for (const std::string &piece : pieces)
    text += (text.empty() ? "" : separator) + piece;
  return text;
}

} // namespace taylor::runtime
