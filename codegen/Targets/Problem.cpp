// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a module is compiled for, as an attribute.
#include "codegen/Targets/Target.h"

#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace taylor;

/// Calls visit(NAME, MEMBER) for each field.
template <typename Visitor> static void visitFields(TargetProblem &problem, Visitor visit) {
  visit("head_dim", problem.headDim);
  visit("value_dim", problem.valueDim);
  visit("widest_key", problem.widestKey);
  visit("widest_value", problem.widestValue);
  visit("dtype", problem.dtype);
  visit("f32_products", problem.f32Products);
  visit("bf16_products", problem.bf16Products);
  visit("row_sums", problem.rowSums);
  visit("chunk", problem.chunk);
  visit("states", problem.states);
  visit("form_costs", problem.formCosts);
}

template <typename Visitor> static void visitFields(CostSample &sample, Visitor visit) {
  visit("function", sample.function);
  visit("features", sample.features);
  visit("channels", sample.channels);
  visit("factor", sample.factor);
}

namespace {

/// Values as attributes.
struct ProblemWriter {
  Builder builder;

  Attribute write(bool value) { return builder.getBoolAttr(value); }
  Attribute write(int64_t value) { return builder.getI64IntegerAttr(value); }
  Attribute write(double value) { return builder.getF64FloatAttr(value); }
  template <typename Choice>
    requires std::is_enum_v<Choice>
  Attribute write(Choice value) {
    return builder.getStringAttr(stringifyEnum(value));
  }
  template <typename Record> Attribute write(const std::vector<Record> &list) {
    return builder.getArrayAttr(
        llvm::map_to_vector(list, [&](const Record &record) -> Attribute { return writeRecord(record); }));
  }
  template <typename Record> DictionaryAttr writeRecord(Record record) {
    NamedAttrList fields;
    visitFields(record, [&](StringRef name, auto &member) { fields.set(name, write(member)); });
    return fields.getDictionary(builder.getContext());
  }
};

/// And back; false where an attribute is no such value.
struct Reader {
  static constexpr int64_t kMost = int64_t(1) << 40; ///< So that bytes of it are a number, too.

  bool read(Attribute from, bool &value) { return readAs<BoolAttr>(from, value); }
  bool read(Attribute from, int64_t &value) {
    auto number = dyn_cast<IntegerAttr>(from);
    bool isCount =
        number && number.getType().isInteger(64) && number.getInt() >= -kMost && number.getInt() <= kMost;
    value = isCount ? number.getInt() : value;
    return isCount;
  }
  bool read(Attribute from, double &value) {
    auto number = dyn_cast<FloatAttr>(from);
    value = number ? number.getValueAsDouble() : value;
    return bool(number);
  }
  bool read(Attribute from, std::string &value) { return readAs<StringAttr>(from, value); }
  template <typename Choice>
    requires std::is_enum_v<Choice>
  bool read(Attribute from, Choice &value) {
    std::string word;
    std::optional<Choice> choice =
        read(from, word) ? symbolizeEnum<Choice>(StringRef(word)) : std::optional<Choice>();
    value = choice.value_or(value);
    return choice.has_value();
  }
  template <typename Record> bool read(Attribute from, std::vector<Record> &list) {
    auto array = dyn_cast<ArrayAttr>(from);
    return array &&
           llvm::all_of(array, [&](Attribute record) { return readRecord(record, list.emplace_back()); });
  }

  /// Names the field that is wrong.
  template <typename Record> bool readRecord(Attribute from, Record &record) {
    auto dictionary = dyn_cast<DictionaryAttr>(from);
    if (!dictionary)
      return false;
    llvm::StringSet<> known;
    visitFields(record, [&](StringRef name, auto &member) {
      known.insert(name);
      if (Attribute value = dictionary.get(name); value && !read(value, member))
        wrong = name.str();
    });
    for (NamedAttribute field : dictionary)
      if (!known.contains(field.getName()))
        wrong = field.getName().str();
    return wrong.empty();
  }

  std::string wrong;

private:
  template <typename Attr, typename T> static bool readAs(Attribute from, T &value) {
    auto attribute = dyn_cast<Attr>(from);
    if (attribute)
      value = T(attribute.getValue());
    return bool(attribute);
  }
};

} // namespace

DictionaryAttr taylor::describeProblem(const TargetProblem &problem, MLIRContext *context) {
  return ProblemWriter{Builder(context)}.writeRecord(problem);
}

FailureOr<TargetProblem> taylor::readProblem(ModuleOp module) {
  TargetProblem problem;
  Attribute said = module->getAttr(kProblem);
  Reader reader;
  if (!said)
    return problem;
  bool isRecord = reader.readRecord(said, problem);
  if (isRecord && (problem.headDim < 1 || problem.valueDim < 1))
    reader.wrong = problem.headDim < 1 ? "head_dim" : "value_dim";
  else if (isRecord)
    return problem;
  if (reader.wrong.empty())
    return module.emitError("expected a dictionary as '") << kProblem << "', but got " << said;
  return module.emitError("unsupported field '")
         << reader.wrong << "' in '" << kProblem << "', or a value that it cannot have: " << said;
}

std::pair<int64_t, int64_t> taylor::findWidest(ModuleOp module) {
  int64_t key = 0, value = 0;
  module->walk([&](RecurrencesOp sums) {
    auto channels = [](ArrayType array) { return array.sizeOf(channelOf(array)); };
    key = std::max(key, channels(sums.getQuery().getType()));
    value = std::max(value, channels(sums.getValue().getType()));
  });
  return {key, value};
}

bool taylor::carriesStates(ModuleOp module) {
  return llvm::any_of(module.getOps<FunctionOp>(), [](FunctionOp function) {
    CarryAttr carries = function.getCarriesAttr();
    return carries && carries.hasStates();
  });
}
