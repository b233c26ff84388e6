// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Manifest.h"

#include "TaylorVersion.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "runtime/AxisDim.h"
#include "runtime/Manifest.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace taylor;
using tile::ProgramFactsAttr;
// The records of a manifest, which have the schema of its JSON.
using runtime::ByName;
using runtime::FormCode;
using runtime::FunctionInfo;
using runtime::KernelInfo;
using runtime::TargetFunction;
using runtime::TargetInfo;
using runtime::TensorAxis;
using runtime::TensorInfo;

namespace {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The value of a name in JSON.
template <typename Enum> Enum valueOf(StringRef name) {
  constexpr auto &names = runtime::kEnumNames<Enum>;
  const auto *found = llvm::find(names, std::string_view(name));
  assert(found != names.end() && "not a name of the schema");
  return Enum(found - names.begin());
}

TaylorDtype dtypeOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return type.isInteger(32) ? TAYLOR_I32 : valueOf<TaylorDtype>(name);
}

/// The axes' sizes are 0 where they are not known yet.
TensorInfo describe(StringRef name, Type element, ArrayRef<std::pair<StringRef, int64_t>> axes) {
  TensorInfo tensor;
  tensor.name = name;
  tensor.dtype = dtypeOf(element);
  tensor.optional = isCarried(name);
  for (auto [axis, size] : axes)
    tensor.axes.push_back({axis.str(), dimOf(axis).value_or(-1), ShapedType::isDynamic(size) ? 0 : size});
  if (!axes.empty() && !isRuntimeAxis(axes.back().first))
    tensor.layout.contiguous = axes.back().first;
  return tensor;
}

TensorInfo describe(StringRef name, ArrayType array) {
  SmallVector<std::pair<StringRef, int64_t>> axes;
  for (auto [axis, size] : llvm::zip(array.getAxes(), array.getSizes()))
    axes.push_back({axis.getValue(), size});
  return describe(name, array.getElementType(), axes);
}

TensorInfo describe(StringRef name, tile::ArrayType array) {
  SmallVector<std::pair<StringRef, int64_t>> axes;
  for (const tile::Axis &axis : array.getAxes())
    axes.push_back({axis.getName(), axis.extent.isStatic() ? axis.extent.getSize() : ShapedType::kDynamic});
  return describe(name, array.getElementType(), axes);
}

double numberOf(FloatAttr attribute) { return attribute.getValueAsDouble(); }

runtime::Source sourceOf(SourceAttr source) {
  using Kind = runtime::Source::Kind;
  runtime::Source described{valueOf<Kind>(stringifySourceKind(source.getKind())), source.getBias(), {}};
  if (described.kind != Kind::Parameter)
    return described;
  runtime::Initial &initial = described.initial;
  initial.kind = valueOf<runtime::Initial::Kind>(stringifyInitial(source.getInitial()));
  if (source.getFirst())
    initial.value = initial.low = initial.mean = numberOf(source.getFirst());
  if (source.getSecond())
    initial.high = initial.deviation = numberOf(source.getSecond());
  return described;
}

std::vector<TensorInfo> describe(ArrayAttr tensors, bool isInput) {
  std::vector<TensorInfo> described;
  for (auto tensor : tensors.getAsRange<TensorAttr>()) {
    auto type = cast<ArrayType>(tensor.getType());
    TensorInfo &info = described.emplace_back(describe(tensor.getName().getValue(), type));
    if (!isInput)
      continue;
    info.source = sourceOf(tensor.getSource());
    info.gradient = isa<FloatType>(type.getElementType());
    info.ascending = bool(tensor.getAscending());
  }
  return described;
}

/// Gives states of different orders, whose features differ in number, an axis for each number: f, f2, f3, ..
/// as far as no other array has it.
void nameFeatures(MutableArrayRef<TensorInfo> inputs, MutableArrayRef<TensorInfo> outputs) {
  SmallVector<TensorInfo *> states;
  llvm::StringSet<> taken;
  for (MutableArrayRef<TensorInfo> tensors : {inputs, outputs})
    for (TensorInfo &tensor : tensors) {
      if (isCarried(tensor.name))
        states.push_back(&tensor);
      else
        for (const TensorAxis &axis : tensor.axes)
          taken.insert(axis.name);
    }
  std::map<int64_t, std::string> names;
  int64_t number = 0;
  for (TensorInfo *state : states)
    for (TensorAxis &axis : state->axes) {
      if (StringRef(axis.name) != AxisRole::Feature)
        continue;
      std::string &name = names[axis.size];
      while (name.empty() || taken.contains(name))
        name = std::string(nameOf(AxisRole::Feature)) + (++number == 1 ? "" : std::to_string(number));
      axis.name = name;
    }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

auto programsOf(ModuleOp module) {
  return module->getAttrOfType<ArrayAttr>(tile::kPrograms).getAsRange<ProgramFactsAttr>();
}

/// Arrays of a role, "saved", of the program that computes a function; without the role in their names.
std::vector<TensorInfo> arraysOf(ModuleOp module, FunctionRole function, StringRef role) {
  std::vector<TensorInfo> tensors;
  for (ProgramFactsAttr program : programsOf(module)) {
    if (!program.isFirstForm() || program.getForm().getFunction() != function)
      continue;
    for (auto tensor : program.getTensors().getAsRange<tile::NamedArrayAttr>())
      if (auto [own, name] = tensor.getName().getValue().split(':'); own == role)
        tensors.push_back(describe(name, cast<tile::ArrayType>(tensor.getType())));
  }
  return tensors;
}

SmallVector<StringRef> tensorNames(ProgramFactsAttr program) {
  return llvm::map_to_vector(program.getTensors().getAsRange<tile::NamedArrayAttr>(),
                             [](tile::NamedArrayAttr tensor) { return tensor.getName().getValue(); });
}

/// The programs of all functions, each in its first form on the first target that has it.
llvm::MapVector<FunctionRole, ProgramFactsAttr> functionsOf(ArrayRef<ModuleOp> modules) {
  llvm::MapVector<FunctionRole, ProgramFactsAttr> functions;
  for (ModuleOp module : modules)
    for (ProgramFactsAttr program : programsOf(module))
      if (program.isFirstForm())
        functions.insert({program.getForm().getFunction(), program});
  return functions;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

runtime::Extent extentOf(tile::ExtentAttr extent) {
  runtime::Extent described;
  llvm::raw_string_ostream stream(described.text);
  tile::printExtent(stream, extent);
  return described;
}

std::vector<std::string> stringsOf(ArrayAttr strings) {
  auto range = strings.getAsValueRange<StringAttr>();
  return std::vector<std::string>(range.begin(), range.end());
}

KernelInfo describe(StringRef name, simt::EntryAttr entry) {
  KernelInfo kernel;
  kernel.name = name;
  kernel.entry = entry.getName().getValue();
  for (auto extent : entry.getGrid().getAsRange<tile::ExtentAttr>())
    kernel.grid.push_back(extentOf(extent));
  kernel.threads = entry.getThreads();
  kernel.shared = entry.getShared();
  for (auto argument : entry.getArguments().getAsRange<simt::ArgumentAttr>()) {
    runtime::KernelArgument &described = kernel.arguments.emplace_back();
    (argument.getWorkspace() ? described.array : described.tensor) = argument.getName().getValue();
    described.aligned16 = bool(argument.getAligned16());
  }
  kernel.isPersistent = bool(entry.getPersistent());
  kernel.startsEarly = bool(entry.getEarly());
  if (entry.getMaps())
    for (auto map : entry.getMaps().getAsRange<simt::TensorMapAttr>())
      kernel.maps.push_back({map.getArgument(), map.getBox().vec(), map.getSwizzle()});
  return kernel;
}

/// A processor's kernels are told apart by their place; a GPU's are launched by what `entries` say.
std::vector<KernelInfo> kernelsOf(ProgramFactsAttr program, ArrayAttr entries) {
  std::vector<KernelInfo> kernels;
  for (StringRef name : program.getKernels().getAsValueRange<StringAttr>()) {
    if (!entries) {
      kernels.emplace_back().name = name;
      continue;
    }
    std::string entryName = simt::getEntryName(program.getName(), name);
    for (auto entry : entries.getAsRange<simt::EntryAttr>())
      if (entry.getName() == entryName)
        kernels.push_back(describe(name, entry));
  }
  return kernels;
}

/// A function's code for one target in one form.
FormCode codeOf(ProgramFactsAttr program, ArrayAttr entries) {
  FormCost cost = program.getForm().getCost() ? program.getForm().getCost().getCost() : FormCost();
  FormCode code;
  code.name = stringifyForm(program.getForm().getKind());
  code.cost = {cost.call, cost.pair, cost.query, cost.key};
  code.operations = {cost.operations.pair, cost.operations.query, cost.operations.key};
  code.state = {cost.features, cost.channels};
  code.kernels = kernelsOf(program, entries);
  for (auto array : program.getWorkspace().getAsRange<tile::NamedArrayAttr>()) {
    auto type = cast<tile::ArrayType>(array.getType());
    runtime::WorkspaceInfo &workspace = code.workspace.emplace_back();
    workspace.name = array.getName().getValue();
    if (array.getBecause())
      workspace.because = array.getBecause().getValue();
    workspace.dtype = dtypeOf(type.getElementType());
    for (const tile::Axis &axis : type.getAxes()) {
      workspace.axes.push_back(axis.getName().str());
      workspace.sizes.push_back(extentOf(axis.extent));
    }
  }
  return code;
}

TargetInfo describeTarget(ModuleOp module) {
  auto attribute = module->getAttrOfType<tile::TargetAttr>(tile::kTarget);
  TargetInfo target;
  target.name = attribute.getName().getValue();
  target.kind = valueOf<TargetInfo::Kind>(stringifyTargetKind(attribute.getKind()));
  if (attribute.getCpu()) {
    target.cpu = attribute.getCpu().getValue();
    if (attribute.getFeatures())
      target.features = stringsOf(attribute.getFeatures());
  }
  tile::PlanAttr plan = (*programsOf(module).begin()).getPlan();
  TileSizes sizes = plan ? plan.getSizes() : TileSizes();
  target.tiles = {{"outer_u", sizes.columns.keys},
                  {std::string(nameOf(AxisRole::Query)), sizes.rows.queries},
                  {"tokens", sizes.tokens},
                  {std::string(nameOf(AxisRole::Key)), sizes.rows.keys}};
  auto ptx = module.getOps<simt::PTXOp>();
  ArrayAttr entries = ptx.empty() ? ArrayAttr() : (*ptx.begin()).getEntries();
  for (ProgramFactsAttr program : programsOf(module)) {
    if (!program.isFirstForm())
      continue;
    TargetFunction &function = target.functions.emplace_back();
    function.name = program.getName().getValue();
    function.reason = program.getForm().describeReason();
    function.forms.front() = codeOf(program, entries);
    for (ProgramFactsAttr other : programsOf(module))
      if (!other.isFirstForm() && other.getForm().getFunction() == program.getForm().getFunction())
        function.alternatives.push_back(codeOf(other, entries));
  }
  return target;
}

/// A function as callers see it, on any target.
FunctionInfo describeFunction(ProgramFactsAttr program) {
  FunctionInfo function;
  function.name = program.getName().getValue();
  for (StringRef name : tensorNames(program))
    function.slots.emplace_back().label = name;
  if (ArrayAttr inPlace = program.getForm().getInPlace()) {
    function.carriedLabels.emplace();
    for (auto pair : inPlace.getAsRange<ArrayAttr>())
      function.carriedLabels->push_back(stringsOf(pair));
  }
  return function;
}

double numberOf(Attribute parameter) {
  auto integer = dyn_cast<IntegerAttr>(parameter);
  return integer ? double(integer.getInt()) : numberOf(cast<FloatAttr>(parameter));
}

runtime::Manifest describeAll(ArrayRef<ModuleOp> modules) {
  ModuleOp first = modules.front();
  auto request = first->getAttrOfType<RequestAttr>(kRequest);
  auto interface = first->getAttrOfType<InterfaceAttr>(kInterface);
  runtime::Manifest manifest;
  manifest.compiler = {TAYLOR_VERSION, TAYLOR_GIT_HASH, TAYLOR_ARTIFACT_ABI};
  manifest.hash = request.getHash().getValue();
  manifest.spec = interface.getSpec().getValue();
  for (NamedAttribute parameter : interface.getParameters())
    manifest.parameters[parameter.getName().str()] = numberOf(parameter.getValue());
  manifest.mask = stringifyMask(interface.getMask());
  manifest.form = stringifyFormChoice(request.getForm());
  manifest.dtype = valueOf<TaylorDtype>(stringifyStorageType(request.getDtype()));
  manifest.aligned = bool(interface.getAligned());
  manifest.inputs = describe(interface.getInputs(), /*isInput=*/true);
  manifest.outputs = describe(interface.getOutputs(), /*isInput=*/false);
  manifest.saved = arraysOf(first, FunctionRole::Forward, "saved");
  manifest.cache = arraysOf(first, FunctionRole::Append, "append");
  nameFeatures(manifest.inputs, manifest.outputs);
  // Arrays of one artifact agree in the size of an axis, so the sizes have one table.
  for (auto *tensors : {&manifest.inputs, &manifest.outputs, &manifest.saved, &manifest.cache})
    for (const TensorInfo &tensor : *tensors)
      for (const TensorAxis &axis : tensor.axes)
        if (axis.size)
          manifest.sizes[axis.name] = axis.size;
  for (auto [role, program] : functionsOf(modules))
    manifest.functions.push_back(describeFunction(program));
  for (ModuleOp module : modules)
    manifest.targets.push_back(describeTarget(module));
  return manifest;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The visitor of records (runtime/Manifest.h) that writes them.
class ManifestWriter {
public:
  explicit ManifestWriter(raw_ostream &stream) : json(stream, /*IndentSize=*/2) {}

  template <typename T> void required(StringRef key, T &&member, runtime::FieldRange = {}) {
    json.attributeBegin(key);
    write(member);
    json.attributeEnd();
  }
  template <typename T> void defaulted(StringRef key, T &&member, runtime::FieldRange = {}) {
    required(key, member);
  }
  template <typename T> void optional(StringRef key, T &&member) {
    bool isSet;
    if constexpr (requires { member.empty(); })
      isSet = !member.empty();
    else
      isSet = member != std::remove_reference_t<T>();
    if (isSet)
      required(key, member);
  }

  template <typename T> void write(T &value) {
    if constexpr (runtime::HasBrief<T> && runtime::HasFields<T>)
      value.isBrief() ? write(value.brief()) : json.object([&] { value.fields(*this); });
    else if constexpr (runtime::HasBrief<T>)
      write(value.brief());
    else if constexpr (runtime::HasFields<T>)
      json.object([&] { value.fields(*this); });
    else if constexpr (std::is_enum_v<T>)
      json.value(StringRef(runtime::kEnumNames<T>[size_t(value)]));
    else
      json.value(value);
  }
  template <typename T> void write(std::vector<T> &list) {
    json.array([&] {
      for (T &element : list)
        write(element);
    });
  }
  template <typename T> void write(std::map<std::string, T> &map) {
    json.object([&] {
      for (auto &[key, value] : map)
        required(key, value);
    });
  }
  template <typename T> void write(ByName<T> &records) {
    json.object([&] {
      for (T &record : records.list)
        required(record.name, record);
    });
  }
  template <typename T> void write(std::optional<T> &value) { write(*value); }

private:
  llvm::json::OStream json;
};

} // namespace

std::string taylor::printManifest(ArrayRef<ModuleOp> modules) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  runtime::Manifest manifest = describeAll(modules);
  ManifestWriter(stream).write(manifest);
  return text + "\n";
}

LogicalResult taylor::verifySameTensors(ArrayRef<ModuleOp> others, ModuleOp module) {
  SmallVector<ModuleOp> all(others);
  all.push_back(module);
  llvm::MapVector<FunctionRole, ProgramFactsAttr> functions = functionsOf(all);
  for (ProgramFactsAttr program : programsOf(module))
    if (tensorNames(program) != tensorNames(functions.lookup(program.getForm().getFunction())))
      return module.emitError("requires the same tensors on every target and in every form, but got others "
                              "for ")
             << program.getName() << " of "
             << module->getAttrOfType<tile::TargetAttr>(tile::kTarget).getName();
  return success();
}
