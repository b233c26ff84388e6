// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Problem.h"
#include "codegen/Driver/SourceText.h"
#include "codegen/run/Npy.h"
#include "codegen/run/RandomArray.h"
#include "dialect/Taylor/Parameters.h"
#include "mlir/Parser/Parser.h"
#include "passes/Specification/MaskConditions.h"
#include "passes/Specification/Rewrites.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace mlir;
using namespace taylor;
using namespace taylor::run;

LogicalResult taylor::run::fail(const Twine &message) {
  llvm::errs() << "taylor-run: " << message << "\n";
  return failure();
}

LogicalResult taylor::run::fail(llvm::Error error) { return fail(llvm::toString(std::move(error))); }

FailureOr<std::unique_ptr<ModuleFile>> taylor::run::parseModule(const std::string &path,
                                                                MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + path + "': " + buffer.getError().message());
  auto file = std::make_unique<ModuleFile>(context);
  StringRef text = (*buffer)->getBuffer();
  file->sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  if (failed(checkText(text, path, *context)))
    return failure();
  file->module = parseSourceFile<ModuleOp>(file->sources, context);
  if (!file->module)
    return failure();
  (*file->module)->setLoc(FileLineColLoc::get(context, path, 1, 1)); // it has no text of its own
  return file;
}

std::vector<Array> taylor::run::arraysOf(ArrayRef<NamedArray> arrays) {
  std::vector<Array> result;
  for (const NamedArray &named : arrays)
    result.push_back(named.array);
  return result;
}

namespace {

class ProblemBuilder {
public:
  ProblemBuilder(SpecOp spec, const RunOptions &options) : options(options) { problem.spec = spec; }

  FailureOr<Problem> build() {
    problem.dtype = options.dtype.value_or(Dtype::F32);
    problem.hasUnreal = options.unreal > 0;
    problem.tf32Products = options.compile.f32Products == F32Products::TF32 && problem.dtype == Dtype::F32;
    problem.environment.threads =
        options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    if (options.compile.documents && failed(addDocuments(problem.spec)))
      return failure();
    if (failed(setParameters()) || failed(loadInputs()) || failed(setSizes()))
      return failure();
    if (options.compile.mask && failed(setMask(problem.spec, *options.compile.mask)))
      return failure();
    AxisMap<int64_t> &sizes = problem.environment.sizes;
    if (failed(checkMasks(problem.spec,
                          {sizes.lookup(AxisRole::Channel), sizes.lookup(AxisRole::ValueChannel)})))
      return failure();
    if (failed(makeInputs()) || failed(makeCotangents()))
      return failure();
    return std::move(problem);
  }

private:
  LogicalResult setParameters();
  LogicalResult loadInputs();
  LogicalResult setSize(AxisRef axis, int64_t size, const Twine &owner);
  LogicalResult setSizes();
  LogicalResult makeInputs();
  LogicalResult makeCotangents();
  ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }
  Block &body() { return problem.spec.getBody().front(); }
  /// Whether values are rounded at all.
  bool rounds() const { return options.dtype || options.device != Device::Reference; }

  const RunOptions &options;
  Problem problem;
  std::map<std::string, NpyArray> files, cotangentFiles;
};

LogicalResult ProblemBuilder::setParameters() {
  std::string known;
  SmallVector<ParameterSetting> settings;
  for (NamedAttribute parameter : problem.spec.getParameters()) {
    std::string name = parameter.getName().str();
    known += (known.empty() ? "" : ", ") + name;
    auto integer = dyn_cast<IntegerAttr>(parameter.getValue());
    Real value =
        integer ? Real(integer.getInt()) : Real(cast<FloatAttr>(parameter.getValue()).getValueAsDouble());
    auto it = llvm::find_if(options.compile.parameters, [&](auto &setting) { return setting.name == name; });
    if (it != options.compile.parameters.end()) {
      int64_t asInteger;
      double asNumber;
      if (integer ? StringRef(it->value).getAsInteger(10, asInteger)
                  : StringRef(it->value).getAsDouble(asNumber))
        return fail("expected " + Twine(integer ? "an integer" : "a number") + " in --set " + name +
                    "=.., but got '" + it->value + "'");
      value = integer ? Real(asInteger) : Real(asNumber);
      settings.push_back(*it);
    }
    problem.environment.parameters[name] = value;
  }
  for (auto &[name, value] : options.compile.parameters)
    if (!problem.environment.parameters.contains(name))
      return fail("unsupported parameter '" + name + "' in --set: @" + problem.spec.getSymName() +
                  (known.empty() ? " has none" : " has " + known));
  return taylor::setParameters(problem.spec, settings);
}

/// `option`: with what follows it.
LogicalResult checkName(const std::string &name, ArrayRef<std::string> known, StringRef option,
                        StringRef what) {
  if (name == "*" || llvm::is_contained(known, name))
    return success();
  return fail("expected --" + option + " with " + what + " of the specification (" + llvm::join(known, ", ") +
              "), but got '" + name + "'");
}

LogicalResult checkNames(const std::map<std::string, std::string> &given, ArrayRef<std::string> known,
                         StringRef option, StringRef what) {
  for (auto &[name, file] : given)
    if (failed(checkName(name, known, (option + "=NAME=FILE").str(), what)))
      return failure();
  return success();
}

LogicalResult ProblemBuilder::loadInputs() {
  std::vector<std::string> arguments = reference::argumentNames(problem.spec),
                           results = reference::resultNames(problem.spec);
  if (failed(checkNames(options.inputs, arguments, "input", "an argument")) ||
      failed(checkNames(options.gradients, arguments, "output-grad", "an argument")) ||
      failed(checkNames(options.cotangents, results, "cotangent", "a result")) ||
      failed(checkNames(options.outputs, results, "output", "a result")))
    return failure();
  for (const std::string &name : options.absentGradients)
    if (failed(checkName(name, arguments, "absent-grad=NAME", "an argument")))
      return failure();
  for (auto [argument, name] : llvm::zip_equal(body().getArguments(), arguments))
    if (options.gradients.count(name) && cast<ArrayType>(argument.getType()).getElementType().isInteger())
      return fail("unsupported gradient of the integer argument '" + name + "'");
  if (options.outputs.count("*") && results.size() != 1)
    return fail("expected --output=NAME=FILE, since the specification has " + Twine(results.size()) +
                " results: " + llvm::join(results, ", "));
  auto load = [&](StringRef name, const std::string &path, ArrayType type, auto &loaded) -> LogicalResult {
    llvm::Expected<NpyArray> file = readNpy(path);
    if (!file)
      return fail(file.takeError());
    if (static_cast<int64_t>(file->sizes.size()) != type.getRank())
      return fail("expected " + Twine(type.getRank()) + " axes of '" + name + "', but got " +
                  Twine(file->sizes.size()) + " in '" + path + "'");
    if ((file->dtype == Dtype::I32) != type.getElementType().isInteger())
      return fail("expected " + Twine(type.getElementType().isInteger() ? "int32" : "float32 or float64") +
                  " elements of '" + name + "', but got others in '" + path + "'");
    loaded[name.str()] = std::move(*file);
    return success();
  };
  for (auto [argument, name] : llvm::zip_equal(body().getArguments(), arguments))
    if (auto it = options.inputs.find(name); it != options.inputs.end())
      if (failed(load(name, it->second, typeOf(argument), files)))
        return failure();
  for (auto [result, name] : llvm::zip_equal(body().getTerminator()->getOperands(), results))
    if (auto it = options.cotangents.find(name); it != options.cotangents.end())
      if (failed(load(name, it->second, typeOf(result), cotangentFiles)))
        return failure();
  return success();
}

LogicalResult ProblemBuilder::setSize(AxisRef axis, int64_t size, const Twine &owner) {
  auto [it, inserted] = problem.environment.sizes.try_emplace(axis, size);
  if (it->second == size)
    return success();
  return fail("expected " + axis + " = " + Twine(it->second) + " of " + owner + ", but got " + Twine(size));
}

LogicalResult ProblemBuilder::setSizes() {
  AxisMap<int64_t> &sizes = problem.environment.sizes;
  for (auto &[axis, size] : options.shape)
    sizes[axis] = size;
  std::vector<std::string> names = reference::argumentNames(problem.spec);
  for (auto [argument, name] : llvm::zip_equal(body().getArguments(), names)) {
    ArrayType type = typeOf(argument);
    auto file = files.find(name);
    for (auto [i, axis] : llvm::enumerate(type.getAxes())) {
      int64_t written = type.getSizes()[i];
      bool isFree = axis.size() != 1 || !StringRef("bhgtude").contains(axis.getValue());
      if (isFree) {
        if (file != files.end() && written != ArrayType::kUnknown && file->second.sizes[i] != written)
          return fail("expected " + axis.getValue() + " = " + Twine(written) + " of '" + name +
                      "', but got " + Twine(file->second.sizes[i]));
        continue;
      }
      if (written != ArrayType::kUnknown && failed(setSize(axis, written, "'" + name + "'")))
        return failure();
      if (file != files.end() && failed(setSize(axis, file->second.sizes[i], "'" + name + "'")))
        return failure();
    }
  }
  auto byDefault = [&](AxisRef axis, AxisRef other) {
    if (!sizes.contains(axis) && sizes.contains(other))
      sizes[axis] = sizes[other];
  };
  byDefault(AxisRole::KeyHead, AxisRole::Head);
  byDefault(AxisRole::Head, AxisRole::KeyHead);
  byDefault(AxisRole::Key, AxisRole::Query);
  byDefault(AxisRole::Query, AxisRole::Key);
  byDefault(AxisRole::ValueChannel, AxisRole::Channel);
  byDefault(AxisRole::Channel, AxisRole::ValueChannel);
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
    sizes.try_emplace(axis, 1);
  for (auto [argument, name] : llvm::zip_equal(body().getArguments(), names))
    for (auto [axis, size] : llvm::zip_equal(typeOf(argument).getAxes(), typeOf(argument).getSizes()))
      if (size == ArrayType::kUnknown && !sizes.contains(axis.getValue()))
        return fail("requires the size of axis '" + axis.getValue() + "' of '" + name +
                    "': give --shape=B,H,T,D, or --input for an array that has it");
  if (sizes[AxisRole::KeyHead] <= 0 || sizes[AxisRole::Head] % sizes[AxisRole::KeyHead])
    return fail("expected query heads as a multiple of key/value heads, but got h = " +
                Twine(sizes[AxisRole::Head]) + " and g = " + Twine(sizes[AxisRole::KeyHead]));
  for (AxisRef axis : {AxisRole::Channel, AxisRole::ValueChannel})
    if (sizes.contains(axis) && sizes[axis] <= 0)
      return fail("expected a positive size of channel '" + axis + "', but got " + Twine(sizes[axis]));
  sizes.try_emplace(AxisRole::Query, 1);
  sizes.try_emplace(AxisRole::Key, 1);
  problem.environment.offset = options.offset.value_or(sizes[AxisRole::Key] - sizes[AxisRole::Query]);
  return success();
}

/// Refuses arrays that would not fit in memory, before any is made.
LogicalResult checkCount(ArrayType type, StringRef name, const Environment &environment) {
  constexpr double kMost = 1 << 28;
  double count = 1;
  for (auto [axis, size] : llvm::zip_equal(type.getAxes(), type.getSizes()))
    count *= static_cast<double>(size == ArrayType::kUnknown ? environment.sizeOf(axis) : size);
  if (count <= kMost)
    return success();
  return fail("unsupported sizes: '" + name +
              "' would have more than 2^28 elements, which the reference holds at 16 bytes each");
}

LogicalResult ProblemBuilder::makeInputs() {
  std::vector<std::string> names = reference::argumentNames(problem.spec);
  for (auto [argument, name, source] :
       llvm::zip_equal(body().getArguments(), names, problem.spec.getSources().getAsRange<SourceAttr>())) {
    ArrayType type = typeOf(argument);
    bool isInteger = type.getElementType().isInteger();
    // Learned parameters stay in f32 where the model computes in 16 bits (runtime/MANIFEST.md).
    bool isWide = source.getKind() == SourceKind::Parameter && reference::isNarrow(problem.dtype);
    Dtype dtype = isInteger ? Dtype::I32 : isWide ? Dtype::F32 : problem.dtype;
    if (failed(checkCount(type, name, problem.environment)))
      return failure();
    Array array(reference::shapeOf(type, problem.environment));
    if (auto it = files.find(name); it != files.end())
      array.values = it->second.values;
    else
      fillRandom(array, name, source, isInteger, options.seed, options.scale, problem.environment);
    if (rounds() && !isInteger)
      reference::roundAll(array, reference::Rounding(reference::mantissaBits(dtype)));
    if (type.has(AxisRole::Query) && !isInteger && !files.count(name))
      fillUnreal(array, name, options.seed, options.unreal);
    problem.inputDtypes.push_back(dtype);
    problem.inputs.push_back({name, std::move(array)});
  }
  return success();
}

LogicalResult ProblemBuilder::makeCotangents() {
  for (auto [result, name] :
       llvm::zip_equal(body().getTerminator()->getOperands(), reference::resultNames(problem.spec))) {
    if (failed(checkCount(typeOf(result), name, problem.environment)))
      return failure();
    Array array(reference::shapeOf(typeOf(result), problem.environment));
    if (auto it = cotangentFiles.find(name); it != cotangentFiles.end()) {
      if (it->second.sizes != array.shape.sizes)
        return fail("expected a cotangent of '" + name + "' of sizes " + array.shape.str() +
                    ", but got others in '" + options.cotangents.at(name) + "'");
      array.values = it->second.values;
    } else {
      fillNormal(array, "cotangent:" + name, options.seed, 0, 1);
    }
    if (rounds())
      reference::roundAll(array, reference::Rounding(reference::mantissaBits(problem.dtype)));
    problem.cotangents.push_back({name, std::move(array)});
  }
  return success();
}

} // namespace

FailureOr<Problem> taylor::run::makeProblem(SpecOp spec, const RunOptions &options) {
  return ProblemBuilder(spec, options).build();
}

FailureOr<taylor::run::Outcome> taylor::run::evaluate(Problem &problem, reference::RoundingRules arithmetic,
                                                      bool withGradients, const Forms &forms) {
  Environment environment = problem.environment;
  environment.arithmetic = arithmetic;
  environment.forward = forms.forward;
  environment.backward = forms.backward;
  reference::Evaluation evaluation(environment);
  if (failed(evaluation.run(problem.spec, arraysOf(problem.inputs))))
    return failure();
  Outcome result;
  result.outputs.assign(evaluation.getResults().begin(), evaluation.getResults().end());
  if (withGradients)
    result.gradients = evaluation.pullback(arraysOf(problem.cotangents));
  return result;
}
