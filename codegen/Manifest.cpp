// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Manifest.h"
#include "dialect/Refusal.h"

#include "TaylorVersion.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Tile/TileDialect.h"
#include "runtime/artifact.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace taylor;

namespace {

std::string getDtypeName(Type type) {
  if (type.isInteger(32))
    return "i32";
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

ManifestTensor describe(StringRef name, ArrayType array) {
  ManifestTensor tensor{name.str(), {}, getDtypeName(array.getElementType()), isCarried(name)};
  for (auto [axis, size] : llvm::zip(array.getAxes(), array.getSizes()))
    tensor.axes.push_back({axis.getValue().str(), size});
  return tensor;
}

ManifestWorkspace describe(tile::WorkspaceOp op) {
  ManifestWorkspace workspace{op.getName().str(), {}, {}, getDtypeName(op.getType().getElementType())};
  for (const tile::Axis &axis : op.getType().getAxes()) {
    workspace.axes.push_back(axis.getName().str());
    llvm::raw_string_ostream size(workspace.sizes.emplace_back());
    tile::printExtent(size, axis.extent);
  }
  return workspace;
}

ManifestKernel describe(tile::KernelOp kernel) {
  ManifestKernel result;
  result.name = kernel.getSymName().str();
  for (unsigned i = 0; i < kernel.getGrid().size(); ++i) {
    llvm::raw_string_ostream extent(result.grid.emplace_back());
    tile::printExtent(extent, kernel.getExtent(i));
  }
  auto isUsed = [&](Value array) {
    return llvm::any_of(array.getUsers(), [&](Operation *user) { return kernel->isProperAncestor(user); });
  };
  auto program = cast<tile::ProgramOp>(kernel->getParentOp());
  for (auto tensor : program.getBlock()->getOps<tile::TensorOp>())
    if (isUsed(tensor.getResult()))
      result.arguments.push_back({tensor.getName().str(), /*isWorkspace=*/false, /*aligned16=*/false});
  for (auto workspace : program.getBlock()->getOps<tile::WorkspaceOp>())
    if (isUsed(workspace.getResult()))
      result.arguments.push_back({workspace.getName().str(), /*isWorkspace=*/true, /*aligned16=*/false});
  return result;
}

double getNumber(FloatAttr attribute) { return attribute.getValueAsDouble(); }

void printInitial(llvm::json::OStream &json, SourceAttr source) {
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

void printSource(llvm::json::OStream &json, SourceAttr source) {
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

void printStrings(llvm::json::OStream &json, StringRef key, ArrayRef<std::string> strings) {
  json.attributeArray(key, [&] {
    for (const std::string &string : strings)
      json.value(string);
  });
}

void printTensor(llvm::json::OStream &json, const ManifestTensor &tensor) {
  json.attribute("name", tensor.name);
  json.attributeArray("axes", [&] {
    for (const auto &[axis, size] : tensor.axes)
      json.value(axis);
  });
  json.attribute("dtype", tensor.dtype);
  if (tensor.optional)
    json.attribute("optional", true);
  // What runtime/artifact.h asks of strides.
  json.attributeObject("layout", [&] {
    json.attribute("strides", "any");
    if (!tensor.axes.empty() && !isRuntimeAxis(tensor.axes.back().first))
      json.attribute("contiguous", tensor.axes.back().first);
  });
}

void printWorkspace(llvm::json::OStream &json, ArrayRef<ManifestWorkspace> arrays) {
  json.attributeArray("workspace", [&] {
    for (const ManifestWorkspace &array : arrays)
      json.object([&] {
        json.attribute("name", array.name);
        printStrings(json, "axes", array.axes);
        printStrings(json, "sizes", array.sizes);
        json.attribute("dtype", array.dtype);
      });
  });
}

/// A processor's kernels are told apart by their place; a GPU's are launched by what stands here.
void printKernels(llvm::json::OStream &json, ArrayRef<ManifestKernel> kernels) {
  json.attributeArray("kernels", [&] {
    for (const ManifestKernel &kernel : kernels) {
      if (kernel.entry.empty()) {
        json.value(kernel.name);
        continue;
      }
      json.object([&] {
        json.attribute("name", kernel.name);
        json.attribute("entry", kernel.entry);
        printStrings(json, "grid", kernel.grid);
        json.attribute("threads", kernel.threads);
        json.attribute("shared", kernel.shared);
        json.attributeArray("arguments", [&] {
          for (const ManifestArgument &argument : kernel.arguments)
            json.object([&] {
              json.attribute(argument.isWorkspace ? "workspace" : "tensor", argument.name);
              if (argument.aligned16)
                json.attribute("aligned16", true);
            });
        });
        if (kernel.isPersistent)
          json.attribute("persistent", true);
        if (kernel.startsEarly)
          json.attribute("early", true);
        if (kernel.maps.empty())
          return;
        json.attributeArray("maps", [&] {
          for (const ManifestMap &map : kernel.maps)
            json.object([&] {
              json.attribute("argument", int64_t(map.argument));
              json.attributeArray("box", [&] {
                for (int64_t size : map.box)
                  json.value(size);
              });
              json.attribute("swizzle", map.swizzle);
            });
        });
      });
    }
  });
}

void printCode(llvm::json::OStream &json, const ManifestCode &code) {
  json.attribute("form", code.form);
  json.attributeObject("cost", [&] {
    json.attribute("call", code.cost.call);
    json.attribute("pair", code.cost.pair);
    json.attribute("query", code.cost.query);
    json.attribute("key", code.cost.key);
  });
  json.attributeObject("operations", [&] {
    json.attribute("pair", code.cost.operations.pair);
    json.attribute("query", code.cost.operations.query);
    json.attribute("key", code.cost.operations.key);
  });
  if (code.cost.features)
    json.attributeObject("state", [&] {
      json.attribute("features", code.cost.features);
      json.attribute("channels", code.cost.channels);
    });
  printKernels(json, code.kernels);
  printWorkspace(json, code.workspace);
}

void printTarget(llvm::json::OStream &json, const ManifestTarget &target) {
  json.attribute("name", target.name);
  json.attribute("kind", target.kind);
  if (!target.processor.empty()) {
    json.attribute("cpu", target.processor);
    printStrings(json, "features", target.features);
  }
  json.attributeObject("tiles", [&] {
    for (const auto &[axis, size] : target.tiles)
      json.attribute(axis, size);
  });
  json.attributeObject("functions", [&] {
    for (const ManifestCode &code : target.functions) {
      if (code.name != code.function)
        continue;
      json.attributeObject(code.name, [&] {
        if (!code.reason.empty())
          json.attribute("reason", code.reason);
        printCode(json, code);
        auto isAlternative = [&](const ManifestCode &other) {
          return other.function == code.function && other.name != code.name;
        };
        if (llvm::any_of(target.functions, isAlternative))
          json.attributeArray("alternatives", [&] {
            for (const ManifestCode &other : llvm::make_filter_range(target.functions, isAlternative))
              json.object([&] { printCode(json, other); });
          });
      });
    }
  });
}

void printTensors(llvm::json::OStream &json, StringRef key, ArrayRef<ManifestTensor> tensors) {
  json.attributeArray(key, [&] {
    for (const ManifestTensor &tensor : tensors)
      json.object([&] { printTensor(json, tensor); });
  });
}

/// Arrays of one artifact agree in the size of an axis, so the sizes have one table.
std::map<std::string, int64_t> collectSizes(const Manifest &manifest) {
  std::map<std::string, int64_t> sizes;
  auto add = [&](const ManifestTensor &tensor) {
    for (const auto &[axis, size] : tensor.axes)
      if (size != ArrayType::kUnknown)
        sizes[axis] = size;
  };
  llvm::for_each(manifest.inputs, add);
  llvm::for_each(manifest.outputs, add);
  llvm::for_each(manifest.saved, add);
  llvm::for_each(manifest.cache, add);
  return sizes;
}

/// Key arrays read at query positions: `taylor.align`, or the log-decay of a sum.
bool readsKeysAtQueries(SpecOp spec) {
  return spec
      .walk([](Operation *op) {
        bool reads = isa<AlignOp>(op);
        if (auto sums = dyn_cast<RecurrencesOp>(op))
          reads |= bool(sums.getDecay());
        if (auto sum = dyn_cast<RecurrenceOp>(op))
          reads |= bool(sum.getDecay());
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Bidirectional where one sum is, or where tokens read later ones or all: only what has none of it keeps
/// every query from its future.
std::string getMask(SpecOp spec) {
  std::string mask = "causal";
  spec.walk([&](Operation *op) {
    auto sumsAll = [](auto sums) { return sums.getMask() == Mask::Bidirectional; };
    auto isReverse = [](auto op) { return op.getReverse(); };
    bool looksAhead = TypeSwitch<Operation *, bool>(op)
                          .Case<RecurrencesOp, RecurrenceOp>(sumsAll)
                          .Case<ScanOp, ConvolveOp>(isReverse)
                          .Case(reducesTokens)
                          .Default(false);
    if (looksAhead)
      mask = "bidirectional";
  });
  return mask;
}

/// Gives states of different orders, whose features differ in number, an axis for each number: f, f2, f3, ..
/// as far as no other array has it.
void nameFeatures(Manifest &manifest) {
  SmallVector<ManifestTensor *> states;
  llvm::StringSet<> taken;
  auto collect = [&](ManifestTensor &tensor) {
    if (isCarried(tensor.name))
      states.push_back(&tensor);
    else
      for (const auto &[axis, size] : tensor.axes)
        taken.insert(axis);
  };
  llvm::for_each(manifest.inputs, collect);
  llvm::for_each(manifest.outputs, collect);
  std::map<int64_t, std::string> names;
  int64_t number = 0;
  for (ManifestTensor *state : states)
    for (auto &[axis, size] : state->axes) {
      if (axis != AxisRole::Feature)
        continue;
      std::string &name = names[size];
      while (name.empty() || taken.contains(name))
        name = std::string(nameOf(AxisRole::Feature)) + (++number == 1 ? "" : std::to_string(number));
      axis = name;
    }
}

} // namespace

void Manifest::addSpecification(SpecOp op) {
  spec = op.getSymName().str();
  parameters = op.getParameters();
  mask = getMask(op);
  aligned = readsKeysAtQueries(op);
}

void Manifest::addInterface(SpecOp op, StringRef ascending) {
  for (auto [argument, name, source] :
       llvm::zip(op.getBody().getArguments(), op.getArgNames(), op.getSources())) {
    ManifestInput input;
    auto array = cast<ArrayType>(argument.getType());
    static_cast<ManifestTensor &>(input) = describe(cast<StringAttr>(name).getValue(), array);
    input.source = cast<SourceAttr>(source);
    input.gradient = isa<FloatType>(array.getElementType());
    input.ascending = input.name == ascending;
    inputs.push_back(input);
  }
  auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
  for (auto [value, name] : llvm::zip(yield.getValues(), *yield.getNames()))
    outputs.push_back(describe(cast<StringAttr>(name).getValue(), cast<ArrayType>(value.getType())));
  nameFeatures(*this);
}

void Manifest::addFunctions(ModuleOp module, bool areRecurrent) {
  for (auto function : module.getOps<FunctionOp>()) {
    auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
    for (auto [value, attribute] : llvm::zip(yield.getValues(), *yield.getNames())) {
      auto [role, name] = cast<StringAttr>(attribute).getValue().split(':');
      if (role == "saved")
        saved.push_back(describe(name, cast<ArrayType>(value.getType())));
    }
    if (areRecurrent)
      addCarried(function);
  }
}

void Manifest::addCarried(FunctionOp function) {
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  auto &pairs = carried[function.getSymName().rsplit('.').second.str()].emplace();
  for (auto steps : function.getBody().front().getOps<StepStatesOp>())
    for (auto [before, behind] : llvm::zip(steps.getInitial(), steps.getStates())) {
      auto argument = dyn_cast<BlockArgument>(before);
      auto result = llvm::find(yield.getValues(), behind);
      if (argument && result != yield.getValues().end())
        pairs.emplace_back(cast<StringAttr>(function.getArgNames()[argument.getArgNumber()]).str(),
                           cast<StringAttr>((*yield.getNames())[result - yield.getValues().begin()]).str());
    }
}

void Manifest::addCache(FunctionOp function) {
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  for (auto [value, attribute] : llvm::zip(yield.getValues(), *yield.getNames())) {
    StringRef name = cast<StringAttr>(attribute).getValue().split(':').second;
    std::string kept = name.consume_front(kCachePrefix) ? name.str()
                       : name.consume_front("final.")   ? (kHandedOnPrefix + name).str()
                                                        : "";
    if (!kept.empty())
      cache.push_back(describe(kept, cast<ArrayType>(value.getType())));
  }
}

LogicalResult Manifest::addPrograms(ModuleOp module, const FormPlan &form, ManifestTarget &target) {
  for (auto program : module.getOps<tile::ProgramOp>()) {
    ManifestFunction function{program.getSymName().str(), {}, {}};
    function.carried = carried[function.name];
    for (auto tensor : program.getBlock()->getOps<tile::TensorOp>())
      function.tensors.push_back(tensor.getName().str());
    auto known = llvm::find_if(functions, [&](const auto &other) { return other.name == function.name; });
    if (known == functions.end())
      functions.push_back(function);
    else if (known->tensors != function.tensors)
      return program.emitError("requires the same tensors on every target, but got others for ")
             << target.name;
    ManifestCode code;
    code.function = code.name = function.name;
    code.form = form.name;
    if (auto cost = form.costs.find(function.name); cost != form.costs.end())
      code.cost = cost->second;
    if (auto reason = form.reasons.find(function.name); reason != form.reasons.end())
      code.reason = reason->second;
    if (form.isAlternative) {
      code.name += "_" + form.name;
      program.setSymName(code.name);
    }
    for (auto kernel : program.getBlock()->getOps<tile::KernelOp>()) {
      code.kernels.push_back(describe(kernel));
      if (size_t count = code.kernels.back().arguments.size();
          target.kind == "ptx" && count > TAYLOR_MAX_ARGUMENTS)
        return refuse(kernel.emitError("unsupported kernel of "))
               << count << " arrays: a GPU's kernels take at most " << TAYLOR_MAX_ARGUMENTS
               << "; join inputs of one shape along a further axis";
    }
    for (auto workspace : program.getBlock()->getOps<tile::WorkspaceOp>())
      code.workspace.push_back(describe(workspace));
    target.functions.push_back(code);
  }
  return success();
}

std::string Manifest::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attributeObject("taylor", [&] {
      json.attribute("version", TAYLOR_VERSION);
      json.attribute("commit", TAYLOR_GIT_HASH);
      json.attribute("abi", TAYLOR_ARTIFACT_ABI);
    });
    json.attribute("hash", hash);
    json.attribute("spec", spec);
    json.attributeObject("parameters", [&] {
      for (NamedAttribute parameter : parameters) {
        if (auto integer = dyn_cast<IntegerAttr>(parameter.getValue()))
          json.attribute(parameter.getName().getValue(), integer.getInt());
        else
          json.attribute(parameter.getName().getValue(), getNumber(cast<FloatAttr>(parameter.getValue())));
      }
    });
    json.attribute("mask", mask);
    json.attribute("form", form);
    json.attribute("dtype", dtype);
    json.attributeObject("sizes", [&] {
      for (const auto &[axis, size] : collectSizes(*this))
        json.attribute(axis, size);
    });
    json.attribute("aligned", aligned);
    json.attributeObject("tensors", [&] {
      json.attributeArray("inputs", [&] {
        for (const ManifestInput &input : inputs)
          json.object([&] {
            printTensor(json, input);
            ::printSource(json, input.source);
            json.attribute("gradient", input.gradient);
            if (input.ascending)
              json.attribute("ascending", true);
          });
      });
      printTensors(json, "outputs", outputs);
      printTensors(json, "saved", saved);
      if (!cache.empty())
        printTensors(json, "cache", cache);
    });
    json.attributeObject("functions", [&] {
      for (const ManifestFunction &function : functions)
        json.attributeObject(function.name, [&] {
          printStrings(json, "tensors", function.tensors);
          if (!function.carried)
            return;
          json.attributeArray("carried", [&] {
            for (const auto &[before, behind] : *function.carried)
              json.array([&] {
                json.value(before);
                json.value(behind);
              });
          });
        });
    });
    json.attributeArray("targets", [&] {
      for (const ManifestTarget &target : targets)
        json.object([&] { printTarget(json, target); });
    });
  });
  text += "\n";
  return text;
}
