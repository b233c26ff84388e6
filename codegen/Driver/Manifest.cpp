// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Manifest.h"

#include "TaylorVersion.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "runtime/artifact.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace taylor;
using tile::ProgramFactsAttr;

namespace {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// An array that crosses the artifact's boundary. Sizes are ArrayType::kUnknown for axes of run-time size.
struct TensorEntry {
  std::string name;
  SmallVector<std::pair<std::string, int64_t>> axes;
  Type element;
};

TensorEntry describe(StringRef name, ArrayType array) {
  TensorEntry tensor{name.str(), {}, array.getElementType()};
  for (auto [axis, size] : llvm::zip(array.getAxes(), array.getSizes()))
    tensor.axes.push_back({axis.getValue().str(), size});
  return tensor;
}

TensorEntry describe(StringRef name, tile::ArrayType array) {
  TensorEntry tensor{name.str(), {}, array.getElementType()};
  for (const tile::Axis &axis : array.getAxes())
    tensor.axes.push_back(
        {axis.getName().str(), axis.extent.isStatic() ? axis.extent.getSize() : ArrayType::kUnknown});
  return tensor;
}

SmallVector<TensorEntry> describe(ArrayAttr tensors) {
  return llvm::map_to_vector(tensors.getAsRange<TensorAttr>(), [](TensorAttr tensor) {
    return describe(tensor.getName().getValue(), cast<ArrayType>(tensor.getType()));
  });
}

std::string getDtypeName(Type type) {
  if (type.isInteger(32))
    return "i32";
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// Gives states of different orders, whose features differ in number, an axis for each number: f, f2, f3, ..
/// as far as no other array has it.
void nameFeatures(MutableArrayRef<TensorEntry> inputs, MutableArrayRef<TensorEntry> outputs) {
  SmallVector<TensorEntry *> states;
  llvm::StringSet<> taken;
  for (MutableArrayRef<TensorEntry> tensors : {inputs, outputs})
    for (TensorEntry &tensor : tensors) {
      if (isCarried(tensor.name))
        states.push_back(&tensor);
      else
        for (const auto &[axis, size] : tensor.axes)
          taken.insert(axis);
    }
  std::map<int64_t, std::string> names;
  int64_t number = 0;
  for (TensorEntry *state : states)
    for (auto &[axis, size] : state->axes) {
      if (axis != AxisRole::Feature)
        continue;
      std::string &name = names[size];
      while (name.empty() || taken.contains(name))
        name = std::string(nameOf(AxisRole::Feature)) + (++number == 1 ? "" : std::to_string(number));
      axis = name;
    }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

auto programsOf(ModuleOp module) {
  return module->getAttrOfType<ArrayAttr>(tile::kPrograms).getAsRange<ProgramFactsAttr>();
}

/// Arrays of a role, "saved", of the program that computes a function; without the role in their names.
SmallVector<TensorEntry> arraysOf(ModuleOp module, StringRef function, StringRef role) {
  SmallVector<TensorEntry> tensors;
  for (ProgramFactsAttr program : programsOf(module)) {
    if (program.getName() != function)
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
llvm::MapVector<StringAttr, ProgramFactsAttr> functionsOf(ArrayRef<ModuleOp> modules) {
  llvm::MapVector<StringAttr, ProgramFactsAttr> functions;
  for (ModuleOp module : modules)
    for (ProgramFactsAttr program : programsOf(module))
      if (program.isFirstForm())
        functions.insert({program.getName(), program});
  return functions;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

using llvm::json::OStream;

double getNumber(FloatAttr attribute) { return attribute.getValueAsDouble(); }

std::string textOf(tile::ExtentAttr extent) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  tile::printExtent(stream, extent);
  return text;
}

template <typename Range> void printStrings(OStream &json, StringRef key, const Range &strings) {
  json.attributeArray(key, [&] {
    for (const auto &string : strings)
      json.value(StringRef(string));
  });
}

void printStrings(OStream &json, StringRef key, ArrayAttr strings) {
  printStrings(json, key, strings.getAsValueRange<StringAttr>());
}

void printInitial(OStream &json, SourceAttr source) {
  json.attributeBegin("initial");
  json.object([&] {
    json.attribute("kind", stringifyInitial(source.getInitial()));
    switch (source.getInitial()) {
    case Initial::Zeros:
    case Initial::Ones:
      return;
    case Initial::Constant:
      json.attribute("value", getNumber(source.getFirst()));
      return;
    case Initial::Uniform:
      json.attribute("low", getNumber(source.getFirst()));
      json.attribute("high", getNumber(source.getSecond()));
      return;
    case Initial::Normal:
      json.attribute("mean", getNumber(source.getFirst()));
      json.attribute("deviation", getNumber(source.getSecond()));
      return;
    }
  });
  json.attributeEnd();
}

void printSource(OStream &json, SourceAttr source) {
  json.attributeBegin("source");
  json.object([&] {
    json.attribute("kind", stringifySourceKind(source.getKind()));
    if (source.getKind() == SourceKind::Projection)
      json.attribute("bias", source.getBias());
    if (source.getKind() == SourceKind::Parameter)
      printInitial(json, source);
  });
  json.attributeEnd();
}

void printTensor(OStream &json, const TensorEntry &tensor) {
  json.attribute("name", tensor.name);
  printStrings(json, "axes", llvm::make_first_range(tensor.axes));
  json.attribute("dtype", getDtypeName(tensor.element));
  // A caller may leave it out: 0 where it is read.
  if (isCarried(tensor.name))
    json.attribute("optional", true);
  // What runtime/artifact.h asks of strides.
  json.attributeObject("layout", [&] {
    json.attribute("strides", "any");
    if (!tensor.axes.empty() && !isRuntimeAxis(tensor.axes.back().first))
      json.attribute("contiguous", tensor.axes.back().first);
  });
}

void printTensors(OStream &json, StringRef key, ArrayRef<TensorEntry> tensors) {
  json.attributeArray(key, [&] {
    for (const TensorEntry &tensor : tensors)
      json.object([&] { printTensor(json, tensor); });
  });
}

void printInputs(OStream &json, ArrayRef<TensorEntry> inputs, ArrayAttr facts) {
  json.attributeArray("inputs", [&] {
    for (auto [input, fact] : llvm::zip_equal(inputs, facts.getAsRange<TensorAttr>()))
      json.object([&, &input = input, fact = fact] {
        printTensor(json, input);
        ::printSource(json, fact.getSource());
        json.attribute("gradient", isa<FloatType>(input.element));
        if (fact.getAscending())
          json.attribute("ascending", true);
      });
  });
}

void printEntry(OStream &json, StringRef name, simt::EntryAttr entry) {
  json.attribute("name", name);
  json.attribute("entry", entry.getName().getValue());
  printStrings(json, "grid", llvm::map_range(entry.getGrid().getAsRange<tile::ExtentAttr>(), textOf));
  json.attribute("threads", entry.getThreads());
  json.attribute("shared", entry.getShared());
  json.attributeArray("arguments", [&] {
    for (auto argument : entry.getArguments().getAsRange<simt::ArgumentAttr>())
      json.object([&] {
        json.attribute(argument.getWorkspace() ? "workspace" : "tensor", argument.getName().getValue());
        if (argument.getAligned16())
          json.attribute("aligned16", true);
      });
  });
  if (entry.getPersistent())
    json.attribute("persistent", true);
  if (entry.getEarly())
    json.attribute("early", true);
  if (!entry.getMaps())
    return;
  json.attributeArray("maps", [&] {
    for (auto map : entry.getMaps().getAsRange<simt::TensorMapAttr>())
      json.object([&] {
        json.attribute("argument", map.getArgument());
        json.attributeArray("box", [&] {
          for (int64_t size : map.getBox())
            json.value(size);
        });
        json.attribute("swizzle", map.getSwizzle());
      });
  });
}

/// A processor's kernels are told apart by their place; a GPU's are launched by what `entries` say.
void printKernels(OStream &json, ProgramFactsAttr program, ArrayAttr entries) {
  json.attributeArray("kernels", [&] {
    for (StringRef kernel : program.getKernels().getAsValueRange<StringAttr>()) {
      if (!entries) {
        json.value(kernel);
        continue;
      }
      std::string name = simt::getEntryName(program.getName(), kernel);
      for (auto entry : entries.getAsRange<simt::EntryAttr>())
        if (entry.getName() == name)
          json.object([&] { printEntry(json, kernel, entry); });
    }
  });
}

void printWorkspace(OStream &json, ProgramFactsAttr program) {
  json.attributeArray("workspace", [&] {
    for (auto array : program.getWorkspace().getAsRange<tile::NamedArrayAttr>())
      json.object([&] {
        auto type = cast<tile::ArrayType>(array.getType());
        ArrayRef<tile::Axis> axes = type.getAxes();
        json.attribute("name", array.getName().getValue());
        printStrings(json, "axes",
                     llvm::map_range(axes, [](const tile::Axis &axis) { return axis.getName(); }));
        printStrings(json, "sizes",
                     llvm::map_range(axes, [](const tile::Axis &axis) { return textOf(axis.extent); }));
        json.attribute("dtype", getDtypeName(type.getElementType()));
      });
  });
}

/// A function's code for one target in one form.
void printCode(OStream &json, ProgramFactsAttr program, ArrayAttr entries) {
  FormCost cost = program.getForm().getCost() ? program.getForm().getCost().getCost() : FormCost();
  json.attribute("form", program.getForm().getName().getValue());
  json.attributeObject("cost", [&] {
    json.attribute("call", cost.call);
    json.attribute("pair", cost.pair);
    json.attribute("query", cost.query);
    json.attribute("key", cost.key);
  });
  json.attributeObject("operations", [&] {
    json.attribute("pair", cost.operations.pair);
    json.attribute("query", cost.operations.query);
    json.attribute("key", cost.operations.key);
  });
  if (cost.features)
    json.attributeObject("state", [&] {
      json.attribute("features", cost.features);
      json.attribute("channels", cost.channels);
    });
  printKernels(json, program, entries);
  printWorkspace(json, program);
}

void printFunctionsOfTarget(OStream &json, ModuleOp module) {
  auto ptx = module.getOps<simt::PTXOp>();
  ArrayAttr entries = ptx.empty() ? ArrayAttr() : (*ptx.begin()).getEntries();
  for (ProgramFactsAttr program : programsOf(module)) {
    if (!program.isFirstForm())
      continue;
    json.attributeObject(program.getName().getValue(), [&] {
      if (StringAttr because = program.getForm().getBecause())
        json.attribute("reason", because.getValue());
      printCode(json, program, entries);
      auto alternatives = llvm::make_filter_range(programsOf(module), [&](ProgramFactsAttr other) {
        return !other.isFirstForm() && other.getForm().getFunction() == program.getName();
      });
      if (!alternatives.empty())
        json.attributeArray("alternatives", [&] {
          for (ProgramFactsAttr other : alternatives)
            json.object([&] { printCode(json, other, entries); });
        });
    });
  }
}

void printTarget(OStream &json, ModuleOp module) {
  auto target = module->getAttrOfType<tile::TargetAttr>(tile::kTarget);
  json.attribute("name", target.getName().getValue());
  json.attribute("kind", target.getKind().getValue());
  if (target.getCpu()) {
    json.attribute("cpu", target.getCpu().getValue());
    printStrings(json, "features", target.getFeatures());
  }
  tile::PlanAttr plan = (*programsOf(module).begin()).getPlan();
  TileSizes sizes = plan ? plan.getSizes() : TileSizes();
  json.attributeObject("tiles", [&] {
    json.attribute("outer_u", sizes.columns.keys);
    json.attribute(nameOf(AxisRole::Query), sizes.rows.queries);
    json.attribute("tokens", sizes.tokens);
    json.attribute(nameOf(AxisRole::Key), sizes.rows.keys);
  });
  json.attributeObject("functions", [&] { printFunctionsOfTarget(json, module); });
}

/// Arrays of one artifact agree in the size of an axis, so the sizes have one table.
void printSizes(OStream &json, ArrayRef<ArrayRef<TensorEntry>> lists) {
  std::map<std::string, int64_t> sizes;
  for (ArrayRef<TensorEntry> tensors : lists)
    for (const TensorEntry &tensor : tensors)
      for (const auto &[axis, size] : tensor.axes)
        if (size != ArrayType::kUnknown)
          sizes[axis] = size;
  json.attributeObject("sizes", [&] {
    for (const auto &[axis, size] : sizes)
      json.attribute(axis, size);
  });
}

void printParameters(OStream &json, DictionaryAttr parameters) {
  json.attributeObject("parameters", [&] {
    for (NamedAttribute parameter : parameters) {
      if (auto integer = dyn_cast<IntegerAttr>(parameter.getValue()))
        json.attribute(parameter.getName().getValue(), integer.getInt());
      else
        json.attribute(parameter.getName().getValue(), getNumber(cast<FloatAttr>(parameter.getValue())));
    }
  });
}

/// Functions as callers see them, on any target.
void printFunctions(OStream &json, ArrayRef<ModuleOp> modules) {
  json.attributeObject("functions", [&] {
    for (auto [name, program] : functionsOf(modules))
      json.attributeObject(name.getValue(), [&, program = program] {
        printStrings(json, "tensors", tensorNames(program));
        ArrayAttr inPlace = program.getForm().getInPlace();
        if (!inPlace)
          return;
        json.attributeArray("carried", [&] {
          for (auto pair : inPlace.getAsRange<ArrayAttr>())
            json.array([&] {
              for (StringRef tensor : pair.getAsValueRange<StringAttr>())
                json.value(tensor);
            });
        });
      });
  });
}

} // namespace

std::string taylor::printManifest(ArrayRef<ModuleOp> modules) {
  ModuleOp first = modules.front();
  auto request = first->getAttrOfType<RequestAttr>(kRequest);
  auto interface = first->getAttrOfType<InterfaceAttr>(kInterface);
  SmallVector<TensorEntry> inputs = describe(interface.getInputs()),
                           outputs = describe(interface.getOutputs()),
                           saved = arraysOf(first, "forward", "saved"),
                           cache = arraysOf(first, "append", "append");
  nameFeatures(inputs, outputs);
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attributeObject("taylor", [&] {
      json.attribute("version", TAYLOR_VERSION);
      json.attribute("commit", TAYLOR_GIT_HASH);
      json.attribute("abi", TAYLOR_ARTIFACT_ABI);
    });
    json.attribute("hash", request.getHash().getValue());
    json.attribute("spec", interface.getSpec().getValue());
    printParameters(json, interface.getParameters());
    json.attribute("mask", stringifyMask(interface.getMask()));
    json.attribute("form", request.getForm().getValue());
    json.attribute("dtype", request.getDtype().getValue());
    printSizes(json, {inputs, outputs, saved, cache});
    json.attribute("aligned", bool(interface.getAligned()));
    json.attributeObject("tensors", [&] {
      printInputs(json, inputs, interface.getInputs());
      printTensors(json, "outputs", outputs);
      printTensors(json, "saved", saved);
      if (!cache.empty())
        printTensors(json, "cache", cache);
    });
    printFunctions(json, modules);
    json.attributeArray("targets", [&] {
      for (ModuleOp module : modules)
        json.object([&] { printTarget(json, module); });
    });
  });
  text += "\n";
  return text;
}

LogicalResult taylor::verifySameTensors(ArrayRef<ModuleOp> others, ModuleOp module) {
  SmallVector<ModuleOp> all(others);
  all.push_back(module);
  llvm::MapVector<StringAttr, ProgramFactsAttr> functions = functionsOf(all);
  for (ProgramFactsAttr program : programsOf(module))
    if (tensorNames(program) != tensorNames(functions.lookup(program.getForm().getFunction())))
      return module.emitError("requires the same tensors on every target and in every form, but got others "
                              "for ")
             << program.getName() << " of "
             << module->getAttrOfType<tile::TargetAttr>(tile::kTarget).getName();
  return success();
}
