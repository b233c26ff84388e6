// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/orders/Orders.h"
#include "trainer/checkpoint/LoadedModel.h"
#include "trainer/orders/OrderStatistics.h"
#include "trainer/orders/OrdersReport.h"
#include "trainer/report/Gnuplot.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Main.h"
#include "trainer/text/Corpus.h"
#include "trainer/text/Inputs.h"
#include "trainer/text/PreparedText.h"
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

constexpr int64_t kHighestOrder = 100; // the paper's code measures 0..99

/// The folder of the results; refused before anything is computed where it cannot be made.
fs::path checkOut(const OrdersOptions &options) {
  fs::path folder = options.out.empty() ? fs::path(options.checkpoint) / "orders" : fs::path(options.out);
  requireFolder(folder, "the results", "--out FOLDER");
  requireFolder(fs::absolute(folder).lexically_normal().parent_path(), "the results",
                "--out FOLDER"); // replaced whole
  std::error_code error;
  bool isOurs = fs::is_regular_file(folder / "orders.csv", error);
  if (isOurs && !options.overwrite)
    fail("expected a new folder, but '", folder.string(),
         "' has results; pass --overwrite to replace them, or --out FOLDER");
  if (!isOurs && fs::is_directory(folder, error) && !fs::is_empty(folder, error))
    fail("expected a new folder, but '", folder.string(),
         "' holds something else; name another with --out FOLDER");
  return folder;
}

struct Text {
  std::string title;
  std::vector<int64_t> tokens; // documents one after another, each <s> ... </s>
};

/// Of prepared text what was kept for validation, where there is such.
Text readPreparedTokens(const std::string &path, const Tokenizer &tokenizer, int64_t wanted) {
  PreparedText prepared = readPreparedText(path, /*verify=*/false, /*threads=*/1);
  if (prepared.tokenizer->model() != tokenizer.model())
    fail("expected text that was prepared with the model's tokenizer, but '", path,
         "' was prepared with another; pass --data with the text itself");
  const Tokens &tokens = prepared.validation.size() ? prepared.validation : prepared.training;
  Text text{path, std::vector<int64_t>(std::min(wanted, tokens.size()))};
  tokens.copy(0, text.tokens.size(), text.tokens.data());
  return text;
}

/// As many tokens as wanted, or all there are, from files in an order given by their names' hashes: the first
/// ones of a folder may all be of one kind.
Text readTokens(const std::string &path, const fs::path &checkpoint, const Tokenizer &tokenizer,
                int64_t wanted) {
  if (!path.empty() && isPreparedText(path))
    return readPreparedTokens(path, tokenizer, wanted);
  if (!path.empty())
    refuseRecords(path, text("--tokenizer ", (checkpoint / "tokenizer.model").string()), "measure");
  Corpus corpus = findCorpus(path);
  std::sort(corpus.files.begin(), corpus.files.end(), [](const Corpus::File &a, const Corpus::File &b) {
    return std::pair(fnv1a(a.name), a.name) < std::pair(fnv1a(b.name), b.name);
  });
  constexpr int64_t longestPiece = 1 << 16; // bytes: what is encoded beyond what is wanted is thrown away
  Text text{corpus.title, {}};
  Elapsed elapsed("reading " + corpus.title);
  for (const Corpus::File &file : corpus.files) {
    MappedFile mapped(file.path);
    if (size_t valid = validUtf8Prefix(mapped.view()); valid != mapped.size())
      fail("expected UTF-8 text, but '", file.path.string(), "' has something else at byte ", valid);
    for (std::string_view document : cutDocuments(mapped.view(), longestPiece)) {
      if (int64_t(text.tokens.size()) >= wanted)
        return text;
      std::vector<int> encoded = tokenizer.encode(document);
      text.tokens.push_back(tokenizer.beginning());
      text.tokens.insert(text.tokens.end(), encoded.begin(), encoded.end());
      text.tokens.push_back(tokenizer.end());
    }
  }
  return text;
}

/// What text there is where none is named: the run's own.
std::string findText(const OrdersOptions &options, const fs::path &checkpoint) {
  if (!options.data.empty())
    return options.data;
  if (!fs::is_regular_file(checkpoint / "config.toml"))
    fail("requires text: '", checkpoint.string(),
         "' has no config.toml that says what it was trained on; pass --data FILE_OR_FOLDER");
  std::string path = readConfig({(checkpoint / "config.toml").string()}, {}).data.path;
  if (!path.empty() && !fs::exists(path))
    fail("requires text, but that of the training, '", path,
         "', does not exist any more; pass --data FILE_OR_FOLDER");
  return path;
}

/// Whole sequences, or one short one where the text has less.
std::vector<at::Tensor> cutSequences(const std::vector<int64_t> &tokens, int64_t context, int64_t wanted) {
  int64_t length = std::min<int64_t>(context, tokens.size());
  std::vector<at::Tensor> sequences;
  for (int64_t begin = 0; int64_t(sequences.size()) < wanted && begin + length <= int64_t(tokens.size());
       begin += length)
    sequences.push_back(
        at::tensor(at::ArrayRef<int64_t>(tokens).slice(begin, length), at::kLong).unsqueeze(0));
  return sequences;
}

/// The inputs of the attention's next call, by name and in fp64.
std::map<std::string, at::Tensor> namedInputs(const std::vector<runtime::TensorInfo> &infos,
                                              const std::vector<at::Tensor> &inputs) {
  std::map<std::string, at::Tensor> named;
  for (size_t i = 0; i < infos.size(); ++i)
    named[infos[i].name] = inputs[i].to(at::kDouble);
  return named;
}

OrdersTable tableOf(const OrderStatistics &statistics, const ModelConfig &model) {
  OrdersTable table(model.layers);
  for (int64_t layer = 0; layer < model.layers; ++layer)
    for (int64_t head = 0; head < model.heads; ++head)
      table[layer].push_back(statistics.head(layer, head));
  return table;
}

} // namespace

void OrdersOptions::check() const {
  if (orders < 0 || orders > kHighestOrder)
    fail("expected --orders from 0 to ", kHighestOrder, ", but got ", orders);
  if (sequences < 1 || sequences > kLargestBatch)
    fail("expected --sequences to be between 1 and ", kLargestBatch, ", but got ", sequences);
  if (threads < 0 || threads > kMostThreads)
    fail("expected --threads to be between 0 and ", kMostThreads, ", but got ", threads);
}

void measureOrders(const OrdersOptions &options) {
  options.check();
  if (options.threads)
    at::set_num_threads(options.threads);
  c10::NoGradGuard noGrad;
  fs::path checkpoint = findCheckpoint(options.checkpoint);
  fs::path folder = checkOut(options);
  if (!options.noPlots)
    requireGnuplot();
  std::string textPath = findText(options, checkpoint);

  std::function<void(const std::vector<at::Tensor> &)> watch;
  LoadOptions load;
  load.specification = options.attention;
  load.wrap = [&](AttentionFunction &function) {
    function.call = [&watch, call = function.call](const std::vector<at::Tensor> &inputs) {
      watch(inputs);
      return call(inputs);
    };
  };
  nowDoing("measuring the orders of '" + checkpoint.string() + "'", "a smaller --orders needs less");
  LoadedModel loaded(checkpoint, load);
  const ModelConfig &model = loaded.description.model;
  WeightSeries series(loaded.attention, model);
  int64_t context = std::max<int64_t>(loaded.description.context, 1);
  Text text = readTokens(textPath, checkpoint, loaded.tokenizer, options.sequences * context);
  std::vector<at::Tensor> sequences = cutSequences(text.tokens, context, options.sequences);

  OrderStatistics statistics(series, model.layers, model.heads, options.orders);
  int64_t length = sequences[0].size(1), done = 0, layer = 0;
  Progress progress("measuring orders", int64_t(sequences.size()) * model.layers * length);
  watch = [&](const std::vector<at::Tensor> &inputs) {
    statistics.add(layer, namedInputs(loaded.model.attentionInputs(), inputs), [&](int64_t queries) {
      done += queries;
      progress.update(done, trainer::text("layer ", layer));
    });
    ++layer;
  };
  for (const at::Tensor &sequence : sequences) {
    layer = 0;
    loaded.model.hidden(sequence);
  }
  progress.finish();

  OrdersTable table = tableOf(statistics, model);
  std::string title =
      trainer::text(checkpoint.string(), ", ", text.title, ": ", sequences.size(), " x ", length, " tokens");
  nlohmann::ordered_json summary = {{"checkpoint", checkpoint.string()},
                                    {"specification", loaded.attention.specification},
                                    {"text", text.title},
                                    {"sequences", sequences.size()},
                                    {"tokens_per_sequence", length},
                                    {"pairs_per_head", statistics.pairs(0)},
                                    {"orders", options.orders}};
  std::string tables = title + "\n\n" + printOrders(table);
  AtomicFolder results(folder);
  writeDurably(results.path() / "orders.json",
               summary.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  writeDurably(results.path() / "orders.csv", printOrdersCsv(table));
  writeDurably(results.path() / "orders.txt", tables);
  if (!options.noPlots)
    plotOrders(results.path(), table, title);
  results.commit();
  std::fputs(tables.c_str(), stdout);
  std::fflush(stdout);
  std::fprintf(stderr, "wrote %s\n", folder.c_str());
}

} // namespace taylor::trainer
