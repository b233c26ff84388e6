// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets of a manifest: how each function runs on each machine. What contradicts itself or the rest of
// the manifest is refused, since a GPU would read wrong addresses by it.
#include "runtime/Error.h"
#include "runtime/ManifestReader.h"
#include <algorithm>
#include <set>

namespace taylor::runtime {
namespace {

/// Checks one form of a function.
class FormChecker {
public:
  FormChecker(const Manifest &manifest, FunctionInfo &function, FormCode &code, std::string functionText)
      : manifest(manifest), function(function), code(code), functionText(std::move(functionText)) {}

  void check(TargetInfo::Kind kind) {
    for (WorkspaceInfo &array : code.workspace)
      parseExtents(array.sizes, "workspace '" + array.name + "' of " + functionText);
    for (KernelInfo &kernel : code.kernels) {
      where = "kernel '" + kernel.name + "' of " + functionText;
      if (kernel.isBrief() == (kind == TargetInfo::Kind::Ptx))
        fail("expected ", kernel.isBrief() ? "an entry" : "a name alone", " of ", where, " of the manifest");
      parseExtents(kernel.grid, where);
      for (KernelArgument &argument : kernel.arguments)
        check(argument);
      for (const KernelMap &map : kernel.maps)
        check(map, kernel);
    }
  }

private:
  static void parseExtents(std::vector<Extent> &extents, const std::string &where) {
    for (Extent &extent : extents)
      extent = Extent::parse(extent.text, where);
  }

  void check(KernelArgument &argument) {
    if (argument.tensor.empty() == argument.array.empty())
      fail("expected either a tensor or a workspace as each argument of ", where,
           " of the manifest, but got '", argument.tensor, "' and '", argument.array, "'");
    if (argument.tensor.empty()) {
      argument.workspace = indexOf(argument.array, code.workspace, &WorkspaceInfo::name);
      return;
    }
    argument.slot = indexOf(argument.tensor, function.slots, &Slot::label);
    function.slots[size_t(argument.slot)].aligned16 |= argument.aligned16;
  }

  void check(const KernelMap &map, const KernelInfo &kernel) {
    if (map.argument >= int64_t(kernel.arguments.size()))
      fail("expected an argument of ", where, " in its maps of the manifest, but got ", map.argument);
    if (map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
      fail("expected swizzle 32, 64 or 128 in a map of ", where, " of the manifest, but got ", map.swizzle);
    const KernelArgument &argument = kernel.arguments[size_t(map.argument)];
    const TensorInfo *tensor =
        argument.slot < 0 ? nullptr : &manifest.tensor(function.slots[size_t(argument.slot)]);
    size_t axes = tensor ? tensor->axes.size() : code.workspace[size_t(argument.workspace)].sizes.size();
    constexpr int64_t mostElements = 256;
    auto fits = [](int64_t size) { return size >= 1 && size <= mostElements; };
    if (map.box.size() != axes || !std::ranges::all_of(map.box, fits))
      fail("expected a box of 1 to ", mostElements, " elements along each of its array's ", axes,
           " axes in a map of ", where, " of the manifest, but got ", Json(map.box).dump());
    // Its stride is 1, which a map asks for.
    if (tensor && !tensor->axes.back().isChannel())
      fail("expected an array whose last axis is a channel for a map of ", where,
           " of the manifest, but got '", argument.tensor, "'");
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
  FormCode &code;
  std::string functionText, where;
};

/// A kernel's entry names it among all kernels of the target.
void checkEntries(const TargetInfo &target) {
  std::set<std::string> entries;
  for (const TargetFunction &function : target.functions)
    for (const FormCode &form : function.forms)
      for (const KernelInfo &kernel : form.kernels)
        if (!kernel.isBrief() && !entries.insert(kernel.entry).second)
          fail("expected an entry for each kernel of target '", target.name, "' of the manifest, but got '",
               kernel.entry, "' twice");
}

void checkTarget(TargetInfo &target, Manifest &manifest) {
  std::string where = "target '" + target.name + "'";
  for (const TargetFunction &code : target.functions)
    if (manifest.function(code.name) < 0)
      fail("expected functions of the manifest in ", where, ", but got '", code.name, "'");
  for (size_t i = 0; i < manifest.functions.size(); ++i) {
    FunctionInfo &function = manifest.functions[i];
    // Both lists are in the order of their names.
    if (i >= target.functions.size() || target.functions[i].name != function.name)
      fail("requires field '", function.name, "' in ", where, " of the manifest");
    TargetFunction &code = target.functions[i];
    std::ranges::move(code.alternatives, std::back_inserter(code.forms));
    code.alternatives.clear();
    std::string functionText = "function '" + function.name + "' of " + where;
    for (auto form = code.forms.begin(); form != code.forms.end(); ++form) {
      if (std::find_if(code.forms.begin(), form, [&](auto &other) { return other.name == form->name; }) !=
          form)
        fail("expected each form of ", functionText, " of the manifest once, but got '", form->name,
             "' twice");
      FormChecker(manifest, function, *form, functionText).check(target.kind);
    }
  }
  checkEntries(target);
}

} // namespace

void checkTargets(Manifest &manifest) {
  if (manifest.targets.empty())
    fail("expected targets in the manifest, but got none");
  std::set<std::string> names;
  for (TargetInfo &target : manifest.targets) {
    if (!names.insert(target.name).second)
      fail("expected each target of the manifest once, but got '", target.name, "' twice");
    checkTarget(target, manifest);
  }
}

} // namespace taylor::runtime
