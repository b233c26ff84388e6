// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compilation is asked for: a specification, and targets that can do it.
#include "codegen/Driver/Driver.h"
#include "dialect/Refusal.h"

#include "codegen/Driver/SourceText.h"

#include "dialect/Taylor/Parameters.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace taylor;

/// The size of an axis as the types of a specification's arguments write it; 0 where none does.
static int64_t writtenSize(SpecOp spec, AxisRef axis) {
  for (Type argument : spec.getBody().getArgumentTypes())
    if (auto type = dyn_cast<ArrayType>(argument); type && type.has(axis))
      if (int64_t size = type.sizeOf(axis); size != ArrayType::kUnknown)
        return size;
  return 0;
}

LogicalResult Driver::load(StringRef source, StringRef name) {
  text = source.str();
  fileName = name.str();
  if (failed(checkText(source, name, context)))
    return failure();
  module = parseSourceString<ModuleOp>(source, &context, fileName);
  if (!module)
    return failure();
  // What is said of the module as a whole is said at the file's start, and then at the specification.
  (*module)->setLoc(FileLineColLoc::get(&context, fileName, 1, 1));
  FailureOr<SpecOp> spec = selectSpec(*module, options.spec);
  if (succeeded(spec))
    (*module)->setLoc(spec->getLoc());
  if (failed(spec) || failed(setParameters(*spec, options.parameters)) ||
      (options.mask && failed(setMask(*spec, *options.mask))) ||
      (options.documents && failed(addDocuments(*spec))))
    return failure();
  if (!options.headDim)
    options.headDim = writtenSize(*spec, AxisRole::Channel);
  if (!options.valueDim)
    options.valueDim = writtenSize(*spec, AxisRole::ValueChannel);
  // Targets were chosen before these sizes were known.
  for (const std::unique_ptr<Target> &target : targets)
    if (std::string message = target->check(getProblem()); !message.empty())
      return refuse(spec->emitError()) << message;
  return success();
}

/// What the target cannot do, as a message.
std::string Driver::checkTarget(const Target &target, Emission emission) {
  std::string message = target.checkLevel(emission);
  return message.empty() ? target.check(getProblem()) : message;
}

std::optional<TargetFault> Driver::chooseTargets(Emission emission) {
  llvm::StringSet<> given;
  if (options.targets.empty())
    options.targets = {"native"};
  for (const std::string &name : options.targets) {
    if (!given.insert(name).second)
      return TargetFault{"expected each target once, but got '" + name + "' twice"};
    std::string error;
    std::unique_ptr<Target> target = makeTarget(name, error);
    if (!target)
      return TargetFault{error};
    if (std::string message = checkTarget(*target, emission); !message.empty())
      return TargetFault{message, /*isRefusal=*/true};
    // Two GPUs may run the same code.
    if (llvm::none_of(targets, [&](const auto &other) { return other->getName() == target->getName(); }))
      targets.push_back(std::move(target));
  }
  return std::nullopt;
}
