// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification for few queries in two: what keys become by themselves, and what reads that. Passes.td has
// the rule.
#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

#define DEBUG_TYPE "taylor-prepare-keys"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PREPAREKEYSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// What a value is computed from.
enum class Origin {
  Shared, ///< No token: parameters and indices.
  Key,    ///< Its own key, and those before it that are carried.
  Rest    ///< Queries, or many keys.
};

ArrayType typeOf(Value value) { return arrayTypeOf(value); }

bool readsSizes(Operation *op) {
  return op
      ->walk([](SizeOp size) {
        return isTokenAxis(size.getAxis()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a key's result does not depend on later keys, nor on more than the last few before it.
bool isLocal(Operation *op) {
  if (readsSizes(op) ||
      !llvm::all_of(op->getResults(), [](Value result) { return typeOf(result).has(AxisRole::Key); }))
    return false;
  auto array = dyn_cast<ArrayOpInterface>(op);
  if (!array)
    return false;
  std::optional<MutableOperandRange> documents = array.getDocuments();
  bool hasDocuments = documents && !documents->empty();
  bool isWindow = array.getReach() == Reach::Window && array.getWindow() <= kMostShifted;
  return array.getReach() == Reach::Own || (isWindow && !hasDocuments);
}

/// Elements for each key of a batch, as if each key head served four heads.
int64_t elementsOf(Value value) {
  return countPlaceElements(typeOf(value)) * (typeOf(value).has(AxisRole::Head) ? 4 : 1);
}

class KeyParts {
public:
  explicit KeyParts(SpecOp spec) : spec(spec), builder(spec.getContext()) {}

  /// Decides what is kept for each key. False if nothing is better kept than the inputs.
  bool run() {
    for (BlockArgument argument : body().getArguments())
      origins[argument] = typeOf(argument).has(AxisRole::Query) ? Origin::Rest
                          : typeOf(argument).has(AxisRole::Key) ? Origin::Key
                                                                : Origin::Shared;
    for (Operation &op : body().without_terminator())
      for (Value result : op.getResults())
        origins[result] = originOf(&op);
    auto ofKeys = [](Value value) { return typeOf(value).has(AxisRole::Key); };
    if (llvm::any_of(body().getTerminator()->getOperands(), ofKeys))
      return false;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body())))
      if (isRest(&op))
        for (Value operand : op.getOperands())
          keep(operand);
    // Whole numbers, as of documents, are the caller's alone.
    auto isReal = [](Value value) { return isa<FloatType>(typeOf(value).getElementType()); };
    return llvm::all_of(kept, isReal) &&
           llvm::any_of(kept, [](Value value) { return !isa<BlockArgument>(value); });
  }

  void split();
  size_t getNumKept() const { return kept.size(); }

private:
  Block &body() { return spec.getBody().front(); }

  Origin originOf(Operation *op) {
    auto is = [&](Origin origin) {
      return llvm::any_of(op->getOperands(),
                          [&](Value operand) { return origins.lookup(operand) == origin; });
    };
    auto ofQueries = [](Value result) {
      return typeOf(result).has(AxisRole::Query) || typeOf(result).has(AxisRole::Lag);
    };
    if (is(Origin::Rest) || llvm::any_of(op->getResults(), ofQueries))
      return Origin::Rest;
    if (!is(Origin::Key))
      return readsSizes(op) ? Origin::Rest : Origin::Shared;
    return isLocal(op) ? Origin::Key : Origin::Rest;
  }

  bool isRest(Operation *op) {
    return isa<YieldOp>(op) || llvm::any_of(op->getResults(), [&](Value result) {
             return origins.lookup(result) == Origin::Rest;
           });
  }

  /// Keeps a value of keys that the step reads. If it is a map that only spreads arrays over more heads or
  /// channels, keeps those arrays instead.
  void keep(Value value) {
    if (origins.lookup(value) != Origin::Key)
      return;
    auto map = value.getDefiningOp<MapOp>();
    int64_t elements = 0;
    for (Value array : map ? map.getArrays() : ValueRange())
      elements += origins.lookup(array) == Origin::Key ? elementsOf(array) : 0;
    if (!map || elementsOf(value) <= elements) {
      kept.insert(value);
      return;
    }
    origins[map.getResult()] = Origin::Rest;
    for (Value array : map.getArrays())
      keep(array);
  }

  /// The type in which a value is kept: that of an input; of a computed vector 16 bits if its inputs have 16,
  /// but f16 only if the vector is only rotated, so that f16 holds its numbers.
  Type storageOf(Value value) {
    if (isa<BlockArgument>(value) || !hasChannel(typeOf(value)))
      return typeOf(value).getElementType();
    Type storage = typeOf(value).getScalarType();
    bool isRotated = true;
    walkSources(value, [&](Value source) {
      Operation *op = source.getDefiningOp();
      auto array = dyn_cast_or_null<ArrayOpInterface>(op);
      isRotated &= !op || (array && array.isRotation());
      auto number = dyn_cast<FloatType>(typeOf(source).getElementType());
      if (!op && number && origins.lookup(source) == Origin::Key &&
          number.getWidth() < storage.getIntOrFloatBitWidth())
        storage = number;
      return true;
    });
    return storage.isF16() && !isRotated ? typeOf(value).getScalarType() : storage;
  }

  SmallVector<std::string> nameKept();
  SpecOp clone(StringRef suffix, IRMapping &values);

  SpecOp spec;
  OpBuilder builder;
  DenseMap<Value, Origin> origins;
  SetVector<Value> kept;
};

/// An input's name, or "keyN".
SmallVector<std::string> KeyParts::nameKept() {
  llvm::StringSet<> taken;
  for (StringRef name : spec.getArgNames().getAsValueRange<StringAttr>())
    taken.insert(name);
  SmallVector<std::string> names;
  int64_t number = 0;
  for (Value value : kept) {
    std::string name;
    if (auto argument = dyn_cast<BlockArgument>(value))
      name = cast<StringAttr>(spec.getArgNames()[argument.getArgNumber()]).str();
    else
      do
        name = "key" + std::to_string(number++);
      while (taken.contains(name));
    names.push_back(kCachePrefix.str() + name);
  }
  return names;
}

SpecOp KeyParts::clone(StringRef suffix, IRMapping &values) {
  builder.setInsertionPoint(spec);
  auto copy = cast<SpecOp>(builder.clone(*spec, values));
  std::string name = (spec.getSymName() + suffix).str();
  auto module = spec->getParentOfType<ModuleOp>();
  for (int64_t number = 0; !suffix.empty() && module.lookupSymbol(name); ++number)
    name = (spec.getSymName() + suffix + "_" + Twine(number)).str();
  copy.setSymName(name);
  return copy;
}

void KeyParts::split() {
  // In the order of the body: reproducible, and readable.
  SmallVector<Value> ordered;
  llvm::copy_if(body().getArguments(), std::back_inserter(ordered),
                [&](Value v) { return kept.contains(v); });
  for (Operation &op : body())
    llvm::copy_if(op.getResults(), std::back_inserter(ordered), [&](Value v) { return kept.contains(v); });
  kept = SetVector<Value>(ordered.begin(), ordered.end());
  SmallVector<std::string> names = nameKept();
  SmallVector<Type> types =
      llvm::map_to_vector(kept, [&](Value value) -> Type { return typeOf(value).clone(storageOf(value)); });
  for (auto [value, name, type] : llvm::zip_equal(kept, names, types))
    LDBG() << name << ": " << type << " of " << value.getLoc();

  IRMapping ofKeys;
  SpecOp keys = clone("_keys", ofKeys);
  auto yield = cast<YieldOp>(keys.getBody().front().getTerminator());
  builder.setInsertionPoint(yield);
  SmallVector<Value> results;
  for (auto [value, type] : llvm::zip_equal(kept, types))
    results.push_back(buildMap(
        builder, value.getLoc(), ofKeys.lookup(value), {},
        [](OpBuilder &, Location, ValueRange x) { return x[0]; }, cast<ArrayType>(type)));
  yield.getValuesMutable().assign(results);
  yield.setNamesAttr(builder.getStrArrayAttr(SmallVector<StringRef>(names.begin(), names.end())));
  keys.setPreparesKeys(true);
  keys.setFormAttr(tile::FormAttr::get(keys.getContext(), Form::Parallel, FunctionRole::Append));
  keys.setCarriesAttr(CarryAttr::get(keys.getContext(), CarryMode::Keys));
  dropUnused(keys);

  IRMapping ofRest;
  SpecOp rest = clone("", ofRest);
  SmallVector<Attribute> argNames(rest.getArgNames().getValue()), sources(rest.getSources().getValue());
  FloatAttr zero = builder.getF64FloatAttr(0.0);
  builder.setInsertionPointToStart(&rest.getBody().front());
  for (auto [value, name, type] : llvm::zip_equal(kept, names, types)) {
    Value argument = rest.getBody().front().addArgument(type, value.getLoc());
    argNames.push_back(builder.getStringAttr(name));
    sources.push_back(
        SourceAttr::get(builder.getContext(), SourceKind::Input, false, Initial::Zeros, zero, zero));
    Value computed = ofRest.lookup(value), same = argument;
    // Regions take any storage type; what gives results of its operand's type takes its own.
    auto takesAny = [](OpOperand &use) { return isa<PairwiseOp, MapOp, ReduceOp>(use.getOwner()); };
    computed.replaceUsesWithIf(argument, takesAny);
    if (!computed.use_empty())
      same = buildConversion(builder, value.getLoc(), argument, typeOf(value).getElementType());
    computed.replaceAllUsesWith(same);
  }
  rest.setArgNamesAttr(builder.getArrayAttr(argNames));
  rest.setSourcesAttr(builder.getArrayAttr(sources));
  dropUnused(rest);
  spec.erase();
}

class PrepareKeys : public ::taylor::impl::PrepareKeysPassBase<PrepareKeys> {
  void runOnOperation() override {
    for (SpecOp spec : llvm::to_vector(getOperation().getOps<SpecOp>()))
      if (!isStepOverKeys(spec)) {
        LDBG() << "@" << spec.getSymName() << ": stays, it reads no keys of earlier calls";
      } else if (KeyParts parts(spec); parts.run()) {
        parts.split();
        numKept += parts.getNumKept();
      } else {
        LDBG() << "@" << spec.getSymName() << ": stays, nothing but its inputs would be kept";
      }
  }

  static bool isStepOverKeys(SpecOp spec) {
    auto form = cast_if_present<tile::FormAttr>(spec.getFormAttr());
    return form && form.getKind() == Form::Parallel && form.getFunction() == FunctionRole::Step;
  }
};

} // namespace
