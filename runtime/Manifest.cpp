// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Manifest.h"
#include "runtime/AxisDim.h"
#include "runtime/ManifestReader.h"
#include <algorithm>

namespace taylor::runtime {

/// Far beyond what a manifest needs; messages print values, with a stack frame for each level.
constexpr int kMostDepth = 64;

/// Names of states.
constexpr std::string_view kBeforeCall = "initial.", kBehindCall = "final.";

namespace {

void checkTensors(std::vector<TensorInfo> &tensors, const char *word, const Manifest &manifest,
                  bool partial) {
  for (TensorInfo &info : tensors)
    for (TensorAxis &axis : info.axes) {
      axis.dim = axisDim(axis.name);
      if (!axis.isChannel())
        continue;
      auto size = manifest.sizes.find(axis.name);
      if (size != manifest.sizes.end())
        axis.size = size->second;
      else if (!partial)
        fail("requires the size of axis '", axis.name, "' of ", word, " '", info.name,
             "' in field 'sizes' of the manifest");
    }
}

void checkInputs(const std::vector<TensorInfo> &inputs) {
  for (const TensorInfo &info : inputs) {
    if (info.source.kind == Source::Kind::None)
      fail("requires field 'source' in input '", info.name, "' of the manifest");
    if (info.ascending && (info.dtype != TAYLOR_I32 || info.axes.empty()))
      fail("expected dtype i32 and an axis of the ascending input '", info.name, "' of the manifest");
  }
  // Calls leave out the end of the list.
  auto late = std::ranges::adjacent_find(inputs, [](const TensorInfo &before, const TensorInfo &input) {
    return before.optional && !input.optional;
  });
  if (late != inputs.end())
    fail("expected optional inputs behind all others in the manifest, but got '", late[1].name, "' behind '",
         late->name, "'");
}

Slot findSlot(const std::string &label, const std::string &function, const Manifest &manifest) {
  std::optional<Slot> slot = manifest.slotOf(label);
  if (!slot)
    fail("expected tensors of the manifest in function '", function, "', but got '", label, "'");
  Role role = slot->role;
  bool isKept = role == Role::Output || role == Role::Append;
  slot->written = function == "backward" ? role == Role::Gradient : isKept || role == Role::Saved;
  slot->optional = manifest.tensor(*slot).optional || (slot->written && !isKept);
  return *slot;
}

void checkFunction(FunctionInfo &function, const Manifest &manifest) {
  for (Slot &slot : function.slots)
    slot = findSlot(slot.label, function.name, manifest);
  auto find = [&](const std::string &label, Role role) {
    auto slot = std::ranges::find(function.slots, label, &Slot::label);
    if (slot == function.slots.end() || slot->role != role)
      fail("expected an input and an output of function '", function.name,
           "' in its field 'carried' of the manifest, but got '", label, "'");
    return slot;
  };
  function.isRecurrent = function.carriedLabels.has_value();
  if (!function.isRecurrent)
    return;
  for (const std::vector<std::string> &pair : *function.carriedLabels) {
    if (pair.size() != 2)
      fail("expected pairs of tensors in field 'carried' of function '", function.name,
           "' of the manifest, but got ", pair.size());
    auto before = find(pair[0], Role::Input), behind = find(pair[1], Role::Output);
    behind->optional = false;
    function.carried.emplace_back(before - function.slots.begin(), behind - function.slots.begin());
  }
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
  ManifestReader::read(json, manifest);
  checkTensors(manifest.inputs, "input", manifest, partial);
  checkTensors(manifest.outputs, "output", manifest, partial);
  checkTensors(manifest.saved, "saved", manifest, partial);
  checkTensors(manifest.cache, "cache", manifest, partial);
  checkInputs(manifest.inputs);
  for (FunctionInfo &function : manifest.functions)
    checkFunction(function, manifest);
  if (!manifest.cache.empty())
    for (const char *function : {"append", "step", "extend"})
      if (manifest.function(function) < 0)
        fail("requires function '", function, "' next to field 'cache' of the manifest, but got none");
  if (partial)
    manifest.targets.clear();
  else
    checkTargets(manifest);
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

std::optional<Slot> Manifest::slotOf(std::string_view label) const {
  constexpr std::string_view roles[] = {"input",    "output", "saved", "cotangent",
                                        "gradient", "cache",  "append"};
  for (size_t role = 0; role < std::size(roles); ++role)
    for (int i = 0; const TensorInfo &info : tensors(Role(role)))
      if (Slot slot{std::string(roles[role]) + ":" + info.name, Role(role), i++}; slot.label == label)
        return slot;
  return std::nullopt;
}

const std::vector<TensorInfo> &Manifest::tensors(Role role) const {
  switch (role) {
  case Role::Input:
  case Role::Gradient:
    return inputs;
  case Role::Saved:
    return saved;
  case Role::Cache:
  case Role::Append:
    return cache;
  default:
    return outputs;
  }
}

const char *dtypeName(int dtype) {
  constexpr auto &names = kEnumNames<TaylorDtype>;
  return size_t(dtype) < names.size() ? names[size_t(dtype)].data() : "an unknown dtype";
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
