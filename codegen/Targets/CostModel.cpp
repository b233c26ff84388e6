// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CostModel.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/LowerToTile/VisibleRanges.h"
#include "passes/States/SeparableSums.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

int64_t taylor::channelsOf(Value array) { return countChannels(arrayTypeOf(array)); }

namespace {

int64_t sumChannels(ValueRange arrays) {
  int64_t sum = 0;
  for (Value array : arrays)
    sum += channelsOf(array);
  return sum;
}

class CostCounter {
public:
  CostCounter(const TileSizes &sizes, const CostRates &rates) : sizes(sizes), rates(rates) {}

  void count(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<PairwiseOp>([&](auto pairs) { countPairs(pairs); })
        .Case<StatesOp>([&](auto states) { countStates(states); })
        .Case<ReadStatesOp>([&](auto read) {
          at(read.getVectors()) += rates.feature * featuresOf(read) * (1 + 2 * sumChannels(read.getStates()));
          cost.call += rates.kernel;
        })
        .Case<ContractStatesOp>([&](auto contract) {
          // The product with the states, then the derivative of each monomial by its factors.
          double factors = 2 * double(std::max<int64_t>(contract.getLast(), 1));
          at(contract.getVectors()) +=
              rates.feature * featuresOf(contract) * (factors + 2 * sumChannels(contract.getValues()));
          cost.call += rates.kernel;
        });
  }

  FormCost cost;

private:
  template <typename Op> static double featuresOf(Op op) { return double(*op.getFeatures().count()); }

  /// What is done once per token of an array is done for each key of a group, or for each query of a head.
  double &at(Value array) {
    ArrayType type = arrayTypeOf(array);
    return type.has(AxisRole::Key) && !type.has(AxisRole::Head) ? cost.key : cost.query;
  }

  static double countScalars(Region &region) {
    double count = 0;
    region.walk([&](Operation *op) {
      // An exponential is a polynomial of about that many terms.
      count += op->hasTrait<OpTrait::IsTerminator>()                            ? 0
               : op->getDialect() && op->getDialect()->getNamespace() == "math" ? 12
                                                                                : 1;
    });
    return count;
  }

  void countPairs(PairwiseOp op) {
    // A row's sum of constants is counted, without pairs.
    VisibleRanges ranges(op);
    if (ranges.canCount() && llvm::all_of(op.getSums().getAsRange<PairSumAttr>(),
                                          [&](PairSumAttr sum) { return isRowCount(op, sum); })) {
      cost.call += rates.kernel;
      return;
    }
    double products = 0, sums = 0;
    for (int64_t i = 0; i < op.getNumProducts(); ++i)
      products += 2 * channelsOf(op.getProduct(i).first);
    products += countScalars(op.getWeight());
    if (op.hasMaximum())
      products += countScalars(op.getMaximum());
    bool rows = false, columns = false;
    for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>()) {
      sums += !sum.getWeighted();
      (sum.getKind() == PairOutput::Columns ? columns : rows) = true;
    }
    for (Value array : op.getWeighted())
      sums += 2 * channelsOf(array);
    // Where rows and columns have a kernel each, both compute the scores.
    bool twice = rows && columns && sizes.rowSums != RowSums::Parts;
    double perPair = rates.pair * (products * (twice ? 2 : 1) + sums);
    // Tiles that the mask cuts are computed whole.
    bool masked = !op.getVisible().empty();
    if (masked)
      cost.query += perPair * double(sizes.edgeKeys) / 2;
    // Of a chunk that has no order, all of it.
    if (op.getChunk())
      cost.query += perPair * double(op.getChunk()) / (ranges.isCausal() ? 2 : 1);
    else
      cost.pair += perPair;
    cost.call += rates.kernel * (twice ? 2 : 1);
  }

  void countStates(StatesOp op) {
    double channels = sumChannels(op.getValues()) + (op.getMass() ? 1 : 0), features = featuresOf(op);
    double bytes = double(arrayTypeOf(op.getResult(0)).getElementType().getIntOrFloatBitWidth()) / 8;
    double &tokens = arrayTypeOf(op.getResult(0)).has(AxisRole::Head) || op.getToken() == AxisRole::Query
                         ? cost.query
                         : cost.key;
    tokens += rates.feature * features * (1 + 2 * channels);
    // Each chunk's own sum is written, read and written again where chunks are added, and read.
    if (op.getChunk())
      tokens += rates.byte * 4 * features * channels * bytes / double(op.getChunk());
    cost.call += rates.kernel * (op.getChunk() ? 2 : 1);
  }

  const TileSizes &sizes;
  const CostRates &rates;
};

} // namespace

namespace taylor {
/// A sample as a file has it: the function is a word.
struct SampleText {
  std::string function;
  CostSample sample;
};

static bool fromJSON(const llvm::json::Value &value, SampleText &text, llvm::json::Path path) {
  llvm::json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("function", text.function) && mapper.map("features", text.sample.features) &&
         mapper.map("channels", text.sample.channels) && mapper.map("factor", text.sample.factor);
}
} // namespace taylor

/// Of one head that attends to itself, T = U tokens.
static double costOfTokens(const FormCost &cost, double tokens, bool causal) {
  return cost.call + tokens * (cost.pair * (causal ? (tokens + 1) / 2 : tokens) + cost.query + cost.key);
}

/// Of the nearest sample; 1 without any.
static double factorOf(ArrayRef<CostSample> samples, FunctionRole function, int64_t features,
                       int64_t channels) {
  double factor = 1, nearest = std::numeric_limits<double>::infinity();
  for (const CostSample &sample : samples) {
    double distance = std::abs(std::log(double(sample.features) / double(std::max<int64_t>(features, 1)))) +
                      std::abs(std::log(double(sample.channels) / double(std::max<int64_t>(channels, 1))));
    if (sample.function == function && distance < nearest) {
      nearest = distance;
      factor = sample.factor;
    }
  }
  return factor;
}

FormCost taylor::estimateCost(FunctionOp op, FunctionRole function, const CostRates &rates) {
  TileSizes sizes = tile::getTileSizes(op);
  int64_t features = 0, channels = 0;
  if (auto states = op.getBody().front().getOps<StatesOp>(); !states.empty()) {
    StatesOp first = *states.begin();
    features = *first.getFeatures().count();
    channels = sumChannels(first.getValues()) + (first.getMass() ? 1 : 0);
  }
  auto countAll = [&](const CostRates &rates) {
    CostCounter counter(sizes, rates);
    for (Operation &one : op.getBody().front())
      counter.count(&one);
    return counter.cost;
  };
  FormCost cost = countAll(rates);
  FormCost operations =
      countAll({.pair = 1, .feature = 1, .byte = 0, .kernel = 0, .samples = {}, .machine = {}});
  cost.operations = {operations.pair, operations.query, operations.key};
  cost.features = features;
  cost.channels = channels;
  if (features)
    for (double *part : {&cost.call, &cost.pair, &cost.query, &cost.key})
      *part *= factorOf(rates.samples, function, features, channels) *
               factorOf(rates.machine, function, features, channels);
  return cost;
}

llvm::Expected<std::vector<CostSample>> taylor::parseCostSamples(StringRef text) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return json.takeError();
  llvm::json::Path::Root root("costs");
  std::vector<SampleText> texts;
  llvm::json::ObjectMapper mapper(*json, root);
  if (!mapper || !mapper.map("samples", texts))
    return root.getError();
  std::vector<CostSample> samples;
  for (const auto &[function, sample] : texts) {
    std::optional<FunctionRole> role = symbolizeFunctionRole(function);
    if (role != FunctionRole::Forward && role != FunctionRole::Backward)
      return llvm::createStringError("expected forward or backward as function of a sample, but got '" +
                                     function + "'");
    if (sample.features < 1 || sample.channels < 1 || !(sample.factor > 0))
      return llvm::createStringError("expected positive features, channels and factor in each sample");
    samples.push_back(sample);
    samples.back().function = *role;
  }
  return samples;
}

std::optional<int64_t> taylor::findCrossover(const FormCost &first, const FormCost &other, bool causal) {
  constexpr double kMost = 1 << 20;
  auto isCheaper = [&](double tokens) {
    return costOfTokens(other, tokens, causal) < costOfTokens(first, tokens, causal);
  };
  if (!isCheaper(kMost))
    return std::nullopt;
  double low = 0, high = kMost;
  while (high - low > 1 + high / 100) {
    double middle = (low + high) / 2;
    (isCheaper(middle) ? high : low) = middle;
  }
  return int64_t(std::ceil(high));
}
